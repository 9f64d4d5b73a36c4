# What runs before and after main on the command processor: firmware begins and ends here.
#
# Each hart gets its stack at the top of local memory, 2 KB (1 KB if there are more than four
# harts), with a guard word at its lower end, whose address is in tp. Hart 0 copies .local, clears
# .bss and calls main; the others sleep until hart_start (hermes_cp.h).
#
# The end: the other harts are held; when the host has emptied MAILBOX_OUT, bit 6 of HOST_IRQ_RAISE,
# then main's value (31 bits) to MAILBOX_OUT_0. A trap that nobody handles ends the firmware too:
# 0x80000000 | mcause to MAILBOX_OUT_0 (bit 30: an interrupt), mepc, mtval and the hart to the words
# 1 to 3; 0x800000ff is a stack overflow.
#include "hermes_registers.h"

    .equ    REGISTERS, 0xffffe000
    .equ    TIMER, 0xfff00000
    .equ    GUARD, 0x57acc0de
    .equ    FRAME, 80
    .equ    STACK_OVERFLOW, 0x800000ff
    .equ    MAILBOX_FULL, 1 << 29
    .equ    ENDED, 1 << 6
    .equ    CONFIG_CHANNELS, 27
    .equ    ULICTL, 0x801
    .equ    PBLOCK, 2

    .section .text.start, "ax"
    .globl  _start
    .type   _start, @function
_start:
    csrci   mstatus, 8
    csrw    mie, zero
    la      gp, __global_pointer$
    la      t0, trap_entry
    csrw    mtvec, t0
    # Stack: harts from the top down.
    li      t0, REGISTERS
    lw      t1, HERMES_CP_STATUS(t0)
    srli    t1, t1, 24
    andi    t1, t1, 15
    li      t2, 2048
    li      t3, 5
    bltu    t1, t3, 1f
    li      t2, 1024
1:  csrr    s0, mhartid
    la      sp, __stacks_end
    mv      t3, s0
2:  beqz    t3, 3f
    sub     sp, sp, t2
    addi    t3, t3, -1
    j       2b
3:  sub     tp, sp, t2
    li      t3, GUARD
    sw      t3, 0(tp)
    # What firmware before this one may have left: software interrupt, timer, events of this hart.
    li      t0, TIMER
    slli    t1, s0, 2
    add     t0, t0, t1
    sw      zero, 0(t0)
    li      t0, TIMER + 0x4004
    slli    t2, s0, 3
    add     t0, t0, t2
    li      t3, -1
    sw      t3, 0(t0)
    li      t0, REGISTERS + HERMES_CP_IRQ_ENABLE_0
    add     t0, t0, t1
    sw      zero, 0(t0)
    bnez    s0, sleep
    # Hart 0: .local from its load address, then .bss.
    la      t0, __local_load
    la      t1, __local_start
    la      t2, __local_end
4:  bgeu    t1, t2, 5f
    lw      t3, 0(t0)
    sw      t3, 0(t1)
    addi    t0, t0, 4
    addi    t1, t1, 4
    j       4b
5:  la      t1, __bss_start
    la      t2, __bss_end
6:  bgeu    t1, t2, 7f
    sw      zero, 0(t1)
    addi    t1, t1, 4
    j       6b
7:  li      t0, REGISTERS
    lw      t1, HERMES_CONFIG(t0)
    srli    t1, t1, CONFIG_CHANNELS
    andi    t1, t1, 1
    la      t0, has_channels
    sw      t1, 0(t0)
    fence   rw, rw
    call    main
    .size   _start, . - _start

# a0: the value of main.
    .globl  firmware_end
    .type   firmware_end, @function
firmware_end:
    csrci   mstatus, 8
    call    check_guard
    slli    a0, a0, 1
    srli    a0, a0, 1
    li      a1, 0
    li      a2, 0
    csrr    a3, mhartid
    j       report
    .size   firmware_end, . - firmware_end

# The other harts: hart_start writes function and argument, then msip; function 0 says that it was
# taken.
sleep:
    la      s1, hart_jobs
    slli    t0, s0, 3
    add     s1, s1, t0
    li      s2, TIMER
    slli    t0, s0, 2
    add     s2, s2, t0
    csrsi   mie, 8
1:  wfi
    csrr    t0, mip
    andi    t0, t0, 8
    beqz    t0, 1b
    sw      zero, 0(s2)
    fence   rw, rw
    lw      t0, 0(s1)
    beqz    t0, 1b
    lw      a0, 4(s1)
    csrci   mie, 8
    sw      zero, 0(s1)
    jalr    t0
    csrci   mstatus, 8
    call    check_guard
    csrw    mie, zero
    csrsi   mie, 8
    fence   rw, rw
    j       1b

# Ends the firmware if the guard word of this hart's stack was changed. Changes t0 and t1.
    .globl  check_guard
    .type   check_guard, @function
