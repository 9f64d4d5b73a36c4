#include "words.h"

int memcmp(const void *a, const void *b, size_t bytes)
{
    const uint8_t *left = a, *right = b;
    if (equally_aligned(left, right)) {
        for (; bytes && !is_aligned(left); bytes--, left++, right++)
            if (*left != *right)
                return *left - *right;
        /* The bytes of the first words that differ tell the order. */
        for (; bytes >= 4; bytes -= 4, left += 4, right += 4)
            if (*(const word_t *)left != *(const word_t *)right)
                break;
    }
    for (; bytes; bytes--, left++, right++)
        if (*left != *right)
            return *left - *right;
    return 0;
}
