@HEAD@
set lmargin 11
set bmargin 5
set logscale x
set xlabel @YLABEL@ noenhanced
@YSHARE@
set yrange [-0.02:1.03]
set ytics (0, 0.25, 'median' 0.5, 0.75, 'p90' 0.9, 'p99' 0.99)
set key bottom right noenhanced
plot @PLOT_TOP@
