#!/bin/bash
# `new` makes files that work, `fmt` lays files out, `learn` runs through by itself.
. "$(dirname "$0")/lib_experiment.sh"
cd "$tmp" || exit 2

# what is made is without mistakes, formatted, and runs; nothing is overwritten
for what in scenario machine kernel workload; do
    code 0 "$w" new $what my-$what.1
    has out "wrote ./my-$what.1.cfg"
    code 0 "$w" check ./my-$what.1.cfg
    code 0 "$w" fmt --check my-$what.1.cfg
    grep -q my_name my-$what.1.cfg && fail "my-$what.1.cfg: the name is not filled in"
    code 9 "$w" new $what my-$what.1
done
code 0 "$w" run my-scenario.1.cfg -q -r 1 --duration 20ms --no-sweep
code 0 "$w" run pipe -m ./my-machine.1.cfg $quick
code 0 "$w" run pipe -k ./my-kernel.1.cfg $quick
code 0 "$w" run ./my-workload.1.cfg $quick
has out Requests
code 2 "$w" new scenario ../up
has err "in the folder that you are in"
code 2 "$w" new scenario -- -x
code 2 "$w" new scenario ''
code 2 "$w" new scenaro x
has err "did you mean 'scenario'"
code 2 "$w" new scenario
has err "For example: wakebal new scenario mine"
code 0 "$w" new scenario twice.cfg
[ -f twice.cfg ] && [ ! -e twice.cfg.cfg ] || fail ".cfg was added twice"

# fmt
printf 'schema=1;\r\ntitle = "t" ;   // why\r\n\r\n\r\nmachine:{base="smp2";};\r\nkernel : { base = "linux-6.18";\nhz=250;\n};\nworkload = ( { kind="hog"; } );' >a.cfg
cp a.cfg before.cfg
code 4 "$w" fmt --check a.cfg
[ "$(cat out)" = a.cfg ] || fail "--check names the file"
cmp -s a.cfg before.cfg || fail "--check has changed the file"
code 0 "$w" fmt a.cfg
cat >want.cfg <<'EOF'
schema = 1;
title = "t";   // why

machine : { base = "smp2"; };
kernel : { base = "linux-6.18";
           hz = 250;
};
workload = ( { kind = "hog"; } );
EOF
diff want.cfg a.cfg >&2 || fail "not the layout that was wanted"
code 0 "$w" fmt --check a.cfg
"$w" run before.cfg --print-config 2>/dev/null | sed 's/#.*//' >config.before
"$w" run a.cfg --print-config 2>/dev/null | sed 's/#.*//' >config.after
cmp -s config.before config.after || fail "formatting has changed the configuration"
echo 'schema = ; title = "x' >broken.cfg
cp broken.cfg before.cfg
code 3 "$w" fmt broken.cfg
has err "broken.cfg:1"
cmp -s broken.cfg before.cfg || fail "a broken file was touched"
code 3 "$w" fmt absent.cfg
code 3 "$w" fmt absent.cfg a.cfg
code 2 "$w" fmt

# learn: runs without a terminal, leaves nothing behind, explains with the figures that came out
mkdir here tmp
(cd here && TMPDIR=$tmp/tmp "$w" learn </dev/null >../learn.out 2>../learn.err) || fail "learn: $(tail -3 learn.err)"
[ -z "$(ls -A here)$(ls -A tmp)" ] || fail "learn leaves files behind: $(ls -A here tmp)"
steps=$(grep -c '^  \$ wakebal ' learn.out)
[ "$steps" -ge 10 ] || fail "only $steps steps"
grep -qE "^1 of $steps: " learn.out && grep -qE "^$steps of $steps: " learn.out || fail "steps are not numbered"
grep -qE 'The pair moved [0-9.]+ [GM]B/s' learn.out || fail "the first result is not explained"
tr '\n' ' ' <learn.out | grep -qE 'it is [0-9.]+ times as fast'  || fail "the comparison is not explained"
grep -q "did you mean 'message'" learn.err || fail "the mistake is not shown"
code 0 "$w" learn --keep kept </dev/null
[ -s kept/first.html ] && [ -s kept/study.db ] || fail "--keep keeps the files"
code 9 "$w" learn --keep no/such/folder </dev/null
code 2 "$w" learn now
finish
