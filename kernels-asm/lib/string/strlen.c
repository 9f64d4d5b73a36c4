#include "words.h"

size_t strlen(const char *text)
{
    const char *end = text;
    while (!is_aligned(end))
        if (*end++ == 0)
            return (size_t)(end - 1 - text);
    /* A byte of a word is zero where taking 1 from it borrows. An aligned word never reaches beyond
     * the line of its first byte. */
    while (((*(const word_t *)end - 0x01010101u) & ~*(const word_t *)end & 0x80808080u) == 0)
        end += 4;
    while (*end)
        end++;
    return (size_t)(end - text);
}
