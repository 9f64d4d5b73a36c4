/* Puts into the memories of other nodes for packet kernels in C, after OpenSHMEM and ComP-Net (docs/shmem.md).
 *
 * All functions but my_pe and n_pes are called by the running lanes of a warp together, with the same arguments: the lowest of them acts,
 * and all return together, with the same value. Kernels need cores with atomic instructions and a network interface. */
#ifndef HERMES_SHMEM_H
#define HERMES_SHMEM_H

#include <stdint.h>

/* What the host tells: the first words of the kernel's argument block. The kernel's own follow. */
struct hermes_arguments {
    uint32_t area;           /* the queue area: rings, control lines, heap */
    uint32_t heap;           /* the symmetric heap: at the same address on every node */
    uint32_t my_pe;          /* number of this node */
    uint32_t n_pes;          /* number of nodes */
    uint32_t slots;          /* warp slots that have a queue, a power of two */
    uint32_t heap_bytes;
    uint32_t slots_of_core;  /* warp slots of a core */
    uint32_t zero;
    uint32_t own[];
};

/* A context: commands that are waited for together. Each warp slot has three. What hermes_ctx_create gives is for this warp slot only. */
typedef uint32_t hermes_ctx_t;
#define HERMES_CTX_DEFAULT 0u /* its number */

/* Codes beside those of commands: 0 is success. */
#define HERMES_ERROR_OFF 0x88u /* the queue is not switched on */

/* The argument block of the host. */
static inline const struct hermes_arguments *hermes_arguments(void)
{
    const struct hermes_arguments *block;
    __asm__("csrr %0, 0xcc5" : "=r"(block));
    return block;
}
static inline uint32_t hermes_my_pe(void) { return hermes_arguments()->my_pe; }
static inline uint32_t hermes_n_pes(void) { return hermes_arguments()->n_pes; }

/* Gives context `number`, 0 to 2, of the queue of this warp. Every warp begins with it. 0 or HERMES_ERROR_OFF. */
uint32_t hermes_ctx_create(hermes_ctx_t *ctx, uint32_t number);

/* Copies `bytes` bytes, 1 to 2^30, from `source` to `target`, a symmetric address, of node `pe`. Up to 16 bytes may stand anywhere; more stand in
 * the heap. Errors of what is not waited for are told by hermes_quiet.
 * put returns when the source may change: at once for 16 bytes or less; else when the bytes are visible there, with 0 or the code of the error.
 * put_nbi returns at once: more than 16 bytes may change behind hermes_quiet. 0 or HERMES_ERROR_OFF. */
uint32_t hermes_put(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe);
uint32_t hermes_put_nbi(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe);

/* Waits until all that was put in this context is visible, or failed. 0, or the code of the last that failed since the last call. */
uint32_t hermes_quiet(hermes_ctx_t ctx);

/* Waits until a word that other nodes put compares so with `value`, as unsigned numbers; what was put before it is then seen by loads. Gives the word. */
#define HERMES_EQ 0u
#define HERMES_NE 1u
#define HERMES_GT 2u
#define HERMES_GE 3u
#define HERMES_LT 4u
#define HERMES_LE 5u
uint32_t hermes_wait_until32(const volatile uint32_t *word, uint32_t comparison, uint32_t value);

#endif
