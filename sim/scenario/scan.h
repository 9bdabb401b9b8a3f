/*
 * scan.h - a scenario file as a tree in which every key and value knows its place.
 *
 * libconfig 1.5 tells neither columns nor more than the first mistake, wraps integers silently and blames an unclosed
 * brace on the last line. So the text is read twice: by the scanner here, which keeps places, recovers and collects
 * all mistakes, and (scan_libconfig.c) by libconfig itself, whose verdict and values are the ones that count. The
 * scanner is never laxer: what it accepts and libconfig refuses is reported as such.
 *
 * @include is expanded here, through the reader, so that no device or endless file is opened behind our back. The
 * tree, its strings and its places live in the arena of the caller. Nothing here recurses.
 */
#ifndef WB_SCENARIO_SCAN_H
#define WB_SCENARIO_SCAN_H

#include "arena.h"
#include "wakebal/diag.h"
#include "wakebal/scenario.h"

#define SCAN_DEPTH_MAX 32      /* groups and lists inside each other */
#define SCAN_VALUES_MAX 200000 /* values of a file with its includes */
#define SCAN_KEYS_MAX 4096     /* keys of one group: libconfig looks them up one by one */
#define SCAN_ERRORS_MAX 100    /* mistakes of syntax in one file, after which it is given up */
#define SCAN_INCLUDE_MAX 10    /* as libconfig */

enum scan_kind { SCAN_GROUP, SCAN_LIST, SCAN_ARRAY, SCAN_STRING, SCAN_INT, SCAN_FLOAT, SCAN_BOOL };

struct scan_node {
    enum scan_kind kind;
    bool wraps; /* INT: libconfig would read another number; reported by whoever looks at the value */
    bool wrap_told;
    bool told;              /* list: a wrong separator was reported */
    char closer;            /* of { ( [ */
    bool plain;             /* STRING: one literal on one line without escapes, so an offset in it is a column */
    const char *name;       /* NULL inside lists */
    struct wb_place key_at; /* of the name; of the value inside lists */
    struct wb_place at;     /* of the value; of the opening bracket for { ( [ */
    const char *text;       /* string contents, or the literal as written */
    int64_t num;            /* INT, BOOL */
    size_t n;               /* children */
    struct scan_node *parent, *first, *last, *next;
};

/* Scan `text` (NUL-terminated besides its len) as `file`. Includes are read through `reader`, relative to the folder
 * of `file`. Registers the sources with d. Returns the root group, always; *broken tells that the syntax is wrong
 * (reported). */
struct scan_node *scan_text(struct arena *a, const struct wb_reader *reader, const char *file, const char *text,
                            size_t len, struct wb_diag *d, bool *broken);
/* The same for `v = text` of the command line; NULL when it is no value (nothing is reported). Places are `at`. */
struct scan_node *scan_value(struct arena *a, const char *text, struct wb_place at);
/* Place of byte `offset` of a string value, `len` columns long. */
struct wb_place scan_place_in(const struct scan_node *string, size_t offset, size_t len);
/* "integer", "string", "group", ... for messages. */
const char *scan_kind_name(enum scan_kind k);
/* A copy that lives as long as the arena; running out of memory ends the program. */
char *scan_strdup(struct arena *a, const char *text, size_t len);
char *scan_printf(struct arena *a, const char *fmt, ...) WB_PRINTF(2, 3);
void *scan_new(struct arena *a, size_t n, size_t size);

/* ---- shared between the parts of the scanner ---- */

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_ASSIGN,
    TOKEN_SEMICOLON,
    TOKEN_COMMA,
    TOKEN_OPEN_GROUP,
    TOKEN_CLOSE_GROUP,
    TOKEN_OPEN_LIST,
    TOKEN_CLOSE_LIST,
    TOKEN_OPEN_ARRAY,
    TOKEN_CLOSE_ARRAY,
    TOKEN_STRING,
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_BOOL,
    TOKEN_INCLUDE, /* text = the path between the quotes */
    TOKEN_BAD      /* reported by the lexer */
};

struct token {
    enum token_kind kind;
    struct wb_place at;
    const char *text; /* into the source; strings: without the quotes, escapes as written */
    size_t len;
    bool first_on_line;
};

/* A position in one source text; copying it is how the parser looks ahead. */
struct lexer {
    const char *file, *text;
    size_t len, pos, line_start;
    int line;
    struct arena *arena;
    struct wb_diag *d; /* NULL: stay silent (looking ahead) */
    bool *broken;
    int wide; /* line of the first string that runs over several lines; 0 = none yet */
    bool cut; /* a string or comment ran to the end of the text: brackets that it swallowed are no mistakes */
};

struct token lex_next(struct lexer *l);
/* Decode the escapes of a string literal as libconfig does. */
char *lex_decode(struct arena *a, const char *text, size_t len, bool *plain);
/* Value of an integer literal; *wraps when libconfig reads another one. `hex`, `L` and `LL` as libconfig. */
int64_t lex_integer(const char *text, size_t len, bool *wraps);
/* What libconfig makes of an integer that does not fit, for the message. */
int64_t lex_wrapped(const char *text, size_t len);

/* Text with includes expanded, as libconfig gets it, and where its lines came from. */
struct scan_expanded {
    char *text;
    size_t len, cap;
    struct scan_segment {
        int line; /* first line of the expanded text */
        const char *file;
        int file_line; /* the line of `file` that it is */
    } * segment;
    size_t segments, segments_cap;
    int lines;
};
/* Let libconfig read the text. Fills values from its tree; 0, or -1 with an error in d. */
int scan_ask_libconfig(struct arena *a, const struct scan_expanded *x, struct scan_node *root, struct wb_diag *d);

#endif
