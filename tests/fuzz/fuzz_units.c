/*
 * Any bytes as a quantity and as a CPU list: refused with a reason and a place inside the text, or read and written
 * back to the same value. wb-link: wb_core
 */
#include "wakebal/cpumask.h"
#include "wakebal/units.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_quantity(const char *text, enum wb_unit unit)
{
    const char *why = NULL;
    size_t at = SIZE_MAX;
    int64_t v = 0, back = 0;
    char exact[64], human[64];

    if (wb_parse_quantity(text, unit, &v, &why, &at)) {
        WB_CHECK(why && at <= strlen(text), "refused without a reason or outside the text");
        return;
    }
    wb_format_exact(exact, sizeof exact, v, unit);
    int refused = wb_parse_quantity(exact, unit, &back, &why, &at);
    WB_CHECK(!refused && back == v, "'%s' does not read back", exact);
    wb_format_quantity(human, sizeof human, (double)v, unit);
}

static void try_cpus(const char *text)
{
    uint64_t words[2][WB_CPUMASK_WORDS(200)];
    struct wb_cpumask m = {.ncpus = 200, .nwords = WB_CPUMASK_WORDS(200), .w = words[0]},
                      back = {.ncpus = 200, .nwords = WB_CPUMASK_WORDS(200), .w = words[1]};
    const char *why = NULL;
    size_t at = SIZE_MAX;
    char list[1024];

    if (wb_mask_parse(text, &m, &why, &at)) {
        WB_CHECK(why && at <= strlen(text), "refused without a reason or outside the text");
        return;
    }
    int refused = wb_mask_parse(wb_mask_format(list, sizeof list, &m), &back, &why, &at);
    WB_CHECK(!refused && wb_mask_equal(&m, &back), "'%s' does not read back", list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (int unit = WB_UNIT_COUNT; unit <= WB_UNIT_CYCLES; unit++) try_quantity(text, (enum wb_unit)unit);
    try_cpus(text);
    free(text);
    return 0;
}
