#include "words.h"

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *target = to;
    uint32_t word = (uint8_t)value * 0x01010101u;
    for (; bytes && !is_aligned(target); bytes--)
        *target++ = (uint8_t)word;
    for (; bytes >= 4; bytes -= 4, target += 4)
        *(word_t *)target = word;
    for (; bytes; bytes--)
        *target++ = (uint8_t)word;
    return to;
}
