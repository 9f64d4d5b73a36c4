/* Jacobi relaxation on several nodes, in one kernel that does not end between iterations
 * (docs/cluster-workloads.md). Each new word is a quarter of the sum of its four neighbours, in
 * fixed point with 16 bits behind the point; words are below 2^30, so that four of them fit.
 *
 * A node has `rows` rows of `columns` words, below those of the node before it. Around the rows of
 * all nodes is a border that does not change. Each warp has a block of rows; all warps of all nodes
 * must be on cores at the same time. The rows at the edges of a node are first: they go to the
 * neighbours while the others are computed. Behind each iteration the sum of all changes, 8 bits
 * less, is known to all: the residual. It is also the barrier that keeps rows of one iteration from
 * being written before those of the one before it were read: there are two fields, in turn.
 *
 * Own words: threads of a warp, warps, rows of a node (3 or more), columns, iterations, residual
 * below which it ends before that, seed of the words at the start. The heap holds zeros at the
 * start. Behind `struct control` are a record for the start and for each iteration, and the two
 * fields. */
#include <hermes.h>
#include <hermes_collectives.h>

#define APART __attribute__((noinline, noclone))
#define EDGE 16u /* words in front of a row; the border is the last of them */

/* What the kernel does, for those who start it. */
__attribute__((used)) const char hermes_workload[] = "jacobi";

/* Each in lines of its own, since a warp that waits wakes for every store to the line. */
struct control {
    struct hermes_sum_word reduction;
    uint64_t from_above; /* the iteration whose row of the node above is here */
    uint64_t zero1[7];
    uint64_t from_below;
    uint64_t zero2[7];
    uint32_t arrived; /* threads of this node, of all iterations together */
    uint32_t zero3[15];
    uint32_t changes; /* of this node, of all iterations together */
    uint32_t zero4[15];
    uint32_t residual; /* of all nodes */
    uint32_t done;     /* iterations that have one, the start counted */
    uint32_t zero5[14];
};

/* Of an iteration: its residual, and the cycles at which the warp that reduces had computed, all of
 * the node had, and the sum was known. */
struct record {
    uint32_t residual, computed, arrived, reduced;
};

static inline uint32_t add(uint32_t *word, uint32_t value)
{
    uint32_t old;
    __asm__ volatile(".option push; .option arch, +a; amoadd.w %0, %2, (%1); .option pop" : "=r"(old) : "r"(word), "r"(value) : "memory");
    return old;
}

static inline void fence(void)
{
    __asm__ volatile("fence rw, rw" ::: "memory");
}

static inline struct control *control_of(const struct hermes_arguments *node)
{
    return (struct control *)node->heap;
}

/* Words from a row to the next one. */
static inline uint32_t stride_of(const struct hermes_arguments *node)
{
    return EDGE + ((node->own[3] + 1 + 15) & ~15u);
}

/* Row `row` of the field of an iteration; row 0 and the one behind the last are of others. */
static inline uint32_t *row_of(const struct hermes_arguments *node, uint32_t iteration, uint32_t row)
{
    uint32_t records = (sizeof(struct record) * (node->own[4] + 1) + 63) & ~63u;
    if (iteration & 1)
        row += node->own[2] + 2;
    return (uint32_t *)(node->heap + sizeof(struct control) + records) + row * stride_of(node) + EDGE;
}

/* The word at the start in a row and column of all nodes, border included. */
static inline uint32_t start_word(uint32_t seed, uint32_t row, uint32_t column)
{
    uint32_t word = seed + row * 0x9e3779b1u + column * 0x85ebca77u;
    word = (word ^ word >> 15) * 0x2c1b3c6du;
    return (word ^ word >> 12) >> 2;
}

/* The lanes share a row at the start, with its border. */
static APART void start_row(const struct hermes_arguments *node, uint32_t row)
{
    uint32_t lanes = node->own[0], all = node->own[3] + 2, global = node->my_pe * node->own[2] + row;
    uint32_t *even = row_of(node, 0, row) - 1, *odd = row_of(node, 1, row) - 1;
    for (uint32_t column = hermes_lane(); column < all; column += lanes) {
        uint32_t word = start_word(node->own[6], global, column);
        even[column] = word;
        odd[column] = word;
    }
}

static inline uint32_t change(uint32_t word, uint32_t old)
{
    uint32_t less = word - old, sign = -(less >> 31);
    return ((less ^ sign) - sign) >> 8;
}

/* Computes `rows` rows. A lane has two columns side by side, of which each is a neighbour of the
 * other, and goes down: what was below is then here, and above. The last of an odd number is alone.
 */
static APART uint32_t sweep(const uint32_t *restrict old, uint32_t *restrict new, uint32_t rows, const struct hermes_arguments *node)
{
    uint32_t lanes = node->own[0], columns = node->own[3], stride = stride_of(node), changes = 0;
    uint32_t column = 2 * hermes_lane();
    for (; column + 1 < columns; column += 2 * lanes) {
        const uint32_t *at = old + column;
        uint32_t *to = new + column, left = rows;
        uint32_t above0 = *(at - stride), above1 = *(at - stride + 1), here0 = at[0], here1 = at[1];
        for (; left; left--) {
            uint32_t west = at[-1], east = at[2];
            at += stride;
            uint32_t below0 = at[0], below1 = at[1];
            uint32_t word0 = (above0 + below0 + west + here1) >> 2, word1 = (above1 + below1 + here0 + east) >> 2;
            to[0] = word0;
            to[1] = word1;
            to += stride;
            changes += change(word0, here0) + change(word1, here1);
            above0 = here0;
            above1 = here1;
            here0 = below0;
            here1 = below1;
        }
    }
    if (column < columns) {
        const uint32_t *at = old + column;
        uint32_t *to = new + column, above = *(at - stride), here = *at;
        for (uint32_t left = rows; left; left--) {
            uint32_t below = at[stride], word = (above + below + at[-1] + at[1]) >> 2;
            *to = word;
            at += stride;
            to += stride;
            changes += change(word, here);
            above = here;
            here = below;
        }
    }
    return changes;
}

