#!/bin/bash
# Keys at the ends of their ranges: each must be refused with a reason, or give a run whose figures can be.
# Three kernels, a workload of every kind; some keys at a time are set to an end of their range, to nothing, to something
# tiny or huge. A run that dies, does not end, or reports what cannot be is cut down to the key that does it.
# Here a sample that is always the same; `edge_values.sh --all [PATTERN]` tries each value of each key alone (an hour).
. "$(dirname "$0")/lib_experiment.sh"
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
cd "$tmp" || exit 2

cat >rest.inc <<'E'
workload = (
  { kind = "pipe_bw"; name = "bw"; message = "4 KiB"; },
  { kind = "pipe_latency"; name = "lat"; message = "1 B"; think = "exp(5 us)"; },
  { kind = "tcp_rr"; name = "tcp"; },
  { kind = "udp_rr"; name = "udp"; think = "2 us"; },
  { kind = "unix_rr"; name = "unix"; },
  { kind = "hackbench"; name = "hb"; groups = 1; fds = 2; loops = 5; },
  { kind = "syscall"; name = "sys"; calls = 1000; },
  { kind = "hog"; name = "hog"; count = 1; background = true; working_set = "64 KiB"; },
  { kind = "periodic"; name = "per"; count = 2; run = "200 us"; sleep = "300 us"; background = true; },
  { kind = "custom"; name = "own"; channels = [ "out" ]; regions = [ "tree 256 KiB" ]; events = [ "ev 0" ]; locks = [ "m" ]; background = true;
    tasks = ( { name = "a"; pair = "b"; program = [ "loop", "run exp(20 us)", "touch tree 64 KiB random", "lock m", "run 3 us", "unlock m", "write out 4 KiB", "wake ev", "end" ]; },
              { name = "b"; program = [ "loop", "readall out 4 KiB", "wait ev", "sleep 10 us", "every 100 us", "count x", "end", "end" ]; } ); }
);
run : { duration = "6 ms"; warmup = "1 ms"; window = "1 ms"; start_spread = "500 us"; replications : { min = 1; max = 1; }; };
E
base() { # NAME MACHINE KERNEL [MORE OF THE KERNEL]
    printf 'schema = 1;\nmachine : { base = "%s"; };\nkernel : { base = "%s"; %s };\n@include "rest.inc"\n' "$2" "$3" "${4:-}" >"$1.cfg"
}
base o1 itanium2-tiger4 linux-2.6.11
base eevdf nehalem-ep linux-6.18
base ule p4-xeon-htt freebsd-5.2-ule 'noise = ( { gap = "exp(200 us)"; cost = "uniform(1 us, 4 us)"; } );'
base cfs nehalem-ep linux-2.6.36 # for what once went wrong only
code 0 $w check cfs.cfg o1.cfg eevdf.cfg ule.cfg
python3 - "$@" <<'P' || fail "see above"
import json, math, os, random, re, resource, subprocess, sys

exe = os.environ["WAKEBAL"]
everything = "--all" in sys.argv
only = sys.argv[2] if len(sys.argv) > 2 else ""
rng = random.Random(20260)
failures = 0


def run(args):
    """Exit code (a string when it had to be stopped), standard output, standard error."""
    try:
        p = subprocess.run([exe] + args, stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 12)))
    except subprocess.TimeoutExpired:
        return "asleep for 300 s", "", ""
    code = "10 s of CPU time" if p.returncode == -24 else p.returncode
    return code, p.stdout.decode(), p.stderr.decode()


def key_table():
    """Pattern -> [(type, range)]: a key of workloads may have a row for each kind."""
    table = {}
    for line in run(["list", "keys", "--markdown"])[1].splitlines():
        m = re.match(r"\| `([^`]*)` \| ([^|]*) \| [^|]* \| ([^|]*) \|", line)
        if m:
            table.setdefault(m[1], []).append((m[2].replace("\\", ""), m[3].strip()))
    return table


def pattern(path, table):
    path = re.sub(r"\[\d+\]", "", path)
    if path in table:
        return path
    part = path.split(".")
    for p in table:
        q = p.split(".")
        if len(q) == len(part) and all(a == b or a == "*" for a, b in zip(q, part)):
            return p


MORE = {"time": ["1 ps", "1 us", "100 s"], "time or cycles": ["0 cy", "1 cy", "4000000000 cy", "3600 s"],
        "count": ["0", "1", "2", "65536"], "size": ["1 B", "4095 B", "1 GiB"],
        "rate": ["1 B/s", "1 KiB/s"], "ratio": ["0", "0.0001", "1"],
        "frequency": ["1 Hz", "100 GHz"], "distribution": ["0 s", "exp(1 ns)", "100 s", "exp(100 s)"],
        "true/false": ["true", "false"], "CPU list": ["", "0", "free", "all", "0,0", "1000"]}
BAD = ["-1", "nan", "inf", "1e400 s", "-5 us", "5 KiB/s s", "0x", "999999999999999999999999"]

# Much work is what these ask for: no sign of a mistake.
LONG = re.compile(r"^run\.(duration|horizon|replications\.(min|max))$|^workload.*\.(copies|instances|count|groups|fds)$")


def values(kind, span):
    """Those that may be taken, those that must be refused."""
    out = [x for x in span.split(" .. ") if re.match(r"-?\d", x)] + MORE.get(kind, [])
    if kind.startswith("one of"):
        out += kind.split()[2:]
    bad = BAD if kind in ("time", "count", "size", "rate", "frequency", "time or cycles") else []
    if kind == "count" and span.startswith("-"):
        bad = bad[1:]
    return list(dict.fromkeys(out)), bad


