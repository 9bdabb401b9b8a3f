#!/bin/bash
# The event set's compare must be arithmetic, not branches: gcc -O2 turns a plain compare into jumps that mispredict (1.7x slower).
# Counts add-with-carry, conditional moves and set instructions in the benchmark loop's sift. Usage: check_branchless.sh ARCHIVE
command -v objdump >/dev/null || { echo "objdump is not here: not checked"; exit 0; }
case $(uname -m) in x86_64) ;; *) echo "only known for x86-64: not checked"; exit 0 ;; esac
# The compiler may keep the sift a function of its own.
n=$(for f in hold_evq evq_sink; do objdump -d --no-show-raw-insn --disassemble=$f "$1"; done |
    grep -cE '[[:space:]](adc|cmov[a-z]+|set[a-z]+) ')
echo "$n branch-free compares in the sift"
[ "$n" -ge 3 ]
