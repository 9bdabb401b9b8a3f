/* profile.c - see profile.h. */
#include "profile.h"
#include "sim.h"

#include <stdio.h>
#include <string.h>

const char *const wb_cat_name[WB_CAT_N] = {
    [WB_CAT_USER] = "user",
    [WB_CAT_SYSCALL] = "syscall",
    [WB_CAT_COPY] = "copy",
    [WB_CAT_REFILL] = "refill",
    [WB_CAT_LINE] = "line",
    [WB_CAT_LOCK] = "lock",
    [WB_CAT_SCHED] = "sched",
    [WB_CAT_WAKEUP] = "wakeup",
    [WB_CAT_BALANCE] = "balance",
    [WB_CAT_TICK] = "tick",
    [WB_CAT_IRQ] = "irq",
    [WB_CAT_SOFTIRQ] = "softirq",
    [WB_CAT_NOISE] = "noise",
    [WB_CAT_IDLE_ENTRY] = "idle_entry",
    [WB_CAT_IDLE_EXIT] = "idle_exit",
    [WB_CAT_IDLE] = "idle",
};

const struct fn_def profile_fn[WB_FN_SIM_N] = {
    [WB_FN_USER] = {"user", WB_CAT_USER},
    [WB_FN_IDLE] = {"idle", WB_CAT_IDLE},
    [WB_FN_SYSCALL_ENTRY] = {"syscall_entry", WB_CAT_SYSCALL},
    [WB_FN_SYSCALL_EXIT] = {"syscall_exit", WB_CAT_SYSCALL},
    [WB_FN_SCHEDULE] = {"schedule", WB_CAT_SCHED},
    [WB_FN_CONTEXT_SWITCH] = {"context_switch", WB_CAT_SCHED},
    [WB_FN_SWITCH_MM] = {"switch_mm", WB_CAT_SCHED},
    [WB_FN_TRY_TO_WAKE_UP] = {"try_to_wake_up", WB_CAT_WAKEUP},
    [WB_FN_ENQUEUE_TASK] = {"enqueue_task", WB_CAT_WAKEUP},
    [WB_FN_DEQUEUE_TASK] = {"dequeue_task", WB_CAT_SCHED},
    [WB_FN_SELECT_TASK_RQ] = {"set_task_cpu", WB_CAT_WAKEUP},
    [WB_FN_SCAN_CPU] = {"select_idle_cpu", WB_CAT_WAKEUP},
    [WB_FN_RESCHED_TASK] = {"resched_task", WB_CAT_WAKEUP},
    [WB_FN_SEND_IPI] = {"smp_send_reschedule", WB_CAT_IRQ},
    [WB_FN_RESCHED_IRQ] = {"reschedule_interrupt", WB_CAT_IRQ},
    [WB_FN_WAKE_UP] = {"wake_up", WB_CAT_WAKEUP},
    [WB_FN_PREPARE_TO_WAIT] = {"prepare_to_wait", WB_CAT_SYSCALL},
    [WB_FN_FINISH_WAIT] = {"finish_wait", WB_CAT_SYSCALL},
    [WB_FN_TIMER_TICK] = {"timer_tick", WB_CAT_TICK},
    [WB_FN_TIMER_IRQ] = {"hrtimer_interrupt", WB_CAT_IRQ},
    [WB_FN_DO_SOFTIRQ] = {"do_softirq", WB_CAT_SOFTIRQ},
    [WB_FN_LOAD_BALANCE] = {"load_balance", WB_CAT_BALANCE},
    [WB_FN_SCAN_RQ] = {"scan_runqueue", WB_CAT_BALANCE},
    [WB_FN_MOVE_TASK] = {"move_task", WB_CAT_BALANCE},
    [WB_FN_MIGRATION_THREAD] = {"migration_thread", WB_CAT_BALANCE},
    [WB_FN_SPIN_LOCK] = {"spin_lock", WB_CAT_LOCK},
    [WB_FN_SPIN_UNLOCK] = {"spin_unlock", WB_CAT_LOCK},
    [WB_FN_MUTEX_LOCK] = {"mutex_lock", WB_CAT_SYSCALL},
    [WB_FN_MUTEX_UNLOCK] = {"mutex_unlock", WB_CAT_SYSCALL},
    [WB_FN_MUTEX_SLOWPATH] = {"mutex_lock_slowpath", WB_CAT_SYSCALL},
    [WB_FN_IDLE_ENTRY] = {"idle_enter", WB_CAT_IDLE_ENTRY},
    [WB_FN_IDLE_EXIT] = {"idle_exit", WB_CAT_IDLE_EXIT},
    [WB_FN_IRQ_ENTRY] = {"irq_entry", WB_CAT_IRQ},
    [WB_FN_COPY_USER] = {"copy_user", WB_CAT_COPY},
    [WB_FN_MEMORY] = {"memory", WB_CAT_USER},
    [WB_FN_LINE] = {"line", WB_CAT_LINE},
    [WB_FN_NANOSLEEP] = {"nanosleep", WB_CAT_SYSCALL},
    [WB_FN_FORK] = {"fork", WB_CAT_SYSCALL},
    [WB_FN_EXEC] = {"exec", WB_CAT_SYSCALL},
    [WB_FN_EXIT] = {"exit", WB_CAT_SYSCALL},
    [WB_FN_YIELD] = {"sched_yield", WB_CAT_SYSCALL},
    [WB_FN_NOISE] = {"background_irq", WB_CAT_NOISE},
    [WB_FN_TICK_STOP] = {"tick_nohz_stop", WB_CAT_IDLE_ENTRY},
    [WB_FN_TICK_RESTART] = {"tick_nohz_restart", WB_CAT_IDLE_EXIT},
    [WB_FN_FPU_SAVE] = {"switch_fpu_prepare", WB_CAT_SCHED},
    [WB_FN_EXIT_LOOP] = {"exit_to_user_mode_loop", WB_CAT_SCHED},
    [WB_FN_SET_AFFINITY] = {"sched_setaffinity", WB_CAT_SYSCALL},
};

