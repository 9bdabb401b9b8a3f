/*
 * profile.h - the kernel profile: what a kernel.* file says besides scheduler and IPC rules, and the table of
 * function labels.
 *
 * Each label of enum wb_fn has a row: its name (as a profiler prints it), its category, and its path cost, which is
 * also a key (kernel.path.NAME).
 */
#ifndef WB_KERNEL_PROFILE_H
#define WB_KERNEL_PROFILE_H

#include "wakebal/exec.h"

struct fn_def {
    const char *name;
    enum wb_cat cat;
};
extern const struct fn_def profile_fn[WB_FN_SIM_N];

#endif
