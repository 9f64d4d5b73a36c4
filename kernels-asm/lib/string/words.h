/* What the functions of string.h share. */
#ifndef HERMES_WORDS_H
#define HERMES_WORDS_H

#include <stdint.h>
#include <string.h>

/* A word that may be part of any object. */
typedef uint32_t __attribute__((may_alias)) word_t;

/* Whether both addresses are as far from a multiple of 4. */
static inline int equally_aligned(const void *a, const void *b)
{
    return (((uintptr_t)a ^ (uintptr_t)b) & 3) == 0;
}

static inline int is_aligned(const void *a)
{
    return ((uintptr_t)a & 3) == 0;
}

#endif
