/* How many instructions a cycle the command processor executes: a sort of 16 words, a CRC-32 of
 * them, 320 `switch` statements, once on hart 0 and then on four harts at a time. Data is in local
 * memory. The value of main: 0 if all harts found the same. */
#include "hermes_cp.h"

FIRMWARE_HARTS(4);

#define HARTS 4u
#define ROUNDS 3u

struct result {
    volatile uint32_t value, instructions, first, last, done;
};
LOCAL static struct result results[HARTS];
LOCAL static volatile uint32_t go;
LOCAL static uint32_t words[HARTS][16];

static uint32_t sort(uint32_t *a, uint32_t seed)
{
    for (uint32_t i = 0; i < 16; i++) {
        seed = seed * 1103515245u + 12345u;
        a[i] = seed;
    }
    for (uint32_t i = 1; i < 16; i++) {
        uint32_t key = a[i], j = i;
        for (; j > 0 && a[j - 1] > key; j--)
            a[j] = a[j - 1];
        a[j] = key;
    }
    return seed;
}

static uint32_t crc_32(const uint32_t *a)
{
    uint32_t crc = ~0u;
    for (uint32_t i = 0; i < 16; i++) {
        crc ^= a[i];
        for (uint32_t bit = 0; bit < 32; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

static uint32_t switches(uint32_t x)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 320; i++) {
        switch (x & 7) {
        case 0: sum += x; break;
        case 1: sum ^= x << 3; break;
        case 2: sum -= i; break;
        case 3: sum = (sum << 5 | sum >> 27) + 1; break;
        case 4: sum += x & i; break;
        case 5: sum |= i << 8; break;
        case 6: sum ^= ~x; break;
        default: sum += 77;
        }
        x = x >> 3 ^ x << 7 ^ sum;
    }
    return sum;
}

static __attribute__((noinline)) uint32_t work(uint32_t *a)
{
    uint32_t seed = 1, sum = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        seed = sort(a, seed);
        sum += crc_32(a);
        sum ^= switches(sum);
    }
    return sum;
}

static void measure(void *argument)
{
    uint32_t hart = (uint32_t)argument;
    struct result *result = &results[hart];
    result->done = 0;
    while (!go)
        ;
    uint32_t first = csr_read(mcycle), instructions = csr_read(minstret);
    uint32_t value = work(words[hart]);
    result->instructions = csr_read(minstret) - instructions;
    result->first = first;
    result->last = csr_read(mcycle);
    result->value = value;
    result->done = 1;
}

/* From the start of hart 0 to the end of the last hart. */
static void tell(uint32_t harts)
{
    uint32_t instructions = 0, cycles = 0;
    for (uint32_t hart = 0; hart < harts; hart++) {
        instructions += results[hart].instructions;
        uint32_t taken = results[hart].last - results[0].first;
        cycles = taken > cycles ? taken : cycles;
    }
    printf("%u harts: %u instructions in %u cycles: %u thousandths a cycle\n", harts, instructions, cycles,
           (uint32_t)(instructions * 1000u / cycles));
}

int main(void)
{
    go = 1;
    /* Fills the instruction cache. */
    measure((void *)0);
    measure((void *)0);
    tell(1);
    go = 0;
    for (uint32_t hart = 1; hart < HARTS; hart++) {
        results[hart].done = 0;
        hart_start(hart, measure, (void *)hart);
    }
    go = 1;
    measure((void *)0);
    for (uint32_t hart = 1; hart < HARTS; hart++)
        while (!results[hart].done)
            ;
    tell(HARTS);
    for (uint32_t hart = 1; hart < HARTS; hart++)
        if (results[hart].value != results[0].value)
            return 1;
    return 0;
}