def odd(text):
    """What cannot be, in the JSON of a result."""
    try:
        doc = json.loads(text, parse_constant=lambda c: 1 / 0)
    except (ValueError, ZeroDivisionError):
        return "no JSON"
    share = 0
    for m in doc["metrics"]:
        v = m["mean"]
        if v is None:
            continue
        if not math.isfinite(v) or v < 0:
            return "%s is %r" % (m["name"], v)
        if (m["name"].startswith("time.") or m["name"] in ("colocated", "idle_while_work_waits")) and v > 1.000001:
            return "the share %s is %r" % (m["name"], v)
        if m["name"] == "measured" and v > 1000:
            return "measured %r s" % v
        share += v if re.fullmatch(r"time\.\w+", m["name"]) else 0
    if abs(share - 1) > 1e-6 and any(m["name"] == "measured" and m["mean"] for m in doc["metrics"]):
        return "the shares of time add up to %r" % share
    for i in doc["invariants"]:
        if i["kind"] not in ("idle_while_work_waits", "pingpong", "starvation"):
            return "invariant %r" % i
    return None


def trial(base, sets):
    """None: fine. "refused": with a reason. Else what is wrong."""
    args = ["run", base, "-q", "--export-json", "-"]
    for k, v in sets:
        args += ["--set", "%s=%s" % (k, v)]
    code, out, err = run(args)
    if code == 3 and "error: " in err:
        return "refused"
    if code not in (0, 6):
        return "exit %s: %s" % (code, err[:300])
    return odd(out)


def blame(base, sets):
    """Cut a set that goes wrong down to what does it."""
    global failures
    for one in sets:
        rest = [s for s in sets if s != one]
        if rest and trial(base, rest) not in (None, "refused"):
            return blame(base, rest)
    failures += 1
    print("FAILED: %s --set %s: %s" % (base, " --set ".join("%s='%s'" % s for s in sets), trial(base, sets)), flush=True)


# What once went wrong, and how it must end.
ONCE = [
    ("ule.cfg", "refused", [("kernel.path.do_wait", "3600 s")]),                 # no upper end of the range
    ("ule.cfg", "refused", [("kernel.path.do_wait", "9223372036854775 cy")]),    # a time only with the clock
    ("ule.cfg", "refused", [("machine.ipi.send", "4000000000 cy")]),
    ("ule.cfg", "refused", [("kernel.noise[0].cost", "exp(100 s)")]),            # distributions were not held against ranges
    ("ule.cfg", "refused", [("kernel.noise[0].gap", "table(1 ms:1, 2000 s:1)")]),
    ("ule.cfg", None, [("kernel.noise[0].cost", "lognormal(1 s, 100000 %)")]),   # no segment holds what is drawn
    ("cfs.cfg", None, [("kernel.domains[0].smt_gain", "1")]), # a thread worth nothing: a division by zero
    ("eevdf.cfg", None, [("kernel.path.scan_runqueue", "1 s"), ("machine.topology", "pack:2 [numa] core:64 pu:1")]), # once for each CPU
    ("eevdf.cfg", None, [("kernel.path.mutex_spin_on_owner", "0 ns")]), # looks without end in no time
    ("ule.cfg", None, [("workload[2].think", "100 s"), ("workload[3].think", "100 s"), ("workload[4].think", "100 s"), ("run.duration", "300 ms")]),
]


def try_group(base, sets):
    got = trial(base, sets)
    if got == "refused" and len(sets) > 1: # one refusal hides the others
        half = len(sets) // 2
        try_group(base, sets[:half])
        try_group(base, sets[half:])
    elif got not in (None, "refused"):
        blame(base, sets)


table = key_table()
seen = set()
good, bad = {}, []
for base in ("o1.cfg", "eevdf.cfg", "ule.cfg"):
    good[base] = []
    taken = set()
    for line in run(["run", base, "--print-config"])[1].splitlines():
        path = line.split(" ")[0]
        p = pattern(path, table)
        if not p or p in taken or not re.search(only, path):
            continue
        taken.add(p)
        for kind, span in table[p]:
            fine, wrong = values(kind, span)
            if LONG.search(p):
                fine = [v for v in fine if not re.fullmatch(r"\d{4,}|\d{3,} s", v)]
            good[base] += [(path, v) for v in fine]
            if p not in seen:
                bad += [(base, path, v) for v in wrong]
        seen.add(p)
tries = 0
for base, want, sets in ONCE:
    got = trial(base, sets)
    if got != want:
        failures += 1
        print("FAILED: %s: %s instead of %s" % (sets, got, want))
for base, sets in good.items():
    rng.shuffle(sets)
    if everything:
        for s in sets:
            try_group(base, [s])
            tries += 1
        continue
    for i in range(0, 16 * 4, 4):
        try_group(base, sets[i:i + 4])
        tries += 4
rng.shuffle(bad)
for base, path, v in bad if everything else bad[:24]:
    tries += 1
    if trial(base, [(path, v)]) != "refused":
        failures += 1
        print("FAILED: %s=%s is taken" % (path, v), flush=True)
print("%d values, %d failures" % (tries, failures))
sys.exit(failures > 0 or tries < 100)
P
finish
