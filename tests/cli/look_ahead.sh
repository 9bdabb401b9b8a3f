#!/bin/bash
# What can be known to be wrong is said before anything runs: figures, units, points, CPUs, files.
. "$(dirname "$0")/lib_experiment.sh"
head='schema = 1; machine : { base = "smp2"; }; kernel : { base = "linux-2.6.11-i386"; };
workload = ( { kind = "pipe_bw"; message = "4 KiB"; cpus = "0"; } );'
run='run : { duration = "20 ms"; warmup = "none"; replications : { min = 2; max = 2; }; };'
printf '%s\n%s\n' "$head" "$run" >"$tmp/good.cfg"

# One pass finds what the key table and what the models know.
cat >"$tmp/many.cfg" <<'E'
schema = 1;
titel = "x";
machine : { base = "smp2"; }; kernel : { base = "linux-2.6.11-i386"; };
workload = ( { kind = "pipe_bw"; cpus = "0,5"; } );
run : { duration = "1 s"; warmup = "2 s"; replications : { metric = "bandwith"; }; };
expect = ( { metric = "migratoins"; max = 3; }, { metric = "bandwidth"; min = "1 s"; } );
E
for verb in check run; do
    code 3 $w $verb "$tmp/many.cfg"
    for text in "did you mean 'title'" "cpu 5 does not exist" "leaves nothing of run.duration" "did you mean 'bandwidth'" \
        "did you mean 'migrations'" "'1 s' is no value in B/s" "6 errors."; do has "$tmp/err" "$text"; done
    grep -qE "^$tmp/many.cfg:4:41: error: cpu 5" "$tmp/err" || fail "$verb: no place of the CPU"
done
# Parts are tried in the place where they belong.
printf 'schema = 1; name = "w"; kind = "custom"; tasks = ( { name = "a"; program = [ "loop", "jump", "end" ]; } );\n' >"$tmp/w.cfg"
code 3 $w check "$tmp/w.cfg"
has "$tmp/err" "unknown word 'jump'"
printf 'schema = 1; name = "w"; kind = "hog";\n' >"$tmp/w.cfg"
code 0 $w check "$tmp/w.cfg"
code 0 $w run "$tmp/w.cfg" $quick
# A file that is none gets a handful of messages.
code 3 $w check /etc/passwd
[ "$(grep -c 'error:' "$tmp/err")" -le 20 ] || fail "too many messages"
has "$tmp/err" "... and "

# --fail-if: nothing is simulated before it is understood.
for bad in "bandwith < 1 GB/s" "bandwidth < 1" "bandwidth < 1 s" "migrations < 1 s" "bandwidth worse than $tmp/no.json" \
    "bandwith worse than $tmp/no.json" "bandwidth[a] < 1 GB/s"; do
    code 2 $w run "$tmp/good.cfg" --fail-if "$bad"
    [ -s "$tmp/out" ] && fail "a run before --fail-if '$bad' was understood"
done
has "$tmp/err" "no [variant]"
code 2 $w run "$tmp/good.cfg" --fail-if "bandwith < 1 GB/s"
has "$tmp/err" "did you mean 'bandwidth'"

# Files of results: written at the end, tried at the beginning.
for bad in "$tmp/no/x.json" "$tmp" /; do
    code 9 $w run "$tmp/good.cfg" --export-json "$bad"
    has "$tmp/err" "Nothing was run"
    [ -s "$tmp/out" ] && fail "a run before '$bad' was tried"
done
code 9 $w run "$tmp/good.cfg" -q --export-json /dev/full
code 2 $w run "$tmp/good.cfg" --export-json "$tmp/x" --export-csv "$tmp/x"
has "$tmp/err" "two exports"
code 2 $w run "$tmp/good.cfg" --export-json - --export-csv -
cp "$tmp/good.cfg" "$tmp/copy.cfg"
code 2 $w run "$tmp/copy.cfg" --export-json "$tmp/copy.cfg"
cmp "$tmp/copy.cfg" "$tmp/good.cfg" || fail "the scenario was changed"
[ -e "$tmp/x" ] && fail "a file was left"
code 9 $w reproduce numaimb-two-hogs --export-json "$tmp/no/x.json"
code 9 $w reproduce numaimb-two-hogs --write-expected "$tmp/no/x.json"

# Points: where leaves none, a condition selects none; with other axes that is a warning.
printf '%s\n%s\nsweep : { over = ( { set = "workload.message"; values = [ "1 KiB", "4 KiB" ]; }, { set = "workload.copies"; values = ( 1, 2 ); } ); };
expect = ( { metric = "bandwidth"; min_ratio = 1e-3; of = "workload.message == 4 KiB"; against = "workload.message == 1 KiB"; } );\n' \
    "$head" "$run" >"$tmp/pairs.cfg"
code 0 $w run "$tmp/pairs.cfg"
code 0 $w run "$tmp/pairs.cfg" --no-sweep
has "$tmp/err" "warning: 'against' selects none of the 1 points"
sed 's/min_ratio/max_ratio/' "$tmp/pairs.cfg" >"$tmp/worse.cfg"
code 4 $w run "$tmp/worse.cfg"
[ "$(grep -c 'expectation violated' "$tmp/err")" = 2 ] || fail "points are compared with those that agree on the other axes"
code 3 $w run "$tmp/pairs.cfg" --vary workload.copies=1,2 --zip workload.copies,workload.copies
has "$tmp/err" "lock step with itself"
finish
