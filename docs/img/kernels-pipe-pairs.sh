#!/bin/bash
# Table and picture of docs/kernels-compared.md from the results of its study:
#
#   wakebal run scenarios/studies/kernels-pipe-pairs.cfg -j auto --export-csv pairs.csv
#   docs/img/kernels-pipe-pairs.sh pairs.csv OUTPUT.png > table.md
#
# Rows are kernels, columns are loads (one pair, 1 to 4 pairs per CPU), one block per machine.
set -eu
csv=${1:?results as CSV} png=${2:?picture to write}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# machine kernel copies metric mean, of the figures that are shown
awk -F, '$5 == "bandwidth" || $5 == "migrations.rate" || $5 == "colocated" { print $2, $1, $3, $5, $9 }' "$csv" >"$tmp/all"

awk -v dir="$tmp" '
{
    if (!($1 in nm)) machine[nmachines++] = $1
    if (!($2 in nk)) { nk[$2] = nkernels; kernel[nkernels++] = $2 }
    if (!(($1, $3) in load)) load[$1, $3] = nm[$1]++
    at[$1, load[$1, $3]] = $3
    value[$1, $2, $3, $4] = $5
    if ($4 == "bandwidth" && $5 > best[$1, $3]) best[$1, $3] = $5
}
function cell(m, k, c, what) { return value[m, k, c, what] }
END {
    split("bandwidth migrations.rate colocated", what, " ")
    split("throughput, GB/s|migrations per second|time together, %", title, "|")
    for (i = 0; i < nmachines; i++) {
        m = machine[i]
        for (w = 1; w <= 3; w++) {
            file = dir "/" i "." w
            for (k = 0; k < nkernels; k++)
                for (l = 0; l < nm[m]; l++) {
                    v = cell(m, kernel[k], at[m, l], what[w])
                    shade = w == 1 ? v / best[m, at[m, l]] : w == 2 ? log(v + 1) / log(1e6) : v
                    text = w == 1 ? sprintf("%.1f", v / 1e9) : w == 2 ? (v >= 1000 ? sprintf("%.0fk", v / 1000) : sprintf("%.0f", v)) \
                                  : sprintf("%.0f", 100 * v)
                    print l, k, shade, text > file
                }
        }
        printf "\n**%s**: GB/s, migrations per second, time together\n\n| kernel |", m
        for (l = 0; l < nm[m]; l++) printf " %s pair%s |", at[m, l], (at[m, l] > 1 ? "s" : "")
        printf "\n|--|"
        for (l = 0; l < nm[m]; l++) printf "--|"
        printf "\n"
        for (k = 0; k < nkernels; k++) {
            printf "| %s |", kernel[k]
            for (l = 0; l < nm[m]; l++) {
                c = at[m, l]
                printf " %.2f, %.0f, %.0f %% |", cell(m, kernel[k], c, what[1]) / 1e9, cell(m, kernel[k], c, what[2]), \
                    100 * cell(m, kernel[k], c, what[3])
            }
            printf "\n"
        }
    }
    for (k = 0; k < nkernels; k++) printf "\"%s\" %d,", kernel[k], k > dir "/kernels"
    for (i = 0; i < nmachines; i++) print machine[i] > dir "/machines"
}' "$tmp/all"

kernels=$(sed 's/,$//' "$tmp/kernels")
{
    echo "set terminal pngcairo size 1500,1560 font 'sans,10'"
    echo "set output '$png'"
    echo "set multiplot layout 3,3 margins 0.105,0.99,0.03,0.965 spacing 0.012,0.035"
    echo "set yrange [19.5:-0.5]; set xrange [-0.5:4.5]; set cbrange [0:1]; unset colorbox; unset key; set tics scale 0"
    echo "set xtics ('1' 0, '1 x' 1, '2 x' 2, '3 x' 3, '4 x' 4)"
    i=0
    while read -r machine; do
        for w in 1 2 3; do
            title=$(sed -n "${w}p" <<<$'throughput, GB/s (dark: best of the column)\nmigrations per second (dark: many)\ntime together, % (dark: always)')
            palette=$(sed -n "${w}p" <<<$'#FFFFFF,#0072B2\n#FFFFFF,#D55E00\n#FFFFFF,#009E73')
            echo "set palette defined (0 '${palette%,*}', 1 '${palette#*,}')"
            echo "set title '$machine: $title' noenhanced offset 0,-0.7"
            if [ $w = 1 ]; then echo "set ytics ($kernels) noenhanced"; else echo "set ytics ('' 0)"; fi
            echo "plot '$tmp/$i.$w' using 1:2:3 with image, '' using 1:2:4 with labels noenhanced font ',9'"
        done
        i=$((i + 1))
    done <"$tmp/machines"
} >"$tmp/gp"
gnuplot "$tmp/gp"
