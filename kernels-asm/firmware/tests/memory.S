# Loads and stores of every size at every place, near and far.
    .include "expect.inc"
    test_begin
    la   s0, data
    lb   a0, 0(s0)
    expect a0, 0xffffffff
    lb   a0, 1(s0)
    expect a0, 0
    lbu  a0, 2(s0)
    expect a0, 0xf0
    lb   a0, 2(s0)
    expect a0, 0xfffffff0
    lb   a0, 3(s0)
    expect a0, 0x0f
    lh   a0, 4(s0)
    expect a0, 0xffff8001
    lhu  a0, 4(s0)
    expect a0, 0x8001
    lh   a0, 6(s0)
    expect a0, 0x7ffe
    lw   a0, 4(s0)
    expect a0, 0x7ffe8001
    lw   a0, 60(s0)
    expect a0, 0x11223344
    lw   a0, 64(s0)
    expect a0, 0x55667788
    # Stores change their bytes and no others.
    li   a1, 0xaabbccdd
    sw   a1, 4(s0)
    sb   a1, 0(s0)
    sh   a1, 2(s0)
    sb   a1, 61(s0)
    sh   a1, 66(s0)
    lw   a0, 0(s0)
    expect a0, 0xccdd00dd
    lw   a0, 4(s0)
    expect a0, 0xaabbccdd
    lw   a0, 60(s0)
    expect a0, 0x1122dd44
    lw   a0, 64(s0)
    expect a0, 0xccdd7788
    # What was stored right before, by every size.
    li   a1, 0x01020304
    sw   a1, 8(s0)
    lb   a0, 9(s0)
    expect a0, 3
    sb   a1, 11(s0)
    lw   a0, 8(s0)
    expect a0, 0x04020304
    # The same place stored twelve times: the last one stays.
    li   a1, 12
1:  sw   a1, 12(s0)
    addi a1, a1, -1
    bnez a1, 1b
    lw   a0, 12(s0)
    expect a0, 1
    # Negative offsets, and an address that is loaded.
    la   a1, pointer
    lw   a1, 0(a1)
    lw   a0, -4(a1)
    expect a0, 0x1122dd44
    # Copied by bytes, compared by words.
    la   a1, data
    la   a2, copy
    li   a3, 68
2:  lbu  a4, 0(a1)
    sb   a4, 0(a2)
    addi a1, a1, 1
    addi a2, a2, 1
    addi a3, a3, -1
    bnez a3, 2b
    la   a2, copy
    lw   a0, 60(a2)
    expect a0, 0x1122dd44
    passed
    .data
    .balign 64
data:
    .word 0x0ff000ff, 0x7ffe8001
    .zero 52
    .word 0x11223344, 0x55667788
pointer:
    .word data + 64
    .bss
copy:
    .zero 68
