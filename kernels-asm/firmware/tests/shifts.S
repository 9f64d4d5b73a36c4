# Shifts and rotations: only the low five bits of the amount count.
    .include "expect.inc"
    test_begin
    expect_r sll,  0x80000000, 0x00000001, 31
    expect_r sll,  0x00000001, 0x00000001, 32
    expect_r sll,  0x48484000, 0x21212121, 14
    expect_r srl,  0x00000001, 0x80000000, 31
    expect_r srl,  0x01ffffff, 0xffffffff, 7
    expect_r srl,  0x00008484, 0x21212121, 14
    expect_r srl,  0x42424242, 0x84848484, 33
    expect_r sra,  0xffffffff, 0x80000000, 31
    expect_r sra,  0xff000000, 0x80000000, 7
    expect_r sra,  0x00ffffff, 0x7fffffff, 7
    expect_r sra,  0x81818181, 0x81818181, 0xffffffe0
    expect_i slli, 0x00000080, 0x00000001, 7
    expect_i slli, 0x80000000, 0xffffffff, 31
    expect_i srli, 0x00000001, 0xffffffff, 31
    expect_i srli, 0x0fffffff, 0xffffffff, 4
    expect_i srai, 0xffffffff, 0xffffffff, 31
    expect_i srai, 0xf8000000, 0x80000000, 4
    expect_i srai, 0x04000000, 0x40000000, 4
    expect_r rol,  0x00000003, 0x80000001, 1
    expect_r ror,  0xc0000000, 0x80000001, 1
    expect_r rol,  0x80000001, 0x80000001, 32
    expect_i rori, 0x78123456, 0x12345678, 8
    passed
