@HEAD@
set border 1
unset grid
set grid x back lc rgb '#DDDDDD' lt 1 lw 0.7
set ytics scale 0 noenhanced
set lmargin @LMARGIN@
set bmargin 5
set xrange [0:@YMAX@]
set yrange [@ROWS@-0.4:-0.6]
set xlabel @YLABEL@ noenhanced
set style fill solid 0.75 border lc rgb '#222222'
unset key
plot @DATA@ using ($2/2):0:($2/2):(0.36):6:ytic(1) with boxxyerror lc rgb variable, \
     '' using 2:0:3:4 with xerrorbars pt 0 lw 2 lc rgb '#000000', \
     '' using ($4+@NUDGE@):0:5 with labels left offset 0.3,0 noenhanced
