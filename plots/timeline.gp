@HEAD@
set tmargin @TMARGIN@
set lmargin 9
set rmargin 3
set bmargin 5
set border 1
set xrange [0:@UNTIL@]
set yrange [@CPUS@-0.4:-0.6]
set ytics 1 scale 0 format 'cpu%g'
set format x '%g'
set xlabel @YLABEL@ noenhanced
@KEY@
@BOXES@
