# spin-lock: every thread adds 1 to one word with a load and a store, while it holds a lock.
# Verdict: the value before.
#
# The lock is taken with `amoswap.w.aq` and given back with `amoswap.w.rl`. The lanes of a warp run
# at the lowest PC first, so a lane that does not get the lock jumps forward, over the part that the
# lock guards, and all lanes go back together: a loop that went back at once would keep the lane
# that has the lock from going on.
#
# Argument block: word 0 = address of the word; the lock is in the line after it. The symbol FENCES
# is 1, or 0 to leave out `aq` and `rl`. Registers: RV32E, no stack.

.equ LOCK, 64

    .option arch, +a

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      a1, 0(a2)
    addi    a2, a1, LOCK
    li      a3, 1
    li      a4, 0                   # done
1:  lw      a0, 0(a1)               # so that the cache may hold an old line
    .if FENCES
    amoswap.w.aq a5, a3, (a2)
    .else
    amoswap.w a5, a3, (a2)
    .endif
    bnez    a5, 2f
    lw      a0, 0(a1)
    addi    a4, a0, 1
    sw      a4, 0(a1)
    .if FENCES
    amoswap.w.rl zero, zero, (a2)
    .else
    amoswap.w zero, zero, (a2)
    .endif
    li      a4, 1
2:  beqz    a4, 1b
    ret
    .size   kernel, . - kernel
