/* machine_fixture.h - machines for the tests of sim/machine: a topology string and the default spec, changed by the
 * test. */
#ifndef WB_TESTS_MACHINE_FIXTURE_H
#define WB_TESTS_MACHINE_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "wakebal/machine.h"

static inline struct wb_topo_options fixture_options(void)
{
    return (struct wb_topo_options){.cache_size = {32768, 262144, 8388608, 67108864}, .line = 64};
}

/* A topology that must be right. */
static inline struct wb_topology *fixture_topology(const char *text)
{
    struct wb_topo_options opt = fixture_options();
    struct wb_diag *d = wb_diag_new();
    struct wb_topology *t = wb_topo_from_synthetic(text, &opt, d);
    if (!t) {
        char *why = wb_diag_render(d, false);
        fail_msg("%s: %s", text, why);
    }
    wb_diag_free(d);
    return t;
}

/* A machine of this topology with `spec`, or with the defaults when NULL. */
static inline struct wb_machine *fixture_machine(const char *text, const struct wb_machine_spec *spec)
{
    struct wb_machine_spec def;
    wb_machine_spec_defaults(&def);
    struct wb_diag *d = wb_diag_new();
    struct wb_machine *m = wb_machine_new(fixture_topology(text), spec ? spec : &def, d);
    if (!m) fail_msg("%s", wb_diag_render(d, false));
    wb_diag_free(d);
    return m;
}

#endif
