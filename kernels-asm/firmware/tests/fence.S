# fence, and fence.i: code that was stored is executed.
    .include "expect.inc"
    test_begin
    la   s0, word
    li   a0, 77
    sw   a0, 0(s0)
    fence
    lw   a1, 0(s0)
    expect a1, 77
    fence r, rw
    fence w, w
    fence.tso
    expect a1, 77
    # The word behind the fence is replaced, several times.
    li   s1, 4
    li   a2, 0
1:  la   a0, patched
    slli a1, s1, 20
    li   a3, 0x00060613
    or   a1, a1, a3
    sw   a1, 0(a0)
    fence.i
patched:
    addi a2, a2, 100
    addi s1, s1, -1
    bnez s1, 1b
    expect a2, 10
    passed
    .data
word:
    .word 0
