#include "words.h"

void *memmove(void *to, const void *from, size_t bytes)
{
    /* Forward is right unless the target begins inside the source. */
    if ((uintptr_t)to - (uintptr_t)from >= bytes)
        return memcpy(to, from, bytes);
    uint8_t *target = (uint8_t *)to + bytes;
    const uint8_t *source = (const uint8_t *)from + bytes;
    if (equally_aligned(target, source)) {
        for (; bytes && !is_aligned(source); bytes--)
            *--target = *--source;
        for (; bytes >= 4; bytes -= 4) {
            target -= 4, source -= 4;
            *(word_t *)target = *(const word_t *)source;
        }
    }
    for (; bytes; bytes--)
        *--target = *--source;
    return to;
}
