/* A kernel with the names of OpenSHMEM. Each node leaves in the other one's heap, as doubles: 1 a
 * number, 2 the same got back and put, 3 a sum, 4 a signal. */
#define HERMES_OPENSHMEM_NAMES
#include <hermes.h>
#include <hermes_shmem.h>

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint64_t *heap = (uint64_t *)node->heap;
    uint32_t pe = shmem_n_pes() - 1 - shmem_my_pe();
    shmem_ctx_t ctx;
    uint32_t code = shmem_ctx_create(0, &ctx);
    if (code || ctx != SHMEM_CTX_DEFAULT)
        return VERDICT_DROP | 0xff;
    shmem_uint64_p(heap + 1, 0x1122334455667788ull, pe);
    shmem_getmem(heap + 8, heap + 1, 8, pe);
    shmem_uint64_atomic_add(heap + 3, 40, pe);
    shmem_uint64_atomic_inc(heap + 3, pe);
    shmem_fence();
    shmem_putmem_signal(heap + 2, heap + 8, 8, heap + 4, 9, SHMEM_SIGNAL_ADD, pe);
    shmem_signal_wait_until(heap + 4, SHMEM_CMP_EQ, 9);
    code = shmem_quiet();
    if (!code && ((volatile uint64_t *)heap)[2] != 0x1122334455667788ull)
        code = 0xfe;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
