# route-lookup: the output port of every IPv4 packet, by the longest prefix that holds its
# destination. The packet is not changed; of its header only EtherType and version are checked.
#
# Argument block: word 0 = address of the DIR-24-8 table.
# Verdict: forward to the prefix's port, or drop: NOT_IPV4, SHORT, VERSION or NO_ROUTE.
# Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"
    .include "check.inc"
    .include "route.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t1, IPV4_DESTINATION_WORD(a1)
    lw      t2, 0(a2)
    require_ipv4
    route_lookup
    ret

drop_no_route:
    drop    DROP_NO_ROUTE
    header_drops
    .size   kernel, . - kernel
