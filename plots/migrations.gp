@HEAD@
unset grid
set border 0
set tics scale 0
set tmargin 7
set bmargin 6
set lmargin 9
set rmargin 16
set palette defined (0 '@PALE@', 0.35 '#9FD0EF', 0.7 '#0072B2', 1 '#00243A')
set logscale cb
set cbrange [1:@MOST@]
set cblabel 'moves' offset 1,0
set xrange [-0.5:@COUNT@+0.6]
set yrange [@COUNT@-0.5:-1.6]
set xtics @CPUS@
set ytics @CPUS@
set xlabel 'to CPU@ABOVE@' offset -2,0
set ylabel 'from CPU@BESIDE@'
set key at screen 0.5,screen 0.95 center top horizontal noenhanced
plot @DATA@ index 0 using 1:2:(@HALF@):(@HALF@):3 with boxxyerror fs solid 1 @BORDER@ lc palette notitle@LAYERS@
