#!/bin/bash
# `cmake --install` into a prefix that is then moved, and a Debian package unpacked into a folder: what was installed works
# without the build tree.
. "$(dirname "$0")/lib_experiment.sh"
build=$(dirname "$(readlink -f "$w")")
[ -f "$build/cmake_install.cmake" ] || exit 77
for part in wakebal made/stamp; do [ -e "$build/$part" ] || exit 77; done
cd "$tmp" || exit 2

# works PREFIX: the program of that prefix, with its own scenarios and nothing else
works() {
    local p=$tmp/$1 text
    code 0 "$p/bin/wakebal" run pipe $quick
    code 0 "$p/bin/wakebal" --version --verbose
    has out "$p/share/wakebal"
    code 0 "$p/bin/wakebal" check ia64-bw-pipe-2005
    code 0 "$p/bin/wakebal" list machines
    [ -s "$p/share/bash-completion/completions/wakebal" ] || fail "$1: no completion"
    [ -s "$p/share/wakebal/schema/wakebal-scenario.schema.json" ] || fail "$1: no schema"
    ls "$p"/share/man/man1/wakebal.1* "$p"/share/man/man1/wakebal-report.1* "$p"/share/man/man5/wakebal-scenario.5* >/dev/null ||
        fail "$1: no manual pages"
    if command -v man >/dev/null; then
        text=$(man -l "$p"/share/man/man1/wakebal-run.1* 2>/dev/null)
        grep -q precision <<<"$text" || fail "$1: the manual page is empty"
    fi
    if command -v strace >/dev/null && strace -f -o trace "$p/bin/wakebal" run pipe $quick >/dev/null 2>&1; then
        grep -F "$WB_SOURCE_DIR/scenarios" trace | grep -vqE 'ENOENT' && fail "$1: files of the source tree are read"
    fi
    # a plug-in by the installed headers
    local pc
    pc=$(find "$p" -name wakebal.pc)
    command -v pkg-config >/dev/null || return 0
    rm -rf mine mine.so
    code 0 "$p/bin/wakebal" new policy mine
    # shellcheck disable=SC2046
    code 0 cc -std=c17 -shared -fPIC $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags wakebal) mine/mine.c -o mine.so
    code 0 "$p/bin/wakebal" run pipe $quick -p ./mine.so
}

code 0 cmake --install "$build" --prefix "$tmp/first"
mv first moved
works moved

command -v cpack >/dev/null && command -v dpkg-deb >/dev/null || finish
mkdir package
(cd package && cpack -G DEB --config "$build/CPackConfig.cmake") >out 2>&1 || fail "cpack: $(tail -3 out)"
deb=$(echo package/*.deb)
dpkg-deb -c "$deb" >content || fail "dpkg-deb -c"
for file in ./usr/bin/wakebal ./usr/share/man/man1/wakebal.1 ./usr/share/doc/wakebal/changelog ./usr/share/pkgconfig/wakebal.pc ./usr/share/wakebal/machines/smp2.cfg ./usr/include/wakebal/policy.h; do
    grep -qF "$file" content || fail "$file is not in the package"
done
# Nothing that lintian calls wrong, but that the maintainer has no mail address: there is none to give.
if command -v lintian >/dev/null; then
    lintian "$deb" 2>/dev/null | grep -E '^[EW]:' | grep -vE 'malformed-contact|bogus-mail-host' >complaints
    [ -s complaints ] && { fail "lintian:"; cat complaints >&2; }
fi
dpkg-deb -x "$deb" unpacked
works unpacked/usr
finish
