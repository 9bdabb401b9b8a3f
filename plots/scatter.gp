@HEAD@
set logscale xy
set format x '%g'
set format y '%g'
@PANELS@
