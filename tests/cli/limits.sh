#!/bin/bash
# What the shell can do to a program: files that may not grow, small stacks, few descriptors, closed ones, a folder that is
# gone. Refused in words, or it works; never a death without a word.
. "$(dirname "$0")/lib_experiment.sh"
cd "$tmp" || exit 2
study="pipe $quick --vary workload.message=1KiB,2KiB"

# limited LIMIT CODES COMMAND...: under `ulimit LIMIT` the exit code is one of CODES, and what is refused is said.
limited() {
    local limit=$1 codes=$2
    shift 2
    # shellcheck disable=SC2086
    (ulimit $limit && exec "$@") >out 2>err
    local got=$?
    [[ " $codes " = *" $got "* ]] || { fail "exit $got under ulimit $limit: $*"; head -3 err >&2; }
    [ $got = 0 ] || [ -s err ] || fail "exit $got without a word under ulimit $limit: $*"
}
# A file that must not grow is a full disk.
limited "-f 1" 9 $w run pipe $quick --export-json big.json
has err "File too large"
[ ! -e big.json ] || fail "half a file is left"
limited "-f 1" 9 $w sweep $study -o big.db
limited "-f 1" 9 $w run pipe $quick --trace -o big.trace
limited "-f 1" 9 $w report pipe $quick -o big.html

# Little stack is enough.
limited "-s 64" 0 $w sweep $study -j 2 -o small.db
limited "-s 64" 0 $w run hog $quick -r 4 -j 2

limited "-n 8" "0 9" $w sweep $study -o few.db
limited "-n 5" "0 9" $w sweep $study -o fewer.db

# Closed descriptors: what has no place to go is an error, and files are written all the same, without a word of text in them.
for close in '>&-' '<&-' '2>&-' '>&- 2>&- <&-'; do
    rm -f closed.json closed.db
    eval "$w run pipe $quick --export-json closed.json $close" 2>/dev/null >out
    got=$?
    [ $got = 0 ] || [ $got = 9 ] || fail "exit $got with $close"
    [ "$(head -c 1 closed.json)" = '{' ] && [ "$(tail -c 2 closed.json)" = '}' ] || fail "no JSON with $close"
    eval "$w sweep $study -o closed.db $close" 2>/dev/null >out
    code 0 $w compare closed.db --by workload.message -q
done

# A folder that is gone.
mkdir gone
(
    cd gone && rmdir ../gone && "$w" run pipe $quick >../out 2>../err
) || fail "a run needs its folder"
(
    cd "$tmp" && mkdir gone && cd gone && rmdir ../gone && "$w" run pipe $quick --export-json x.json >../out 2>../err
)
[ $? = 9 ] || fail "written into a folder that is gone"
has err "cannot write 'x.json'"
finish
