/* Waits for one of many words, and for all, with the names of OpenSHMEM where it has them. Each
 * node puts eight words of 32 bits and four of 64 into the other one; the words from 128 on get
 * what the calls gave. Words 0 to 7 are 5 times their number, and so are the doubles from 8 on, and
 * 2^32 more. */
#define HERMES_OPENSHMEM_NAMES
#include <hermes.h>
#include <hermes_shmem.h>

#define WORDS 64u   /* where the words are that are put */
#define DOUBLES 96u
#define RESULTS 128u

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    volatile uint32_t *heap = (volatile uint32_t *)node->heap, *results = heap + RESULTS;
    volatile uint64_t *still = (volatile uint64_t *)heap + 8;
    uint32_t pe = shmem_n_pes() - 1 - shmem_my_pe(), n = 0;
    int status[8] = { 0 };
    shmem_ctx_t ctx;
    uint32_t code = shmem_ctx_create(1, &ctx);
    if (code)
        return VERDICT_DROP | code;
    uint64_t high = 1ull << 32;
    results[n++] = shmem_uint64_test(still + 2, SHMEM_CMP_EQ, high + 10);
    results[n++] = shmem_uint64_test(still + 2, SHMEM_CMP_EQ, 10);
    results[n++] = shmem_uint64_test(still + 2, SHMEM_CMP_GT, high + 9);
    results[n++] = shmem_uint64_test(still + 2, SHMEM_CMP_LT, high + 10);
    results[n++] = shmem_uint64_test(still + 2, SHMEM_CMP_LE, 2 * high);
    results[n++] = shmem_uint32_test_any(heap, 8, 0, SHMEM_CMP_GE, 11);
    results[n++] = shmem_uint64_test_any(still, 8, 0, SHMEM_CMP_GT, high + 15);
    results[n++] = shmem_uint32_test_any(heap, 8, 0, SHMEM_CMP_EQ, 11);
    results[n++] = shmem_uint64_test_any(still, 8, 0, SHMEM_CMP_EQ, 10);
    results[n++] = shmem_uint32_test_all(heap, 8, 0, SHMEM_CMP_LE, 35);
    results[n++] = shmem_uint32_test_all(heap, 8, 0, SHMEM_CMP_LT, 35);
    results[n++] = shmem_uint64_test_all(still, 8, 0, SHMEM_CMP_LE, high + 35);
    results[n++] = shmem_uint64_test_all(still, 8, 0, SHMEM_CMP_LT, high + 35);
    status[3] = status[7] = 1;
    results[n++] = shmem_uint32_wait_until_any(heap, 8, status, SHMEM_CMP_GE, 11);
    results[n++] = shmem_uint64_wait_until_any(still, 8, status, SHMEM_CMP_GE, high + 15);
    results[n++] = shmem_uint32_test_all(heap, 8, status, SHMEM_CMP_LT, 35);
    results[n++] = shmem_uint64_test_all(still, 8, status, SHMEM_CMP_LT, high + 35);
    /* None is asked for: nothing is waited for. */
    results[n++] = shmem_uint32_wait_until_any(heap + 3, 1, status + 3, SHMEM_CMP_EQ, 0);
    results[n++] = shmem_uint64_wait_until_any(still, 0, 0, SHMEM_CMP_EQ, 0);
    shmem_uint32_wait_until_all(heap + 3, 1, status + 3, SHMEM_CMP_EQ, 0);
    shmem_uint64_wait_until_all(still, 0, 0, SHMEM_CMP_EQ, 0);
    status[3] = status[7] = 0;
    /* Each word that comes is found once. */
    for (uint32_t i = 0; i < 8 && !code; i++)
        code = hermes_p32(ctx, (uint32_t *)heap + WORDS + i * 5 % 8, 100 + i * 5 % 8, pe);
    uint32_t found = 0;
    for (uint32_t i = 0; i < 8 && !code; i++) {
        uint32_t at = shmem_uint32_wait_until_any(heap + WORDS, 8, status, SHMEM_CMP_NE, 0);
        found = found << 4 | (at < 8 && heap[WORDS + at] == 100 + at);
        if (at < 8)
            status[at] = 1;
    }
    results[n++] = found;
    for (uint32_t i = 0; i < 4 && !code; i++)
        code = hermes_p64(ctx, (uint64_t *)(heap + DOUBLES) + (3 - i), high + i, pe);
    if (!code)
        shmem_uint64_wait_until_all((volatile uint64_t *)(heap + DOUBLES), 4, 0, SHMEM_CMP_GE, high);
    results[n++] = heap[DOUBLES] + heap[DOUBLES + 2] * 10 + heap[DOUBLES + 4] * 100 + heap[DOUBLES + 6] * 1000;
    shmem_uint32_wait_until_all(heap + WORDS, 8, 0, SHMEM_CMP_GE, 100);
    uint32_t last = shmem_ctx_destroy(ctx);
    code = code ? code : last;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
