# ipsec: ESP in tunnel mode (RFC 4303) with AES-128 in counter mode (RFC 3686) and HMAC-SHA1-96 (RFC
# 2404), for arrays with the AES instructions (Zkne). c/ipsec.c does the same on every array; both
# have the same argument block, verdicts and results. The packet becomes, in place, the payload of
# one from the tunnel's source to its destination. Packet n has the sequence number n + 1, which is
# also its IV: no counter is shared.
#
# Argument block: word 0 = address of the security association; docs/tables.md has its layout.
# Verdict: forward to port 0, or drop: NOT_IPV4, SHORT, VERSION, HEADER_LENGTH, TOTAL_LENGTH (also
# if not all of the packet is in the slot), FRAGMENT (the result does not fit). Registers: RV32I, no
# stack; 5 words of the scratchpad for each thread.
#
# Nothing that a round needs is in memory: the message schedule of SHA-1 stays in 16 registers, its
# rounds are unrolled so that no register is moved; AES takes its round keys, which are the same in
# all lanes, as operands of its first step.

    .include "packet.inc"
    .include "check.inc"
    .option arch, +zkne

# ---- Security association: byte offsets from a2
.equ SA_SPI,          0         # network byte order, as the packet has them
.equ SA_SOURCE,       4
.equ SA_DESTINATION,  8
.equ SA_NONCE,       12
.equ SA_FRAME_BYTES, 16
.equ SA_INNER,       20         # SHA-1 after the padded keys of HMAC
.equ SA_OUTER,       40
.equ ROUND_KEYS,   1260         # as the AES instructions want them: first byte in bits 7:0

# ---- The outer packet: words from its IPv4 header on
.equ FRONT_WORDS,     9         # IPv4 header, SPI, sequence number, IV
.equ ESP_WORDS,       4
.equ TAG_WORDS,       3
.equ OUTER_ESP,      SLOT_IPV4 + 20
.equ TTL,            64
.equ PROTOCOL_ESP,   50
.equ PROTOCOL_IPV4,   4

# ---- Scratchpad: word i of a thread at i * 128, 1024 bytes a warp; each lane has its own bank
.equ CSR_LANE,    0xcc1
.equ CSR_SLOT,    0xcc2
.equ STATE_NEXT,    128

# The next state \n0 to \n3 of AES from \s0 to \s3 (FIPS 197, section 5.1): ShiftRows is in the
# choice of the columns.
.macro aes_round step, key, n0, n1, n2, n3, s0, s1, s2, s3
    lw      \n0, \key(a2)
    lw      \n1, \key+4(a2)
    lw      \n2, \key+8(a2)
    lw      \n3, \key+12(a2)
    \step   \n0, \n0, \s0, 0
    \step   \n1, \n1, \s1, 0
    \step   \n2, \n2, \s2, 0
    \step   \n3, \n3, \s3, 0
    \step   \n0, \n0, \s1, 1
    \step   \n1, \n1, \s2, 1
    \step   \n2, \n2, \s3, 1
    \step   \n3, \n3, \s0, 1
    \step   \n0, \n0, \s2, 2
    \step   \n1, \n1, \s3, 2
    \step   \n2, \n2, \s0, 2
    \step   \n3, \n3, \s1, 2
    \step   \n0, \n0, \s3, 3
    \step   \n1, \n1, \s0, 3
    \step   \n2, \n2, \s1, 3
    \step   \n3, \n3, \s2, 3
.endm

# The functions of SHA-1 (FIPS 180-4, section 4.1.1), added to \e. Uses: t0, t1.
.macro choose b, c, d, e
    and     t0, \b, \c
    andn    t1, \d, \b
    add     \e, \e, t0
    add     \e, \e, t1
.endm
.macro parity b, c, d, e
    xor     t0, \b, \c
    xor     t0, t0, \d
    add     \e, \e, t0
.endm
.macro majority b, c, d, e
    and     t0, \b, \c
    xor     t1, \b, \c
    and     t1, t1, \d
    add     \e, \e, t0
    add     \e, \e, t1
.endm

# A round with the constant t2 and the message word \w; afterwards the names have moved on by one.
.macro round function, a, b, c, d, e, w
    add     \e, \e, \w
    rori    t0, \a, 27
    add     \e, \e, t2
    add     \e, \e, t0
    \function \b, \c, \d, \e
    rori    \b, \b, 2
.endm
# The next message word, in the place of the one 16 before.
.macro schedule w0, w13, w8, w2
    xor     \w0, \w0, \w13
    xor     \w0, \w0, \w8
    xor     \w0, \w0, \w2
    rori    \w0, \w0, 31
