#include "unix.h"

#define PATH(name, cost, text, src) \
    { \
        .path = "kernel.path." name, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 s", \
        .def = cost, .help = text, .source = src, .flags = WB_KEY_PRICED \
    }

/* Modern kernels: a byte sent and received in one task 1725 to 2040 ns, less 2 x 198 ns for system call and file layer,
 * leaves about 1450 ns or 4350 cycles; buffers take about 1000, lines, locks and copies about 300. */
#define SHARE \
    "derived: a share of 1450 ns, what is left of 1725..2040 ns for a byte through an AF_UNIX stream in one task " \
    "(EPYC " \
    "guest of about 3 GHz, Linux 6.18); the split is assumed"

const struct wb_key unix_keys[UNIX_KEYS] = {
    {.path = "kernel.unix",
     .type = WB_KEY_VERSION,
     .def = "2.6.11",
     .help =
         "Kernel version whose AF_UNIX stream rules hold, independent of the scheduler's. Changes came with 2.6.17 "
         "(mutex), 2.6.24 and 2.6.26 (sync wakes), 2.6.30 (spinning mutex), 2.6.35 (no lock around wakes), 2.6.36 "
         "(credentials by reference), 3.2 (not unless asked; accounting), 3.10 (larger buffers), 4.10 (mutex hand-off) "
         "and 6.3 (accounting); any version between takes the rules before it.",
     .source = "net/unix/af_unix.c, net/core/sock.c, net/core/skbuff.c of the versions named"},
    {.path = "kernel.unix_creds",
     .type = WB_KEY_ENUM,
     .choices = "version none references",
     .def = "version",
     .help = "What a message carries of its sender: as the version says, a copy (none: no shared line is touched), or "
             "references on struct pid and struct cred, twelve locked operations a message.",
     .source = "commits 257b5358b32 and 7361c36c522 (2.6.36), 16e572626961 (3.2)"},
    PATH("fget_light", "10 cy", "The reference on a file that threads share, without its line. Twice per call.",
         "assumed: 5..30 cy (fs/file_table.c)"),
    PATH("sock_sendmsg", "300 cy",
         "Layers between write() and the socket: sock_aio_write, sock_sendmsg, security hooks.", SHARE),
    PATH("sock_recvmsg", "300 cy", "Layers between read() and the socket.", SHARE),
    PATH("unix_stream_sendmsg", "800 cy", "Body of the send without buffer, copy, locks and wake. Per buffer.", SHARE),
    PATH("unix_stream_recvmsg", "900 cy", "Body of the receive without copy, locks and free. Per buffer.", SHARE),
    PATH("sock_alloc_send_pskb", "250 cy", "Checking and charging the send buffer. Per buffer.", SHARE),
    PATH("sock_wait_for_wmem", "80 cy", "Setting up a sleep for room.", "assumed: 40..200 cy"),
    PATH("unix_stream_data_wait", "80 cy", "Setting up a sleep for data.", "assumed: 40..200 cy"),
    PATH("sock_wfree", "60 cy", "Giving a buffer's bytes back to its sender, without the line.", SHARE),
    PATH("unix_write_space", "40 cy", "Looking whether senders can go on.", SHARE),
    PATH("unix_release_sock", "600 cy", "Closing a socket, without what was in it.", "assumed: 300..2000 cy"),
    PATH("unix_scm_to_skb", "30 cy", "Handing credentials to a buffer, without their lines.", "assumed: 15..60 cy"),
    PATH("cred_to_ucred", "20 cy", "Translating struct cred, without its line.", "assumed: 10..60 cy"),
    PATH("pid_vnr", "15 cy", "Number of a struct pid in this namespace, without its line.", "assumed: 8..40 cy"),
    PATH("put_pid", "15 cy", "Dropping a reference, without the line.", "assumed: 8..40 cy"),
    PATH("unix_destruct_scm", "25 cy", "Credentials of a freed buffer, without their lines.", "assumed: 12..60 cy"),
};
