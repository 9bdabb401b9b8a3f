#!/bin/bash
# `wakebal bench`: the figures are there and are numbers. How large they are is no matter of a test.
. "$(dirname "$0")/lib_experiment.sh"
code 0 $w bench --quick --best-of 1 --export-json "$tmp/b.json"
has "$tmp/b.json" '"schema": "wakebal.bench/1"'
for name in engine_rate_16x64 engine_rate_256x4096 hold_16_ns hold_256_ns hold_4096_ns wakeup_ns_16x64 bytes_per_task_256x4096 real_time_case \
    engine_rate_16x64_eevdf engine_rate_256x4096_eevdf bytes_per_cpu_256x4096 cost_ns_per_doubling_linux-6.12 cost_growth_over_log_linux-2.6.22; do
    has "$tmp/b.json" "\"name\": \"$name\""
done
hasnt "$tmp/b.json" null
# What it comes to is said first (a build that is not optimised says that before).
[ "$(grep -v -e '^This is no optimised' -e '^$' "$tmp/out" | head -1 | cut -c1-19)" = "Verdict: the floor " ] || fail "the verdict is not at the top"
has "$tmp/out" "16 CPUs, 24 pairs and 16 hogs"
has "$tmp/out" "Cost of an event by size, linux-6.12"
code 2 $w bench --best-of 0
code 2 $w bench --only nothing
has "$tmp/err" "16x64_eevdf"
finish
