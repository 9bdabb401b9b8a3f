#!/bin/bash
# wakebal topology: what it writes is a valid machine file, pictures, mistakes with their column and exit code.
set -u
wakebal=${WAKEBAL:?}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# expect WHAT CODE COMMAND...: the command must end with CODE; its output goes to $dir/out and $dir/err.
expect() {
    local what=$1 code=$2 got
    shift 2
    "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    if [ "$got" -ne "$code" ]; then
        echo "$what: exit $got, wanted $code: $*"
        cat "$dir/err"
        failed=1
    fi
}
# shows WHERE TEXT: the last output holds TEXT.
shows() {
    grep -qF -- "$2" "$dir/$1" || { echo "missing in $1: $2"; cat "$dir/$1"; failed=1; }
}

expect "write a file" 0 "$wakebal" topology --synthetic "pack:2 [numa] l3:1 core:4 pu:2" --numbering smt_last --name mine -o "$dir/mine.cfg"
expect "check it" 0 "$wakebal" check "$dir/mine.cfg"
grep -q 'indexes=0,8,1,9' "$dir/mine.cfg" || { echo "numbering was lost"; failed=1; }
expect "this machine" 0 "$wakebal" topology --live -o "$dir/live.cfg"
[ -s "$dir/err" ] && { echo "noise on stderr:"; cat "$dir/err"; failed=1; }
expect "check this machine" 0 "$wakebal" check "$dir/live.cfg"
expect "laid out as fmt does" 0 "$wakebal" fmt --check "$dir/mine.cfg" "$dir/live.cfg"
expect "draw" 0 "$wakebal" topology --synthetic "[numa] pack:2 l3:1(size=6MiB) core:1 pu:1" --draw --ascii
shows out "+- L3 6 MiB ---+ +- L3 6 MiB ---+"

expect "bad count" 3 "$wakebal" topology --synthetic "pack:4 l3:x core:1 pu:1"
shows err "topology:1:11: error: topology string: 'x' is not a count"
shows err "= after 'l3:' a number is needed, for example l3:1(size=6291456)"
expect "missing file" 3 "$wakebal" topology --from-hwloc "$dir/none.xml"
shows err "No such file or directory"
echo '<nonsense' >"$dir/bad.xml"
expect "bad file" 3 "$wakebal" topology --from-hwloc "$dir/bad.xml"
shows err "not an hwloc XML file"
# hwloc 2.9 dies of an object without complete_cpuset. Numbers of CPUs are closed up, however high.
cat >"$dir/odd.xml" <<'X'
<?xml version="1.0"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1">
<object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" local_memory="1000"/>
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"/>
<object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1"/>
</object></topology>
X
expect "a small file" 0 "$wakebal" topology --from-hwloc "$dir/odd.xml"
sed '/type="PU" os_index="1"/s/complete_cpuset="[^"]*"//' "$dir/odd.xml" >"$dir/dies.xml"
timeout 60 "$wakebal" topology --from-hwloc "$dir/dies.xml" >"$dir/out" 2>"$dir/err"
got=$?
# Another hwloc may read it: what it says then is as good.
[ $got = 0 ] || [ $got = 3 ] || { echo "an object without complete_cpuset: exit $got"; failed=1; }
sed '/type="PU" os_index="1"/s/os_index="1"/os_index="30000000"/' "$dir/odd.xml" >"$dir/high.xml"
expect "a high number" 0 "$wakebal" topology --from-hwloc "$dir/high.xml"
shows out 'title = "2 CPUs, topology from high.xml"'
hybrid=${WB_SOURCE_DIR:?}/tests/machines/hybrid.xml
expect "XML as a machine" 0 "$wakebal" show domains hog -m "$hybrid" -k linux-6.12
shows out "cpu12-15: CLS {12-15}  MC {0-19}"
expect "XML drawn" 0 "$wakebal" show topology "$hybrid" --ascii
shows out "+- L3 24 MiB"
expect "XML, run side by side" 0 "$wakebal" run hog -m "$hybrid" -k linux-6.12 --duration 2ms -r 8 -j4
expect "XML that is not there" 3 "$wakebal" run hog -m "$dir/gone.xml"
shows err "gone.xml: No such file or directory"
expect "nothing said" 2 "$wakebal" topology
expect "two sources" 2 "$wakebal" topology --live --synthetic "pu:1"
expect "bad scheme" 2 "$wakebal" topology --live --numbering odd
expect "no place to write" 9 "$wakebal" topology --live -o "$dir/none/x.cfg"
exit $failed
