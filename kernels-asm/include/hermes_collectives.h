/* Collective calls for packet kernels in C, and a get of each lane (docs/collectives.md).
 *
 * One warp of each node takes part in a collective call: its running lanes together, with the same
 * arguments. All nodes make the same calls in the same order, with the same work space, root and
 * length. A code that is not 0 ends the call at once; the work space is of no more use then. */
#ifndef HERMES_COLLECTIVES_H
#define HERMES_COLLECTIVES_H

#include <hermes_shmem.h>

#define HERMES_COLLECTIVES_NODES 8u /* most nodes */
#define HERMES_COLLECTIVES_WORDS 64u /* words that are reduced at a time */
#define HERMES_ERROR_COLLECTIVE 0x81u /* more nodes than that, or a root that is none */

/* Work space in the symmetric heap, at the same multiple of 64 on every node. The host zeroes it
 * once; calls follow each other without that. Different warps that call at the same time have one
 * each. */
struct hermes_collectives {
    /* Messages of each node that are here: other nodes put these words. */
    uint64_t here[HERMES_COLLECTIVES_NODES];
    /* Messages to each node that were sent, and those of each that were waited for: of this node
     * alone. */
    uint64_t sent[HERMES_COLLECTIVES_NODES];
    uint64_t taken[HERMES_COLLECTIVES_NODES];
    uint32_t lanes;  /* counts the running lanes */
    uint32_t pieces; /* pieces that were reduced */
    uint32_t words, operation; /* of the piece */
    uint32_t zero[12];
    uint32_t sum[HERMES_COLLECTIVES_WORDS];
    /* What others sent, of even and of odd pieces: of each of three rounds; the last one also for
     * the nodes beyond a power of two. */
    uint32_t landing[2][3][HERMES_COLLECTIVES_WORDS];
};

/* Waits until all nodes have called. Nothing is waited for but that; stores of the warp are
 * performed before. */
uint32_t hermes_sync_all(hermes_ctx_t ctx, struct hermes_collectives *work);
/* The same, behind a hermes_quiet of this context. */
uint32_t hermes_barrier_all(hermes_ctx_t ctx, struct hermes_collectives *work);

/* Copies `bytes` bytes, 1 to 2^30, of `source` of node `root` to `target` of all nodes, of `root`
 * too. Both lie in the heap, and are the same or lie apart. */
uint32_t hermes_broadcast(hermes_ctx_t ctx, struct hermes_collectives *work, void *target, const void *source, uint32_t bytes, uint32_t root);

/* Block i of `target` of all nodes becomes `source` of node i. A block has `bytes` bytes. All lie
 * in the heap, `source` apart from `target` or at its own block. */
uint32_t hermes_fcollect(hermes_ctx_t ctx, struct hermes_collectives *work, void *target, const void *source, uint32_t bytes);

/* Block i of `target` of node j becomes block j of `source` of node i. All lie in the heap,
 * `source` apart from `target`. */
uint32_t hermes_alltoall(hermes_ctx_t ctx, struct hermes_collectives *work, void *target, const void *source, uint32_t bytes);

/* Word i of `target` of all nodes becomes the sum of the words i of `source` of all nodes, modulo
 * 2^32; or another operation. Both lie anywhere, and are the same or lie apart. The running lanes
 * share the words. */
#define HERMES_REDUCE_SUM 0u
#define HERMES_REDUCE_MIN 1u /* as signed numbers */
#define HERMES_REDUCE_MAX 2u
#define HERMES_REDUCE_AND 3u
#define HERMES_REDUCE_OR 4u
#define HERMES_REDUCE_XOR 5u
uint32_t hermes_reduce32(hermes_ctx_t ctx, struct hermes_collectives *work, uint32_t *target, const uint32_t *source, uint32_t words, uint32_t operation);
#define hermes_sum32_reduce(...) hermes_reduce32(__VA_ARGS__, HERMES_REDUCE_SUM)
#define hermes_min32_reduce(...) hermes_reduce32(__VA_ARGS__, HERMES_REDUCE_MIN)
#define hermes_max32_reduce(...) hermes_reduce32(__VA_ARGS__, HERMES_REDUCE_MAX)
#define hermes_and32_reduce(...) hermes_reduce32(__VA_ARGS__, HERMES_REDUCE_AND)
#define hermes_or32_reduce(...) hermes_reduce32(__VA_ARGS__, HERMES_REDUCE_OR)
#define hermes_xor32_reduce(...) hermes_reduce32(__VA_ARGS__, HERMES_REDUCE_XOR)

/* The sum of one word of all nodes, modulo 2^32, by the same rounds: a message of a round is one
 * put of 8 bytes, and nothing is waited for but the messages of the others. The sum of all nodes
 * takes the place of `*value`, which is the same of all running lanes. 0, or a code, and then
 * `*value` is of no use. Work space as above, of its own. Calls are counted in 32 bits: a kernel
 * makes fewer than 2^32. */
struct hermes_sum_word {
    /* Count of the call and value of each round, of even and of odd calls: other nodes put them. */
    uint64_t here[2][4];
    uint32_t calls;
    uint32_t zero[15];
};
uint32_t hermes_sum32_word(hermes_ctx_t ctx, struct hermes_sum_word *work, uint32_t *value);

/* Not collective: each running lane gets the 64 bits at its own `source`, a multiple of 8, of its
 * own node `pe` into `*value`. All hand over the same `landing`, one double in the heap for each
 * lane of the warp. 0, or the code of an error: then no value counts. In both modes. */
uint32_t hermes_each_lane_get64(hermes_ctx_t ctx, uint64_t *landing, const uint64_t *source, uint32_t pe, uint64_t *value);

/* Names of OpenSHMEM 1.5. Beside what those have, a call is given the work space; context 0 is that
 * of the warp. */
#ifdef HERMES_OPENSHMEM_NAMES
#define shmem_sync_all(work) hermes_sync_all(hermes_ctx_default(), work)
#define shmem_barrier_all(work) hermes_barrier_all(hermes_ctx_default(), work)
#define shmem_broadcastmem(...) hermes_broadcast(hermes_ctx_default(), __VA_ARGS__)
#define shmem_fcollectmem(...) hermes_fcollect(hermes_ctx_default(), __VA_ARGS__)
#define shmem_alltoallmem(...) hermes_alltoall(hermes_ctx_default(), __VA_ARGS__)
#define shmem_uint32_sum_reduce(...) hermes_sum32_reduce(hermes_ctx_default(), __VA_ARGS__)
#define shmem_int32_min_reduce(...) hermes_min32_reduce(hermes_ctx_default(), __VA_ARGS__)
#define shmem_int32_max_reduce(...) hermes_max32_reduce(hermes_ctx_default(), __VA_ARGS__)
#define shmem_uint32_and_reduce(...) hermes_and32_reduce(hermes_ctx_default(), __VA_ARGS__)
#define shmem_uint32_or_reduce(...) hermes_or32_reduce(hermes_ctx_default(), __VA_ARGS__)
#define shmem_uint32_xor_reduce(...) hermes_xor32_reduce(hermes_ctx_default(), __VA_ARGS__)
#endif

#endif
