#!/bin/bash
# Verbs check, help and list; the shared options; exit codes.
set -u
wakebal=${WAKEBAL:?the program}
unset WAKEBAL_PATH NO_COLOR CLICOLOR_FORCE
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0

# try CODE WHERE TEXT ARG...: run with ARGs; exit code CODE, and the stream WHERE (out, err) holds TEXT.
try() {
    local code=$1 where=$2 text=$3
    shift 3
    "$wakebal" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    local got=$?
    if [ "$got" -ne "$code" ] || ! grep -qF -- "$text" "$tmp/$where"; then
        echo "wakebal $*: exit code $got (wanted $code), wanted on $where: $text"
        head -5 "$tmp/out" "$tmp/err"
        failed=$((failed + 1))
    fi
}

cat >"$tmp/good.cfg" <<'EOF'
schema = 1;
machine : { base = "itanium2-tiger4"; };
kernel : { base = "linux-2.6.11"; };
workload = ( { kind = "pipe_bw"; message = "4 KiB"; } );
EOF
sed 's/4 KiB/4 KB/' "$tmp/good.cfg" >"$tmp/bad.cfg"

try 0 out "good.cfg: ok" check "$tmp/good.cfg"
try 0 out "itanium2-tiger4: ok" check itanium2-tiger4
try 3 err "ambiguous: write KiB (1024 bytes) or kB (1000 bytes)" check "$tmp/bad.cfg"
try 3 err "bad.cfg:4:" check "$tmp/good.cfg" "$tmp/bad.cfg"
try 0 out "good.cfg: ok" check --color never "$tmp/good.cfg"
try 3 err $'\e[' check --color always "$tmp/bad.cfg"
try 3 err "no scenario or file named 'nothing-there'" check nothing-there
try 3 err "cannot read '$tmp': it is a folder" check "$tmp"
try 3 err "it is no regular file" check /dev/null
mkfifo "$tmp/fifo"
try 3 err "it is no regular file" check "$tmp/fifo"
head -c 9000000 /dev/zero >"$tmp/large.cfg"
try 3 err "it is larger than 8 MiB" check "$tmp/large.cfg"

try 2 err "an argument is missing: FILE..." check
try 2 err "there is no option '--colour'" check --colour never "$tmp/good.cfg"
try 2 err "Did you mean '--color'?" check --colour never "$tmp/good.cfg"
try 2 err "Did you mean 'never'?" check --color nevr "$tmp/good.cfg"
try 2 err "did you mean 'check'?" chek
try 2 err "a verb is missing"
try 2 err "'x' is one argument too many" list keys x
# What one types from habit leads to what there is.
try 2 err "To set the key of that name: --set workload.cpus=VALUE" run pipe --cpus 0
try 2 err "Did you mean '--duration'?" run pipe --time 10
try 2 err "Did you mean '--replications'?" run pipe --runs 3
try 2 err "wakebal show topology nehalem-ep" topology smp2
try 3 err "did you mean 'workload.message'?" run pipe --set message=64KiB
try 3 err 'write duration = "10 s"' run pipe --duration 10sec
try 3 err "did you mean the machine 'nehalem-ep'?" run nehalem
try 3 err "did you mean the kernel 'linux-2.6.11'?" run 2.6.11
try 2 err "These begin so: wake_latency" help wake_lat
try 2 err "These begin so: E120, E121" help E12
try 2 err "wakebal help workload" list keys workload
try 2 err "latency has no --cpu" show latency pipe --cpu 1
try 3 err 'or a topology: "pack:2 core:4 pu:1"' run pipe -m 2x4
try 0 out "1 point, 2 replications each" run pipe -r 2 --dry-run
try 0 out "wakebal " --version
try 0 out "libraries" --version --verbose
try 0 out "Usage: wakebal VERB" -h
try 0 out "Usage: wakebal check" check --help
try 0 out "Usage: wakebal check" help check
[ "$("$wakebal" help | wc -l)" -le 24 ] || { echo "short help is longer than 24 lines"; failed=$((failed + 1)); }

try 0 out "run.window   time, default \"100 ms\"; range 1 us .. 100 s" help run.window
try 0 out "Source: lmbench 3 src/lat_pipe.c." help workload.message
try 0 out "run.replications.half_width" help run.
try 0 out "kernel.hz" help hz
try 0 out "machine.idle.*.exit" help machine.idle.c1.exit
try 0 out "an integer that libconfig would wrap" help E120
try 2 err "Did you mean 'run.window'?" help run.windw
try 2 err "is no verb, key, group, workload, policy, metric, machine, kernel, case or error code" help frobnicate

try 0 out "wakebal show topology nehalem-ep" help nehalem-ep
try 0 out "wakebal show domains pipe -k linux-6.12" help linux-6.12
try 0 out "wakebal reproduce tcp-rr-2007" help tcp-rr-2007
try 0 out "wakebal run lat_pipe" help lat_pipe
try 0 out "colocated   metric" help Together
try 0 out "idle_while_work_waits   metric" help "Idle while work waited"
try 0 out "wakebal calibrate" help UNCALIBRATED
try 2 err "is no verb" help ../machines/smp2

