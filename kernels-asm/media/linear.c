/* Linear filter (Pangaea, section 6): each channel of a pixel becomes the mean of the nine around
 * it, rounded down; the pixels at the border stay. Header: width, height. Then the pixels, three
 * bytes each, row by row.
 *
 * Four bytes at a time: words masked by 0x00ff00ff have two channels that are added at once, and
 * sum x 7282 >> 16 is sum / 9 for sums below 2,296. */
#include "hermes_media.h"

/* Rows of a thread. */
#define ROWS 10u
#define HALVES 0x00ff00ffu

static struct image {
    const uint32_t *in;
    uint32_t *out;
    uint32_t words, height; /* words of a row */
    uint32_t reciprocal;    /* of words */
    uint32_t first, last;   /* bytes of the first and of the last word that are of the border */
} image;

/* The means of four sums of nine bytes: of bytes 0 and 2, and of bytes 1 and 3. */
MEDIA_INLINE uint32_t means(uint32_t even, uint32_t odd, uint32_t ninth)
{
    uint32_t b0 = (even & 0xffff) * ninth >> 16;
    uint32_t b2 = (even >> 16) * ninth & 0x00ff0000;
    uint32_t b1 = (odd & 0xffff) * ninth >> 8 & 0x0000ff00;
    uint32_t b3 = (odd >> 16) * ninth << 8 & 0xff000000;
    return b0 | b1 | b2 | b3;
}

/* The sums of each byte and the bytes three before and three behind it. */
MEDIA_INLINE void sums(uint32_t before, uint32_t here, uint32_t behind, uint32_t *even, uint32_t *odd)
{
    uint32_t e = here & HALVES, o = here >> 8 & HALVES;
    *even = (before >> 8 & HALVES) + e + (o >> 16 | (behind & 0xff00) << 8);
    *odd = ((before >> 16 & 0xff) | e << 16) + o + (behind & HALVES);
}

/* ROWS rows of a column of words, from row `first` on. The words of the next row are loaded before
 * a word is stored: a load right behind a store of the same warp waits for its acknowledgement. */
MEDIA_INLINE void column(const struct image *image, uint32_t column, uint32_t first)
{
    uint32_t words = image->words, ninth = MEDIA_FACTOR(7282);
    uint32_t keep = (MEDIA_MASK(column == 0) & image->first) | (MEDIA_MASK(column == words - 1) & image->last);
    uint32_t is_first = MEDIA_MASK(first == 0), is_last = MEDIA_MASK(first + ROWS == image->height);
    /* The row that stays; there are two bands and more. */
    uint32_t border = (is_first & 1) | (is_last & ROWS);
    const uint32_t *line = image->in + first * words + column;
    uint32_t *to = image->out + first * words + column;
    /* What is above and below the image is not used: the rows at its border stay. */
    const uint32_t *above = line - (words & ~is_first);
    uint32_t even[3], odd[3];
    sums(above[-1], above[0], above[1], &even[0], &odd[0]);
    uint32_t own = line[0];
    sums(line[-1], own, line[1], &even[1], &odd[1]);
    line += words;
    uint32_t before = line[-1], here = line[0], behind = line[1];
#pragma GCC unroll 5
    for (uint32_t row = 1; row <= ROWS; row++) {
        sums(before, here, behind, &even[2], &odd[2]);
        uint32_t below = here;
        line += words;
        before = line[-1];
        here = line[0];
        behind = line[1];
        uint32_t mean = means(even[0] + even[1] + even[2], odd[0] + odd[1] + odd[2], ninth);
        uint32_t stay = keep | MEDIA_MASK(row == border);
        *to = (mean & ~stay) | (own & stay);
        to += words;
        own = below;
        even[0] = even[1];
        odd[0] = odd[1];
        even[1] = even[2];
        odd[1] = odd[2];
        MEDIA_ORDER();
    }
}

#if MEDIA_PROGRAM == MEDIA_LANES
static void thread(uint32_t number, const struct image *image)
{
    uint32_t band = media_divide(number, image->reciprocal);
    column(image, number - band * image->words, band * ROWS);
}

static void work(void)
{
    media_start(0, (media_thread)thread, image.words * (image.height / ROWS), &image, 0);
    media_wait(0);
}
#elif MEDIA_PROGRAM == MEDIA_SCALAR_1
/* Row by row: sums of three rows, which move along the row. */
static void row(uint32_t number)
{
    uint32_t words = image.words, ninth = MEDIA_FACTOR(7282);
    const uint32_t *a = image.in + (number - 1) * words, *b = a + words, *c = b + words;
    uint32_t *to = image.out + number * words;
    uint32_t before_even = 0, before_odd = 0;
    uint32_t even = (a[0] & HALVES) + (b[0] & HALVES) + (c[0] & HALVES);
    uint32_t odd = (a[0] >> 8 & HALVES) + (b[0] >> 8 & HALVES) + (c[0] >> 8 & HALVES);
    for (uint32_t at = 0; at < words; at++) {
        uint32_t x = a[at + 1], y = b[at + 1], z = c[at + 1];
        uint32_t next_even = (x & HALVES) + (y & HALVES) + (z & HALVES);
        uint32_t next_odd = (x >> 8 & HALVES) + (y >> 8 & HALVES) + (z >> 8 & HALVES);
        to[at] = means(before_odd + even + (odd >> 16 | next_odd << 16),
                       (before_even >> 16 | even << 16) + odd + next_even, ninth);
        before_even = even;
        before_odd = odd;
        even = next_even;
        odd = next_odd;
    }
    to[0] = (to[0] & ~image.first) | (b[0] & image.first);
    to[words - 1] = (to[words - 1] & ~image.last) | (b[words - 1] & image.last);
}

static void work(void)
{
    for (uint32_t at = 0; at < image.words; at++) {
        image.out[at] = image.in[at];
        image.out[(image.height - 1) * image.words + at] = image.in[(image.height - 1) * image.words + at];
    }
    for (uint32_t number = 1; number < image.height - 1; number++)
        row(number);
}
#else
/* In bands, as the threads go. */
static void work(void)
{
    for (uint32_t first = 0; first < image.height; first += ROWS)
        for (uint32_t at = 0; at < image.words; at++)
            column(&image, at, first);
}
#endif

int main(void)
{
    uint32_t width = input[0], height = input[1];
    media_expect("width", width, 4, 4096, 4);
    media_expect("height", height, 2 * ROWS, 4090, ROWS);
    media_expect_bytes(3 * width * height, 3 * width * height);
    image.in = input + MEDIA_HEADER / 4;
    image.out = output;
    image.words = width / 4 * 3;
    image.height = height;
    image.reciprocal = media_reciprocal(image.words);
    /* Three bytes at either end of a row. */
    image.first = 0x00ffffff;
    image.last = 0xffffff00;
    return media_main(work);
}
