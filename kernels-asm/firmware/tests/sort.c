/* Sorts numbers, looks them up, adds up products: calls, arrays, structs, the compiler's
 * multiplication. */
#include <stdint.h>

struct entry {
    int16_t key;
    uint8_t count;
    uint32_t sum;
};

enum { COUNT = 60 };
static int32_t numbers[COUNT];
static struct entry table[16];
volatile uint32_t result[4];

static uint32_t next(uint32_t *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

static void sort(int32_t *list, int first, int last)
{
    if (first >= last)
        return;
    int32_t pivot = list[(first + last) / 2];
    int low = first, high = last;
    while (low <= high) {
        while (list[low] < pivot)
            low++;
        while (list[high] > pivot)
            high--;
        if (low <= high) {
            int32_t other = list[low];
            list[low++] = list[high];
            list[high--] = other;
        }
    }
    sort(list, first, high);
    sort(list, low, last);
}

int main(void)
{
    uint32_t state = 7;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (int32_t)next(&state) - 16384;
    for (int i = 0; i < COUNT; i++) {
        struct entry *entry = &table[(uint32_t)numbers[i] % 16];
        entry->key = (int16_t)numbers[i];
        entry->count++;
        entry->sum += (uint32_t)(numbers[i] * numbers[i]);
    }
    sort(numbers, 0, COUNT - 1);
    uint32_t ordered = 0, hash = 2166136261u;
    for (int i = 1; i < COUNT; i++)
        ordered += numbers[i - 1] <= numbers[i];
    for (int i = 0; i < COUNT; i++)
        hash = (hash ^ (uint32_t)numbers[i]) * 16777619u;
    uint32_t counted = 0, sums = 0;
    for (int i = 0; i < 16; i++) {
        counted += table[i].count;
        sums ^= table[i].sum + (uint32_t)table[i].key;
    }
    result[0] = ordered;
    result[1] = counted;
    result[2] = hash;
    result[3] = sums;
    return ordered == COUNT - 1 && counted == COUNT ? 0 : 1;
}
