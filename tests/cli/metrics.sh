#!/bin/bash
# `wakebal list metrics` defines every figure that a run reports.
set -u
export LC_ALL=C
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

cat >all.cfg <<'CFG'
schema = 1;
title = "one of each";
machine : { base = "itanium2-tiger4"; };
kernel : { base = "linux-2.6.11"; };
workload = ( { kind = "pipe_bw"; }, { kind = "pipe_latency"; }, { kind = "hog"; }, { kind = "periodic"; }, { kind = "syscall"; } );
run : { duration = "300 ms"; warmup = "none"; window = "10 ms"; replications : { min = 1; max = 1; }; };
CFG

# Names as patterns: a part in capitals stands for any text, at the begin for dotted text.
"$WAKEBAL" list metrics | awk 'NF > 3 && $3 ~ /^(higher|lower|none)$/ { print $1 }' |
    sed -E 's/\./\\./g; s/^[A-Z]+/.+/; s/\.[A-Z]+/.[^.]+/g; s/.*/^&$/' >patterns
[ "$(wc -l <patterns)" -gt 40 ] || { echo "FAILED: list metrics is short"; exit 1; }

"$WAKEBAL" run all.cfg -q --export-json out.json >/dev/null 2>err || { echo "FAILED: run: $(cat err)"; exit 1; }
grep -oE '"name": *"[a-z_]+(\.[a-z0-9_]+)*"' out.json | sed -E 's/.*"([^"]+)"$/\1/' | sort -u >names
for must in bandwidth bandwidth.p50 round_trip trip_time.p99 work cycles lateness.max calls call.locks colocated regime.apart switches.rate \
    migrations.newidle pipe.handoffs time.user idle_while_work_waits wake_latency.p99; do
    grep -qx "$must" names || { echo "FAILED: the run does not report $must"; exit 1; }
done
# Names in the file that are not figures: the tool, the machine, what stands beside figures.
grep -vE -f patterns names | grep -vxE "wakebal|itanium2-tiger4|measured|duration|hog|periodic|syscall|pipe_bw|pipe_latency" >unknown
[ -s unknown ] && { echo "FAILED: not in list metrics:"; cat unknown; exit 1; }
exit 0
