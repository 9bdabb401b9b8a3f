/*
 * exit_code.h - what the program's exit status means. Scripts depend on these; they never change.
 */
#ifndef WB_CLI_EXIT_CODE_H
#define WB_CLI_EXIT_CODE_H

enum exit_code {
    EXIT_FINE = 0,
    EXIT_INTERNAL = 1,     /* a bug of wakebal */
    EXIT_USAGE = 2,        /* wrong command line */
    EXIT_INVALID = 3,      /* scenario or trace is wrong */
    EXIT_EXPECTATION = 4,  /* an `expect`, a prediction or --fail-if was violated */
    EXIT_TOLERANCE = 5,    /* validation outside tolerance */
    EXIT_PRECISION = 6,    /* precision goal not reached; results are printed */
    EXIT_TOOL = 7,         /* an optional tool is missing */
    EXIT_PERMISSION = 8,   /* not permitted, the host is not safe for it, or it has too little memory */
    EXIT_OUTPUT = 9,       /* output cannot be written */
    EXIT_INTERRUPTED = 130 /* Ctrl-C; partial results were saved */
};

#endif
