/*
 * topo_hwloc.c - topologies of real machines: an hwloc XML file, or the one we run on.
 *
 * CPU numbers are the operating system's, closed up where CPUs are missing (offline, or not allowed to this
 * process): the k-th lowest number becomes CPU k. A machine without NUMA information is one node.
 */
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "topology.h"

#define XML_MAX (64 << 20) /* bytes: a large machine takes one or two MiB */
#define TRY_SECONDS 20     /* those of the largest machines are read within one */

/* Columns of the table, all in one block. */
struct rows {
    uint32_t n, nnodes;
    uint32_t *block, *core, *package, *node, *numbers, *cache[WB_CACHE_LEVELS];
    uint64_t *size, *size_at[WB_CACHE_LEVELS], *memory;
    uint8_t *distance;
    bool has_cache[WB_CACHE_LEVELS], has_package;
    uint32_t line[WB_CACHE_LEVELS];
};

static int take_rows(struct rows *r)
{
    r->block = calloc((size_t)r->n * (4 + WB_CACHE_LEVELS), sizeof *r->block);
    r->size = calloc((size_t)r->n * WB_CACHE_LEVELS, sizeof *r->size);
    r->memory = calloc(r->nnodes, sizeof *r->memory);
    r->distance = calloc((size_t)r->nnodes * r->nnodes, 1);
    if (!r->block || !r->size || !r->memory || !r->distance) return -ENOMEM;
    r->core = r->block;
    r->package = r->core + r->n;
    r->node = r->package + r->n;
    r->numbers = r->node + r->n;
    for (uint32_t l = 0; l < WB_CACHE_LEVELS; l++) {
        r->cache[l] = r->numbers + (size_t)(l + 1) * r->n;
        r->size_at[l] = r->size + (size_t)l * r->n;
    }
    return 0;
}

static void free_rows(struct rows *r)
{
    free(r->block);
    free(r->size);
    free(r->memory);
    free(r->distance);
}

/* The data or unified cache of level l (1..) above a PU, or NULL. */
static hwloc_obj_t cache_above(hwloc_obj_t pu, uint32_t l)
{
    for (hwloc_obj_t o = pu; o; o = o->parent)
        if (hwloc_obj_type_is_dcache(o->type) && o->attr->cache.depth == l) return o;
    return NULL;
}

static hwloc_obj_t above(hwloc_topology_t h, hwloc_obj_t pu, hwloc_obj_type_t type)
{
    return hwloc_get_ancestor_obj_by_type(h, type, pu);
}

/* Ids of objects are logical indexes; a PU without the object gets one of its own, past all others. */
static void fill_row(hwloc_topology_t h, struct rows *r, uint32_t i, hwloc_obj_t pu)
{
    hwloc_obj_t core = above(h, pu, HWLOC_OBJ_CORE), package = above(h, pu, HWLOC_OBJ_PACKAGE);
    r->core[i] = core ? core->logical_index : r->n + i;
    r->package[i] = package ? package->logical_index : 0;
    r->numbers[i] = pu->os_index;
    for (uint32_t l = 0; l < WB_CACHE_LEVELS; l++) {
        hwloc_obj_t c = cache_above(pu, l + 1);
        r->cache[l][i] = c ? c->logical_index : r->n + i;
        if (!c) continue;
        r->has_cache[l] = true;
        r->size_at[l][i] = c->attr->cache.size;
        r->line[l] = c->attr->cache.linesize;
    }
    for (uint32_t k = 0; k < r->nnodes; k++) {
        hwloc_obj_t node = hwloc_get_obj_by_type(h, HWLOC_OBJ_NUMANODE, k);
        if (node && node->cpuset && hwloc_bitmap_isset(node->cpuset, pu->os_index)) {
            r->node[i] = k;
            break;
        }
    }
}

