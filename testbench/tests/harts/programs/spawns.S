# Jobs at random times from four harts: each has slots 4h to 4h + 2, the host slot 4h + 3. A job of
# n threads adds n to the counter of its slot. Before a slot is used again its completion word and
# its counter are compared with what they must be. ebreak ends a hart; its word of `failures` says
# what was wrong: the line of the check, and what was found.

    .option arch, +a
    .equ    REGISTERS, 0xffffe000

    .text
    .globl  kernel
    .type   kernel, @function
kernel:                                     # packets: for some time, then to port packetIdx
    li      t0, 30
1:  addi    t0, t0, -1
    bnez    t0, 1b
    ret

    .balign 64
    .globl  job
job:                                        # a1 the counter
    li      t0, 1
    amoadd.w zero, t0, (a1)
    ret
    .balign 64
    .globl  poisoned
poisoned:                                   # a2 a line that cannot be read
    lw      t0, 0(a2)
    j       job

    .balign 64
    .globl  hart
hart:
    csrr    s0, mhartid
    la      s1, page
    slli    t0, s0, 8                       # four descriptors a hart
    add     s1, s1, t0
    # Random numbers go on where they were, also after a reset of the hart.
    la      s3, states
    slli    t0, s0, 6
    add     s3, s3, t0
    lw      s2, 0(s3)
    # What a reset interrupted ends first; then what is there is what is expected.
    lui     s9, 0xfffe0
    add     s9, s9, t0
    li      s4, 7
    slli    t0, s0, 2
    sll     s4, s4, t0                      # its slots
1:  csrr    t0, 0x805
    and     t0, t0, s4
    bnez    t0, 1b
    fence   rw, rw
    li      s5, 0
2:  jal     slot
    lw      t0, 0(s7)
    sw      t0, 0(t3)
    lw      t0, 32(s7)
    sw      t0, 4(t3)
    addi    s5, s5, 1
    li      t0, 3
    bne     s5, t0, 2b
    # Hart 0, which is never reset, sets the page.
    la      s10, page
    beqz    s0, set_page
3:  li      t0, REGISTERS
    lw      t0, 0x384(t0)                   # SPAWN_BASE
    bne     t0, s10, 3b
    j       again
set_page:                                   # refused while the host's jobs run
    .insn   r 0x0b, 3, 0, t0, s10, x0       # SIGNAL.RANGE
    bnez    t0, set_page
again:
    # The next random number: xorshift
    slli    t0, s2, 13
    xor     s2, s2, t0
    srli    t0, s2, 17
    xor     s2, s2, t0
    slli    t0, s2, 5
    xor     s2, s2, t0
    sw      s2, 0(s3)
    li      t0, 3
    remu    s5, s2, t0
    jal     slot
    csrr    t0, 0x805
    srl     t0, t0, s6
    andi    t0, t0, 1
    beqz    t0, free
    # Busy: what is written to its words, whole or not, has no effect, but for that of the next job.
    andi    t0, s2, 0x700
    bnez    t0, again
    sw      s2, 4(s8)
    sb      s2, 12(s8)
    sw      s2, 24(s8)
    j       again
free:
    fence   r, r
    li      t4, 1
    lw      t0, 0(s7)
    lw      t1, 0(t3)
    bne     t0, t1, failed
    li      t4, 2
    lw      t0, 32(s7)
    lw      t1, 4(t3)
    bne     t0, t1, failed
    lw      t2, 4(s3)                       # jobs to be done
    beqz    t2, ended
    addi    t2, t2, -1
    sw      t2, 4(s3)
    # A descriptor: t0 entry, t1 shape, t2 word 4, t4 cores, t5 what the completion word becomes, t6
    # threads.
    la      t0, job
    srli    t6, s2, 16
    andi    t6, t6, 7
    addi    t6, t6, 1
    mv      t1, t6
    lw      t5, 4(s3)                       # the token
    li      t4, 0
    srli    t2, s2, 12
    andi    t2, t2, 15
    li      a0, 6
    bgeu    t2, a0, good
    slli    t2, t2, 3
    la      a0, kinds
    add     a0, a0, t2
    li      t2, 0
    jr      a0
kinds:                                      # eight bytes each, but for the last
    addi    t0, t0, 2                       # 1
    j       bad_entry
    li      t1, 0                           # 2
    j       bad_threads
    nop
    j       bad_shape
    li      t2, 4                           # 3
    j       bad_word
    lui     t4, 0x80000                     # 5
    j       bad_cores
    la      t0, poisoned
    nop
    j       faulted
bad_entry:
    li      t5, 1
    j       bad
bad_threads:
    li      t5, 2
    j       bad
bad_shape:
    lui     a0, 0x1000                      # bit 24
    or      t1, t1, a0
bad_word:
    li      t5, 3
    j       bad
bad_cores:
    li      t5, 5
bad:
    lui     a0, 0xc0000
    or      t5, t5, a0
    li      t6, 0
    j       write
faulted:
    lui     a0, 0x80000
    or      t5, t5, a0
    li      t6, 0
    li      t2, 0
    j       write
good:
    li      t2, 0
    srli    a0, s2, 20
    andi    a0, a0, 1
    slli    a0, a0, 26                      # ACQUIRE
    or      t1, t1, a0
write:
    sw      t2, 16(s8)
    sw      t4, 20(s8)
    sw      t1, 12(s8)
    la      a0, poison
    sw      a0, 8(s8)
    addi    a0, s7, 32
    sw      a0, 4(s8)
    lw      a0, 4(s3)
    sw      a0, 28(s8)
    # Without a completion word, now and then
    srli    a0, s2, 24
    andi    a0, a0, 7
    sw      zero, 24(s8)
    beqz    a0, 1f
    sw      s7, 24(s8)
    sw      t5, 0(t3)
1:  lw      a0, 4(t3)
    add     a0, a0, t6
    sw      a0, 4(t3)
    andi    a0, s2, 63
2:  addi    a0, a0, -1
    bgez    a0, 2b
    .insn   s 0x0b, 2, t0, 0(s8)            # SIGNAL
    j       again

ended:                                      # all slots are free, and as they must be
    csrr    t0, 0x805
    and     t0, t0, s4
    bnez    t0, ended
    fence   rw, rw
    li      s5, 0
1:  jal     slot
    li      t4, 3
    lw      t0, 0(s7)
    lw      t1, 0(t3)
    bne     t0, t1, failed
    li      t4, 4
    lw      t0, 32(s7)
    lw      t1, 4(t3)
    bne     t0, t1, failed
    addi    s5, s5, 1
    li      t0, 3
    bne     s5, t0, 1b
    ebreak
failed:
    sw      t4, 8(s3)
    sw      t0, 12(s3)
    sw      t1, 16(s3)
    sw      s6, 20(s3)
    ebreak

# Of its slot number s5: s6 the slot, s8 the descriptor, s7 completion word and counter, t3 what is
# expected of them.
slot:
    slli    s6, s0, 2
    add     s6, s6, s5
    slli    t3, s5, 6
    add     s8, s1, t3
    la      s7, words
    slli    t3, s6, 6
    add     s7, s7, t3
    slli    t3, s5, 3
    add     t3, s9, t3
    ret

    .data
    .balign 1024
    .globl  page
page:
    .zero   1024
# Of each slot a line: completion word, and at 32 the counter.
    .globl  words
words:
    .zero   1024
# Of each hart a line: random number, jobs to be done, what failed.
    .globl  states
states:
    .zero   256
    .globl  poison
poison:
    .zero   64
