#!/usr/bin/env python3
"""Wrap comment lines of C files that are longer than 120 columns; clang-format leaves comments alone so that lists and
drawings survive. Words that do not fit move to the start of the next line of the same paragraph. Usage: wrap_comments.py FILE..."""
import re
import sys

LIMIT = 120
CONTINUED = re.compile(r"^(\s*\* )(\s*)(\S.*)$")
OPENING = re.compile(r"^(\s*)/\*(\*?)( +)(\S.*)$")
TRAILING = re.compile(r"^(\s*)(\S.*?[;,{]|\w+)\s*(/\*(?:(?!\*/).)*\*/)$")
MARKER = re.compile(r"^([-*o] |\d+[.)] |\w+ {2,})")


def cut(line):
    """Index of the last blank at which the line may be broken, or -1; the end of the comment keeps a word with it."""
    at = line.rfind(" ", 0, LIMIT - 1)
    return line.rfind(" ", 0, at) if line[at:].strip() == "*/" else at


def prefix_of(line):
    m = CONTINUED.match(line)
    if m:
        return m.group(1) + m.group(2)
    m = OPENING.match(line)
    if m:
        return m.group(1) + " *" + m.group(2) + m.group(3)
    return None


def takes_overflow(line, prefix):
    m = CONTINUED.match(line)
    return (m and len(m.group(1) + m.group(2)) >= len(prefix) and not MARKER.match(m.group(3))
            and line.strip() != "*/")


def wrap(lines):
    out = []
    queue = list(lines)
    while queue:
        line = queue.pop(0)
        prefix = prefix_of(line)
        trailing = TRAILING.match(line)
        if len(line) > LIMIT and prefix is None and trailing:  # a remark that does not fit behind its line goes above it
            queue[:0] = [trailing.group(1) + trailing.group(3), trailing.group(1) + trailing.group(2)]
            continue
        if len(line) <= LIMIT or prefix is None:
            out.append(line)
            continue
        at = cut(line)
        if at <= len(prefix):
            out.append(line)
            continue
        rest = line[at + 1:].strip()
        out.append(line[:at].rstrip())
        if "*/" not in rest and queue and takes_overflow(queue[0], prefix):
            m = CONTINUED.match(queue[0])
            queue[0] = m.group(1) + m.group(2) + rest + " " + m.group(3)
        else:
            queue.insert(0, prefix + rest)
    return out


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as f:
        old = f.read()
    new = "\n".join(wrap(old.split("\n")))
    if new != old:
        with open(name, "w", encoding="utf-8") as f:
            f.write(new)
