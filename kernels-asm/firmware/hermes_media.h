/* For programs of the command processor that do work on the cores and measure it: data, jobs,
 * counters, division without the divider. docs/media-kernels.md is the guide, kernels-asm/media has
 * programs. One source of a program includes it. */
#ifndef HERMES_MEDIA_H
#define HERMES_MEDIA_H

#include "hermes_cp.h"

/* n / d by the high word of a product, for a d above 1 and n * d below 2^32. GCC makes a `divu` of
 * `n / 9` with every -O and -mtune: some 320 cycles of the only divider that a core has, for 8
 * lanes. */
#define DIVIDE(n, d) media_divide((n), 0xffffffffu / (d) + 1)
/* The same where d is known at run time: what media_divide takes, by one division of the hart. */
static inline uint32_t media_reciprocal(uint32_t d) { return 0xffffffffu / d + 1; }
static inline __attribute__((always_inline)) uint32_t media_divide(uint32_t n, uint32_t reciprocal)
{
    return (uint32_t)(((uint64_t)n * reciprocal) >> 32);
}

/* A constant that the compiler does not know: of a product by one that it knows GCC makes shifts
 * and additions, which take longer than the product. */
#define MEDIA_FACTOR(value)                                                                                                \
    ({                                                                                                                     \
        uint32_t factor_ = (value);                                                                                        \
        __asm__("" : "+r"(factor_));                                                                                       \
        factor_;                                                                                                           \
    })

/* All bits if the condition holds, else none: to select without a branch, at which lanes would
 * part. GCC may move what is behind a branch to the end of the function: lanes that took it would
 * stay apart to the end, as those at lower addresses go first. */
#define MEDIA_MASK(condition) (-(uint32_t)((condition) != 0))

/* Keeps loads and stores behind it from moving before it, and the other way round: else the
 * compiler brings the loads of a whole unrolled loop forward, and has too few registers. */
#define MEDIA_ORDER() __asm__ volatile("" : : : "memory")

/* Keep the loads of these words in front of what follows. Otherwise the compiler may use each word
 * as it comes and load the next one behind that: the lanes wait for each of them. */
#define MEDIA_LOADED_2(a, b) __asm__ volatile("" : "+r"(a), "+r"(b))
#define MEDIA_LOADED_4(a, b, c, d) __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d))

/* A function that is a part of the thread and of the scalar program. */
#define MEDIA_INLINE static inline __attribute__((always_inline))
/* What runs: threads on the cores, or the hart alone, by one of two programs. -D MEDIA_PROGRAM=N */
#define MEDIA_LANES 0
#define MEDIA_SCALAR_1 1
#define MEDIA_SCALAR_2 2
#ifndef MEDIA_PROGRAM
#define MEDIA_PROGRAM MEDIA_LANES
#endif

/* ---- Data, by `hermes run --table input=FILE --table output=FILE`. The input begins with
 * MEDIA_HEADER bytes of words; what they mean is the program's. */
#define MEDIA_HEADER 64u
TABLE const uint32_t *input;
TABLE uint32_t input_bytes;
TABLE uint32_t *output;
TABLE uint32_t output_bytes;

/* Ends the program unless the input has `in` bytes behind its header and the output `out`. */
static inline void media_expect_bytes(uint32_t in, uint32_t out)
{
    if (input_bytes != MEDIA_HEADER + in || output_bytes != out) {
        printf("input has %u bytes, output %u; expected %u and %u by the input's header\n", input_bytes, output_bytes,
               MEDIA_HEADER + in, out);
        firmware_end(2);
    }
}

/* Ends the program unless `value`, which the header calls `name`, is from `least` to `most` and a
 * multiple of `unit`. */
static inline void media_expect(const char *name, uint32_t value, uint32_t least, uint32_t most, uint32_t unit)
{
    if (input_bytes < MEDIA_HEADER) {
        printf("input has %u bytes; expected %u and more, its header\n", input_bytes, MEDIA_HEADER);
        firmware_end(2);
    }
    if (value < least || value > most || value % unit) {
        printf("input: %s %u: expected %u to %u, a multiple of %u\n", name, value, least, most, unit);
        firmware_end(2);
    }
}

/* ---- Jobs. */
static struct spawn_descriptor media_page[16] __attribute__((aligned(1024)));
static volatile uint32_t media_completions[16] __attribute__((aligned(64)));
static uint32_t media_tokens[16];
static uint32_t media_threads; /* that were started */
typedef void (*media_thread)(uint32_t number, const void *argument0, const void *argument1);

/* Runs when a completion word was written: its acquire is all that there is to do. */
ULI_HANDLER(media_completed) {}