/* Memory-only nodes have no CPUs: nodes are renumbered over those that have. */
static void close_up_nodes(struct rows *r)
{
    uint32_t next = 0;
    for (uint32_t k = 0; k < r->nnodes; k++) {
        bool used = false;
        for (uint32_t i = 0; i < r->n; i++) used |= r->node[i] == k;
        if (!used) continue;
        for (uint32_t i = 0; i < r->n && next != k; i++)
            if (r->node[i] == k) r->node[i] = next;
        r->memory[next] = r->memory[k];
        for (uint32_t j = 0; j < r->nnodes; j++) r->distance[next * r->nnodes + j] = r->distance[k * r->nnodes + j];
        for (uint32_t j = 0; j < r->nnodes; j++) r->distance[j * r->nnodes + next] = r->distance[j * r->nnodes + k];
        next++;
    }
    for (uint32_t a = 0; a < next; a++)
        for (uint32_t b = 0; b < next; b++) r->distance[a * next + b] = r->distance[a * r->nnodes + b];
    r->nnodes = WB_MAX(next, 1u);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Replace each number by its rank. Sorted, not counted: a file may number a CPU four billion. */
static int close_up_numbers(struct rows *r)
{
    uint32_t *sorted = calloc(r->n, sizeof *sorted);
    if (!sorted) return -ENOMEM;
    memcpy(sorted, r->numbers, r->n * sizeof *sorted);
    qsort(sorted, r->n, sizeof *sorted, by_number);
    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t *at = bsearch(&r->numbers[i], sorted, r->n, sizeof *sorted, by_number);
        r->numbers[i] = (uint32_t)(at - sorted);
    }
    free(sorted);
    return 0;
}

static void fill_distances(hwloc_topology_t h, struct rows *r)
{
    struct hwloc_distances_s *dist = NULL;
    unsigned found = 1;
    uint32_t nn = r->nnodes;
    for (uint32_t i = 0; i < nn * nn; i++) r->distance[i] = i % (nn + 1) ? 20 : 10;
    if (hwloc_distances_get_by_type(h, HWLOC_OBJ_NUMANODE, &found, &dist, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) ||
        !found)
        return;
    for (unsigned a = 0; a < dist->nbobjs; a++)
        for (unsigned b = 0; b < dist->nbobjs; b++) {
            uint32_t x = dist->objs[a]->logical_index, y = dist->objs[b]->logical_index;
            uint64_t v = dist->values[a * dist->nbobjs + b];
            if (x < nn && y < nn) r->distance[x * nn + y] = (uint8_t)WB_MIN(v, 255ull);
        }
    hwloc_distances_release(h, dist);
}

static void fill_memory(hwloc_topology_t h, struct rows *r)
{
    for (uint32_t k = 0; k < r->nnodes; k++) {
        hwloc_obj_t node = hwloc_get_obj_by_type(h, HWLOC_OBJ_NUMANODE, k);
        r->memory[k] = node ? node->attr->numanode.local_memory : 0;
    }
}

static void fill_table(const struct rows *r, const struct wb_topo_options *opt, struct wb_topo_table *tab)
{
    *tab = (struct wb_topo_table){.ncpus = r->n,
                                  .core = r->core,
                                  .package = r->package,
                                  .node = r->node,
                                  .distance = r->distance,
                                  .memory = r->memory,
                                  .text = ""};
    tab->numbering = opt->numbering == WB_NUMBER_DEFAULT ? WB_NUMBER_TABLE : opt->numbering;
    tab->numbers = opt->numbering == WB_NUMBER_TABLE ? opt->numbers : r->numbers;
    for (uint32_t l = 0; l < WB_CACHE_LEVELS; l++) {
        tab->cache_line[l] = r->line[l] ? r->line[l] : opt->line;
        if (r->has_cache[l]) {
            tab->cache[l] = r->cache[l];
            tab->cache_size_at[l] = r->size_at[l];
            for (uint32_t i = 0; i < r->n; i++)
                if (!r->size_at[l][i]) r->size_at[l][i] = opt->cache_size[l] ? opt->cache_size[l] : 4096;
        } else if (l < 2) {
            tab->cache_size[l] = opt->cache_size[l];
        }
    }
}

static struct wb_topology *fail(struct wb_diag *d, struct wb_place at, const char *what, const char *why)
{
    wb_diag_add(d, WB_ERROR, NULL, at, NULL, "%s: %s", what, why);
    return NULL;
}

