#include <string.h>

#include "wakebal/scenario.h"

/* Sorted by code. Codes are for ever: one that is no longer used stays, so that `help` still explains an old log. */
static const struct wb_error_info table[] = {
    { "E101", "a setting is not written as key = value;",
      "The grammar is libconfig's: key = value; or key : { ... }; with strings in double quotes, lists in ( ), arrays in [ ] and groups in { }.",
      "Look at the marked place: an '=', a value or a ',' is missing or too many." },
    { "E102", "libconfig refuses what looked right",
      "Files are read twice, by wakebal for places and messages and by libconfig 1.5 for the values. Here the two disagree.",
      "Write the setting in the plainest form, one on a line." },
    { "E103", "the file is not UTF-8 text", "A NUL byte or a UTF-16 mark was found. A byte-order mark of UTF-8 is accepted.", "Save the file as UTF-8 text." },
    { "E104", "a comment is never closed", "A comment that starts with /* ends with */. Comments to the end of the line start with // or #.", "Add the */." },
    { "E105", "a string is never closed", "Strings stand in double quotes; a quote inside is written \\\".", "Add the closing quote." },
    { "E106", "@include is not written as @include \"file\"", "It needs a line of its own and a path in quotes, relative to the folder of the file it stands in.",
      "Write @include \"file.cfg\" alone on its line." },
    { "E107", "text or a quantity without quotes", "Words and quantities with units are strings: \"thread\", \"64 KiB\". Only counts, ratios, true and false stand bare.",
      "Put the value into double quotes." },
    { "E108", "a character that means nothing here", "Only names, values, brackets, ':' '=' ';' ',' and comments may stand outside strings. Names start with a letter.",
      "Remove it, or put the text into double quotes." },
    { "E109", "brackets do not pair up", "Each { ( [ needs its } ) ]. libconfig would blame the last line of the file; the place given here is the bracket that was left open.",
      "Close it where its group ends." },
    { "E110", "files include each other without end", "A file includes itself, directly or through others, or includes are nested more than 10 deep.", "Remove one @include." },
    { "E111", "an included file cannot be read", "The path is relative to the folder of the file that holds the @include. Only regular files up to 8 MiB are read.",
      "Correct the path." },
    { "E112", "the file is too large or too deep", "Limits: 8 MiB, 200000 values, 32 levels of nesting, 4096 keys in a group.", "Split or flatten it." },
    { "E113", "an array holds values of different types", "Arrays [ ] hold plain values of one type; lists ( ) hold anything. In libconfig 1 and 2.5 are different types.",
      "Use a list: ( 1, 2.5 )." },
    { "E114", "a key is set twice", "A key may be set once in a group. To change what a base says, set it in your own file; to try another value use --set.",
      "Keep one of the two." },
    { "E115", "unknown key", "Every key must be a row of the key table (wakebal list keys). Misspelt keys would otherwise do nothing, silently.",
      "Take one of the keys valid at that place." },
    { "E116", "a key of another kind", "The key exists, but for another kind of workload or another scheduler than this one.", "Remove it, or change the kind." },
    { "E117", "a required key is missing", "Some keys have no sensible default: the kind of a workload, the topology of a machine.", "Add the key." },
    { "E118", "the scenario has no machine or no kernel", "A scenario joins a machine, a kernel and workloads.", "Add machine : { base = \"NAME\"; }; or give -m NAME." },
    { "E120", "an integer that libconfig would wrap", "Without the suffix L, libconfig 1.5 keeps only 32 bits: 4294967296 would silently be read as 0. With L it stops at 2^63.",
      "Write times, sizes and rates with their unit in quotes; write large counts with L." },
    { "E121", "a bare number where a unit is needed", "Times, sizes, rates and frequencies are strings with a unit: \"10 us\", \"64 KiB\". A bare 10 could mean anything.",
      "Add quotes and the unit." },
    { "E122", "a value of the wrong type", "The key wants another type of value: a count, true/false, a text, a list or a group.", "Write it as the message shows." },
    { "E123", "a value outside its range", "Each key has a range; `wakebal help KEY` shows it with the default and its source.", "Choose a value inside the range." },
    { "E124", "a quantity that cannot be read", "A quantity is a number and a unit. KB is refused: it is 1000 bytes for some and 1024 for others.", "Write for example \"10 us\", \"64 KiB\", \"6.4 GB/s\", \"1.5 GHz\"." },
    { "E125", "a word that is none of the choices", "The key takes one of a few words.", "Take one of the words listed." },
    { "E126", "a CPU list that cannot be read", "CPU lists are \"free\" (no affinity), \"all\", or numbers and ranges: \"0,2-5\". Hexadecimal masks are not read.", "Write the CPU numbers." },
    { "E127", "a distribution that cannot be read", "Distributions: \"10 us\", \"exp(10 us)\", \"uniform(1 us, 5 us)\", \"normal(10 us, 5 %)\", \"lognormal(10 us, 50 %)\", \"table(10 us:3, 20 us:1)\".",
      "Write one of these forms." },
    { "E128", "a cost without proper status", "A cost may say where it comes from: ( value, status, range, source ), with the status measured, quoted, derived or assumed.", "Correct the status or the source." },
    { "E129", "a plausible range that makes no sense", "An assumed cost needs a range \"low..high\" that holds its value; verdicts are tried at both ends.", "Write the range with units." },
    { "E130", "an unknown key on the command line", "--set, --vary and `set` rows take the same keys as the file, dotted: machine.ipi.flight.", "Take one of the keys valid at that place." },
    { "E131", "it is not clear which entry of a list is meant", "With one workload, workload.KEY is enough; with several it is workload.NAME.KEY.", "Name the entry." },
    { "E132", "a setting that is not key=value", "`set` and `against` of a case's row hold settings as --set takes them.", "Write \"key=value\"." },
    { "E140", "a file cannot be read", "Only regular files up to 8 MiB are read.", "Check the path and its permissions." },
    { "E141", "no such machine, kernel, workload or scenario", "Names are looked up beside the file that uses them, in the folders of WAKEBAL_PATH, and among what ships.",
      "See `wakebal list machines|kernels|workloads|cases|studies`, or give a path." },
    { "E142", "files build on each other without end", "`base` leads back to the same file, or through more than 16 files.", "Remove one `base`." },
    { "E150", "a value does not fit the rest of the scenario", "Each value alone is fine; together they make no sense. The model that noticed says why.", "Change one of the values named." },
    { "E160", "an expression that cannot be read", "Expressions: keys, numbers with units, 'texts', + - * / %, == != < <= > >=, && || !, parentheses.", "Correct the marked place." },
    { "E161", "an unknown name in an expression", "Names in expressions are keys of the scenario, and machine.cpus, machine.cores, machine.llcs, machine.nodes, machine.packages.", "Take a key of the scenario." },
    { "E162", "an expression that mixes types", "Both sides of + - and of comparisons must have the same unit; && || ! want true/false.", "Give both sides the same unit; put texts in quotes." },
    { "E170", "the values of an axis cannot be read", "Axes: a,b,c | 1..10 | 0..1 /11 | 1..1024 *2 | 1ms..64ms *4 | @file.", "Write one of these forms." },
    { "E171", "an axis that cannot vary", "Some keys cannot be axes, two axes cannot vary the same key, and a sweep has at most a million points.", "Choose another key or fewer values." },
    { "E172", "axes that cannot move in lock step", "--zip wants axes that exist and have the same number of values.", "Give them the same number of values." },
};

const struct wb_error_info *wb_error_find(const char *code)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++)
        if (!strcmp(table[i].code, code)) return &table[i];
    return NULL;
}

const struct wb_error_info *wb_error_at(size_t i) { return i < WB_ARRAY_SIZE(table) ? &table[i] : NULL; }
