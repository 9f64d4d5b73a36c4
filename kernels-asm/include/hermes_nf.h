/* A network function by three handlers, in the manner of G-NET (NSDI'18, section 6.2): one parses
 * the packet into a job, one does the job, one decides what becomes of the packet.
 *
 *     struct nf_arguments { const uint16_t *routes; };    the argument block
 *     struct nf_job { uint32_t destination, port; };      what a handler hands to the next one
 *
 *     uint32_t pre(const struct packet_slot *slot, struct nf_job *job);
 *     void work(struct nf_job *job, const struct nf_arguments *arguments);
 *     uint32_t post(struct packet_slot *slot, const struct nf_job *job);
 *
 *     HERMES_NF(pre, work, post)
 *
 * HERMES_NF defines the function `kernel` of the file. Handlers have names of the author's, but
 * not `kernel`; they are static, so that the compiler makes one function of them, with the job in
 * registers. The author defines both structures; nf_arguments may be left out if `work` does not
 * look at it. What the paper's other operations do, the host does by the manifest of the function:
 * tables and argument block are in memory, and the packet never leaves its slot. */
#ifndef HERMES_NF_H
#define HERMES_NF_H

#include "hermes.h"

/* Bytes of the longest job. It is kept in registers, or on the stack if there are too few. */
#define HERMES_NF_JOB_BYTES 64u

/* What `pre` gives if the packet is a job. All else is a verdict, with which the packet leaves at
 * once: neither `work` nor `post` see it. */
#define NF_GO_ON 0x7fffffffu

struct nf_arguments;

/* Whether a handler can be called so; `const` may be left out. */
#define HERMES_NF_IS_PRE(handler)                                                                 \
    _Generic((handler), uint32_t (*)(const struct packet_slot *, struct nf_job *): 1,             \
             uint32_t (*)(struct packet_slot *, struct nf_job *): 1, default: 0)
#define HERMES_NF_IS_WORK(handler)                                                                \
    _Generic((handler), void (*)(struct nf_job *, const struct nf_arguments *): 1,                \
             void (*)(struct nf_job *, struct nf_arguments *): 1, default: 0)
#define HERMES_NF_IS_POST(handler)                                                                \
    _Generic((handler), uint32_t (*)(struct packet_slot *, const struct nf_job *): 1,             \
             uint32_t (*)(const struct packet_slot *, const struct nf_job *): 1,                  \
             uint32_t (*)(struct packet_slot *, struct nf_job *): 1,                              \
             uint32_t (*)(const struct packet_slot *, struct nf_job *): 1, default: 0)

#define HERMES_NF(pre, work, post)                                                                \
    _Static_assert(sizeof #pre > 1, "HERMES_NF: the first handler (pre) is missing");             \
    _Static_assert(sizeof #work > 1, "HERMES_NF: the second handler (work) is missing");          \
    _Static_assert(sizeof #post > 1, "HERMES_NF: the third handler (post) is missing");           \
    _Static_assert(sizeof(struct nf_job) <= HERMES_NF_JOB_BYTES,                                  \
                   "struct nf_job: expected at most 64 bytes");                                   \
    _Static_assert(HERMES_NF_IS_PRE(pre), "HERMES_NF: " #pre                                      \
                   ": expected uint32_t " #pre "(const struct packet_slot *, struct nf_job *)");  \
    _Static_assert(HERMES_NF_IS_WORK(work), "HERMES_NF: " #work                                   \
                   ": expected void " #work "(struct nf_job *, const struct nf_arguments *)");    \
    _Static_assert(HERMES_NF_IS_POST(post), "HERMES_NF: " #post                                   \
                   ": expected uint32_t " #post "(struct packet_slot *, const struct nf_job *)"); \
    uint32_t kernel(uint32_t hermes_packet, struct packet_slot *hermes_slot,                      \
                    struct nf_arguments *hermes_arguments)                                        \
    {                                                                                             \
        (void)hermes_packet;                                                                      \
        struct nf_job hermes_job = {};                                                            \
        uint32_t hermes_verdict = pre(hermes_slot, &hermes_job);                                  \
        if (hermes_verdict != NF_GO_ON)                                                           \
            return hermes_verdict;                                                                \
        work(&hermes_job, hermes_arguments);                                                      \
        return post(hermes_slot, &hermes_job);                                                    \
    }

#endif