check_guard:
    lw      t0, 0(tp)
    li      t1, GUARD
    bne     t0, t1, overflow
    ret
    .size   check_guard, . - check_guard

# The stack is used up: the PC of the report is the return address, or that of the trap.
overflow:
    mv      a1, ra
overflow_at:
    li      a0, STACK_OVERFLOW
    mv      a2, sp
    csrr    a3, mhartid

# a0 to a3 to MAILBOX_OUT when the host has emptied it, and the end. Needs no stack. The other harts
# are held first: a message of theirs would be taken for the last words. Of two that end at once one
# holds the other.
    .globl  report
    .type   report, @function
report:
    csrw    mie, zero
    li      t0, REGISTERS
    csrr    t1, mhartid
    li      t2, 1
    sll     t2, t2, t1
    lw      t1, HERMES_CP_CONTROL(t0)
    andi    t1, t1, -256
    or      t1, t1, t2
    sw      t1, HERMES_CP_CONTROL(t0)
    li      t1, MAILBOX_FULL
1:  lw      t2, HERMES_CP_STATUS(t0)
    and     t2, t2, t1
    bnez    t2, 1b
    # First, so that who finds the mailbox full knows what is in it.
    li      t1, ENDED
    sw      t1, HERMES_HOST_IRQ_RAISE(t0)
    sw      a1, HERMES_MAILBOX_OUT_1(t0)
    sw      a2, HERMES_MAILBOX_OUT_2(t0)
    sw      a3, HERMES_MAILBOX_OUT_3(t0)
    sw      a0, HERMES_MAILBOX_OUT_0(t0)
2:  wfi
    j       2b
    .size   report, . - report

# Every trap. trap_dispatch (hermes_cp.c) gets mcause, mepc, mtval and the frame of saved registers;
# it gives the PC to go on at.
    .text
    .balign 64
    .globl  trap_entry
    .type   trap_entry, @function
trap_entry:
    csrw    mscratch, t0
    addi    t0, sp, -FRAME
    bleu    t0, tp, 1f
    addi    sp, sp, -FRAME
    sw      ra, 0(sp)
    sw      t1, 8(sp)
    csrr    t0, mscratch
    sw      t0, 4(sp)
    sw      t2, 12(sp)
    sw      a0, 16(sp)
    sw      a1, 20(sp)
    sw      a2, 24(sp)
    sw      a3, 28(sp)
    sw      a4, 32(sp)
    sw      a5, 36(sp)
    sw      a6, 40(sp)
    sw      a7, 44(sp)
    sw      t3, 48(sp)
    sw      t4, 52(sp)
    sw      t5, 56(sp)
    sw      t6, 60(sp)
    csrr    a0, mcause
    csrr    a1, mepc
    csrr    a2, mtval
    sw      a1, 64(sp)
    # A trap in the handler changes these: whether interrupts were on, and whether user-level
    # interrupts were blocked (pblock).
    csrr    t0, mstatus
    sw      t0, 68(sp)
    la      t1, has_channels
    lw      t1, 0(t1)
    beqz    t1, 2f
    csrr    t0, ULICTL
    sw      t0, 72(sp)
2:  mv      a3, sp
    call    check_guard_of_trap
    call    trap_dispatch
    csrw    mepc, a0
    lw      t0, 68(sp)
    csrw    mstatus, t0
    la      t1, has_channels
    lw      t1, 0(t1)
    beqz    t1, 3f
    lw      t0, 72(sp)
    andi    t0, t0, PBLOCK
    csrci   ULICTL, PBLOCK
    csrs    ULICTL, t0
3:  lw      ra, 0(sp)
    lw      t0, 4(sp)
    lw      t1, 8(sp)
    lw      t2, 12(sp)
    lw      a0, 16(sp)
    lw      a1, 20(sp)
    lw      a2, 24(sp)
    lw      a3, 28(sp)
    lw      a4, 32(sp)
    lw      a5, 36(sp)
    lw      a6, 40(sp)
    lw      a7, 44(sp)
    lw      t3, 48(sp)
    lw      t4, 52(sp)
    lw      t5, 56(sp)
    lw      t6, 60(sp)
    addi    sp, sp, FRAME
    mret
1:  csrr    a1, mepc
    j       overflow_at
check_guard_of_trap:
    lw      t0, 0(tp)
    li      t1, GUARD
    bne     t0, t1, overflow_at
    ret
    .size   trap_entry, . - trap_entry

# A function and its argument for each hart, in local memory: all harts see one copy.
    .section .local, "aw", @progbits
    .balign 8
# Not 0: the array has user-level interrupts.
has_channels:
    .word   0
    .balign 8
    .globl  hart_jobs
    .type   hart_jobs, @object
hart_jobs:
    .zero   64
    .size   hart_jobs, 64
