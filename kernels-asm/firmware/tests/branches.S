# Every condition, both ways, forward and backward, and what a wrong path must not do.
    .include "expect.inc"
    test_begin
    expect_taken beq, 3, 3
    expect_not_taken beq, 3, -3
    expect_taken bne, 0x80000000, 0
    expect_not_taken bne, 7, 7
    expect_taken blt, -1, 0
    expect_taken blt, 0x80000000, 0x7fffffff
    expect_not_taken blt, 1, 0
    expect_not_taken blt, 5, 5
    expect_taken bge, 0, -1
    expect_taken bge, 5, 5
    expect_not_taken bge, 0x80000000, 0x7fffffff
    expect_taken bltu, 0, 0xffffffff
    expect_not_taken bltu, 0x80000000, 0x7fffffff
    expect_taken bgeu, 0xffffffff, 0
    expect_taken bgeu, 9, 9
    expect_not_taken bgeu, 0x7fffffff, 0x80000000
    # Behind a branch that is taken nothing happens, neither to registers nor to memory.
    la   a1, word
    li   a0, 1
    li   a2, 2
    beqz zero, 1f
    addi a0, a0, 1
    sw   zero, 0(a1)
    lw   a2, 4(a1)
1:  expect a0, 1
    expect a2, 2
    lw   a3, 0(a1)
    expect a3, 0x600d600d
    # A loop: as many turns as it should make.
    li   a0, 100
    li   a1, 0
1:  addi a1, a1, 3
    addi a0, a0, -1
    bnez a0, 1b
    expect a1, 300
    # A branch on the result right before it, and on a load.
    la   a1, word
    lw   a0, 0(a1)
    beqz a0, failed
    addi a0, zero, 0
    bnez a0, failed
    passed
    .data
word:
    .word 0x600d600d, 0xbad
