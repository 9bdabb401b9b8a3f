# @COMMENT@
# Draw again: gnuplot @SCRIPT@
set terminal @TERMINAL@
@SETOUTPUT@
set encoding utf8
set datafile missing 'NaN'
set style line 1 lt 1 lc rgb '#0072B2' lw 2.2 dt 1
set style line 2 lt 2 lc rgb '#D55E00' lw 2.2 dt '-'
set style line 3 lt 3 lc rgb '#009E73' lw 2.2 dt '.-'
set style line 4 lt 4 lc rgb '#CC79A7' lw 2.2 dt '_.'
set style line 5 lt 5 lc rgb '#56B4E9' lw 2.2 dt 1
set style line 6 lt 6 lc rgb '#E69F00' lw 2.2 dt '-'
set style line 7 lt 7 lc rgb '#000000' lw 2.2 dt '.'
set style line 8 lt 8 lc rgb '#999999' lw 2.2 dt 1
@GRID@
set border 3
set tics nomirror
set lmargin @LMARGIN@
set rmargin 3
unset key
set xrange [@XMIN@:@XMAX@]
set multiplot layout 2,1
set title @TITLE@ noenhanced
set ylabel @YLABEL@ noenhanced
set yrange [0:@YMAX@]
set format x ''
set bmargin 1
plot @PLOT_TOP@
unset title
set key bmargin left vertical Left reverse noenhanced samplen 3 maxrows @ROWS@
set format x '%g'
set xlabel 'simulated time (s)'
set ylabel 'share of time on one CPU'
set yrange [@SHARES@]
set ytics 0,0.25,1
unset bmargin
set tmargin 1
plot @PLOT_BOTTOM@
unset multiplot
