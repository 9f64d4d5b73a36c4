/* Compare-and-swap, for kernels and firmware (docs/kernels.md, "Atomic operations"). */
#ifndef HERMES_ATOMIC_H
#define HERMES_ATOMIC_H

#include <stdint.h>

/* Writes `desired` to `*place` if it holds `expected`, and gives what it held: the swap took place
 * if that is `expected`. One `amocas.w` of Zacas, for arrays with --compare-and-swap; the ELF file
 * says that it needs this. It orders nothing: put __atomic_thread_fence around it where other
 * accesses must keep their place. */
static inline uint32_t hermes_compare_and_swap(volatile uint32_t *place, uint32_t expected,
                                               uint32_t desired)
{
    /* The assembler of binutils 2.40 does not know the instruction. */
    __asm__ volatile(".insn r 0x2f, 2, 0x14, %0, %1, %2\n"
                     ".pushsection .hermes.extensions, \"MS\", @progbits, 1\n"
                     ".asciz \"zacas\"\n"
                     ".popsection"
                     : "+r"(expected)
                     : "r"(place), "r"(desired)
                     : "memory");
    return expected;
}

#endif