/* A row of this iteration to the same field of a neighbour, which waits for the signal. It may be
 * written again two iterations later: the residual between says that the neighbour has it. */
static APART uint32_t pass(hermes_ctx_t ctx, const struct hermes_arguments *node, uint32_t iteration, uint32_t from, uint32_t to)
{
    struct control *control = control_of(node);
    uint64_t *signal = to ? &control->from_above : &control->from_below;
    fence(); /* what all lanes stored */
    return hermes_put_signal_nbi(ctx, row_of(node, iteration, to ? 0 : node->own[2] + 1), row_of(node, iteration, from), 4 * node->own[3], signal, iteration, HERMES_SIGNAL_SET, to ? node->my_pe + 1 : node->my_pe - 1);
}

/* The rows of a warp, those at the edge of the node first, and these to the neighbours. */
static APART uint32_t iterate(hermes_ctx_t ctx, const struct hermes_arguments *node, uint32_t iteration, uint32_t first, uint32_t end, uint32_t *changes)
{
    struct control *control = control_of(node);
    uint32_t rows = node->own[2], code = 0;
    if (first == 1) {
        if (node->my_pe > 0)
            hermes_wait_until32((uint32_t *)&control->from_above, HERMES_GE, iteration - 1);
        *changes += sweep(row_of(node, iteration - 1, 1), row_of(node, iteration, 1), 1, node);
        if (node->my_pe > 0)
            code = pass(ctx, node, iteration, 1, 0);
        first++;
    }
    if (end == rows + 1) {
        if (node->my_pe + 1 < node->n_pes)
            hermes_wait_until32((uint32_t *)&control->from_below, HERMES_GE, iteration - 1);
        *changes += sweep(row_of(node, iteration - 1, rows), row_of(node, iteration, rows), 1, node);
        if (node->my_pe + 1 < node->n_pes && !code)
            code = pass(ctx, node, iteration, rows, 1);
        end--;
    }
    if (first < end)
        *changes += sweep(row_of(node, iteration - 1, first), row_of(node, iteration, first), end - first, node);
    return code;
}

/* The warp that reduces: waits for all threads of this node, then for all nodes. The counts of the
 * node are of all iterations together, and `before` are the changes of those before. */
static APART uint32_t reduce(hermes_ctx_t ctx, const struct hermes_arguments *node, uint32_t iteration, uint32_t *before)
{
    struct control *control = control_of(node);
    struct record *record = (struct record *)(control + 1) + iteration;
    uint32_t computed = hermes_cycle();
    hermes_wait_until32(&control->arrived, HERMES_GE, (iteration + 1) * node->own[0] * node->own[1]);
    uint32_t arrived = hermes_cycle(), all = add(&control->changes, 0), sum = all - *before;
    *before = all;
    uint32_t code = hermes_sum32_word(ctx, &control->reduction, &sum);
    uint32_t reduced = hermes_cycle();
    *(volatile uint32_t *)&control->residual = sum;
    *(volatile uint32_t *)&control->done = iteration + 1; /* the same line: in this order */
    record->residual = sum;
    record->computed = computed;
    record->arrived = arrived;
    record->reduced = reduced;
    return code;
}

/* Whether the node can do what is asked. */
static inline uint32_t check(const struct hermes_arguments *node)
{
    uint32_t warps = node->own[1], rows = node->own[2], columns = node->own[3];
    if (rows < 3 || rows > 1u << 14 || columns == 0 || columns > 1u << 14 || warps == 0 || warps > rows)
        return HERMES_ERROR_LENGTH;
    return (uint32_t)row_of(node, 1, rows + 2) - 4 * EDGE > node->heap + node->heap_bytes ? HERMES_ERROR_LENGTH : 0;
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    struct control *control = control_of(node);
    uint32_t code = check(node);
    if (code)
        return VERDICT_DROP | code;
    uint32_t warps = node->own[1], rows = node->own[2], warp = packet / node->own[0], before = 0;
    uint32_t first = warp * rows / warps + 1, end = (warp + 1) * rows / warps + 1;
    hermes_ctx_t ctx;
    code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    for (uint32_t row = warp ? first : 0; row < (warp + 1 == warps ? rows + 2 : end); row++)
        start_row(node, row);
    for (uint32_t iteration = 0; !code; iteration++) {
        uint32_t changes = 0, residual;
        if (iteration)
            code = iterate(ctx, node, iteration, first, end, &changes);
        if (code)
            break;
        fence(); /* rows are written before the thread counts */
        add(&control->changes, changes);
        fence();
        add(&control->arrived, 1);
        if (warp == warps / 2) {
            code = reduce(ctx, node, iteration, &before);
            residual = *(volatile uint32_t *)&control->residual;
        } else {
            hermes_wait_until32(&control->done, HERMES_GE, iteration + 1);
            residual = *(volatile uint32_t *)&control->residual;
        }
        if (iteration == node->own[4] || (iteration && residual < node->own[5]))
            break;
    }
    uint32_t last = hermes_quiet(ctx);
    code = code ? code : last;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
