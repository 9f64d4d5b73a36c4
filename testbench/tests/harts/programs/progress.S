# Harts that do not let each other rest.

    .option arch, +a
    .equ    REGISTERS, 0xffffe000
    .equ    MUNCACHED, 0x7c0

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    ret

# Stores to a line without pause; the hart has it in its cache too.
    .balign 64
    .globl  stores
stores:
    la      s0, line
    lw      t0, 0(s0)
    li      t1, 0
1:  .rept   48
    sw      t1, 0(s0)
    .endr
    addi    t1, t1, 1
    j       1b

# Loads the line again and again: its line is dropped each time. Counts.
    .balign 64
    .globl  loads
loads:
    csrw    MUNCACHED, zero
    li      s1, 0
    la      s0, line
    la      s2, count
1:  lw      t0, 0(s0)
    lw      t1, 60(s0)
    fence   r, r
    addi    s1, s1, 1
    sw      s1, 0(s2)
    j       1b

# The same uncached.
    .balign 64
    .globl  loads_uncached
loads_uncached:
    la      s0, line
    csrw    MUNCACHED, s0
    li      s1, 0
    la      s2, count
1:  lw      t0, 0(s0)
    addi    s1, s1, 1
    sw      s1, 0(s2)
    j       1b

# An atomic operation, an access to a device and a division in turns, without pause; each hart
# counts in a word of `seen`.
    .balign 64
    .globl  shares
shares:
    csrr    t0, mhartid
    slli    t0, t0, 2
    la      s0, seen
    add     s0, s0, t0
    la      s1, line
    li      s9, REGISTERS
    li      s2, 12345
    li      s3, 7
1:  amoadd.w zero, s3, (s1)
    lw      t1, 0(s9)
    divu    t2, s2, s3
    amoor.w zero, zero, (s1)
    amoadd.w zero, s3, (s1)
    lw      t1, 0(s0)
    addi    t1, t1, 1
    sw      t1, 0(s0)
    j       1b

# Executes the word at `patched` again and again, whose result is one of a few values. `seen` counts
# each; a0 another value: it stops.
    .balign 64
    .globl  executes
executes:
    la      s0, values
    csrw    MUNCACHED, s0
    la      s1, seen
    li      s2, 111
    li      s3, 222
    li      s4, 333
    la      s6, values + 4
    csrw    mscratch, s4
again:
    li      a0, 0
    mv      a1, s6
    j       patched
    .balign 64
    .globl  patched
patched:
    lw      a0, 0(s0)
    .balign 64
    mv      t2, s1
    beq     a0, s2, 1f
    addi    t2, t2, 4
    beq     a0, s3, 1f
    addi    t2, t2, 4
    beq     a0, s4, 1f
    la      t2, wrong
    sw      a0, 0(t2)
    ebreak
1:  lw      t0, 0(t2)
    addi    t0, t0, 1
    sw      t0, 0(t2)
    j       again

# Changes the word at `patched`, and drops the instruction cache, at times that differ.
    .balign 64
    .globl  patches
patches:
    li      s9, REGISTERS
    la      s0, patched
    la      s1, words
    li      s2, 0
1:  slli    t0, s2, 2
    add     t0, t0, s1
    lw      t1, 0(t0)
    sw      t1, 0(s0)
    fence   w, w
    li      t0, 1
    sw      t0, 0x03c(s9)                   # INVALIDATE
    addi    s2, s2, 1
    li      t0, 6
    bne     s2, t0, 2f
    li      s2, 0
2:  addi    s3, s3, 7
    andi    t0, s3, 127
3:  addi    t0, t0, -1
    bgez    t0, 3b
    j       1b
words:
    lw      a0, 0(s0)                       # 111, uncached
    addi    a0, x0, 222
    lw      a0, 4(s0)                       # 222
    csrr    a0, mscratch                    # 333
    amoor.w a0, x0, (a1)                    # 222
    remu    a0, s3, s4                      # 222
    .data
    .balign 64
    .globl  line
line:
    .zero   64
    .globl  count
count:
    .zero   64
    .balign 64
values:
    .word   111, 222, 333
    .balign 64
    .globl  seen
seen:
    .zero   64
    .globl  wrong
wrong:
    .zero   64
