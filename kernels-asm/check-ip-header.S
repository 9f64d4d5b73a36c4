# check-ip-header: the checks that a router makes before it forwards a packet (RFC 1812, section
# 5.2.2). The packet is not changed.
#
# Verdict: forward to port 0, or drop with the reason of the first check that fails, in this order:
# SHORT or NOT_IPV4, VERSION, HEADER_LENGTH, TOTAL_LENGTH, CHECKSUM, SOURCE.
# Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"
    .include "check.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    check_ip_header
    li      a0, VERDICT_FORWARD
    ret

    header_drops
    .size   kernel, . - kernel
