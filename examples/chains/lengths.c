/* Counts packets by their length, and drops them: the reason is 64 + the class of the length. */
#include <hermes_nf.h>

struct nf_arguments { const uint16_t *limits; uint32_t bytes; uint32_t *counts; };
struct nf_job { uint32_t length, class; };

static uint32_t measure(const struct packet_slot *slot, struct nf_job *job) {
    job->length = slot->length;
    return NF_GO_ON;
}

static void count(struct nf_job *job, const struct nf_arguments *arguments) {
    while (job->class < arguments->bytes / 2 && job->length > arguments->limits[job->class])
        job->class++;
    __atomic_fetch_add(&arguments->counts[job->class], 1, __ATOMIC_RELAXED);
}

static uint32_t drop(const struct packet_slot *slot, const struct nf_job *job) {
    (void)slot;
    return VERDICT_DROP | (64 + job->class);
}

HERMES_NF(measure, count, drop)
