#!/bin/bash
# What is made from the tables: manual pages render without a warning, completions complete, the schema agrees with check.
. "$(dirname "$0")/lib_experiment.sh"
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$tmp" || exit 2
for what in man completion schema; do code 0 "$w" generate $what made; done

# manual pages: one for each verb
for verb in $("$w" generate words help | sed '/\./,$d'); do
    [ "$verb" = base ] && break
    [ -s "made/wakebal-$verb.1" ] || fail "no manual page of '$verb'"
    for option in $("$w" "$verb" --help 2>/dev/null | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE '\-\-[a-z-]+' | sort -u); do
        grep -qF -- "${option//-/\\-}" "made/wakebal-$verb.1" || fail "$option of $verb is not in its manual page"
    done
done
if command -v man >/dev/null; then
    for page in made/*.[15]; do
        MANWIDTH=80 man --warnings -l "$page" >page.out 2>page.err || fail "man -l $page"
        [ -s page.err ] && { fail "$page: $(head -1 page.err)"; }
        [ "$(wc -l <page.out)" -gt 15 ] || fail "$page: nothing in it"
    done
    MANWIDTH=200 man -l made/wakebal-scenario.5 >page.out 2>/dev/null
    for key in workload.message machine.ipi.flight kernel.hz run.window; do
        grep -qF "$key" page.out || fail "wakebal-scenario.5 lacks $key"
    done
fi

# completion: bash, by what it offers
complete_bash() { # WORDS... ; the last one is being typed
    (
        cd "$tmp/empty" || exit
        . "$tmp/made/wakebal.bash"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _wakebal
        printf '%s\n' "${COMPREPLY[@]}"
    )
}
mkdir empty
offers() { # WORD, then words of the command line
    local want=$1
    shift
    complete_bash "$@" >offered
    grep -qxF -- "$want" offered || fail "'$*' does not offer '$want' but: $(head -5 offered | tr '\n' ' ')"
}
offers report "$w" rep
offers --export-json= "$w" run --exp
offers smp16 "$w" run pipe -m smp
offers smp16 "$w" run pipe --machine = smp
offers linux-6.18 "$w" run pipe -k linux-6
offers workload.message= "$w" run pipe --set workload.mes
offers always "$w" run pipe --color = al
offers never "$w" check --color n
offers pipe "$w" run pi
offers freebsd-syscalls-2004 "$w" reproduce free
offers workload.message "$w" help workload.mes
offers machines "$w" list mach
complete_bash "$w" check --export-j >offered
[ -s offered ] && grep -q . offered && fail "an option of another verb is offered: $(cat offered)"
bash -n made/wakebal.bash || fail "bash does not read its completion"
mkdir -p bin own
ln -sf "$(readlink -f "$w")" bin/wakebal
# zsh on a terminal of its own: what one types, with a tab at the end, and what becomes of it. PATIENCE: how much longer
# than on a fast machine it is waited for.
complete_zsh() {
    local patience=$1
    shift
    cat >drive.zsh <<EOF
zmodload zsh/zpty || exit 77
zpty z env PATH=$tmp/bin:\$PATH HOME=$tmp/own TERM=dumb zsh -f -i
zpty -w z 'PROMPT="> "; fpath=($tmp/made \$fpath); autoload -U compinit; compinit -u -d $tmp/own/dump; unsetopt beep'
sleep $((3 * patience))
for line in "\$@"; do
    zpty -w -n z "\$line"\$'\t'
    sleep $((2 * patience))
    zpty -w -n z \$'\x15'
    sleep 0.2
done
while zpty -r -t z out; do print -rn -- "\$out"; done
zpty -d z
EOF
    timeout $((60 * patience)) zsh -f drive.zsh "$@" >typed 2>/dev/null
}
if command -v zsh >/dev/null; then
    zsh -n made/_wakebal || fail "zsh does not read its completion"
    for patience in 1 8; do
        complete_zsh $patience 'wakebal run pipe -m smp1' 'wakebal run pipe --color=al' 'wakebal reproduce freeb' 'wakebal run pipe --set workload.messa'
        live=$?
        grep -qF -- '--set workload.message=' typed && break
    done
    if [ $live != 77 ]; then
        for want in '-m smp16' '--color=always' 'reproduce freebsd-syscalls-2004' '--set workload.message='; do
            grep -qF -- "$want" typed || fail "zsh does not complete to '$want': $(tail -c 400 typed | tr -c ' -~' ' ')"
        done
    fi
fi
if command -v fish >/dev/null; then
    fish -n made/wakebal.fish || fail "fish does not read its completion"
    HOME=$tmp/own PATH=$tmp/bin:$PATH fish -c 'source made/wakebal.fish; complete -C "wakebal run pipe --machine smp"' >offered 2>/dev/null
    grep -q smp16 offered || fail "fish does not offer machines"
    HOME=$tmp/own PATH=$tmp/bin:$PATH fish -c 'source made/wakebal.fish; complete -C "wakebal rep"' >offered 2>/dev/null
    grep -q '^report' offered || fail "fish does not offer verbs"
fi

for view in $("$w" show --help | sed -n '/^Views:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    offers "$view" "$w" show "${view:0:2}"
done
for what in $("$w" list --help | sed -n 's/^WHAT is one of \(.*\)\./\1/p' | tr -d ,); do
    offers "$what" "$w" list "${what:0:2}"
done

# words, and mistakes
code 0 "$w" generate words metrics
has out wake_latency
code 2 "$w" generate words nonsense
code 2 "$w" generate nonsense made
echo 'schema = ' >broken.cfg
code 3 "$w" generate json broken.cfg

# the schema
python3 "$here/support/schema_agrees.py" "$w" made/wakebal-scenario.schema.json "$here"/../scenarios/*/*.cfg "$here"/golden/*.cfg \
    "$here"/bad/*.cfg >out 2>&1
rc=$?
[ $rc = 0 ] || [ $rc = 77 ] || fail "schema: $(tail -5 out)"
finish
