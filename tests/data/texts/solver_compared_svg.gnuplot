set terminal svg size 960,600 dynamic font 'sans-serif,15' background 'white'
$line0 << end
0 1
17 9e-11
end
$point0 << end
17 8e-11
end
$line1 << end
0 1
17 9e-11
end
$point1 << end
17 8e-11
end
$line2 << end
0.5 0.5
1.5 1e-11
end
$point2 << end
2 1e-05
end
set title "poisson2d\\_3: BiCGStab, double precision, preconditioner none"
set xlabel "iteration"
set ylabel "residual, relative to b"
set logscale y
set format y "10^{%T}"
set grid linecolor rgb "#DDDDDD"
set border linecolor rgb "#555555"
set key outside bottom center horizontal Left reverse maxcols 2
set xrange [0:*]
plot $line0 with lines linewidth 1.5 linecolor rgb "#0072B2" title "fast: converged", $point0 with points pointtype 7 pointsize 0.8 linecolor rgb "#0072B2" notitle, $line1 with lines linewidth 1.5 linecolor rgb "#D55E00" title "exact: iteration limit", $point1 with points pointtype 7 pointsize 0.8 linecolor rgb "#D55E00" notitle, $line2 with lines linewidth 1.5 linecolor rgb "#009E73" title "Eigen BiCGSTAB, none: converged", $point2 with points pointtype 7 pointsize 0.8 linecolor rgb "#009E73" notitle, keyentry with points pointtype 7 pointsize 0.8 linecolor rgb "#555555" title "true residual", 1e-10 with lines dashtype 2 linecolor rgb "#777777" title "tolerance"
