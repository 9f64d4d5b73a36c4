# check-ip-header: the checks that a router makes before it forwards a packet (RFC 1812, section 5.2.2):
# version, header length, total length, header checksum with the options, and a source address that a host may
# have (section 5.3.7). The packet is not changed.
#
# Verdict: forward to port 0, or drop with the reason of the first check that fails, in this order:
# SHORT or NOT_IPV4, VERSION, HEADER_LENGTH, TOTAL_LENGTH, CHECKSUM, SOURCE.
# Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t0, SLOT_LENGTH(a1)
    lw      a2, SLOT_ETHERTYPE_WORD(a1)
    lw      a3, IPV4_VERSION_WORD(a1)
    lw      a4, IPV4_FRAGMENT_WORD(a1)
    lw      a5, IPV4_TTL_WORD(a1)

    # An IPv4 packet?
    srli    a2, a2, 16
    addi    a2, a2, -ETHERTYPE_IPV4_LE
    li      t1, MIN_FRAME_BYTES
    bltu    t0, t1, short
    bnez    a2, not_ipv4
    andi    t1, a3, 0xf0
    addi    t1, t1, -0x40
    bnez    t1, version

    # Header length t1 in bytes: at least 20, and inside the bytes that are there.
    andi    t1, a3, 0x0f
    slli    t1, t1, 2
    li      t2, IPV4_MIN_HEADER_BYTES
    bltu    t1, t2, header_length
    addi    t2, t1, ETHERNET_HEADER_BYTES
    bltu    t0, t2, header_length

    # Total length t2: at least the header, and inside the frame as it was on the wire.
    lhu     t2, SLOT_CUT(a1)
    add     t0, t0, t2
    slli    t2, a3, 8
    srli    t2, t2, 24
    slli    t2, t2, 8
    srli    a2, a3, 24
    or      t2, t2, a2
    bltu    t2, t1, total_length
    addi    t2, t2, ETHERNET_HEADER_BYTES
    bltu    t0, t2, total_length

    # Header checksum (RFC 1071): sum t0 of the header's words, their carries counted in a4. The sum does not depend on
    # the byte order, so the words are taken as they are loaded. t2 keeps the source address.
    lw      t2, IPV4_SOURCE_WORD(a1)
    lw      a2, IPV4_DESTINATION_WORD(a1)
    add     t0, a3, a4
    sltu    a4, t0, a4
    add     t0, t0, a5
    sltu    a5, t0, a5
    add     a4, a4, a5
    add     t0, t0, t2
    sltu    a5, t0, t2
    add     a4, a4, a5
    add     t0, t0, a2
    sltu    a5, t0, a2
    add     a4, a4, a5
    addi    a5, t1, -IPV4_MIN_HEADER_BYTES
    bnez    a5, options

    # Fold to 16 bits: the checksum is right if that gives 0xffff.
fold:
    add     t0, t0, a4
    sltu    a4, t0, a4
    add     t0, t0, a4
    slli    a4, t0, 16
    add     t0, t0, a4
    sltu    a4, t0, a4
    srli    t0, t0, 16
    add     t0, t0, a4
    li      a4, 0xffff
    bne     t0, a4, checksum

    # Source address: not network 0, not loopback 127, not multicast, reserved or broadcast (224 and above).
    andi    t2, t2, 0xff
    beqz    t2, source
    addi    a2, t2, -127
    beqz    a2, source
    sltiu   t2, t2, 224
    beqz    t2, source
    li      a0, VERDICT_FORWARD
    ret

    # Options: a5 bytes of further words.
options:
    add     a5, a5, a1              # the words end at IPV4_OPTIONS + a5
    mv      t1, a1
1:
    lw      a2, IPV4_OPTIONS(t1)
    addi    t1, t1, 4
    add     t0, t0, a2
    sltu    a2, t0, a2
    add     a4, a4, a2
    bne     t1, a5, 1b
    j       fold

    # A frame that ends before the EtherType has none; one that ends after it may still be no IPv4.
short:
    sltiu   t0, t0, ETHERNET_HEADER_BYTES
    bnez    t0, short_drop
    bnez    a2, not_ipv4
short_drop:
    drop    DROP_SHORT
not_ipv4:
    drop    DROP_NOT_IPV4
version:
    drop    DROP_VERSION
header_length:
    drop    DROP_HEADER_LENGTH
total_length:
    drop    DROP_TOTAL_LENGTH
checksum:
    drop    DROP_CHECKSUM
source:
    drop    DROP_SOURCE
    .size   kernel, . - kernel
