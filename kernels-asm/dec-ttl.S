# dec-ttl: what a router does to every packet that it forwards. Decrements the IPv4 time to live and
# updates the header checksum incrementally (RFC 1624); drops the packet, unchanged, when its time to live runs out
# (RFC 1812, section 5.3.1). It does not look at the rest of the header: that is check-ip-header's work.
#
# Verdict: forward to port 0, or drop: NOT_IPV4, SHORT, VERSION or TTL.
# Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    # All of these are in the slot's first line: one request for the whole warp each.
    lw      t0, SLOT_LENGTH(a1)
    lw      a2, SLOT_ETHERTYPE_WORD(a1)
    lbu     a3, IPV4_VERSION_WORD(a1)
    lw      a4, IPV4_TTL_WORD(a1)

    # An IPv4 packet?
    srli    a2, a2, 16
    addi    a2, a2, -ETHERTYPE_IPV4_LE
    sltiu   t0, t0, MIN_FRAME_BYTES
    bnez    t0, short
    bnez    a2, not_ipv4
    srli    a3, a3, 4
    addi    a3, a3, -4
    bnez    a3, version

    # TTL 0 or 1: it runs out here.
    andi    t1, a4, 0xfe
    beqz    t1, ttl

    # TTL - 1 and checksum + 1 in one's complement, in one addition on the word {checksum, protocol, TTL}:
    # 0xffff takes 1 from the TTL and carries 1 into the checksum. RFC 1624 (equation 3) never yields
    # 0xffff, so the checksums 0xfffe and 0xffff take a second carry.
    lui     t1, 0xfffe0
    sltu    t1, a4, t1              # 1: checksum below 0xfffe
    slli    t1, t1, 16
    li      t2, 0x1ffff
    sub     t2, t2, t1
    add     a4, a4, t2
    sw      a4, IPV4_TTL_WORD(a1)
    li      a0, VERDICT_FORWARD
    ret

    # A frame that ends before the EtherType has none; one that ends after it may still be no IPv4.
short:
    lw      t0, SLOT_LENGTH(a1)
    sltiu   t0, t0, ETHERNET_HEADER_BYTES
    bnez    t0, short_drop
    bnez    a2, not_ipv4
short_drop:
    drop    DROP_SHORT
not_ipv4:
    drop    DROP_NOT_IPV4
version:
    drop    DROP_VERSION
ttl:
    drop    DROP_TTL
    .size   kernel, . - kernel