# What was probably meant: as long as the word, the word within a longer name, the first part of a name.
try 3 err "did you mean 'linux-6.12'?" run pipe -k linux-6.13
try 3 err "did you mean 'linux-6.6'?" run pipe -k linux-6.8
try 3 err "did you mean 'linux-6.18'?" run pipe -k 6.17.3
try 3 err "did you mean 'linux-5.4'?" run pipe -k linux-4.19
try 3 err "did you mean 'linux-2.6.24'?" run pipe -k 2.6.29
try 3 err "did you mean 'linux-2.6.11'?" run pipe -k 2.6.11
try 3 err "did you mean 'nehalem-ep'?" run pipe -m nehalm
try 3 err "did you mean 'hackbench'?" run hackbenc

# A machine or kernel where a scenario is wanted.
"$wakebal" topology --live >"$tmp/live.cfg"
try 3 err "live.cfg: error: this is a machine, not a scenario" run "$tmp/live.cfg"
try 3 err "give it with -m, beside a scenario" run "$tmp/live.cfg"
[ "$("$wakebal" run "$tmp/live.cfg" 2>&1 | wc -l)" -le 3 ] || { echo "a machine as a scenario: more than one error"; failed=$((failed + 1)); }

for what in keys machines kernels workloads policies cases studies metrics errors; do
    try 0 out "" list "$what"
    [ -s "$tmp/out" ] || { echo "list $what prints nothing"; failed=$((failed + 1)); }
done
try 2 err "Did you mean 'machines'?" list machine
WAKEBAL_PATH=$tmp
export WAKEBAL_PATH
mkdir "$tmp/machines"
printf 'title = "my own";\ntopology = "pu:1";\n' >"$tmp/machines/mine.cfg"
try 0 out "mine                         my own" list machines
sed -i 's/itanium2-tiger4/mine/' "$tmp/good.cfg"
mkdir "$tmp/elsewhere"
mv "$tmp/good.cfg" "$tmp/elsewhere"
try 0 out "good.cfg: ok" check "$tmp/elsewhere/good.cfg"

# All facts that messages promise are there.
try 0 out "workload.copies=1" run bw_pipe --dry-run --vary workload.copies=1 \
    --where "machine.cpus == 4 && machine.cores == 4 && machine.packages == 4 && machine.nodes == 1 && machine.llcs == 4"
try 3 err "no machine named 'nix' is known" run bw_pipe --dry-run -m nix
try 0 out "pack:2 core:2 pu:1" run bw_pipe -m "pack:2 core:2 pu:1" --print-config

# Help fits the terminal: 80 columns, or what COLUMNS says. Lists do so on a terminal; in a pipe a row is a line.
widest() { awk '{ if (length > m) m = length } END { print m }'; }
for width in 60 80 120; do
    for args in "help kernel" "help workload.kind" "help pipe_bw" "list keys" "list metrics" "list workloads"; do
        got=$(COLUMNS=$width "$wakebal" $args | widest)
        [ "$got" -le "$width" ] || { echo "$args at $width columns is $got wide"; failed=$((failed + 1)); }
    done
done
got=$(env -u COLUMNS "$wakebal" help kernel | widest)
[ "$got" -le 80 ] || { echo "help kernel without COLUMNS is $got wide"; failed=$((failed + 1)); }
rows=$("$wakebal" list keys --markdown | grep -c '^| `')
[ "$(env -u COLUMNS "$wakebal" list keys | wc -l)" -eq "$rows" ] || { echo "list keys in a pipe: a row is no line"; failed=$((failed + 1)); }

# A full disk is a failure.
"$wakebal" list keys >/dev/full 2>"$tmp/err"
[ $? -eq 9 ] || { echo "writing to a full disk must exit with 9"; failed=$((failed + 1)); }

# Hostile titles do nothing.
printf 'title = "\\x1b[2J`touch %s/gone`$(touch %s/gone)<script>\\n";\ntopology = "pu:1";\n' "$tmp" "$tmp" >"$tmp/machines/evil.cfg"
"$wakebal" list machines >"$tmp/out"
if [ -e "$tmp/gone" ] || grep -q $'\e' "$tmp/out"; then echo "a title was obeyed"; failed=$((failed + 1)); fi
{ printf 'title = "'; head -c 1000000 /dev/zero | tr '\0' 'x'; printf '";\ntopology = "pu:1";\n'; } >"$tmp/machines/long.cfg"
try 0 out "long.cfg: ok" check "$tmp/machines/long.cfg"
[ "$("$wakebal" list machines | awk '{ if (length > m) m = length } END { print m }')" -lt 300 ] || { echo "a title was not clipped"; failed=$((failed + 1)); }

echo "$failed failed"
[ "$failed" -eq 0 ]
