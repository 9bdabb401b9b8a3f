@HEAD@
set border 1
set ytics scale 0 noenhanced
set lmargin @LMARGIN@
set rmargin 3
set tmargin 5
set bmargin 5
set xrange [@FROM@:@UNTIL@]
set yrange [@COUNT@-0.4:-0.6]
set xlabel @YLABEL@ noenhanced
set key at screen 0.5,screen 0.93 center top horizontal Left reverse samplen 2 noenhanced
@MARKS@
plot @DATA@ using (($3+@MIDDLE@)/2):($1-0.19):(abs($3-@MIDDLE@)/2):(0.17):ytic(2) with boxxyerror fs solid 1 border lc rgb '#222222' fc rgb '#56B4E9' title 'low end of the cost', \
     '' using (($4+@MIDDLE@)/2):($1+0.19):(abs($4-@MIDDLE@)/2):(0.17) with boxxyerror fs pattern 4 border lc rgb '#222222' fc rgb '#D55E00' title 'high end', \
     '' using 3:($1-0.19):($3 < @MIDDLE@ ? strcol(5).' ' : '') with labels right noenhanced font ',8' notitle, \
     '' using 3:($1-0.19):($3 >= @MIDDLE@ ? ' '.strcol(5) : '') with labels left noenhanced font ',8' notitle, \
     '' using 4:($1+0.19):($4 < @MIDDLE@ ? strcol(6).' ' : '') with labels right noenhanced font ',8' notitle, \
     '' using 4:($1+0.19):($4 >= @MIDDLE@ ? ' '.strcol(6) : '') with labels left noenhanced font ',8' notitle, \
     NaN with lines lw 2 lc rgb '#000000' title 'simulated'@PUBLISHED@
