/* keys_kernel.c - rows of kernel.* that sim/kernel reads. Default path costs are generic; kernel files say better ones with their source. */
#include "profile.h"

#define TWO "assumed for a 2-4 GHz core of 2005 to 2020; kernel files replace it"
#define PATH(fn, cy, text)                                                                         \
    { .path = "kernel.path." fn, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 s", .def = cy,          \
      .flags = WB_KEY_PRICED, .help = text, .source = TWO }

static const struct wb_key rows[] = {
    { .path = "kernel.scheduler", .type = WB_KEY_ENUM, .flags = WB_KEY_REQUIRED,
      .help = "Scheduler family. Decides which policy.* keys exist." },
    { .path = "kernel.hz", .type = WB_KEY_INT, .unit = "1/s", .min = "10", .max = "10000", .def = "250",
      .help = "Timer interrupts per second and CPU.", .source = "CONFIG_HZ, default 250 since Linux 2.6.13" },
    { .path = "kernel.preempt", .type = WB_KEY_BOOL, .def = "false",
      .help = "Kernel code is preempted on return from interrupts (CONFIG_PREEMPT). User code always is.",
      .source = "CONFIG_PREEMPT_NONE or _VOLUNTARY is the server default" },
    { .path = "kernel.switch_unlocked", .type = WB_KEY_BOOL, .def = "false",
      .help = "The runqueue lock is dropped before the context switch, so a task that goes to sleep can be found still running on its CPU.",
      .source = "prepare_arch_switch: ia64 and arm of 2.6 (include/asm-ia64/system.h)" },
    { .path = "kernel.spinlock", .type = WB_KEY_ENUM, .choices = "test-and-set ticket queued", .def = "queued",
      .help = "Who gets a released spinlock: the nearest spinner (test-and-set) or the first that came (ticket, queued).",
      .source = "x86: ticket from Linux 2.6.25, queued from 4.2" },
    { .path = "kernel.ttwu", .type = WB_KEY_ENUM, .choices = "rq_lock pi_lock", .def = "pi_lock",
      .help = "Lock under which a wakeup is placed: the runqueue lock of the task's CPU, or the task's own lock.",
      .source = "pi_lock from Linux 2.6.39 (try_to_wake_up)" },
    { .path = "kernel.timers", .type = WB_KEY_ENUM, .choices = "hrtimer jiffies", .def = "hrtimer",
      .help = "Sleeps end at their time, or on the next tick.", .source = "high resolution timers from Linux 2.6.21 on x86" },
    { .path = "kernel.tick_phases", .type = WB_KEY_STRINGS,
      .help = "When in its period each CPU ticks, one time per CPU: [ \"0 us\", \"250 us\" ]. Without it each replication draws them." },
    { .path = "kernel.noise", .type = WB_KEY_GROUPS, .help = "Background interrupts." },
    { .path = "kernel.noise.cpu", .type = WB_KEY_INT, .min = "-1", .max = "16383", .def = "-1",
      .help = "CPU that takes them; -1 = any, drawn each time.", .source = "no CPU is special unless said" },
    { .path = "kernel.noise.gap", .type = WB_KEY_DIST, .unit = "time", .flags = WB_KEY_REQUIRED,
      .help = "Time from one to the next, for example \"exp(10 ms)\"." },
    { .path = "kernel.noise.cost", .type = WB_KEY_DIST, .unit = "time", .flags = WB_KEY_REQUIRED,
      .help = "CPU time that one takes, for example \"uniform(2 us, 8 us)\"." },
    { .path = "kernel.path", .type = WB_KEY_GROUP, .help = "Path costs by kernel function, without lock and cache-line waits." },
    PATH("syscall_entry", "60 ns", "Entering the kernel by a system call."),
    PATH("syscall_exit", "40 ns", "Leaving it, with the check for rescheduling and signals."),
    PATH("schedule", "120 ns", "schedule() without switch and lock."),
    PATH("context_switch", "300 ns", "Switching registers and stack, and what the pipeline loses by it."),
    PATH("switch_mm", "150 ns", "Loading another address space, with the TLB misses that follow."),
    PATH("try_to_wake_up", "60 ns", "try_to_wake_up() without placement, enqueueing and locks."),
    PATH("enqueue_task", "40 ns", "Queueing a task."),
    PATH("dequeue_task", "40 ns", "Taking a task off its queue."),
    PATH("set_task_cpu", "30 ns", "Giving a waking task another CPU."),
    PATH("select_idle_cpu", "5 ns", "Looking at one CPU while searching an idle one, without its cache line."),
    PATH("resched_task", "15 ns", "Marking another CPU's task for rescheduling, without the interrupt."),
    PATH("reschedule_interrupt", "100 ns", "Handling a reschedule interrupt after its entry."),
    PATH("__wake_up", "30 ns", "Walking a wait queue, per call."),
    PATH("prepare_to_wait", "30 ns", "Queueing oneself on a wait queue."),
    PATH("finish_wait", "15 ns", "Leaving a wait queue."),
    PATH("timer_tick", "1.5 us", "Timer interrupt: timekeeping, process accounting, timers."),
    PATH("hrtimer_interrupt", "500 ns", "Expiring one sleep timer."),
    PATH("do_softirq", "80 ns", "Entering softirq processing."),
    PATH("load_balance", "150 ns", "One balancing pass over a domain, without its looks at runqueues."),
    PATH("scan_runqueue", "20 ns", "Looking at one runqueue's load while balancing, without its cache line."),
    PATH("move_task", "200 ns", "Moving one task between runqueues."),
    PATH("migration_thread", "300 ns", "One round of the migration thread."),
    PATH("mutex_lock", "15 ns", "Uncontended lock of a sleeping lock, without its atomic."),
    PATH("mutex_unlock", "15 ns", "Uncontended unlock, without its atomic."),
    PATH("mutex_lock_slowpath", "120 ns", "Queueing oneself on a sleeping lock."),
    PATH("idle_enter", "150 ns", "Idle loop before the CPU halts."),
    PATH("irq_entry", "250 ns", "Interrupt entry and exit in software."),
    PATH("nanosleep", "300 ns", "Arming a sleep timer."),
    PATH("fork", "60 us", "fork() of a small process, without placement."),
    PATH("exec", "200 us", "exec() of a small program."),
    PATH("exit", "30 us", "Process exit."),
    PATH("sched_yield", "60 ns", "sched_yield() without schedule()."),
    PATH("sched_setaffinity", "300 ns", "Changing a task's affinity."),
};

const struct wb_key *wb_kernel_keys(size_t *n)
{
    *n = WB_ARRAY_SIZE(rows);
    return rows;
}
