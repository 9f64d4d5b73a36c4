/* The sum of vectors of all nodes, on every node, by rings (ComP-Net, section 5.4: each group of threads has its own ring): warp i of all nodes are ring i. A vector has as
 * many chunks as there are nodes. In each of the first steps a node sends a chunk to the next one, which adds it to its own; then each has one chunk that is complete, and the
 * other steps pass these on. The kernel's own arguments: threads of a warp, words of a chunk.
 *
 * In the heap each ring has a line with its signal, the vector, and places for the chunks that are to be added, one for each step, all behind each other, to the next line. */
#include <hermes.h>
#include <hermes_shmem.h>

#define LINE 64u

static inline uint32_t lane(void)
{
    uint32_t number;
    __asm__("csrr %0, 0xcc1" : "=r"(number));
    return number;
}

/* Adds `words` words, each lane some of them. Out of line, so that the lanes go on together. */
static __attribute__((noinline)) void add(uint32_t *to, const uint32_t *from, uint32_t words, uint32_t lanes)
{
    for (uint32_t i = lane(); i < words; i += lanes)
        to[i] += from[i];
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t lanes = node->own[0], words = node->own[1], nodes = hermes_n_pes(), me = hermes_my_pe();
    uint32_t bytes = (LINE + (2 * nodes - 1) * words * sizeof(uint32_t) + LINE - 1) & -LINE;
    uint64_t *signal = (uint64_t *)(node->heap + packet / lanes * bytes);
    uint32_t *vector = (uint32_t *)(signal + LINE / sizeof *signal), *came = vector + nodes * words;
    uint32_t next = me + 1 == nodes ? 0 : me + 1, chunk = me;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    for (uint32_t step = 1; step < 2 * nodes - 1 && !code; step++) {
        uint32_t *source = vector + chunk * words, *target = step < nodes ? came : source;
        /* What is sent is not written again before it has come: it has gone round all nodes by then. */
        code = hermes_put_signal_nbi(ctx, target, source, words * sizeof *source, signal, 1, HERMES_SIGNAL_ADD, next);
        if (code)
            break;
        hermes_signal_wait_until(signal, HERMES_GE, step);
        chunk = chunk ? chunk - 1 : nodes - 1;
        if (step < nodes) {
            add(vector + chunk * words, came, words, lanes);
            came += words;
        }
    }
    if (!code)
        code = hermes_quiet(ctx);
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
