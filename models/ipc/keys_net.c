#include "net.h"

/* All assumed but for the sum: a byte sent and received by one task over loopback takes 6.6 us with TCP and 3.15 us
 * with UDP on an AMD EPYC guest of about 3 GHz with Linux 6.18 (2026), of which system calls and file layer are 0.4
 * us. The split follows the number of instructions of the functions. */
#define PATH(name, cost, text) \
    { \
        .path = "kernel.path." name, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 s", \
        .def = cost, .help = text, \
        .source = "assumed, half to twice: share of a byte over loopback, 6.6 us (TCP) or 3.15 us (UDP) on EPYC, " \
                  "Linux 6.18", \
        .flags = WB_KEY_PRICED \
    }

const struct wb_key net_keys[NET_KEYS] = {
    {.path = "kernel.tcp",
     .type = WB_KEY_VERSION,
     .def = "2.6.22",
     .help =
         "Kernel version whose TCP rules hold, independent of the scheduler's. Changes came with 2.6.26 (data-ready "
         "wakes are sync), 2.6.35 (so is the prequeue's), 3.6 (loopback takes 64 KiB packets) and 4.14 (no prequeue). "
         "UDP follows the same version.",
     .source = "net/core/sock.c, include/net/tcp.h, drivers/net/loopback.c of the versions named"},
    {.path = "kernel.tcp_low_latency",
     .type = WB_KEY_BOOL,
     .def = "false",
     .help = "net.ipv4.tcp_low_latency: no prequeue, protocol work is done in the softirq.",
     .source = "net/ipv4/sysctl_net_ipv4.c: 0"},
    {.path = "kernel.tcp_sync",
     .type = WB_KEY_ENUM,
     .choices = "version always never",
     .def = "version",
     .help = "Sync hint of the wakes by data of TCP and UDP: as the version says, always, or never.",
     .source = "commit 6f3d09291b4 (2.6.26)"},
    PATH("sys_sendto", "350 cy", "send() above the protocol: descriptor, socket layer, security hooks. Per call."),
    PATH("sys_recvfrom", "350 cy", "recv() above the protocol. Per call."),
    PATH("lock_sock", "60 cy", "Taking a socket, without its line."),
    PATH("release_sock", "60 cy", "Giving it back, without its line."),
    PATH("tcp_sendmsg", "700 cy", "Body of tcp_sendmsg() without allocation and copy. Per call."),
    PATH("tcp_recvmsg", "700 cy", "Body of tcp_recvmsg() without the copy. Per call."),
    PATH("tcp_write_xmit", "400 cy", "Window, Nagle and congestion tests. Per segment."),
    PATH("skb_clone", "300 cy", "The clone that is sent while the original waits for its ACK. Per segment."),
    PATH("tcp_transmit_skb", "700 cy", "Header and options. Per segment."),
    PATH("ip_queue_xmit", "600 cy", "Route check and IP header. Per segment."),
    PATH("ip_output", "400 cy", "IP output and the neighbour. Per packet."),
    PATH("dev_queue_xmit", "350 cy", "To a device without queue. Per packet."),
    PATH("loopback_xmit", "250 cy", "The loopback device. Per packet."),
    PATH("netif_rx", "250 cy", "To the CPU's backlog. Per packet."),
    PATH("net_rx_action", "250 cy", "The softirq's loop. Per run."),
    PATH("process_backlog", "150 cy", "From the backlog. Per packet."),
    PATH("netif_receive_skb", "350 cy", "To the protocol of the link layer. Per packet."),
    PATH("ip_rcv", "600 cy", "IP input up to the transport protocol. Per packet."),
    PATH("tcp_v4_rcv", "600 cy", "Header checks and look-up of the connection. Per packet."),
    PATH("tcp_prequeue", "80 cy", "To the prequeue. Per packet."),
    PATH("tcp_rcv_established", "700 cy", "Header prediction and state of the connection. Per packet."),
    PATH("tcp_ack", "800 cy", "An ACK that acknowledges or opens the window."),
    PATH("tcp_clean_rtx_queue", "400 cy", "Taking what it covers off the retransmission queue. Per ACK."),
    PATH("tcp_send_ack", "700 cy", "Making an ACK without data."),
    PATH("tcp_send_delayed_ack", "150 cy", "Noting that one is owed."),
    PATH("mod_timer", "200 cy", "Retransmission and delayed-ACK timers. Per segment."),
    PATH("sk_wait_data", "150 cy", "Sleeping for data, beside the wait queue's own functions."),
    PATH("tcp_rcv_space_adjust", "120 cy", "After a copy to the user."),
    PATH("tcp_cleanup_rbuf", "120 cy", "At the end of recv(): is an ACK due?"),
    PATH("sk_stream_write_space", "80 cy", "Looking whether a sender waits for room."),
    PATH("tcp_close", "2000 cy", "Closing a connection. Per call."),
    PATH("skb_release_data", "120 cy", "One reference to a buffer's data less, without its line."),
    PATH("udp_sendmsg", "700 cy", "Body of udp_sendmsg(), route look-up. Per call."),
    PATH("ip_append_data", "600 cy", "Filling a datagram. Per fragment."),
    PATH("ip_push_pending_frames", "500 cy", "UDP and IP headers. Per datagram."),
    PATH("udp_rcv", "600 cy", "Header checks and look-up by port. Per datagram."),
    PATH("sock_queue_rcv_skb", "250 cy", "To the receive queue, without its lock. Per datagram."),
    PATH("udp_recvmsg", "400 cy", "Body of udp_recvmsg() without the copy. Per call."),
    PATH("skb_recv_datagram", "250 cy", "From the receive queue, without its lock. Per try."),
};
