# nids: drops the packets whose payload holds a pattern, by Aho-Corasick automata: one load a byte,
# whatever the number of patterns. The packet is not changed; EtherType, version, header length and
# total length are checked.
#
# Argument block: word 0 = start row of an automaton, word 1 = that of a second one, or 0 if the
# first has all patterns. docs/tables.md has the rows' layout. Verdict: drop by the rule with the
# lowest number of those whose pattern occurs, forward to port 0 if none does, or drop: NOT_IPV4,
# SHORT, VERSION, HEADER_LENGTH or TOTAL_LENGTH. Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"
    .include "check.inc"
    .include "payload.inc"

.equ ROW_PATTERN, 1024              # offset of the lowest pattern number in a row

# One byte of the payload: bits \low+7:\low of a3. Threads at whose state a pattern ends (bit 0 of
# the row's address) go round the others, which wait for them at 1. State t0, lowest pattern so far
# a0. Uses: a4.
.macro step low
    .if \low == 0
    slli    a4, a3, 2
    .else
    srli    a4, a3, \low - 2
    .endif
    andi    a4, a4, 4 * 255
    add     a4, a4, t0
    lw      t0, 0(a4)
    andi    a4, t0, 1
    beqz    a4, 1f
    addi    t0, t0, -1
    lw      a4, ROW_PATTERN(t0)
    bgeu    a4, a0, 1f
    mv      a0, a4
1:
.endm

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    require_ipv4
    require_header_length
    find_payload

    # The automata in turn: t0 the state, t1 the automaton that is still to come
    li      a0, -1
    lw      t0, 0(a2)
    lw      t1, 4(a2)
    andi    tp, s1, -4              # end of the whole words
scan:
    # Whole words: 4 bytes a load
    mv      t2, s0
    bgeu    t2, tp, 3f
2:
    lw      a3, 0(t2)
    addi    t2, t2, 4
    step    0
    step    8
    step    16
    step    24
    bltu    t2, tp, 2b
3:
    # Up to 3 bytes behind them
    bgeu    t2, s1, 5f
4:
    lbu     a3, 0(t2)
    addi    t2, t2, 1
    step    0
    bltu    t2, s1, 4b
5:
    mv      t0, t1
    li      t1, 0
    bnez    t0, scan

    pattern_verdict
    header_drops
    .size   kernel, . - kernel
