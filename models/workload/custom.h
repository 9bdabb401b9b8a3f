/*
 * custom.h - tasks whose programs are written in the scenario.
 *
 *   workload = ( { kind = "custom";
 *       channels = [ "p", "q pipe 1 MiB" ];  locks = [ "l mutex" ];  events = [ "go", "full 0" ];  regions = [ "buf
 *       64 KiB" ]; tasks = ( { name = "a"; program = [ "loop 1000", "run 5 us", "write p 4 KiB", "wake full", "sleep
 *                 exp(1 ms)", "end" ]; }, { name = "b"; count = 2; program = [ "loop", "read p 4 KiB", "count done",
 *                 "end" ]; } ); } );
 *
 * One word a line says what to do, the rest with what (custom_words.c has the list). A program is compiled once into
 * an array of fixed-size operations; running it allocates nothing. Everything that can be wrong with it is found
 * while building: unknown words and names, loops that do not close, a lock taken twice, dropped without being held or
 * held across the end of a loop, a channel used after it was closed or that nobody reads or writes.
 *
 * A task whose read meets the end of file, or whose write finds no reader, ends; so does one whose program has ended.
 * It closes what it has open then.
 */
#ifndef WB_CUSTOM_H
#define WB_CUSTOM_H

#include "../ipc/futex.h"
#include "workload_common.h"

#define CUSTOM_DEPTH 8               /* loops inside each other */
#define CUSTOM_ENDS 16               /* channel ends of one program */
#define CUSTOM_LOCK_FUTEX 255        /* kind of a lock: a mutex of user space */
#define CUSTOM_OBJECTS 1024          /* channels, locks, events, regions: of each */
#define CUSTOM_OPS 4096              /* words of one program */
#define CUSTOM_IDLE_ROUNDS 10000000u /* of a loop in which nothing takes time */
#define CUSTOM_WATCHES 4             /* stopwatches of one program */
#define CUSTOM_EVERIES 4             /* `every` of one program */
#define CUSTOM_NONE UINT32_MAX

enum custom_code {
    CUSTOM_RUN,
    CUSTOM_SLEEP,
    CUSTOM_TIMER,
    CUSTOM_TOUCH,
    CUSTOM_READ,
    CUSTOM_READALL,
    CUSTOM_WRITE,
    CUSTOM_CLOSE,
    CUSTOM_WAIT,
    CUSTOM_WAKE,
    CUSTOM_SUSPEND,
    CUSTOM_RESUME,
    CUSTOM_LOCK,
    CUSTOM_UNLOCK,
    CUSTOM_YIELD,
    CUSTOM_LOOP,
    CUSTOM_EVERY,
    CUSTOM_END,
    CUSTOM_COUNT,
    CUSTOM_START,
    CUSTOM_STOP,
    CUSTOM_FORK,
    CUSTOM_PIN,
    CUSTOM_EXIT,
    CUSTOM_CODES
};

/* What may follow a word. */
enum custom_args {
    ARGS_NONE,
    ARGS_DIST,
    ARGS_TIME,
    ARGS_REGION,
    ARGS_CHANNEL_SIZE,
    ARGS_CHANNEL,
    ARGS_EVENT,
    ARGS_EVENT_HOW,
    ARGS_LOCK,
    ARGS_TASK,
    ARGS_LOOP,
    ARGS_EVERY,
    ARGS_COUNTER,
    ARGS_WATCH,
    ARGS_CPUS
};

struct custom_word {
    const char *word;
    uint8_t code, args;
    const char *form; /* "write CHANNEL SIZE" */
    const char *help;
};
extern const struct custom_word custom_words[];
extern const size_t custom_words_n;

enum { CUSTOM_HOW_ALL = 1, CUSTOM_HOW_SYNC = 2 };        /* of wake */
enum { CUSTOM_TOUCH_READ = 1, CUSTOM_TOUCH_RANDOM = 2 }; /* of touch */
enum { CUSTOM_END_EVERY = 1 };                           /* of end: what it closes is no loop */

struct custom_op {
    uint8_t code, how;
    uint16_t end;  /* index of the channel end in the program's list */
    uint32_t ref;  /* object, task or counter */
    uint32_t jump; /* end: the operation after its loop; loop, every: the one after its end */
    uint64_t n;    /* bytes, count (0 = for ever), period */
    const struct wb_dist *dist;
    const struct wb_cpumask *mask;
};

struct custom_end {
    uint32_t channel;
    uint8_t end; /* 0 write, 1 read */
};