const char *wb_fn_name(const struct wb_sim *s, uint16_t fn)
{
    return s->fn[fn].name;
}

uint16_t wb_fn_id(struct wb_sim *s, const char *name, enum wb_cat cat, sim_time def_ps)
{
    for (uint32_t i = 0; i < s->nfn; i++)
        if (!strcmp(s->fn[i].name, name)) return (uint16_t)i;
    WB_CHECK(s->nfn < WB_FN_MAX, "more than %d function labels", WB_FN_MAX);
    struct fn_row *r = &s->fn[s->nfn];
    char path[96];
    (void)snprintf(path, sizeof path, "kernel.path.%s", name);
    uint32_t id;
    r->name = sim_intern(s, name, &id);
    sim_time cost = def_ps;
    if (wb_cfg_row(s->cfg, path)) {
        const struct wb_machine_spec *m = wb_machine_costs(s->machine);
        cost = wb_cfg_cost(s->cfg, path, m->clock_hz, m->cpi_ppm);
    }
    /* What exceeds the key's range was refused; it is still built, to find what else is wrong with the scenario. */
    r->part = part_make(WB_MIN(cost, PART_MAX - 1), (uint16_t)s->nfn, cat);
    return (uint16_t)s->nfn++;
}

void profile_costs(struct wb_sim *s)
{
    for (uint32_t i = 0; i < WB_FN_SIM_N; i++) {
        uint16_t id = wb_fn_id(s, profile_fn[i].name, profile_fn[i].cat, 0);
        WB_CHECK(id == i, "label %s has id %u", profile_fn[i].name, id);
    }
}

static uint8_t choice(const struct wb_config *cfg, const char *path, const char *const *names)
{
    const char *v = wb_cfg_str(cfg, path);
    for (uint8_t i = 0; names[i]; i++)
        if (!strcmp(names[i], v)) return i;
    WB_CHECK(false, "%s = %s is in the key table but not here", path, v);
    return 0;
}

int profile_read(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    static const char *const spin[] = {"test-and-set", "ticket", "queued", NULL};
    static const char *const ttwu[] = {"rq_lock", "pi_lock", NULL};
    static const char *const locks[] = {"per_cpu", "global", NULL};
    static const char *const idle[] = {"halt", "poll", NULL};
    static const char *const builds[] = {"smp", "up", NULL};
    static const char *const timers[] = {"hrtimer", "jiffies", NULL};
    struct kernel_profile *k = &s->k;
    k->hz = (uint32_t)wb_cfg_int(cfg, "kernel.hz");
    k->preempt = wb_cfg_bool(cfg, "kernel.preempt");
    k->switch_unlocked = wb_cfg_bool(cfg, "kernel.switch_unlocked");
    k->spin_kind = choice(cfg, "kernel.spinlock", spin);
    k->ttwu_pi_lock = choice(cfg, "kernel.ttwu", ttwu) == 1;
    k->timer_jiffies = choice(cfg, "kernel.timers", timers) == 1;
    k->one_rq_lock = choice(cfg, "kernel.runqueue_lock", locks) == 1;
    k->idle_poll = choice(cfg, "kernel.idle", idle) == 1;
    k->idle_watches = wb_cfg_bool(cfg, "kernel.idle_watches");
    k->smp = choice(cfg, "kernel.build", builds) == 0;
    k->locks_to_caller = !strcmp(wb_cfg_str(cfg, "kernel.profile_locks"), "caller");
    k->big_lock = k->smp && wb_cfg_bool(cfg, "kernel.big_lock");
    k->call_lines = (uint32_t)wb_cfg_int(cfg, "kernel.call_lines");
    k->switch_lines = (uint32_t)wb_cfg_int(cfg, "kernel.switch_lines");
    s->tick_ps = WB_S / k->hz;
    if (wb_cfg_has(cfg, "kernel.name")) (void)snprintf(k->name, sizeof k->name, "%s", wb_cfg_str(cfg, "kernel.name"));
    if (!k->smp && s->ncpus > 1) {
        wb_cfg_error(cfg, d, "kernel.build", "give it a machine of one CPU: --machine or machine.topology",
                     "a kernel built for one CPU cannot run on %u", s->ncpus);
        return -1;
    }
    size_t phases = wb_cfg_has(cfg, "kernel.tick_phases") ? wb_cfg_count(cfg, "kernel.tick_phases") : 0;
    if (phases && phases != s->ncpus) {
        wb_cfg_error(cfg, d, "kernel.tick_phases", "give one phase for each CPU, or none and they are drawn",
                     "%zu tick phases for %u CPUs", phases, s->ncpus);
        return -1;
    }
    return 0;
}
