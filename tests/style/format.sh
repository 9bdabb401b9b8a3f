#!/bin/bash
# Apply the house style to the named C files, or to all tracked ones: comments wrapped at 120 columns, then clang-format 14.
set -e
cd "$(dirname "$0")/../.."
if [ $# -eq 0 ]; then mapfile -t files < <(git ls-files '*.c' '*.h'); else files=("$@"); fi
python3 tests/style/wrap_comments.py "${files[@]}"
clang-format -i "${files[@]}"
