#!/bin/bash
# Whatever writes a file, killed at random moments: under the file's name stands nothing, what stood there before, or all of the new
# one; and the same command once more ends as if nothing had been. WB_KILLS: how often each (2; the long suite takes 40). Prints the
# seed; WB_KILLS_SEED repeats it. Studies have sweep_resume.sh.
. "$(dirname "$0")/lib_experiment.sh"
kills=${WB_KILLS:-2}
RANDOM=${WB_KILLS_SEED:-$RANDOM}
seed=$RANDOM
RANDOM=$seed
echo "seed $seed, $kills kills of each"
w=$(readlink -f "$w")
traces=$WB_SOURCE_DIR/tests/traces
recorded=$WB_SOURCE_DIR/tests/recorded
short="-r 2 --duration 10ms --warmup none"
cd "$tmp" || exit 2
code 0 $w sweep pipe $short -q --vary workload.message=4KiB,64KiB -o s.db --export-json r.json
for k in 1 2; do code 0 $w sweep pipe $short -q --vary workload.message=1KiB,4KiB,16KiB,64KiB --shard $k/2 -o shard$k.db; done
cat >own.cfg <<'EOF'
schema = 1;
workload = ( { kind = "pipe_latency"; parent_cpus = "0"; child_cpus = "0"; message = "2 KiB"; } );
EOF

# NAME | files | command, run in a folder of its own
writers=(
    "plot|p.png p.gp p.dat|$w plot $tmp/r.json --kind bars -o p"
    "plot-pdf|p.pdf p.gp p.dat|$w plot $tmp/r.json --kind cdf --format pdf -o p"
    "timeline|t.svg t.gp t.dat|$w plot pipe $short --kind timeline --format svg -o t"
    "report|r.html|$w report $tmp/s.db -o r.html"
    "run|a.json a.csv a.md a.dat a.manifest|$w run pipe $short --export-json a.json --export-csv a.csv --export-markdown a.md --export-data a.dat --manifest a.manifest"
    "trace|t.txt|$w run pipe -r 1 --duration 20ms --warmup none --trace -o t.txt"
    "import|i.cfg|$w import $traces/guest_612_2s2c2t.txt -o i.cfg"
    "conform|c.json|$w conform $traces/guest_612_2s2c2t.txt --export-json c.json"
    "replay|y.json|$w replay $traces/guest_612_2s2c2t.txt --export-json y.json"
    "validate|v.json|$w validate --calibration $recorded/guest2 $tmp/own.cfg --predict-only --export-json v.json"
    "new|mine.cfg|$w new scenario mine"
    "fmt|f.cfg|$w fmt f.cfg"
)

# The folder as a command finds it: empty, or with old files under the names (which `new` refuses and `fmt` needs).
prepare() { # NAME OLD FILES...
    local name=$1 old=$2 file
    shift 2
    rm -rf try && mkdir try
    [ "$name" = fmt ] && { printf 'title="x";\n   kernel:{base="linux-6.1";};\n' >try/f.cfg; return; }
    [ "$name" = new ] || [ "$old" = 0 ] && return
    for file in "$@"; do echo old >"try/$file"; done
}

# A manifest says when it was; the rest of it is compared.
same() {
    [ -e "$2" ] || return 1
    cmp -s "$1" "$2" || case $1 in
    *.manifest) cmp -s <(grep -v '"started"\|"ended"' "$1") <(grep -v '"started"\|"ended"' "$2") ;;
    *) return 1 ;;
    esac
}

# Each file is absent, as it was, or whole.
check_files() { # NAME WHEN FILES...
    local name=$1 when=$2 file
    shift 2
    for file in "$@"; do
        [ ! -e "try/$file" ] && [ ! -e "was/$file" ] && continue
        same "try/$file" "was/$file" || same "try/$file" "whole/$name/$file" ||
            fail "$name, $when: $file is neither the old nor the new one ($(stat -c %s "try/$file" 2>/dev/null) bytes of $(stat -c %s "whole/$name/$file"))"
    done
}

now() { date +%s%N; }
landed=0 early=0
mkdir whole
for writer in "${writers[@]}"; do
    IFS='|' read -r name files command <<<"$writer"
    prepare "$name" 0 $files
    begun=$(now)
    (cd try && $command >../out 2>../err) || fail "$name: exit $?: $(head -3 err)"
    took=$((($(now) - begun) / 1000000 + 1))
    for file in $files; do [ -s "try/$file" ] || fail "$name: no $file"; done
    mv try "whole/$name"
    for ((i = 0; i < kills; i++)); do
        wait_ms=$((RANDOM * 11 * took / 10 / 32768))
        # Who was done before is tried again with half the time: how long it took says little on a machine with other work.
        for try in 1 2 3 4; do
            prepare "$name" $((i % 2)) $files
            rm -rf was && cp -r try was
            (cd try && exec $command >/dev/null 2>&1) &
            pid=$!
            sleep "$((wait_ms / 1000)).$(printf %03d $((wait_ms % 1000)))"
            kill -9 $pid 2>/dev/null
            wait $pid 2>/dev/null
            [ $? = 137 ] && { landed=$((landed + 1)); break; }
            check_files "$name" "done, tried to kill after $wait_ms of $took ms" $files
            [ "$try" = 4 ] && early=$((early + 1)) || wait_ms=$((wait_ms / 2))
        done
        check_files "$name" "killed after $wait_ms of $took ms" $files
        [ "$name" = new ] && rm -f try/mine.cfg
        (cd try && $command >../out 2>../err) || fail "$name once more: exit $?: $(head -3 err)"
        for file in $files; do same "try/$file" "whole/$name/$file" || fail "$name once more: $file differs"; done
    done
done
echo "$landed kills came before the end, $early after it"
[ $landed -ge $((kills * ${#writers[@]} / 3)) ] || fail "too few kills came in time"

# A merge may be killed like a sweep: what is there is a study, and the same command completes it.
code 0 $w merge -o whole.db shard1.db shard2.db
code 0 $w sweep pipe $short -q --vary workload.message=1KiB,4KiB,16KiB,64KiB -o whole.db --export-json whole.json
for ((i = 0; i < kills; i++)); do
    rm -f all.db*
    $w merge -q -o all.db shard1.db shard2.db >/dev/null 2>&1 &
    pid=$!
    sleep "0.0$(printf %02d $((RANDOM % 60)))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ ! -s all.db ] || [ "$(sqlite3 all.db 'PRAGMA integrity_check' 2>&1)" = ok ] || fail "a killed merge leaves a broken study"
    code 0 $w merge -q -o all.db shard1.db shard2.db
    code 0 $w sweep pipe $short -q --vary workload.message=1KiB,4KiB,16KiB,64KiB -o all.db --export-json all.json
    cmp -s all.json whole.json || fail "a merge after a kill gives other results"
done

# A calibration measures the machine, a quarter of a minute: only the long suite has the time.
if [ "$kills" -ge 10 ]; then
    for ((i = 0; i < 3; i++)); do
        rm -rf cal && mkdir cal
        (cd cal && exec $w calibrate --rounds 3 --gate off -o me --export-json me.json >/dev/null 2>&1) &
        pid=$!
        sleep $((RANDOM % 40))
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        for file in me-machine.cfg me-kernel.cfg; do
            [ ! -e cal/$file ] || $w check cal/$file >/dev/null 2>err || fail "a killed calibration leaves a broken $file: $(head -3 err)"
        done
    done
fi
finish
