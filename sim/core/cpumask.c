/* cpumask.c - sets of CPUs as text. */
#include "wakebal/cpumask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct reader {
    const char *text;
    size_t at;
    const char *why;
};

static void skip_spaces(struct reader *r)
{
    while (r->text[r->at] == ' ') r->at++;
}

static int refuse(struct reader *r, const char *why)
{
    r->why = why;
    return -1;
}

static int read_cpu(struct reader *r, uint32_t ncpus, cpu_id *cpu)
{
    const char *s = r->text;
    skip_spaces(r);
    size_t start = r->at;
    if (s[start] == '0' && (s[start + 1] == 'x' || s[start + 1] == 'X'))
        return refuse(r, "masks are not read; write a list of CPU numbers, for example 0,2-5");
    if (s[start] < '0' || s[start] > '9') return refuse(r, "a CPU number is needed here, for example 0,2-5");
    uint64_t v = 0;
    for (; s[r->at] >= '0' && s[r->at] <= '9'; r->at++)
        if (v < WB_CPUS_MAX) v = v * 10 + (uint64_t)(s[r->at] - '0');
    if (v >= ncpus) {
        r->at = start;
        return refuse(r, "the machine has no such CPU");
    }
    *cpu = (cpu_id)v;
    skip_spaces(r);
    return 0;
}

static int read_range(struct reader *r, struct wb_cpumask *m)
{
    cpu_id first, last;
    size_t start = r->at;
    if (read_cpu(r, m->ncpus, &first)) return -1;
    last = first;
    if (r->text[r->at] == '-') {
        r->at++;
        if (read_cpu(r, m->ncpus, &last)) return -1;
    }
    if (last < first) {
        r->at = start;
        return refuse(r, "the range runs backwards");
    }
    for (cpu_id c = first; c <= last; c++) wb_mask_set(m, c);
    return 0;
}

int wb_mask_parse(const char *text, struct wb_cpumask *m, const char **why, size_t *at)
{
    struct reader r = {.text = text};
    int failed;

    WB_CHECK(m->nwords == WB_CPUMASK_WORDS(m->ncpus), "mask of %u CPUs has %u words", m->ncpus, m->nwords);
    memset(m->w, 0, m->nwords * sizeof *m->w);
    while (!(failed = read_range(&r, m)) && text[r.at] == ',') r.at++;
    if (!failed && text[r.at]) failed = refuse(&r, "only numbers, ranges and commas may stand here, for example 0,2-5");
    if (!failed) return 0;
    if (why) *why = r.why;
    if (at) *at = r.at;
    return -1;
}

char *wb_mask_format(char *buf, size_t n, const struct wb_cpumask *m)
{
    size_t len = 0;

    WB_CHECK(n, "no room for the terminator");
    buf[0] = 0;
    for (cpu_id first = wb_mask_first(m); first != WB_NO_CPU && len < n;) {
        cpu_id last = first;
        while (last + 1 < m->ncpus && wb_mask_test(m, last + 1)) last++;
        const char *comma = len ? "," : "";
        int more;
        if (last == first)
            more = snprintf(buf + len, n - len, "%s%" PRIu32, comma, first);
        else
            more = snprintf(buf + len, n - len, "%s%" PRIu32 "-%" PRIu32, comma, first, last);
        if (more < 0) break;
        len += (size_t)more;
        first = wb_mask_next(m, last + 1);
    }
    return buf;
}
