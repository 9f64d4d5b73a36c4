/* Threads on the cores that fault, and the command processor that resolves it: an instruction that
 * lanes do not have, memory outside their windows, services, a misaligned load. For arrays with
 * --atomics and --local-window. The value of main: what came out wrong. */
#include "hermes_proxy.h"

#define THREADS 24u
#define WORDS 64u

static struct spawn_descriptor page[16] __attribute__((aligned(1024)));
static volatile uint32_t completion __attribute__((aligned(64)));
static volatile uint32_t results[3][THREADS] __attribute__((aligned(64)));
static uint32_t table[WORDS] __attribute__((aligned(64)));
static uint32_t heap[1024] __attribute__((aligned(64)));

/* For the lanes: an instruction of our own, saturating addition, which the command processor
 * carries out. */
static inline uint32_t add_saturating(uint32_t a, uint32_t b)
{
    uint32_t sum;
    __asm__ volatile(".insn r 0x2b, 0, 0, %0, %1, %2" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
static struct proxy_answer illegal(const struct proxy_request *request)
{
    if ((request->instruction & 0xfe00707f) != 0x2b)
        return PROXY_ANSWER(PROXY_KILL, 0, 0);
    uint32_t a = proxy_rs1(request), b = proxy_rs2(request);
    return PROXY_ANSWER(PROXY_SKIP, proxy_rd(request), a + b < a ? 0xffffffffu : a + b);
}

/* A thread. */
static void thread(uint32_t number, const uint32_t *words, uint32_t own)
{
    if (number == 0)
        proxy_ecall(PROXY_PUTCHAR, '.');
    uint32_t *block = (uint32_t *)proxy_ecall(PROXY_MALLOC, 64);
    block[0] = words[number];
    uint32_t misaligned;
    __asm__ volatile("lw %0, 1(%1)" : "=r"(misaligned) : "r"(words + number));
    results[0][number] = add_saturating(block[0] << own, 0x80000000u);
    results[1][number] = misaligned;
    results[2][number] = (uint32_t)block;
}

/* A thread alone: how long a service takes that does nothing. */
static void timed(uint32_t number, volatile uint32_t *cycles)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t began = csr_read(cycle);
        proxy_ecall(100, number);
        *cycles = csr_read(cycle) - began;
    }
}
static struct proxy_answer nothing(const struct proxy_request *request)
{
    uint32_t known = proxy_number(request) == 100;
    return PROXY_ANSWER(known ? PROXY_SKIP : PROXY_KILL, 0, 0);
}

/* Starts a job and answers until it ends. Gives 1 if a thread of it ended with a fault. */
static int job(const void *entry, uint32_t threads, volatile void *argument)
{
    static uint32_t token;
    page[0].argument0 = (uint32_t)argument;
    page[0].argument1 = 4;
    page[0].shape = threads | SPAWN_ACQUIRE | spawn_class();
    page[0].completion = (uint32_t)&completion;
    page[0].token = ++token;
    spawn(&page[0], entry);
    uint32_t word = proxy_wait(&completion, token);
    while (spawn_busy() & 1)
        ;
    return word != token;
}

ULI_HANDLER_PLAIN(job_done) {}

int main(void)
{
    REGISTER(SPAWN_CONTROL) = 1;
    if (!spawn_page(page))
        return 1000;
    for (uint32_t i = 0; i < WORDS; i++)
        table[i] = 0x01020304u * i;
    /* Threads can ask, and reach nothing else. */
    REGISTER(READ_WINDOW_0_BASE) = REGISTER(WRITE_WINDOW_0_BASE) = (uint32_t)&proxy_area;
    REGISTER(READ_WINDOW_0_SIZE) = REGISTER(WRITE_WINDOW_0_SIZE) = sizeof proxy_area;
    REGISTER(READ_WINDOW_1_SIZE) = REGISTER(WRITE_WINDOW_1_SIZE) = 0;
    proxy_region(table, sizeof table, 0);
    proxy_region(results, sizeof results, 1);
    proxy_heap_is(heap, sizeof heap);
    proxy_illegal = illegal;
    proxy_service = nothing;
    spawn_class();
    proxy_start();
    uli_arm(ULI_WRITTEN, 0, job_done, uli_word(&completion));
    int wrong = job(thread, THREADS, table);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t shifted = table[i] << 4, sum = shifted + 0x80000000u;
        uint64_t pair = (uint64_t)table[i + 1] << 32 | table[i];
        wrong += results[0][i] != (sum < shifted ? 0xffffffffu : sum);
        wrong += results[1][i] != (uint32_t)(pair >> 8);
        uint32_t block = results[2][i];
        wrong += block % 64 || block < (uint32_t)heap || block >= (uint32_t)(heap + 1024) || *(uint32_t *)block != table[i];
    }
    printf("%u threads, %d wrong; %u lanes trapped\n", THREADS, wrong, REGISTER(FAULT_TRAPS));
    printf("windows moved %u, accesses made %u, services %u, instructions %u\n", proxy_windows, proxy_accesses,
           proxy_services, proxy_instructions);
    wrong += job(timed, 1, results);
    printf("a service took %u cycles\n", results[0][0]);
    return wrong;
}
