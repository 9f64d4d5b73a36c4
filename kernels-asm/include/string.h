/* The functions of string.h that kernels have. The compiler also calls the first four where a
 * kernel copies or compares structures and arrays. Copies go word by word where source and
 * destination are equally aligned; each function is linked only if it is used. */
#ifndef HERMES_STRING_H
#define HERMES_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);

#endif
