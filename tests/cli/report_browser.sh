#!/bin/bash
# Reports in a real browser: no console message, tables sort, pictures have text, hostile titles run nothing. Skipped (77)
# where there is no Chromium.
. "$(dirname "$0")/lib_experiment.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || exit 77
here=$(cd "$(dirname "$0")" && pwd)
cd "$tmp" || exit 2

cat >evil.cfg <<'EOF'
schema = 1;
title = "<script>document.title='owned'</script><img src=x onerror=console.log('owned')>";
machine : { base = "smp2"; };
kernel : { base = "linux-2.6.11"; };
workload = ( { kind = "pipe_bw"; message = "4 KiB"; } );
sweep : { over = ( { set = "workload.message"; values = [ "4 KiB", "16 KiB", "64 KiB" ]; } ); };
EOF
code 0 $w report evil.cfg -q --duration 10ms -r 2 --warmup none -o evil.html
code 0 $w report "$here/../support/validation.json" -q -o validation.html

# visit FILE: the document after loading into dom, console messages into log.
visit() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --enable-logging=stderr --v=0 \
        --dump-dom "file://$tmp/$1" >dom 2>log || fail "$1: the browser failed"
    grep -E 'CONSOLE' log && fail "$1: console messages"
    true
}
for f in evil validation; do
    visit $f.html
    grep -q '</footer>' dom || fail "$f: the page ends early"
    grep -q '<th scope="col" class="n"><button type="button"' dom || fail "$f: headings are no buttons: the script did not run"
    grep -qiE '<img|<script>document' dom && fail "$f: markup of a title became markup"
done

# A copy without the content policy, with a script that acts as a reader does and writes what it sees.
cat >act.js <<'EOF'
var said = [];
function column(t, i) { return Array.prototype.map.call(t.tBodies[0].rows, function (r) { return r.cells[i].dataset.v || r.cells[i].textContent; }); }
var t = document.querySelector("table"), heads = t.tHead.rows[0].cells, n = -1, i;
for (i = 0; i < heads.length; i++) if (heads[i].classList.contains("n")) { n = i; break; }
heads[n].querySelector("button").click();
var up = column(t, n).map(Number);
said.push("up=" + up.every(function (v, k) { return !k || up[k - 1] <= v; }) + " " + heads[n].getAttribute("aria-sort"));
heads[n].querySelector("button").click();
var down = column(t, n).map(Number);
said.push("down=" + down.every(function (v, k) { return !k || down[k - 1] >= v; }) + " moved=" + (down.join() !== up.join()));
said.push("named=" + Array.prototype.every.call(document.querySelectorAll("svg"), function (s) {
  return s.getAttribute("aria-labelledby").split(" ").every(function (id) { var e = document.getElementById(id); return e && e.textContent; });
}));
dispatchEvent(new Event("beforeprint"));
said.push("open=" + Array.prototype.every.call(document.querySelectorAll("details"), function (d) { return d.open; }));
said.push("wide=" + (document.documentElement.scrollWidth <= window.innerWidth));
said.push("bg=" + getComputedStyle(document.body).backgroundColor);
document.body.setAttribute("data-said", said.join("; "));
EOF
sed -e 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' evil.html >act.html
{ echo '<script>'; cat act.js; echo '</script>'; } >>act.html
visit act.html
said=$(grep -o 'data-said="[^"]*"' dom)
for want in 'up=true ascending' 'down=true moved=true' 'named=true' 'open=true' 'wide=true' 'bg=rgb(255, 255, 255)'; do
    grep -qF "$want" <<<"$said" || fail "wanted '$want', the browser said: $said"
done
# the real page's policy keeps even a script out that got into it
{ cat evil.html; echo '<script>document.body.setAttribute("data-said", "owned")</script>'; } >injected.html
timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --dump-dom "file://$tmp/injected.html" >dom 2>/dev/null
grep -q 'data-said="owned"' dom && fail "the content policy lets scripts in"
# dark
timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --blink-settings=preferredColorScheme=0 \
    --dump-dom "file://$tmp/act.html" >dom 2>/dev/null
grep -o 'data-said="[^"]*"' dom | grep -qF 'bg=rgb(22, 24, 27)' || fail "dark: $(grep -o 'data-said="[^"]*"' dom)"
finish