/* A loaded hwloc topology -> ours. */
static struct wb_topology *convert(hwloc_topology_t h, const char *what, const struct wb_topo_options *opt,
                                   struct wb_diag *d)
{
    int pus = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PU), nodes = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_NUMANODE);
    if (pus < 1 || (uint32_t)pus > WB_CPUS_MAX) return fail(d, opt->place, what, "it has no CPUs, or more than 16384");
    struct rows r = {.n = (uint32_t)pus, .nnodes = nodes < 1 ? 1 : (uint32_t)WB_MIN(nodes, (int)WB_NODES_MAX)};
    struct wb_topology *t = NULL;
    if (take_rows(&r)) {
        fail(d, opt->place, what, "out of memory");
        goto out;
    }
    for (uint32_t i = 0; i < r.n; i++) fill_row(h, &r, i, hwloc_get_obj_by_type(h, HWLOC_OBJ_PU, i));
    fill_distances(h, &r);
    fill_memory(h, &r);
    close_up_nodes(&r);
    if (close_up_numbers(&r)) {
        fail(d, opt->place, what, "out of memory");
        goto out;
    }
    if (opt->numbering == WB_NUMBER_TABLE &&
        topo_check_numbers(opt->numbers, opt->nnumbers, r.n, opt->numbers_place, d))
        goto out;
    struct wb_topo_table tab;
    fill_table(&r, opt, &tab);
    t = wb_topo_from_table(&tab, opt->place, d);
out:
    free_rows(&r);
    return t;
}

/* The body of the child that tries a file; what hwloc prints while it dies is nobody's business. */
static _Noreturn void try_file(const char *path)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (size_t i = 0; i < WB_ARRAY_SIZE(deadly); i++) signal(deadly[i], SIG_DFL);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) dup2(null, STDERR_FILENO);
    alarm(TRY_SECONDS);
    hwloc_topology_t h;
    _exit(hwloc_topology_init(&h) || hwloc_topology_set_xml(h, path) || hwloc_topology_load(h));
}

/* hwloc and the XML reader behind it are entered by one thread at a time: replications are built side by side, and a
 * child that is forked while another thread is inside would find their locks held. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
/* The file that was tried last, and lived. Read and written under the lock. */
static struct stat lived;

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ino;
}

/*
 * Does hwloc live to say yes or no to the file? Its reader trusts what it reads: an object without complete_cpuset
 * ends in a crash (2.9.0), so a child goes first. Where no child can be made, the file is taken on trust.
 */
static bool hwloc_survives(const char *path, const struct stat *st)
{
    if (same_file(&lived, st)) return true;
    pid_t child = fork();
    if (child < 0) return true;
    if (!child) try_file(path);
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return true;
    if (!WIFEXITED(status)) return false;
    lived = *st;
    return true;
}

static struct wb_topology *from_xml(const char *path, const struct stat *st, const struct wb_topo_options *opt,
                                    struct wb_diag *d)
{
    if (!hwloc_survives(path, st))
        return fail(d, opt->place, path, "the file is damaged: hwloc crashes over it, or does not come to an end");
    hwloc_topology_t h;
    if (hwloc_topology_init(&h)) return fail(d, opt->place, path, "hwloc refuses to start");
    struct wb_topology *t = NULL;
    if (hwloc_topology_set_xml(h, path) || hwloc_topology_load(h))
        fail(d, opt->place, path, "not an hwloc XML file (lstopo --of xml FILE writes one)");
    else
        t = convert(h, path, opt, d);
    hwloc_topology_destroy(h);
    return t;
}

struct wb_topology *wb_topo_from_hwloc_xml(const char *path, const struct wb_topo_options *opt, struct wb_diag *d)
{
    struct stat st;
    if (access(path, R_OK) || stat(path, &st)) return fail(d, opt->place, path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return fail(d, opt->place, path, "it is no regular file");
    if (st.st_size > XML_MAX) return fail(d, opt->place, path, "it is larger than 64 MiB");
    pthread_mutex_lock(&one_at_a_time);
    struct wb_topology *t = from_xml(path, &st, opt, d);
    pthread_mutex_unlock(&one_at_a_time);
    return t;
}

static struct wb_topology *from_here(const struct wb_topo_options *opt, struct wb_diag *d)
{
    hwloc_topology_t h;
    if (hwloc_topology_init(&h)) return fail(d, opt->place, "this machine", "hwloc refuses to start");
    struct wb_topology *t = NULL;
    if (hwloc_topology_load(h))
        fail(d, opt->place, "this machine", "hwloc cannot read its topology");
    else
        t = convert(h, "this machine", opt, d);
    hwloc_topology_destroy(h);
    return t;
}

struct wb_topology *wb_topo_live(const struct wb_topo_options *opt, struct wb_diag *d)
{
    pthread_mutex_lock(&one_at_a_time);
    struct wb_topology *t = from_here(opt, d);
    pthread_mutex_unlock(&one_at_a_time);
    return t;
}