struct custom_program {
    struct custom_op *op;
    uint32_t nops;
    struct custom_end end[CUSTOM_ENDS];
    uint32_t nends;
    uint64_t buffer; /* largest read or write */
    bool endless;
    const char *watch[CUSTOM_WATCHES];
    struct wb_latency *hist[CUSTOM_WATCHES];
    uint32_t nwatches, neveries;
};

/* What stands in one entry of `tasks`. */
struct custom_task {
    const char *name, *process;
    uint32_t count, pair; /* pair: index of the other entry or CUSTOM_NONE */
    int nice;
    bool forked;    /* some program forks it */
    uint64_t forks; /* how often, at least, per workload copy; saturates */
    const struct wb_cpumask *allowed;
    bool pinned, start_given;
    sim_time start;
    struct custom_program prog;
};

struct custom_decl {
    const char *name;
    uint64_t n;    /* size; initial count */
    uint8_t kind;  /* lock kind; event: 1 = has memory; channel: 1 = AF_UNIX pair */
    uint32_t line; /* index in its list, for messages */
};
struct custom_list {
    const char *key;  /* "channels" */
    const char *what; /* "channel" */
    struct custom_decl *decl;
    uint32_t n;
};
enum custom_kind { CUSTOM_CHANNELS, CUSTOM_LOCKS, CUSTOM_EVENTS, CUSTOM_REGIONS, CUSTOM_KINDS };

/* One entry of the scenario, compiled. */
struct custom {
    struct workload_entry e;
    struct custom_list list[CUSTOM_KINDS];
    struct custom_task *task;
    uint32_t ntasks;
    const char **counter; /* names of `count` */
    struct wb_progress **progress;
    uint32_t ncounters;
    struct wb_progress *loops;
    uint16_t fn_wait, fn_wake;
};

/* ---- custom_words.c ---- */
const struct custom_word *custom_word_find(const char *word, size_t len);

/* ---- custom_text.c: words and values inside a string ---- */
struct custom_text {
    struct custom *c;
    const char *path; /* key of the list */
    size_t index;     /* string in it */
    const char *text;
    size_t pos;
};
/* Next word: its length (0 = none left) and start. */
size_t custom_text_word(struct custom_text *t, size_t *start);
/* Report a mistake at [start, start + len). Returns -1. */
int custom_text_error(const struct custom_text *t, size_t start, size_t len, const char *fix, const char *fmt, ...)
    WB_PRINTF(5, 6);
/* The rest of the text as a quantity, a distribution of times, a CPU list. 0, or -1 after reporting. */
int custom_text_quantity(struct custom_text *t, enum custom_args what, bool size, uint64_t *v);
int custom_text_dist(struct custom_text *t, const struct wb_dist **dist);
int custom_text_cpus(struct custom_text *t, const struct wb_cpumask **mask);
/* Path of a key of the entry, kept for the run. Strings joined into buf. */
const char *custom_text_path(const struct custom *c, const char *fmt, ...) WB_PRINTF(2, 3);
void custom_text_join(char *buf, size_t n, const char *a, const char *b, const char *c);
/* A copy of [start, start + len) that lives as long as the run. */
const char *custom_text_keep(const struct custom_text *t, size_t start, size_t len);

/* ---- custom_compile.c ---- */
int custom_declare(struct custom *c);                /* channels, locks, events, regions */
int custom_compile(struct custom *c, uint32_t task); /* one program */
int custom_check(struct custom *c);                  /* what only all programs together show */

/* ---- custom_run.c ---- */
/* The objects of one copy of the workload. */
struct custom_event {
    struct wb_waitq q;
    uint32_t line;
    bool memory;
    uint64_t count;
};
struct custom_copy {
    const struct custom *c;
    struct wb_channel **channel;
    struct wb_sleeplock *lock;
    struct futex *futex;        /* of the locks that are futexes; the others' are not used */
    struct custom_event *event; /* the declared ones, then one of each task entry (suspend, resume) */
    uint32_t *region;
    struct custom_frame **dormant; /* [ntasks] next one to fork */
};
struct custom_frame {
    struct wb_frame h;
    const struct custom_copy *copy;
    const struct custom_task *task;
    const struct custom_op *op;
    struct wb_task *self;
    struct custom_frame *next_dormant;
    struct wb_stream draw;
    sim_time due;
    sim_time watch[CUSTOM_WATCHES];
    sim_time next[CUSTOM_EVERIES]; /* not before then: the bodies of `every` */
    uint64_t left[CUSTOM_DEPTH];
    uint32_t pc, buf, closed, i;
    uint8_t depth;
};
enum wb_ret custom_step(struct wb_exec *x, void *frame);
#define CUSTOM_FRAME_NEED (sizeof(struct custom_frame) + 64 + 192) /* the program, a word, an IPC call */

#endif
