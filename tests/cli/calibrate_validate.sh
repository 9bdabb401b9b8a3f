#!/bin/bash
# `wakebal calibrate` and `wakebal validate`: a short calibration for real, its files in use, refusals; the whole chain on a recorded
# machine, where predictions must hold and a tripled cost must be rejected. Never asks how fast this machine is: it may be busy.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
recorded=$WB_SOURCE_DIR/tests/recorded
cd "$dir" || exit 1
bad=0

fail() {
    echo "FAILED: $*"
    bad=1
}
# want CODES PATTERN ARGS...: one of the exit codes, and a line of stdout or stderr that matches.
want() {
    local codes=$1 pattern=$2
    shift 2
    "$WAKEBAL" "$@" >out 2>err
    local got=$?
    case " $codes " in *" $got "*) ;; *) fail "$*: exit $got, not $codes: $(tail -5 err)" ;; esac
    cat out err | grep -qE -- "$pattern" || fail "$*: no line matches $pattern: $(tail -5 out err)"
}
# json FILE EXPRESSION: of j, by python's eyes.
json() {
    command -v python3 >/dev/null || return 0
    python3 -c "import json, math; j = json.load(open('$1')); assert $2" || fail "$1: $2"
}

# Sanitizers make the simulating part ten times as long: what is only longer, not different, is left to the other builds.
asan=no
grep -q __asan_init "$WAKEBAL" && asan=yes
cat >own.cfg <<'END'
schema = 1;
workload = ( { kind = "pipe_latency"; parent_cpus = "0"; child_cpus = "0"; message = "2 KiB"; } );
END

# A calibration for real, as short as it gets: files that load, figures that are there.
# Sanitizers watch string moves, so what is measured beside them need not make sense: there the recorded machine steps in.
if [ $asan = yes ]; then
    want '0 3' 'Measuring' calibrate --rounds 3 --gate off -o me
    for part in machine kernel; do cp "$recorded/guest3-$part.cfg" me-$part.cfg; done
    echo "{}" >cal.json
else
    want 0 '^Wrote me-kernel.cfg' calibrate --rounds 3 --gate off -o me --export-json cal.json --progress always
    grep -q 'fitting: pipes and switches, .*about .* s left' err || fail "a fit does not say how far it is"
    want 0 'ok' check me-machine.cfg me-kernel.cfg
    json cal.json "j['schema'] == 'wakebal.calibration/1' and len(j['costs']) > 15 and all(c['lo'] <= c['value'] * 1.0001 for c in j['costs'])"
    json cal.json "next(c for c in j['costs'] if c['key'] == 'machine.clock')['value'] > 2e8"
    want 0 'Round trip' run lat_pipe -m ./me-machine.cfg -k ./me-kernel.cfg --set workload.trips=200 -r 2
    grep -q '"measured"' me-machine.cfg || fail "no measured cost in me-machine.cfg"
fi
[ $asan = yes ] || want '0 5' 'costs differ by more than' calibrate --rounds 3 --gate off --check me
grep -q 'fitting: ' err && fail "progress where nobody looks"

# Calibrations beside each other: one agrees with itself; one whose clock is another's does not have to, but is read.
want 0 'pairs of intervals' calibrate --agree me me
want '0 5' 'pairs of intervals' calibrate --agree "$recorded/guest3" me "$recorded/guest2"
want 2 'compares 2 to' calibrate --agree me
want 3 'no machine named' calibrate --agree me nosuch
want 2 'no argument is expected' calibrate me

# Predictions are written before anything runs, and are the same each time. (The matrix is predicted below, and scored.)
want 0 'sha256' validate --calibration me own.cfg --predict-only --export-json two.json
json two.json "j['schema'] == 'wakebal.validation/1' and sum(c['predicted'] is not None for c in j['cases']) == 1"
want 0 'sha256' validate --calibration me own.cfg --predict-only --export-json three.json
cmp -s two.json three.json || fail "two predictions differ"
# A calibration that does not explain its probes is one to be warned of, also later and elsewhere.
for part in machine kernel; do sed '/fitted by simulating/s/"measured"/"assumed"/' me-$part.cfg >poor-$part.cfg; done
want 0 'did not explain its probes' validate --calibration poor own.cfg --predict-only

# A scenario of one's own, run for real for a moment: whatever comes out, it is reported.
want '0 5 8' 'predictions right|Nothing could be compared' validate --calibration me own.cfg --rounds 2 --seconds 0.1 --gate off --floor 0

# Refusals.
want 2 'there is no .*nosuch-machine.cfg' validate --calibration nosuch
want 2 'KEY=FACTOR' validate --calibration me --scale nonsense
want 2 'takes 3 to' calibrate --rounds 1
want 2 'is not known' calibrate --gate maybe
# What can be known beforehand is said before a quarter of a minute of measuring.
refused() {
    want "$@"
    grep -q Measuring err && fail "$*: measured first"
}
refused 3 'no machine named' calibrate --gate off --rounds 3 --check nosuch
refused 3 'no kernel named' calibrate --gate off --rounds 3 -k nosuch
refused 9 'Nothing was run' calibrate --gate off --rounds 3 -o nosuch/me
refused 9 'Nothing was run' calibrate --gate off --rounds 3 --export-json nosuch/cal.json
want 3 'no validation' validate --calibration me --quick --recorded cal.json
cat >custom.cfg <<'END'
schema = 1;
workload = ( { kind = "custom"; tasks = ( { name = "a"; program = [ "loop 10", "run 1 us", "end" ]; } ); } );
END
want 3 'cannot be run for real' validate --calibration me custom.cfg

# The whole chain on a recorded machine.
if [ $asan = no ]; then
    want 0 'predictions right' validate --calibration "$recorded/guest3" --quick --recorded "$recorded/guest3.json" --export-json scored.json
    # A latency's 90 % once stood where the 90 % of the runs belongs, and pictures drew their bars to it.
    json scored.json "all(m['p10'] <= m['median'] <= m['p90'] for m in (c['measured'] for c in j['cases']) if m)"
    json scored.json "all(c['predicted'] is not None for c in j['cases']) and len(j['cases']) > 8"
    json scored.json "j['summary']['right'] >= 0.85 * j['summary']['scored'] and j['summary']['median_error'] < 0.10"
    want 5 'Negative control' validate --calibration "$recorded/guest3" --quick --recorded "$recorded/guest3.json" --scale machine.ipi.send=3
fi
[ $bad = 0 ] && echo "calibrate and validate: all as wanted"
exit $bad
