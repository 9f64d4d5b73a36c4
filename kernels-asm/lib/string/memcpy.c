#include "words.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    if (equally_aligned(target, source)) {
        for (; bytes && !is_aligned(source); bytes--)
            *target++ = *source++;
        for (; bytes >= 4; bytes -= 4, target += 4, source += 4)
            *(word_t *)target = *(const word_t *)source;
    }
    for (; bytes; bytes--)
        *target++ = *source++;
    return to;
}
