# @COMMENT@
# Draw again: gnuplot @SCRIPT@
set terminal @TERMINAL@
@SETOUTPUT@
set encoding utf8
set label 1 @TITLE@ at screen 0.5,screen 1 offset 0,-1.2 center noenhanced
set tmargin 3
set grid x back lc rgb '#DDDDDD' lt 1 lw 0.7
set border 1
set tics nomirror
set ytics scale 0 noenhanced
set lmargin @LMARGIN@
set xrange [0:@YMAX@]
set yrange [@ROWS@-0.4:-0.6]
set xlabel @YLABEL@ noenhanced
set style fill solid 0.75 border lc rgb '#222222'
unset key
plot @DATA@ using ($2/2):0:($2/2):(0.36):ytic(1) with boxxyerror lc rgb '#56B4E9', \
     '' using 2:0:3:4 with xerrorbars pt 0 lw 2 lc rgb '#000000', \
     '' using ($4+@NUDGE@):0:5 with labels left offset 0.3,0 noenhanced
