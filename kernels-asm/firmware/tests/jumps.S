# jal, jalr, lui, auipc: targets and links.
    .include "expect.inc"
    test_begin
    la   a1, 1f
    jal  a0, 2f
1:  j    3f
2:  sub  a2, a0, a1
    expect a2, 0
    jr   a0
    j    failed
3:  # jalr: offset, cleared bit 0, link and base in one register
    la   a0, 4f
    jalr a0, 8(a0)
5:  j    6f
4:  j    failed
    j    failed
    la   a1, 5b
    sub  a2, a0, a1
    expect a2, 0
    addi a0, a0, 1
    jalr zero, 0(a0)
    j    failed
6:  # calls in calls
    li   a0, 5
    call factorial
    expect a0, 120
    lui  a0, 0x80000
    expect a0, 0x80000000
    lui  a0, 0xfffff
    srai a0, a0, 12
    expect a0, 0xffffffff
7:  auipc a0, 0x10
    la   a1, 7b
    sub  a0, a0, a1
    expect a0, 0x10000
    passed

# a0! by additions
factorial:
    addi sp, sp, -16
    sw   ra, 12(sp)
    sw   s0, 8(sp)
    mv   s0, a0
    li   a0, 1
    beqz s0, 2f
    addi a0, s0, -1
    call factorial
    mv   a1, a0
    li   a0, 0
    mv   a2, s0
1:  add  a0, a0, a1
    addi a2, a2, -1
    bnez a2, 1b
2:  lw   ra, 12(sp)
    lw   s0, 8(sp)
    addi sp, sp, 16
    ret
