/* Cycles from the call of a put of eight bytes on node 0 until a warp of node 1 sees it: the put
 * carries the cycle of its call, or that in which it is fired. For one warp of each of two nodes.
 * The kernel's own arguments: rounds, and whether puts are prepared. Node 1 leaves sum, least and
 * most in words 32 to 34 of its heap, without the first round, whose lines come from memory, and
 * that one in word 35. */
#include <hermes.h>
#include <hermes_shmem.h>

#define PONG 16u  /* word of the answer */
#define FOUND 32u /* words of the result */

static inline uint32_t look(volatile uint32_t *word)
{
    uint32_t value;
    __asm__ volatile(".option push; .option arch, +a; amoor.w %0, zero, (%1); .option pop" : "=r"(value) : "r"(word) : "memory");
    return value;
}

/* The cycle in which the first lane of the warp sees `value`, looking as often as it can; the
 * others wait for its return. */
static __attribute__((noinline)) uint32_t seen(volatile uint32_t *word, uint32_t value)
{
    uint32_t now = 0, is;
    if (hermes_lane() == 0)
        __asm__ volatile(".option push; .option arch, +a\n"
                         "1: amoor.w %1, zero, (%2); bne %1, %3, 1b; csrr %0, cycle\n"
                         ".option pop" : "=r"(now), "=&r"(is) : "r"(word), "r"(value) : "memory");
    return now;
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    volatile uint32_t *heap = (volatile uint32_t *)node->heap;
    uint32_t rounds = node->own[0], prepares = node->own[1], sum = 0, least = ~0u, most = 0, first = 0;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    for (uint32_t round = 1; round <= rounds && !code; round++) {
        if (hermes_my_pe() == 0) {
            if (prepares) {
                uint32_t message[2] = { 0, round };
                struct hermes_prepared prepared;
                code = hermes_put_prepare(ctx, &prepared, (void *)heap, message, sizeof message, 1);
                if (!code)
                    hermes_put_fire_value(prepared, hermes_cycle());
            } else {
                code = hermes_p64(ctx, (uint64_t *)heap, (uint64_t)round << 32 | hermes_cycle(), 1);
            }
            if (!code)
                hermes_wait_until32(heap + PONG, HERMES_EQ, round);
        } else {
            uint32_t delay = seen(heap + 1, round) - look(heap);
            if (round == 1) {
                first = delay;
            } else {
                sum += delay;
                least = delay < least ? delay : least;
                most = delay > most ? delay : most;
            }
            code = hermes_p32(ctx, (uint32_t *)(heap + PONG), round, 0);
        }
    }
    if (!code)
        code = hermes_quiet(ctx);
    if (hermes_my_pe() == 1 && hermes_lane() == 0) {
        heap[FOUND] = sum;
        heap[FOUND + 1] = least;
        heap[FOUND + 2] = most;
        heap[FOUND + 3] = first;
    }
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