.endm
# After five rounds every name is in its place again.
.macro five_rounds function, w0, w1, w2, w3, w4
    round   \function, a3, a4, a5, a6, a7, \w0
    round   \function, a7, a3, a4, a5, a6, \w1
    round   \function, a6, a7, a3, a4, a5, \w2
    round   \function, a5, a6, a7, a3, a4, \w3
    round   \function, a4, a5, a6, a7, a3, \w4
.endm
# The same with the words of the schedule; all 16 are named from the first one on that is due.
.macro five_scheduled function, w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15
    schedule \w0, \w13, \w8, \w2
    schedule \w1, \w14, \w9, \w3
    schedule \w2, \w15, \w10, \w4
    schedule \w3, \w0, \w11, \w5
    schedule \w4, \w1, \w12, \w6
    five_rounds \function, \w0, \w1, \w2, \w3, \w4
.endm

# Message word \index while gp words remain: the word, or the 1 that ends the message, or 0.
.macro last_word w, index
    seqz    t0, gp
    slli    \w, t0, 31
    blez    gp, 1f
    lw      \w, 4*\index(a0)
    rev8    \w, \w
1:  addi    gp, gp, -1
.endm

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      a2, 0(a2)
    addi    s0, a0, 1               # sequence number
    require_ipv4
    require_header_length
    total_length t1
    bltu    t1, a4, drop_total_length
    addi    t2, t1, ETHERNET_HEADER_BYTES
    bltu    t0, t2, drop_total_length

    # Padding t2; payload s1 in words: the packet, padding, its length, the protocol; s2 bytes of
    # the outer packet
    addi    t0, t1, 2
    neg     t2, t0
    andi    t2, t2, 3
    add     t3, t0, t2
    srli    s1, t3, 2
    addi    s2, t3, 4*(FRONT_WORDS+TAG_WORDS)
    lw      t4, SA_FRAME_BYTES(a2)
    addi    s7, s2, ETHERNET_HEADER_BYTES
    bltu    t4, s7, drop_fragment
    lui     t4, 0x10
    bgeu    s2, t4, drop_fragment

    # What the outer header takes from the inner one: s3 type of service and s4 DF, in their places
    lw      s4, IPV4_FRAGMENT_WORD(a1)
    li      t4, 0xff00
    and     s3, a3, t4
    lui     t4, 0x400
    and     s4, s4, t4

    # Trailer: padding 1, 2, 3, its length, the protocol
    add     t4, a1, t1
    li      t5, 1
1:  bltu    t2, t5, 2f
    sb      t5, SLOT_IPV4(t4)
    addi    t4, t4, 1
    addi    t5, t5, 1
    j       1b
2:  sb      t2, SLOT_IPV4(t4)
    li      t5, PROTOCOL_IPV4
    sb      t5, SLOT_IPV4+1(t4)

    # Encrypted from the last block to the first, since the payload moves to higher addresses: s5
    # blocks that remain, a4 = address of the block's words, s6 words of the last block
    rev8    s8, s0
    lw      s9, SA_NONCE(a2)
    addi    s5, s1, 3
    srli    s5, s5, 2
    slli    a4, s5, 4
    add     a4, a4, a1
    addi    a4, a4, SLOT_IPV4
    addi    s6, s1, -1
    andi    s6, s6, 3
encrypt:
    addi    a4, a4, -16

    # The counter block: nonce, IV, number of the block from 1 on (RFC 3686, section 4)
    lw      t0, ROUND_KEYS(a2)
    lw      t1, ROUND_KEYS+4(a2)
    lw      t2, ROUND_KEYS+8(a2)
    lw      t3, ROUND_KEYS+12(a2)
    rev8    t4, s5
    xor     t0, t0, s9
    xor     t2, t2, s8
    xor     t3, t3, t4
    aes_round aes32esmi, ROUND_KEYS+16, t4, t5, t6, a5, t0, t1, t2, t3
    aes_round aes32esmi, ROUND_KEYS+32, t0, t1, t2, t3, t4, t5, t6, a5
    aes_round aes32esmi, ROUND_KEYS+48, t4, t5, t6, a5, t0, t1, t2, t3
    aes_round aes32esmi, ROUND_KEYS+64, t0, t1, t2, t3, t4, t5, t6, a5
    aes_round aes32esmi, ROUND_KEYS+80, t4, t5, t6, a5, t0, t1, t2, t3
    aes_round aes32esmi, ROUND_KEYS+96, t0, t1, t2, t3, t4, t5, t6, a5
    aes_round aes32esmi, ROUND_KEYS+112, t4, t5, t6, a5, t0, t1, t2, t3
    aes_round aes32esmi, ROUND_KEYS+128, t0, t1, t2, t3, t4, t5, t6, a5
    aes_round aes32esmi, ROUND_KEYS+144, t4, t5, t6, a5, t0, t1, t2, t3
    aes_round aes32esi, ROUND_KEYS+160, t0, t1, t2, t3, t4, t5, t6, a5
    # Words behind the payload may be read, but not written.
    lw      t4, 0(a4)
    lw      t5, 4(a4)
    lw      t6, 8(a4)
    lw      a5, 12(a4)
    li      a3, 2
    xor     t0, t0, t4
    xor     t1, t1, t5
    xor     t2, t2, t6
    xor     t3, t3, a5
    sw      t0, 4*FRONT_WORDS(a4)
    beqz    s6, 1f
    sw      t1, 4*(FRONT_WORDS+1)(a4)
    bltu    s6, a3, 1f
    sw      t2, 4*(FRONT_WORDS+2)(a4)
    beq     s6, a3, 1f
    sw      t3, 4*(FRONT_WORDS+3)(a4)
