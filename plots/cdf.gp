# @COMMENT@
# Draw again: gnuplot @SCRIPT@
set terminal @TERMINAL@
@SETOUTPUT@
set encoding utf8
set style line 1 lt 1 lc rgb '#0072B2' lw 2.2 dt 1
set style line 2 lt 2 lc rgb '#D55E00' lw 2.2 dt '-'
set style line 3 lt 3 lc rgb '#009E73' lw 2.2 dt '.-'
set style line 4 lt 4 lc rgb '#CC79A7' lw 2.2 dt '_.'
set style line 5 lt 5 lc rgb '#56B4E9' lw 2.2 dt 1
set style line 6 lt 6 lc rgb '#E69F00' lw 2.2 dt '-'
set style line 7 lt 7 lc rgb '#000000' lw 2.2 dt '.'
set style line 8 lt 8 lc rgb '#999999' lw 2.2 dt 1
set title @TITLE@ noenhanced
@GRID@
set border 3
set tics nomirror
set lmargin @LMARGIN@
set logscale x
set xlabel @YLABEL@ noenhanced
set ylabel 'share of values not above'
set yrange [-0.02:1.03]
set ytics (0, 0.25, 'median' 0.5, 0.75, 'p90' 0.9, 'p99' 0.99)
set key bottom right noenhanced
plot @PLOT_TOP@