/* Once, before the first job: as many spawned warps a core as it has slots, if `warps` is 0. */
static inline void media_setup(uint32_t warps)
{
    uint32_t slots = REGISTER(CONFIG) >> 16 & 0xff;
    REGISTER(SPAWN_CONTROL) = 1;
    /* Threads with 32 registers have 16 warps at most. */
    REGISTER(SPAWN_MCW) = warps ? warps : slots < 16 ? slots : 16;
    if (!spawn_page(media_page))
        firmware_end(3);
    uli_arm(ULI_WRITTEN, 0, media_completed, uli_range(media_completions, sizeof media_completions));
}

/* Starts `threads` threads in slot `slot`, whose job before has ended. They see what was stored
 * before. */
static inline void media_start(uint32_t slot, media_thread entry, uint32_t threads, const void *argument0,
                               const void *argument1)
{
    struct spawn_descriptor *job = &media_page[slot];
    /* The completion word is visible a little before the slot is free. */
    while (spawn_busy() >> slot & 1)
        ;
    media_threads += threads;
    job->argument0 = (uint32_t)argument0;
    job->argument1 = (uint32_t)argument1;
    job->shape = threads | SPAWN_ACQUIRE;
    job->completion = (uint32_t)&media_completions[slot];
    job->token = ++media_tokens[slot];
    spawn(job, (const void *)entry);
}

/* Sleeps until the job of a slot has ended. */
static inline void media_wait(uint32_t slot)
{
    for (;;) {
        uli_block();
        uint32_t completion = media_completions[slot];
        if (completion == media_tokens[slot])
            break;
        if (completion >> 31)
            firmware_end(4);
        wait_for_interrupt();
        uli_unblock();
    }
    uli_unblock();
    acquire();
}

/* ---- Counters. What a phase took; `hermes exp` reads them from memory. */
struct media_counts {
    uint32_t cycles;            /* of the array */
    uint32_t hart_instructions; /* of this hart */
    uint32_t instructions;      /* of warps, all cores */
    uint32_t lane_instructions;
    uint32_t active_cycles;     /* with a warp on the core, all cores */
    uint32_t lost[5];           /* memory, fetch, divergence, scoreboard, conflict; all cores */
    uint32_t line_reads, line_writes, l2_misses; /* data lines of the cores; lines from memory */
    uint32_t threads;
};
/* Passes over the data: the first on cold caches. -D MEDIA_PHASES=N */
#ifndef MEDIA_PHASES
#define MEDIA_PHASES 2
#endif
struct media_counts media_phases[MEDIA_PHASES];

/* Adds what the counters say to `counts`, or takes it away. */
static void media_count(struct media_counts *counts, int sign)
{
    uint32_t cores = REGISTER(CONFIG) >> 8 & 0xff;
    for (uint32_t core = 0; core < cores; core++) {
        REGISTER(CORE_SELECT) = core;
        counts->instructions += sign * REGISTER(CORE_INSTRUCTIONS);
        counts->lane_instructions += sign * REGISTER(CORE_LANE_INSTRUCTIONS);
        counts->active_cycles += sign * REGISTER(CORE_ACTIVE_CYCLES);
        counts->lost[0] += sign * REGISTER(CORE_LOST_MEMORY);
        counts->lost[1] += sign * REGISTER(CORE_LOST_FETCH);
        counts->lost[2] += sign * REGISTER(CORE_LOST_DIVERGENCE);
        counts->lost[3] += sign * REGISTER(CORE_LOST_SCOREBOARD);
        counts->lost[4] += sign * REGISTER(CORE_LOST_CONFLICT);
        counts->line_reads += sign * REGISTER(CORE_LINE_READS);
        counts->line_writes += sign * REGISTER(CORE_LINE_WRITES);
        counts->l2_misses += sign * REGISTER(CORE_L2_READ_MISSES);
    }
}

/* Measures `work`, which is all that there is between the two looks at the clock. */
static void media_measure(struct media_counts *counts, void (*work)(void))
{
    media_count(counts, -1);
    uint32_t threads = media_threads, instructions = csr_read(minstret), cycles = csr_read(mcycle);
    work();
    counts->cycles = csr_read(mcycle) - cycles;
    counts->hart_instructions = csr_read(minstret) - instructions;
    counts->threads = media_threads - threads;
    media_count(counts, 1);
}

/* Runs `work` twice, on cold caches and as the first pass leaves them, and prints what it took. */
static int media_main(void (*work)(void))
{
    media_setup(0);
    for (uint32_t phase = 0; phase < MEDIA_PHASES; phase++) {
        struct media_counts *counts = &media_phases[phase];
        media_measure(counts, work);
        printf("pass %u: %u cycles, %u instructions of the hart, %u of warps\n", phase + 1, counts->cycles,
               counts->hart_instructions, counts->instructions);
    }
    return 0;
}

#endif
