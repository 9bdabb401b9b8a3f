@HEAD@
set lmargin 10
set rmargin 3
unset key
set xrange [@XMIN@:@XMAX@]
set multiplot layout 2,1
set ylabel @YLABEL@ noenhanced
set yrange [0:@YMAX@]
set format x ''
set bmargin 1
plot @PLOT_TOP@
unset label 1
set key bmargin left vertical Left reverse noenhanced samplen 3 maxrows @COUNT@
set format x '%g'
set xlabel 'simulated time (s)'
set ylabel 'share of time on one CPU'
set yrange [@SHARES@]
set ytics 0,0.25,1
unset bmargin
set tmargin 1
plot @PLOT_BOTTOM@
unset multiplot
