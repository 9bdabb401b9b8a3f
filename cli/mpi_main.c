/*
 * mpi_main.c - the program `wakebal-mpi`: `mpirun -n 64 wakebal-mpi sweep ...`.
 *
 * MPI is used to learn who one is and to meet; runs are dealt out by rank as by --shard, each rank writes a file of
 * its own, and rank 0 joins them. Everything else is as in `wakebal`. Only rank 0 prints; other verbs run there alone.
 */
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "exit_code.h"
#include "study_cli.h"
#include "verbs.h"

static int agree(int value)
{
    int most = value;
    MPI_Allreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static int real_stderr = -1;

/* What every rank would say is said by rank 0. */
static void be_quiet(void)
{
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing < 0) return;
    real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    close(nothing);
}

static void speak(void)
{
    if (real_stderr >= 0) dup2(real_stderr, STDERR_FILENO);
}

int main(int argc, char **argv)
{
    int given = MPI_THREAD_SINGLE, rc = EXIT_FINE;
    struct study_team team = {.agree = agree, .speak = speak};
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS || given < MPI_THREAD_FUNNELED)
        return EXIT_INTERNAL;
    MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &team.size);
    bool sweep = argc > 1 && !strcmp(argv[1], "sweep");
    study_team = sweep ? &team : NULL;
    if (team.rank) be_quiet();
    if (sweep || team.rank == 0) rc = cli_main(argc, argv);
    MPI_Finalize();
    return rc;
}
