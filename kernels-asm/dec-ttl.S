# dec-ttl: what a router does to every packet that it forwards. Decrements the IPv4 time to live and
# updates the header checksum. It does not look at the rest of the header: that is check-ip-header's
# work.
#
# Verdict: forward to port 0, or drop: NOT_IPV4, SHORT, VERSION or TTL.
# Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"
    .include "check.inc"
    .include "ttl.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      a4, IPV4_TTL_WORD(a1)
    require_ipv4
    decrement_ttl
    li      a0, VERDICT_FORWARD
    ret

drop_ttl:
    drop    DROP_TTL
    header_drops
    .size   kernel, . - kernel
