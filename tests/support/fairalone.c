/* fairalone.c - no placement, no balancing: lets the core of the fair classes be tested by itself while those
 * are not there. */
#include "fair.h"
int fair_place_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    (void)s;
    (void)cfg;
    (void)d;
    return 0;
}
int fair_balance_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    struct fair_sim *f = wb_policy_data(s);
    f->bal.overloaded = wb_sim_alloc(s, sizeof *f->bal.overloaded);
    (void)cfg;
    (void)d;
    return 0;
}
struct wb_choice fair_place_wakeup(struct wb_exec *x, const struct wb_wakeup *w)
{
    (void)x;
    return (struct wb_choice){.cpu = w->prev_cpu};
}
struct wb_choice fair_place_fork(struct wb_exec *x, struct wb_task *c)
{
    cpu_id n = wb_ncpus(x->sim);
    cpu_id at = c->id % n;
    while (!wb_mask_test(c->allowed, at)) at = (at + 1) % n;
    return (struct wb_choice){.cpu = at};
}
struct wb_choice fair_place_exec(struct wb_exec *x, struct wb_task *t)
{
    (void)x;
    return (struct wb_choice){.cpu = t->cpu};
}
bool fair_queue_remote(struct wb_exec *x, const struct wb_wakeup *w, cpu_id cpu)
{
    (void)x;
    (void)w;
    (void)cpu;
    return false;
}
static bool no(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    (void)b;
    return false;
}
static void nop(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    (void)b;
}
static enum wb_balance_result res(struct wb_exec *x, struct wb_balance *b, bool f)
{
    (void)x;
    (void)b;
    (void)f;
    return WB_BAL_NONE;
}
#define O \
    { \
        .begin = no, .next = no, .find = no, .pull = nop, .done = res, .end = nop \
    }
const struct wb_balance_ops fair_balance_newidle = O, fair_balance_periodic = O, fair_balance_nohz = O,
                            fair_balance_active = O;
void fair_balance_tick(struct wb_exec *x, struct wb_rq *rq)
{
    (void)x;
    (void)rq;
}
uint64_t fair_balance_quiet(struct wb_sim *s, struct wb_rq *rq)
{
    (void)s;
    (void)rq;
    return 1u << 20;
}
bool fair_balance_idle_enter(struct wb_exec *x, struct wb_rq *rq)
{
    (void)x;
    (void)rq;
    return true;
}
void fair_balance_idle_exit(struct wb_exec *x, struct wb_rq *rq)
{
    (void)x;
    (void)rq;
}
void fair_balance_picked(struct wb_exec *x, struct wb_rq *rq, struct fair_task *n)
{
    (void)x;
    (void)rq;
    (void)n;
}
