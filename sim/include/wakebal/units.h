/*
 * units.h - quantities with units, as integers.
 *
 * "10 us", "64 KiB", "1.5 GHz", "6.4 GB/s", "2 %", "400 cy". Everything becomes a 64-bit integer in the base unit of
 * its kind, exactly (decimal arithmetic, no floating point): time in ps, size in bytes, rate in bytes/s, frequency in
 * Hz, ratio in ppm, cycles in milli-cycles. A value that is not a whole number of base units is rounded half up (its
 * magnitude, when it is negative); a count must be whole. A unit is required except for counts, for ratios ("0.02")
 * and for 0. Exponents ("1e6") are read.
 */
#ifndef WAKEBAL_UNITS_H
#define WAKEBAL_UNITS_H

#include "wakebal/base.h"

enum wb_unit { WB_UNIT_COUNT, WB_UNIT_TIME, WB_UNIT_SIZE, WB_UNIT_RATE, WB_UNIT_FREQ, WB_UNIT_RATIO, WB_UNIT_CYCLES };

/* Parse all of `text` as a quantity of kind `unit`. Returns 0, or -1 with *why set to a static sentence and *at to the
 * offending offset. Negative values are accepted where the number is signed ("-5"). */
int wb_parse_quantity(const char *text, enum wb_unit unit, int64_t *value, const char **why, size_t *at) WB_MUST_USE;

/* Human form with 3 significant digits and the fitting unit: "1.28 s", "64 KiB", "4.1 us", "5.00 GB/s". Writes at
 * most n bytes, always terminated; returns buf. */
char *wb_format_quantity(char *buf, size_t n, double value, enum wb_unit unit);
/* The unit that wb_format_quantity() would take for this value: its size in base units, its name in *name. */
double wb_quantity_scale(double value, enum wb_unit unit, const char **name);
/* Shortest exact form that parses back to the same value ("10 us", "65537 B"). */
char *wb_format_exact(char *buf, size_t n, int64_t value, enum wb_unit unit);

#endif
