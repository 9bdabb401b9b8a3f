/*
 * report.h - one HTML file that says what was asked, what came out, and where every cost comes from.
 *
 * Input are documents of other verbs (schemas wakebal.result/1, results/1, study/1, validation/1, cases/1,
 * manifest/1). The file needs nothing but itself: pictures are inline SVG, style and the few lines of script are in
 * it, and its content policy forbids everything else, so that no text of a scenario can load or run anything. Without
 * script everything is readable; the script sorts tables and opens folded parts for printing.
 *
 * Every picture has a title and a description that says what it shows, and its figures stand in a table as well.
 * Colours are those of Okabe and Ito and follow the reader's choice of dark or light; series also differ by dashes
 * and marks, verdicts by words.
 *
 * No times, hosts or paths: the same documents give the same bytes.
 *
 * wakebal.study/1 is made by the caller: { "name", "model", "judged": bool, "points": how many there are to be,
 * "results": [result/1...], "costs", "manifest" }.
 */
#ifndef WB_PLOTS_REPORT_H
#define WB_PLOTS_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "wakebal/base.h"

enum report_kind {
    REPORT_RUN,
    REPORT_STUDY,
    REPORT_VALIDATION,
    REPORT_CASES,
    REPORT_MANIFEST,
    REPORT_UNKNOWN /* no document of ours */
};
/* What a document is, by its schema. */
enum report_kind report_kind_of(const json_t *doc);

struct report_input {
    const json_t *doc;   /* any kind but REPORT_UNKNOWN */
    const char *name;    /* the file or scenario it came from, without folder */
    const char *command; /* how to make the document again; NULL: not known */
};

struct report {
    const struct report_input *input;
    size_t n;
    const char *title; /* NULL = that of the first document */
    const char *version;
};

/* Write the file. 0, or -errno of the stream. */
int report_write(FILE *to, const struct report *r) WB_MUST_USE;

#endif
