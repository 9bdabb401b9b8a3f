@HEAD@
set lmargin 10
set rmargin 3
set xrange [@XMIN@:@XMAX@]
set multiplot layout 2,1
@YNAME@
set yrange [@YMIN@:@YMAX@]
set format x ''
set tmargin @TMARGIN@
set bmargin 1
@KEY@
plot @PLOT_TOP@
unset label 1
unset label 2
unset key
set format x '%g'
set xlabel 'simulated time (s)'
@YTOGETHER@
set yrange [@SHARES@]
set ytics 0,0.25,1
set tmargin 1
set bmargin 5
plot @PLOT_BOTTOM@
unset multiplot
