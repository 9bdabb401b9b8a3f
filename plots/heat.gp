@HEAD@
unset grid
set border 0
set tics scale 0
set palette defined (0 '#F7FBFF', 0.35 '#9FD0EF', 0.7 '#0072B2', 1 '#00243A')
@PANELS@
