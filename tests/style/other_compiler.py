#!/usr/bin/env python3
"""Reads every source with the other compiler, warnings as errors.

The suite is built with one compiler; this asks clang for its opinion of the same command lines without making objects,
so that a warning only clang knows does not wait for the long suite. Usage: other_compiler.py BUILD_DIR. Exit code 77
where there is no clang, or the build is clang's own.
"""
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys

OURS = ("-flto", "-ffat-lto-objects", "-fno-fat-lto-objects", "-mmemset-strategy=")   # what the other does not know


def command(entry, clang):
    words = shlex.split(entry["command"])
    while os.path.basename(words[0]).split("-")[0] == "ccache":
        words = words[1:]
    if "clang" in os.path.basename(words[0]):
        sys.exit(77)
    keep = [w for w in words[1:] if not w.startswith(OURS)]
    at = keep.index("-o")
    return [clang, *keep[:at], *keep[at + 2:], "-fsyntax-only"]


def complaint(job):
    words, folder = job
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def main():
    clang = shutil.which("clang")
    if not clang:
        return 77
    with open(os.path.join(sys.argv[1], "compile_commands.json"), encoding="utf-8") as f:
        jobs = [(command(entry, clang), entry["directory"]) for entry in json.load(f)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = [text for text in pool.map(complaint, jobs) if text]
    print("".join(bad[:20]))
    print(f"{len(jobs)} sources read with clang, {len(bad)} with complaints")
    return 1 if bad or not jobs else 0


sys.exit(main())
