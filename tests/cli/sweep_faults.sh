#!/bin/bash
# What can go wrong with a study's file: each is said clearly, and nothing that was committed is lost or overwritten.
. "$(dirname "$0")/lib_experiment.sh"
study="hog --vary workload.chunk=1ms,2ms,3ms,4ms -r 3 --duration 20ms --warmup none -q"
code 0 $w sweep $study -o "$tmp/good.db" --export-json "$tmp/good.json"

# refused NAME CODE TEXT: the study in NAME is refused and left as it is.
refused() {
    cp "$tmp/$1" "$tmp/before"
    code "$2" $w sweep $study -o "$tmp/$1"
    has "$tmp/err" "$3"
    cmp "$tmp/$1" "$tmp/before" || fail "$1 was changed"
}

# --- truncated
size=$(stat -c %s "$tmp/good.db")
for n in 100 4096 $((size / 2)) $((size - 4096)) $((size - 1)); do
    head -c "$n" "$tmp/good.db" >"$tmp/cut.db"
    refused cut.db 3 "It was left as it is"
done
# An empty file is one that was being made.
: >"$tmp/empty.db"
code 0 $w sweep $study -o "$tmp/empty.db" --export-json "$tmp/empty.json"
cmp "$tmp/good.json" "$tmp/empty.json" || fail "a study from an empty file differs"

# --- no study at all
echo "dear diary" >"$tmp/diary.db"
refused diary.db 3 "no SQLite file"
sqlite3 "$tmp/other.db" "CREATE TABLE t (x); INSERT INTO t VALUES (1)"
refused other.db 3 "is no study of wakebal"
cp "$tmp/good.db" "$tmp/trigger.db"
sqlite3 "$tmp/trigger.db" "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END"
refused trigger.db 3 "tables are not those of a study"
code 3 $w sweep $study -o /dev/null
mkdir "$tmp/folder.db"

# --- another version, another model
cp "$tmp/good.db" "$tmp/version.db"
sqlite3 "$tmp/version.db" "PRAGMA user_version = 2"
refused version.db 3 "tables of version 2"
# An older one as well, whatever is asked of it.
cp "$tmp/good.db" "$tmp/old.db"
sqlite3 "$tmp/old.db" "PRAGMA user_version = 0"
refused old.db 3 "is a study with tables of version 0, and this wakebal reads version 1"
for words in "compare $tmp/old.db $tmp/good.db" "report $tmp/old.db -o $tmp/old.html" "plot $tmp/old.db --terminal" "rerun $tmp/old.db" "merge -o $tmp/m.db $tmp/old.db"; do
    code 3 $w $words
    has "$tmp/err" "tables of version 0"
done
[ ! -e "$tmp/m.db" ] && [ ! -e "$tmp/old.html" ] || fail "a refused study left something"
cp "$tmp/good.db" "$tmp/model.db"
sum=$(printf 'model\n0.0.1+123456789abc\n' | sha256sum | cut -d' ' -f1)
sqlite3 "$tmp/model.db" "UPDATE study SET value = '0.0.1+123456789abc', sum = '$sum' WHERE key = 'model'"
refused model.db 3 "was made by model 0.0.1+123456789abc"

# --- changed by hand, or by the disk
cp "$tmp/good.db" "$tmp/hand.db"
sqlite3 "$tmp/hand.db" "UPDATE run SET json = replace(json, '\"finished\":true', '\"finished\":false') WHERE replication = 1"
refused hand.db 3 "is not as it was written"
cp "$tmp/good.db" "$tmp/moved.db"
sqlite3 "$tmp/moved.db" "UPDATE run SET replication = 7 WHERE replication = 2 AND point = 1"
refused moved.db 3 "is not as it was written"
# More free pages than there are: SQLite itself would notice when it wants one, after it had written others.
python3 - "$tmp/good.db" "$tmp/free.db" <<'P'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
b[39] ^= 8
open(sys.argv[2], "wb").write(b)
P
refused free.db 3 "is damaged"
seed=${WB_SWEEP_SEED:-$RANDOM}
echo "seed $seed"
python3 - "$tmp/good.db" "$tmp/flip" "$seed" <<'P'
import random, sys
data = open(sys.argv[1], "rb").read()
rng = random.Random(int(sys.argv[3]))
for i in range(30):
    b = bytearray(data)
    at = rng.randrange(len(b)) if i >= 6 else rng.randrange(100)
    b[at] ^= 1 << rng.randrange(8)
    open("%s%d.db" % (sys.argv[2], i), "wb").write(b)
P
caught=0
for f in "$tmp"/flip*.db; do
    cp "$f" "$tmp/before"
    $w sweep $study -o "$f" --export-json "$tmp/flip.json" >"$tmp/out" 2>"$tmp/err"
    got=$?
    case $got in
    0) cmp -s "$tmp/good.json" "$tmp/flip.json" || fail "$f: a flipped bit changed results" ;;
    3 | 9)
        caught=$((caught + 1))
        cmp -s "$f" "$tmp/before" || fail "$f: refused, and changed"
        has "$tmp/err" "the study '"
        ;;
    *) fail "$f: exit $got"; head -3 "$tmp/err" >&2 ;;
    esac
