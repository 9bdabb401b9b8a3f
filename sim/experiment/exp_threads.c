#include "exp_threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "wakebal/base.h"

/* Each lives until all have been made. */
static void *stand_by(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

int exp_threads(int wanted)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int made = 0;
    pthread_t *other = wanted > 1 ? calloc((size_t)wanted, sizeof *other) : NULL;
    if (!other) return 1;
    pthread_mutex_lock(&gate);
    while (made < wanted - 1 && !pthread_create(&other[made], NULL, stand_by, &gate)) made++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < made; i++) pthread_join(other[i], NULL);
    free(other);
    return made + 1;
}
