# router: what a router does to a packet, in one kernel: header checks, classification, route
# lookup, time to live.
#
# Argument block: word 0 = address of the DIR-24-8 table, word 1 = address of the rule list
# (docs/tables.md). Verdict: forward to the port of the destination's prefix, the time to live
# decremented; or drop, unchanged, for the first of these reasons: those of check-ip-header; by rule
# or NO_RULE; NO_ROUTE; TTL. Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"
    .include "check.inc"
    .include "classify.inc"
    .include "route.inc"
    .include "ttl.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      s0, 4(a2)
    check_ip_header

    # Classification: filters either permit or deny
    lw      t0, SLOT_LENGTH(a1)
    andi    a4, a3, 0x0f
    slli    a4, a4, 2
    load_ports
    linear_search
    lw      a0, RULE_VERDICT(s0)
    bltz    a0, filtered

    # Route and time to live; neither changes a1, and the port stays in a0
    lw      t1, IPV4_DESTINATION_WORD(a1)
    lw      t2, 0(a2)
    route_lookup
    lw      a4, IPV4_TTL_WORD(a1)
    decrement_ttl
filtered:
    ret

drop_no_route:
    drop    DROP_NO_ROUTE
drop_ttl:
    drop    DROP_TTL
    header_drops
    .size   kernel, . - kernel
