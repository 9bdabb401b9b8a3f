@HEAD@
set tmargin @TMARGIN@
set border 1
set ytics scale 0 noenhanced
set lmargin @LMARGIN@
set rmargin 3
set bmargin 5
set xrange [0:100]
set yrange [@ROWS@-0.4:-0.6]
set xlabel 'share of CPU time, all CPUs (%)'
@KEY@
@PIECES@
