# classifier: the first 5-tuple filter that matches an IPv4 packet, by linear search. The packet is
# not changed; of its header EtherType, version and header length are checked.
#
# Argument block: word 0 = address of the rule list. Verdict: that of the filter (forward to the
# port with the filter's number, or drop by rule), or drop: NOT_IPV4, SHORT, VERSION, HEADER_LENGTH
# or NO_RULE. Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"
    .include "check.inc"
    .include "classify.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      s0, 0(a2)
    require_ipv4
    require_header_length
    load_ports
    linear_search
    lw      a0, RULE_VERDICT(s0)
    ret

    header_drops
    .size   kernel, . - kernel
