set terminal svg size 1000,920 dynamic font 'sans-serif,14' background 'white'
$panel0curve0 << end
1 2
4 1.235e+04
end
$panel0curve1 << end
3 1e-09
end
$panel1curve0 << end
8 1
end
set multiplot layout 2,2 title "title"
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
set title "first\\_one"
set ylabel "seconds"
plot $panel0curve0 with linespoints linewidth 1.5 dashtype 1 pointtype 7 pointsize 0.8 linecolor rgb "#000000" title "a", $panel0curve1 with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.8 linecolor rgb "#D55E00" title "b"
set title "second"
set ylabel "ulp"
plot $panel1curve0 with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.8 linecolor rgb "#D55E00" title "b"
unset title
unset border
unset tics
unset xlabel
unset ylabel
set key inside center maxcols 1
plot [1:2][1:2] NaN with linespoints linewidth 1.5 dashtype 1 pointtype 7 pointsize 0.8 linecolor rgb "#000000" title "a", NaN with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.8 linecolor rgb "#D55E00" title "b"
unset multiplot
