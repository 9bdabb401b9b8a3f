#!/usr/bin/env python3
"""Write quantile_tables.h: inverse distribution functions as integers, so that drawing needs no libm.

Usage: gen_quantiles.py > quantile_tables.h     (gen_quantiles.py --check FILE compares instead)

All values are Q32 fixed point (times 2^32). Let u in (0, 1) be written u = m / 2^z with m in [1/2, 1).
  neg_log      -ln(m) at m = 1/2 + i/512:              exponential, -ln(u) = z ln 2 - ln m
  power_of_two 2^f at f = i/256:                        lognormal
  normal_tail  -Phi^-1(m / 2^z), z = 1..64, 32 steps:   normal, lower half (u < 1/2, so z >= 1); 0 at u = 1/2
Between table points the code interpolates linearly: the error of a normal quantile stays under 2e-4 standard deviations.
"""
import sys
from decimal import Decimal, getcontext
from statistics import NormalDist

getcontext().prec = 60
Q = Decimal(2) ** 32


def fixed(x):
    return int((Decimal(x) * Q).to_integral_value())


def table(name, kind, dims, values):
    out = [f"static const {kind} {name}{dims} = {{"]
    for i in range(0, len(values), 8):
        out.append("    " + ", ".join(str(v) for v in values[i:i + 8]) + ",")
    out.append("};")
    return "\n".join(out)


def text():
    half = Decimal(1) / 2
    neg_log = [fixed(-(half + Decimal(i) / 512).ln()) for i in range(257)]
    power = [fixed(((Decimal(i) / 256) * Decimal(2).ln()).exp()) for i in range(257)]
    normal = []
    for z in range(1, 65):
        for i in range(33):
            p = float((half + Decimal(i) / 64) / Decimal(2) ** z)
            normal.append(fixed(repr(-NormalDist().inv_cdf(p))) if p < 0.5 else 0)
    parts = [
        "/* Made by gen_quantiles.py; do not edit. Q32 fixed point; see there for the meaning. */",
        "#ifndef WB_CORE_QUANTILE_TABLES_H\n#define WB_CORE_QUANTILE_TABLES_H\n\n#include <stdint.h>\n",
        "/* clang-format off */",
        f"#define LN_2_Q32 {fixed(Decimal(2).ln())}ull",
        f"#define LOG2_E_Q32 {fixed(1 / Decimal(2).ln())}ull\n",
        table("neg_log", "uint64_t", "[257]", neg_log) + "\n",
        table("power_of_two", "uint64_t", "[257]", power) + "\n",
        table("normal_tail", "uint64_t", "[64 * 33]", normal),
        "/* clang-format on */\n",
        "#endif",
    ]
    return "\n".join(parts) + "\n"


if len(sys.argv) == 3 and sys.argv[1] == "--check":
    with open(sys.argv[2], encoding="ascii") as f:
        sys.exit(0 if f.read() == text() else f"{sys.argv[2]} is not what gen_quantiles.py writes")
sys.stdout.write(text())