1:
    li      s6, 3
    addi    s5, s5, -1
    bnez    s5, encrypt

    # Outer header, with its checksum, then SPI, sequence number, IV
    rev8    t0, s2                  # s2 is below 65,536
    or      t0, t0, s3
    ori     t0, t0, 0x45
    slli    t1, s0, 16
    srli    t1, t1, 16
    rev8    t1, t1
    srli    t1, t1, 16
    or      t1, t1, s4
    li      t2, TTL | PROTOCOL_ESP << 8
    lw      t3, SA_SOURCE(a2)
    lw      t4, SA_DESTINATION(a2)
    add     t5, t0, t1
    sltu    t6, t5, t1
    add     t5, t5, t2
    sltu    a5, t5, t2
    add     t6, t6, a5
    add     t5, t5, t3
    sltu    a5, t5, t3
    add     t6, t6, a5
    add     t5, t5, t4
    sltu    a5, t5, t4
    add     t6, t6, a5
    add     t5, t5, t6
    sltu    t6, t5, t6
    add     t5, t5, t6
    rori    t6, t5, 16
    add     t5, t5, t6
    srli    t5, t5, 16
    not     t5, t5
    slli    t5, t5, 16
    or      t2, t2, t5
    lw      t6, SA_SPI(a2)
    sw      t0, SLOT_IPV4(a1)
    sw      t1, SLOT_IPV4+4(a1)
    sw      t2, SLOT_IPV4+8(a1)
    sw      t3, SLOT_IPV4+12(a1)
    sw      t4, SLOT_IPV4+16(a1)
    sw      t6, OUTER_ESP(a1)
    sw      s8, OUTER_ESP+4(a1)
    sw      zero, OUTER_ESP+8(a1)
    sw      s8, OUTER_ESP+12(a1)
    sw      s7, SLOT_LENGTH(a1)
    sh      zero, SLOT_CUT(a1)

    # HMAC (RFC 2104) over the ESP header and the payload: sp words, of which gp remain, from a0 on.
    # tp = the thread's place in the scratchpad, where the state of SHA-1 waits while a3 to a7
    # compute. Other registers than these and a1, a2, ra are message words.
    csrr    t0, CSR_LANE
    csrr    t1, CSR_SLOT
    li      tp, SCRATCHPAD
    slli    t0, t0, 2
    slli    t1, t1, 10
    add     tp, tp, t0
    add     tp, tp, t1
    addi    sp, s1, ESP_WORDS
    mv      gp, sp
    addi    a0, a1, OUTER_ESP
    lw      a3, SA_INNER(a2)
    lw      a4, SA_INNER+4(a2)
    lw      a5, SA_INNER+8(a2)
    lw      a6, SA_INNER+12(a2)
    lw      a7, SA_INNER+16(a2)

hash:
    li      t0, 16
    blt     gp, t0, hash_end
    lw      s0, 0(a0)
    lw      s1, 4(a0)
    lw      s2, 8(a0)
    lw      s3, 12(a0)
    lw      s4, 16(a0)
    lw      s5, 20(a0)
    lw      s6, 24(a0)
    lw      s7, 28(a0)
    lw      s8, 32(a0)
    lw      s9, 36(a0)
    lw      s10, 40(a0)
    lw      s11, 44(a0)
    lw      t3, 48(a0)
    lw      t4, 52(a0)
    lw      t5, 56(a0)
    lw      t6, 60(a0)
    rev8    s0, s0
    rev8    s1, s1
    rev8    s2, s2
    rev8    s3, s3
    rev8    s4, s4
    rev8    s5, s5
    rev8    s6, s6
    rev8    s7, s7
    rev8    s8, s8
    rev8    s9, s9
    rev8    s10, s10
    rev8    s11, s11
    rev8    t3, t3
    rev8    t4, t4
    rev8    t5, t5
    rev8    t6, t6
    addi    a0, a0, 64
    addi    gp, gp, -16
    j       compress

    # The end of the message: a 1, zeros, and in the last word of the last block the length in bits
    # with that of the padded key