done
echo "$caught of 30 flipped bits mattered and were caught"
[ $caught -ge 10 ] || fail "only $caught of 30 flipped bits were caught"

# --- a full disk: by the limit on file sizes everywhere, by a small tmpfs where that is allowed
(
    trap '' XFSZ
    ulimit -f 40
    $w sweep $study -o "$tmp/full.db" >"$tmp/out" 2>"$tmp/err"
)
got=$?
[ $got = 9 ] || fail "exit $got on a full disk"
has "$tmp/err" "committed is safe"
kept=$(sqlite3 "$tmp/full.db" "SELECT count(*) FROM run" 2>/dev/null || echo 0)
code 0 $w sweep $study -o "$tmp/full.db" --export-json "$tmp/full.json" --progress json
cmp "$tmp/good.json" "$tmp/full.json" || fail "a study continued after a full disk differs"
grep -q "\"runs_kept\":$kept[,}]" "$tmp/err" || fail "$kept runs were committed and not all used"
cat >"$tmp/inside.sh" <<'S'
mount -t tmpfs -o size=${4}k none "$3" || exit 77
$1 sweep $2 -o "$3/s.db" >/dev/null 2>"$3.err"
echo $? >"$3.code"
cp "$3/s.db"* "$3.kept/" 2>/dev/null
mount -o remount,ro "$3" || exit 77
$1 sweep $2 -o "$3/s.db" >/dev/null 2>"$3.ro.err"
echo $? >"$3.ro.code"
$1 compare "$3/s.db" "$3/s.db" >/dev/null 2>"$3.cmp.err"
echo $? >"$3.cmp.code"
exit 0
S
mkdir "$tmp/disk" "$tmp/disk.kept" "$tmp/room" "$tmp/room.kept"
if unshare -rm bash "$tmp/inside.sh" "$w" "$study" "$tmp/disk" 120 2>/dev/null &&
    unshare -rm bash "$tmp/inside.sh" "$w" "$study" "$tmp/room" 20000 2>/dev/null; then
    [ "$(cat "$tmp/disk.code")" = 9 ] || fail "exit $(cat "$tmp/disk.code") on a full tmpfs"
    has "$tmp/disk.err" "no space is left on the disk"
    code 0 $w sweep $study -o "$tmp/disk.kept/s.db" --export-json "$tmp/tmpfs.json"
    cmp "$tmp/good.json" "$tmp/tmpfs.json" || fail "a study continued after a full tmpfs differs"
    # Read-only: it can be read, not written.
    [ "$(cat "$tmp/room.code")" = 0 ] || fail "exit $(cat "$tmp/room.code") with room"
    [ "$(cat "$tmp/room.ro.code")" = 9 ] || fail "exit $(cat "$tmp/room.ro.code") on a read-only disk"
    has "$tmp/room.ro.err" "cannot be written"
    [ "$(cat "$tmp/room.cmp.code")" = 0 ] || fail "a study on a read-only disk cannot be compared"
else
    echo "no mounts here: tmpfs and read-only disk not tried"
fi
if [ "$(id -u)" != 0 ]; then
    mkdir "$tmp/ro"
    cp "$tmp/good.db" "$tmp/ro/"
    chmod 555 "$tmp/ro"
    code 9 $w sweep $study -o "$tmp/ro/good.db"
    code 0 $w compare "$tmp/ro/good.db" "$tmp/good.db"
    chmod 755 "$tmp/ro"
fi
code 9 $w sweep $study -o "$tmp/no/such/folder/s.db"

# --- two programs on one study: the second says who has it, and the first is not disturbed; readers are welcome
slow="hog --vary workload.chunk=1ms..20ms/20 -r 30 --duration 50ms --warmup none -q"
$w sweep $slow -o "$tmp/two.db" >"$tmp/first" 2>&1 &
pid=$!
for _ in $(seq 100); do
    [ "$(sqlite3 "$tmp/two.db" "SELECT count(*) FROM run" 2>/dev/null || echo 0)" -gt 0 ] && break
    sleep 0.05
done
code 9 $w sweep $slow -o "$tmp/two.db"
has "$tmp/err" "is being written by another wakebal (process $pid on"
ln -s two.db "$tmp/link.db"
code 9 $w sweep $slow -o "$tmp/link.db"
has "$tmp/err" "is being written by another wakebal (process $pid on"
ln "$tmp/two.db" "$tmp/hard.db"
code 9 $w sweep $slow -o "$tmp/hard.db"
has "$tmp/err" "has 2 names (hard links)"
rm "$tmp/link.db" "$tmp/hard.db"
code 0 $w compare "$tmp/two.db" "$tmp/two.db"
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
# A lock file of a dead program does not count.
code 0 $w sweep ${slow/-r 30/-r 2} -o "$tmp/two.db"
[ ! -e "$tmp/two.db.lock" ] || fail "the lock file stays"
finish
