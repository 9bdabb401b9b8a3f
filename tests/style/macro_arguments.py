#!/usr/bin/env python3
"""Arguments with side effects in macros that evaluate them more than once.

    macro_arguments.py FILE...

A macro's parameter counts when its text uses it at least twice, other than as #p, p##x, or in sizeof and typeof. What is
handed to it must be free of ++, --, assignments and calls, but for calls of functions that only answer (PURE, and every
macro). Prints each offence; exit 1 if any.
"""
import re
import sys

# Functions without side effects, whose second call gives what the first gave. A draw, a read or an allocation is none.
PURE = set("""
above_capacity atoi bal board_meter bsd_given bsd_ticks count_digits distinct estimate exp_text_columns
exp_text_sequence extent_end fair_capacity fair_cpu_runnable fair_rq fair_task fair_task_h_load given holder_rest_bytes
json_array_size label_of longest_tick net_mtu number o1_bonus o1_curr_prio o1_jiffies o1_rq o1_timeslice one_run plot_columns
plot_string plot_text_columns prio_of replications set_of sizeof skb_truesize spare_without sqrt strlen tick_idle_for times trace_lost
until_slice wb_cfg_int wb_cfg_int_at wb_now wb_ntasks wb_region_bytes wb_sim_now window_end wrap_width
""".split())
WORD = re.compile(r"[A-Za-z_]\w*")


def strip(text):
    """Comments and the insides of literals blanked, lines kept."""
    def blank(m):
        s = m.group(0)
        if s.startswith(("/*", "//")):
            return re.sub(r"[^\n]", " ", s)
        return s[0] + " " * (len(s) - 2) + s[-1]
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)


def macros(text):
    """name -> [is this parameter evaluated more than once]"""
    found = {}
    for m in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:\\\n|[^\n])*)", text, flags=re.M):
        params = [p.strip() for p in m.group(2).split(",")]
        body = m.group(3)
        body = re.sub(r"\b(?:sizeof|typeof|__typeof__)\s*\([^()]*\)|\bsizeof\s+\w+", " ", body)
        body = re.sub(r"#\s*#\s*\w+|\w+\s*#\s*#|#\s*\w+", " ", body)
        words = WORD.findall(re.sub(r"(?:\.|->)\s*\w+", " ", body))
        found[m.group(1)] = [words.count(p) > 1 for p in params]
    return found


def arguments(text, at):
    """Of the call whose ( is at `at`: [(offset, text)]."""
    depth, start, out = 0, at + 1, []
    for i in range(at, len(text)):
        c = text[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if not depth:
                return out + [(start, text[start:i])]
        elif c == "," and depth == 1:
            out.append((start, text[start:i]))
            start = i + 1
    return []


def why(arg, known):
    """What is wrong with an argument that is evaluated twice, or None."""
    if "++" in arg or "--" in arg:
        return "counts"
    if re.search(r"(?<![=<>!])=(?!=)", arg) and "{" not in arg:
        return "assigns"
    for m in re.finditer(r"([A-Za-z_]\w*)\s*\(", arg):
        if m.group(1) not in PURE and m.group(1) not in known:
            return "calls " + m.group(1)
    return None


SAMPLE = """#define BIG(a, b) ((a) > (b) ? (a) : (b))
#define ONCE(a) (sizeof(a) + (a))
int f(void) { return BIG(x++, 1) + BIG(draw(&s), y) + BIG(a = b, BIG(1, i--)) + ONCE(draw(&s)) + BIG(a == b, strlen(s)); }
"""


def main():
    if len(offences({"sample": SAMPLE})) != 5:  # x++, draw, a = b, i-- and what holds it
        sys.exit("macro_arguments.py does not see what it is for")
    texts = {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", errors="replace") as f:
            texts[path] = strip(f.read())
    found = offences(texts)
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


def offences(texts):
    known, found = {}, []
    for t in texts.values():
        for name, twice in macros(t).items():
            old = known.get(name, [False] * len(twice))
            known[name] = [a or b for a, b in zip(twice, old + [False] * len(twice))]
    risky = {n for n, twice in known.items() if any(twice)}
    for path, t in texts.items():
        code = re.sub(r"^[ \t]*#[ \t]*define[ \t]+(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), t,
                      flags=re.M)
        for m in re.finditer(r"\b(" + "|".join(sorted(risky)) + r")\s*\(", code):
            for twice, (at, arg) in zip(known[m.group(1)], arguments(code, m.end() - 1)):
                reason = twice and why(arg, known)
                if reason:
                    line = code.count("\n", 0, at) + 1
                    arg = " ".join(arg.split())
                    found.append(f"{path}:{line}: {m.group(1)} evaluates more than once what {reason}: {arg}")
    return found


sys.exit(main())
