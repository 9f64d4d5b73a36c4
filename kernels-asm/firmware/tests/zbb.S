# Zbb: counts, extensions, minima, logic with an inverted operand.
    .include "expect.inc"
    test_begin
    expect_u clz,  32, 0
    expect_u clz,  0, 0x80000000
    expect_u clz,  31, 1
    expect_u clz,  11, 0x001fffff
    expect_u ctz,  32, 0
    expect_u ctz,  31, 0x80000000
    expect_u ctz,  0, 0xffffffff
    expect_u ctz,  12, 0xabcd1000
    expect_u cpop, 0, 0
    expect_u cpop, 32, 0xffffffff
    expect_u cpop, 13, 0x12345678
    expect_u sext.b, 0xffffff80, 0x12345680
    expect_u sext.b, 0x0000007f, 0xffffff7f
    expect_u sext.h, 0xffff8000, 0x12348000
    expect_u sext.h, 0x00007fff, 0xffff7fff
    expect_u zext.h, 0x00008765, 0xffff8765
    expect_u orc.b, 0xff00ffff, 0x01008010
    expect_u rev8, 0x78563412, 0x12345678
    expect_r andn, 0xf0f0f0f0, 0xffffffff, 0x0f0f0f0f
    expect_r orn,  0xf0f0ffff, 0x0000ffff, 0x0f0f0f0f
    expect_r xnor, 0xf0f0f0f0, 0x00000000, 0x0f0f0f0f
    expect_r min,  0x80000000, 0x80000000, 0x7fffffff
    expect_r minu, 0x7fffffff, 0x80000000, 0x7fffffff
    expect_r max,  0x7fffffff, 0x80000000, 0x7fffffff
    expect_r maxu, 0x80000000, 0x80000000, 0x7fffffff
    passed
