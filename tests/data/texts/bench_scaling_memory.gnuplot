set terminal svg size 1000,480 dynamic font 'sans-serif,14' background 'white'
$panel0curve0 << end
100 891.6
10000 37.03
end
$panel0curve1 << end
end
$panel0curve2 << end
end
$panel0curve3 << end
end
$panel0curve4 << end
end
set multiplot layout 1,2 title "Growth of memory by the CSR of A"
set logscale x 10
set logscale y
set format x "10^{%T}"
set format y "10^{%T}"
set xlabel "unknowns"
set xtics rotate by -30
set rmargin 6
set grid linetype 1 linecolor rgb "#DDDDDD"
set border linecolor rgb "#555555"
unset key
set title "p"
set ylabel "x CSR of A"
plot $panel0curve0 with linespoints linewidth 1.5 dashtype 1 pointtype 7 pointsize 0.8 linecolor rgb "#000000" title "auto", $panel0curve1 with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.8 linecolor rgb "#D55E00" title "jacobi", $panel0curve2 with linespoints linewidth 1.5 dashtype 3 pointtype 5 pointsize 0.8 linecolor rgb "#0072B2" title "ilu0", $panel0curve3 with linespoints linewidth 1.5 dashtype 4 pointtype 4 pointsize 0.8 linecolor rgb "#009E73" title "hypre pcg", $panel0curve4 with linespoints linewidth 1.5 dashtype 5 pointtype 9 pointsize 0.8 linecolor rgb "#CC79A7" title "hypre bicgstab"
unset title
unset border
unset tics
unset xlabel
unset ylabel
set key inside center maxcols 1
plot [1:2][1:2] NaN with linespoints linewidth 1.5 dashtype 1 pointtype 7 pointsize 0.8 linecolor rgb "#000000" title "auto", NaN with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.8 linecolor rgb "#D55E00" title "jacobi", NaN with linespoints linewidth 1.5 dashtype 3 pointtype 5 pointsize 0.8 linecolor rgb "#0072B2" title "ilu0", NaN with linespoints linewidth 1.5 dashtype 4 pointtype 4 pointsize 0.8 linecolor rgb "#009E73" title "hypre pcg", NaN with linespoints linewidth 1.5 dashtype 5 pointtype 9 pointsize 0.8 linecolor rgb "#CC79A7" title "hypre bicgstab"
unset multiplot