hash_end:
    last_word s0, 0
    last_word s1, 1
    last_word s2, 2
    last_word s3, 3
    last_word s4, 4
    last_word s5, 5
    last_word s6, 6
    last_word s7, 7
    last_word s8, 8
    last_word s9, 9
    last_word s10, 10
    last_word s11, 11
    last_word t3, 12
    last_word t4, 13
    last_word t5, 14
    last_word t6, 15
    addi    a0, a0, 64
    li      t0, -2
    bge     gp, t0, compress
    addi    t0, sp, 16
    slli    t6, t0, 5

compress:
    sw      a3, 0*STATE_NEXT(tp)
    sw      a4, 1*STATE_NEXT(tp)
    sw      a5, 2*STATE_NEXT(tp)
    sw      a6, 3*STATE_NEXT(tp)
    sw      a7, 4*STATE_NEXT(tp)
    li      t2, 0x5a827999
    five_rounds choose, s0, s1, s2, s3, s4
    five_rounds choose, s5, s6, s7, s8, s9
    five_rounds choose, s10, s11, t3, t4, t5
    round   choose, a3, a4, a5, a6, a7, t6
    schedule s0, t4, s8, s2
    round   choose, a7, a3, a4, a5, a6, s0
    schedule s1, t5, s9, s3
    round   choose, a6, a7, a3, a4, a5, s1
    schedule s2, t6, s10, s4
    round   choose, a5, a6, a7, a3, a4, s2
    schedule s3, s0, s11, s5
    round   choose, a4, a5, a6, a7, a3, s3
    li      t2, 0x6ed9eba1
    five_scheduled parity, s4, s5, s6, s7, s8, s9, s10, s11, t3, t4, t5, t6, s0, s1, s2, s3
    five_scheduled parity, s9, s10, s11, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8
    five_scheduled parity, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t3, t4
    five_scheduled parity, s3, s4, s5, s6, s7, s8, s9, s10, s11, t3, t4, t5, t6, s0, s1, s2
    li      t2, 0x8f1bbcdc
    five_scheduled majority, s8, s9, s10, s11, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7
    five_scheduled majority, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t3
    five_scheduled majority, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t3, t4, t5, t6, s0, s1
    five_scheduled majority, s7, s8, s9, s10, s11, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6
    li      t2, 0xca62c1d6
    five_scheduled parity, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    five_scheduled parity, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t3, t4, t5, t6, s0
    five_scheduled parity, s6, s7, s8, s9, s10, s11, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5
    five_scheduled parity, s11, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10
    lw      s0, 0*STATE_NEXT(tp)
    lw      s1, 1*STATE_NEXT(tp)
    lw      s2, 2*STATE_NEXT(tp)
    lw      s3, 3*STATE_NEXT(tp)
    lw      s4, 4*STATE_NEXT(tp)
    add     a3, a3, s0
    add     a4, a4, s1
    add     a5, a5, s2
    add     a6, a6, s3
    add     a7, a7, s4
    li      t0, -2
    bge     gp, t0, hash
    li      t0, -1000
    beq     gp, t0, tag

    # The outer hash: one block with the inner one
    mv      gp, t0
    mv      s0, a3
    mv      s1, a4
    mv      s2, a5
    mv      s3, a6
    mv      s4, a7
    lui     s5, 0x80000
    li      s6, 0
    li      s7, 0
    li      s8, 0
    li      s9, 0
    li      s10, 0
    li      s11, 0
    li      t3, 0
    li      t4, 0
    li      t5, 0
    li      t6, (16+5)*32
    lw      a3, SA_OUTER(a2)
    lw      a4, SA_OUTER+4(a2)
    lw      a5, SA_OUTER+8(a2)
    lw      a6, SA_OUTER+12(a2)
    lw      a7, SA_OUTER+16(a2)
    j       compress

    # 96 bits of it behind the payload
tag:
    slli    t0, sp, 2
    add     t0, t0, a1
    rev8    a3, a3
    rev8    a4, a4
    rev8    a5, a5
    sw      a3, OUTER_ESP(t0)
    sw      a4, OUTER_ESP+4(t0)
    sw      a5, OUTER_ESP+8(t0)
    li      a0, VERDICT_FORWARD
    ret

drop_fragment:
    drop    DROP_FRAGMENT
    header_drops
    .size   kernel, . - kernel
