/* Figure 3 of the paper on Pangaea: arm a channel on the completion word of a job, start its
 * threads on the cores with one store, work on; the last thread's end interrupts the program in
 * user level. The value of main: jobs whose results are wrong. */
#include "hermes_cp.h"

#define THREADS 64u
#define JOBS 4u

/* The kernel of the jobs, for the cores: thread n stores n + argument1 to word n of the array at
 * argument0. It is assembly, since the firmware's compiler flags are those of the command
 * processor. */
__asm__(".pushsection .text.thread, \"ax\"\n"
        ".balign 64\n.globl thread\nthread:\n"
        "slli t0, a0, 2\nadd t0, t0, a1\nadd t1, a0, a2\nsw t1, 0(t0)\nret\n"
        ".popsection");
extern const char thread[];

static struct spawn_descriptor page[16] __attribute__((aligned(1024)));
static volatile uint32_t completion __attribute__((aligned(64)));
static volatile uint32_t results[THREADS] __attribute__((aligned(64)));
static volatile uint32_t done;

/* Runs when the completion word was written. */
ULI_HANDLER(job_done)
{
    done = completion;
}

int main(void)
{
    REGISTER(SPAWN_CONTROL) = 1;
    if (!spawn_page(page))
        return 1000;
    struct spawn_descriptor *job = &page[0];
    job->argument0 = (uint32_t)results;
    job->shape = THREADS;
    job->zero = 0;
    job->cores = 0;
    job->completion = (uint32_t)&completion;
    uli_arm(ULI_WRITTEN, 0, job_done, uli_word(&completion));
    int wrong = 0;
    uint32_t turns = 0;
    for (uint32_t number = 1; number <= JOBS; number++) {
        done = 0;
        job->argument1 = number << 16;
        job->token = number;
        spawn(job, thread);
        /* The program works on meanwhile. */
        while (!done)
            turns++;
        acquire();
        wrong += done != number;
        for (uint32_t i = 0; i < THREADS; i++)
            wrong += results[i] != (number << 16) + i;
        /* The slot is free when the completion is visible to all. */
        while (spawn_busy() & 1)
            ;
    }
    uli_disarm(0);
    printf("%u jobs of %u threads, %d wrong; worked on meanwhile: %s\n", JOBS, THREADS, wrong, turns > JOBS ? "yes" : "no");
    return wrong;
}
