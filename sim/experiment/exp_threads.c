#include "exp_threads.h"

#include <pthread.h>
#include <stdlib.h>
#ifdef WB_HAVE_OPENMP
#include <omp.h>
#endif

#include "wakebal/base.h"

/* Each lives until all have been made. */
static void *stand_by(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

static size_t make(size_t n)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    size_t made = 0;
    pthread_t *thread = n ? calloc(n, sizeof *thread) : NULL;
    if (!thread) return 0;
    pthread_mutex_lock(&gate);
    while (made < n && !pthread_create(&thread[made], NULL, stand_by, &gate)) made++;
    pthread_mutex_unlock(&gate);
    for (size_t i = 0; i < made; i++) pthread_join(thread[i], NULL);
    free(thread);
    return made;
}

int exp_threads(uint32_t wanted, size_t items)
{
#ifdef WB_HAVE_OPENMP
    size_t n = wanted ? wanted : (size_t)omp_get_num_procs();
#else
    size_t n = 1;
    (void)wanted;
#endif
    n = WB_MIN(WB_MIN(n, items), (size_t)1 << 14);
    return n > 1 ? (int)make(n - 1) + 1 : 1;
}
