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
$panel2curve0 << end
16 99
end
$panel2curve1 << end
16 100
end
$panel2curve2 << end
16 101
end
$panel2curve3 << end
16 102
end
$panel2curve4 << end
16 103
end
$panel2curve5 << end
16 104
end
$panel2curve6 << end
16 105
end
$panel2curve7 << end
16 106
end
$panel2curve8 << end
16 107
end
set multiplot layout 2,2 title "A \\'title\\'"
set logscale x 2
set logscale y
set format y "10^{%T}"
set xlabel "n"
set xtics rotate by -30
set rmargin 6
set grid linetype 1 linecolor rgb "#DDDDDD"
set border linecolor rgb "#555555"
set key outside bottom center horizontal Left reverse maxcols 2
set title "first\\_one"
set ylabel "seconds"
plot $panel0curve0 with linespoints linewidth 1.5 dashtype 1 pointtype 7 pointsize 0.8 linecolor rgb "#000000" title "a", $panel0curve1 with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.8 linecolor rgb "#D55E00" title "b"
set title "second"
set ylabel "ulp"
plot $panel1curve0 with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.8 linecolor rgb "#D55E00" title "b"
set title "third"
set ylabel "ulp"
plot $panel2curve0 with linespoints linewidth 1.5 dashtype 3 pointtype 5 pointsize 0.8 linecolor rgb "#0072B2" title "c", $panel2curve1 with linespoints linewidth 1.5 dashtype 4 pointtype 4 pointsize 0.8 linecolor rgb "#009E73" title "d", $panel2curve2 with linespoints linewidth 1.5 dashtype 5 pointtype 9 pointsize 0.8 linecolor rgb "#CC79A7" title "e", $panel2curve3 with linespoints linewidth 1.5 dashtype 1 pointtype 8 pointsize 0.8 linecolor rgb "#E69F00" title "f", $panel2curve4 with linespoints linewidth 1.5 dashtype 2 pointtype 11 pointsize 0.8 linecolor rgb "#56B4E9" title "g", $panel2curve5 with linespoints linewidth 1.5 dashtype 3 pointtype 10 pointsize 0.8 linecolor rgb "#000000" title "h", $panel2curve6 with linespoints linewidth 1.5 dashtype 4 pointtype 7 pointsize 0.8 linecolor rgb "#D55E00" title "i", $panel2curve7 with linespoints linewidth 1.5 dashtype 5 pointtype 6 pointsize 0.8 linecolor rgb "#0072B2" title "j", $panel2curve8 with linespoints linewidth 1.5 dashtype 1 pointtype 5 pointsize 0.8 linecolor rgb "#009E73" title "k"
unset multiplot
