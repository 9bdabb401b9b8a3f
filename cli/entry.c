/* entry.c - the program `wakebal`; wakebal-mpi has its own in mpi_main.c. */
#include "verbs.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
