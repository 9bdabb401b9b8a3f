/* wbtest.h - cmocka with the headers that it wants first. */
#ifndef WB_WBTEST_H
#define WB_WBTEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Doubles (cmocka's own takes floats). The tolerance is absolute; NAN is near nothing. */
#define assert_near(got, want, tolerance) \
    do { \
        double got_ = (got), want_ = (want), off_ = got_ - want_; \
        if (!((off_ < 0 ? -off_ : off_) <= (tolerance))) \
            fail_msg("%s is %.17g, not %.17g within %g", #got, got_, want_, (double)(tolerance)); \
    } while (0)

/* Run f in a child and return what it wrote to stderr (at most n - 1 bytes); -1 unless it died of abort(), as
 * WB_CHECK does. */
static inline int wb_dies(void (*f)(void), char *text, size_t n)
{
    int fd[2], status;
    if (pipe(fd)) return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        signal(SIGABRT, SIG_DFL); /* not cmocka's handler: the child ends here */
        dup2(fd[1], 2);
        close(fd[0]);
        close(fd[1]);
        f();
        _exit(0);
    }
    close(fd[1]);
    size_t got = 0;
    ssize_t more;
    while (got + 1 < n && (more = read(fd[0], text + got, n - 1 - got)) > 0) got += (size_t)more;
    text[got] = 0;
    close(fd[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 0 : -1;
}

#endif
