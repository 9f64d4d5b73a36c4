# Sums, differences, comparisons and logic. Expected values are written down, not computed.
    .include "expect.inc"
    test_begin
    expect_r add,  0x00000000, 0x00000000, 0x00000000
    expect_r add,  0x80000000, 0x7fffffff, 0x00000001
    expect_r add,  0x7fffffff, 0x80000000, 0xffffffff
    expect_r add,  0xfffffffe, 0xffffffff, 0xffffffff
    expect_r add,  0x12345678, 0x12340000, 0x00005678
    expect_r sub,  0xffffffff, 0x00000000, 0x00000001
    expect_r sub,  0x7fffffff, 0x80000000, 0x00000001
    expect_r sub,  0x80008000, 0x80000000, 0xffff8000
    expect_r slt,  1, 0x80000000, 0x7fffffff
    expect_r slt,  0, 0x7fffffff, 0x80000000
    expect_r slt,  0, 5, 5
    expect_r slt,  1, -2, -1
    expect_r sltu, 0, 0x80000000, 0x7fffffff
    expect_r sltu, 1, 0x7fffffff, 0x80000000
    expect_r sltu, 1, 0, 0xffffffff
    expect_r xor,  0xf00ff00f, 0xff00ff00, 0x0f0f0f0f
    expect_r or,   0xff0fff0f, 0xff00ff00, 0x0f0f0f0f
    expect_r and,  0x0f000f00, 0xff00ff00, 0x0f0f0f0f
    expect_i addi, 0x000007ff, 0, 2047
    expect_i addi, 0xfffff800, 0, -2048
    expect_i addi, 0x800007ff, 0x80000000, 2047
    expect_i addi, 0x7ffff800, 0x80000000, -2048
    expect_i slti, 1, 0x80000000, -1
    expect_i slti, 0, 0, -1
    expect_i sltiu, 1, 0, -1
    expect_i sltiu, 0, 0xffffffff, -1
    expect_i sltiu, 1, 0x80000000, -2048
    expect_i xori, 0xff00f0f0, 0x00ff0f0f, -1
    expect_i xori, 0x0ff008ff, 0x0ff00ff0, 0x70f
    expect_i andi, 0x00000700, 0xff00ff00, 0x70f
    expect_i ori,  0xffffff0f, 0xff00ff00, -241
    # Nothing is written to x0.
    li   a0, 7
    add  zero, a0, a0
    expect zero, 0
    add  a1, zero, zero
    expect a1, 0
    # A result is used at once, one later, two later, three later.
    li   a0, 1
    add  a1, a0, a0
    add  a2, a1, a0
    add  a3, a1, a2
    add  a4, a1, a3
    add  a5, a1, a4
    expect a5, 9
    expect a4, 7
    # The newest of several results counts.
    li   a0, 1
    addi a0, a0, 1
    addi a0, a0, 1
    addi a0, a0, 1
    add  a1, a0, a0
    expect a1, 8
    passed
