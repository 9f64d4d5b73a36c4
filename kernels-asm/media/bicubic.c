/* Bicubic scaling (Pangaea, section 6) to twice width and height, by the taps of Catmull and Rom a
 * quarter before and behind a pixel. Header: width, height. Then the planes Y, U and V, a byte for
 * each pixel; U and V have half the width and half the height. The output has the same planes.
 *
 * Rows and columns beyond the border are those at the border. */
#include "hermes_media.h"

/* Rows of the input that a thread makes twice as many rows of; it makes four pixels a row. It reads
 * four rows more than these. */
#define ROWS 8u

static struct plane {
    const uint8_t *in;
    uint32_t *out;
    uint32_t width, height;
    uint32_t reciprocal; /* of the threads of a band: half the width */
} planes[3];

/* The taps, in 128ths. */
struct taps {
    int32_t near, far, outer, inner;
};
#define TAPS                                                                                                               \
    {                                                                                                                      \
        (int32_t)MEDIA_FACTOR(111), (int32_t)MEDIA_FACTOR(29), (int32_t)MEDIA_FACTOR(-3), (int32_t)MEDIA_FACTOR(-9)        \
    }

/* A quarter before pixel c, and a quarter behind pixel b. */
MEDIA_INLINE int32_t before(const struct taps *taps, int32_t a, int32_t b, int32_t c, int32_t d)
{
    return taps->outer * a + taps->far * b + taps->near * c + taps->inner * d;
}
MEDIA_INLINE int32_t behind(const struct taps *taps, int32_t a, int32_t b, int32_t c, int32_t d)
{
    return taps->inner * a + taps->near * b + taps->far * c + taps->outer * d;
}

MEDIA_INLINE uint32_t clip(int32_t sum)
{
    int32_t value = (sum + (1 << 13)) >> 14;
    value = value < 0 ? 0 : value;
    return value > 255 ? 255 : value;
}

/* Four pixels of a row, before they are rounded. */
struct four {
    int32_t x0, x1, x2, x3;
};

/* The pixels of the input that four of the output need: two before a pair, the pair, two behind. */
struct places {
    const uint8_t *a, *b, *pair, *e, *f;
};

MEDIA_INLINE void move(struct places *places, uint32_t bytes)
{
    places->a += bytes;
    places->b += bytes;
    places->pair += bytes;
    places->e += bytes;
    places->f += bytes;
}

MEDIA_INLINE struct four along(const struct taps *taps, const struct places *places)
{
    int32_t a = *places->a, b = *places->b, c = places->pair[0], d = places->pair[1], e = *places->e, f = *places->f;
    MEDIA_LOADED_4(a, b, c, d);
    MEDIA_LOADED_2(e, f);
    struct four four = {before(taps, a, b, c, d), behind(taps, b, c, d, e), before(taps, b, c, d, e),
                        behind(taps, c, d, e, f)};
    return four;
}

MEDIA_INLINE uint32_t cross_before(const struct taps *taps, const struct four *a, const struct four *b,
                                   const struct four *c, const struct four *d)
{
    return clip(before(taps, a->x0, b->x0, c->x0, d->x0)) | clip(before(taps, a->x1, b->x1, c->x1, d->x1)) << 8 |
           clip(before(taps, a->x2, b->x2, c->x2, d->x2)) << 16 | clip(before(taps, a->x3, b->x3, c->x3, d->x3)) << 24;
}

MEDIA_INLINE uint32_t cross_behind(const struct taps *taps, const struct four *a, const struct four *b,
                                   const struct four *c, const struct four *d)
{
    return clip(behind(taps, a->x0, b->x0, c->x0, d->x0)) | clip(behind(taps, a->x1, b->x1, c->x1, d->x1)) << 8 |
           clip(behind(taps, a->x2, b->x2, c->x2, d->x2)) << 16 | clip(behind(taps, a->x3, b->x3, c->x3, d->x3)) << 24;
}

/* 2 x ROWS rows of four pixels. Each row of the input is loaded before the two rows of the output
 * are stored that do not need it: a load right behind a store of the same warp waits for its
 * acknowledgement. */
MEDIA_INLINE void block(const struct plane *plane, uint32_t first, uint32_t group)
{
    const struct taps taps = TAPS;
    uint32_t width = plane->width, is_left = MEDIA_MASK(group == 0), is_right = MEDIA_MASK(group == width / 2 - 1);
    uint32_t is_top = MEDIA_MASK(first == 0), is_bottom = MEDIA_MASK(first + ROWS == plane->height);
    /* At the border a row or column stands for those beyond it. */
    uint32_t top = width & ~is_top, bottom = width & ~is_bottom;
    const uint8_t *pair = plane->in + first * width + 2 * group - 2 * top;
    struct places places = {pair - (2 & ~is_left), pair - (1 & ~is_left), pair, pair + 1 + (1 & ~is_right),
                            pair + 1 + (2 & ~is_right)};
    uint32_t words = width / 2, *to = plane->out + 2 * first * words + group;
    struct four a = along(&taps, &places);
    move(&places, top);
    struct four b = along(&taps, &places);
    move(&places, top);
    struct four c = along(&taps, &places);
    move(&places, width);
    struct four d = along(&taps, &places);
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t upper = cross_before(&taps, &a, &b, &c, &d);
        a = b;
        b = c;
        c = d;
        /* The rows first + 2 to first + 5. */
        move(&places, row < ROWS - 2 ? width : bottom);
        d = along(&taps, &places);
        *to = upper;
        to += words;
        *to = cross_behind(&taps, &a, &b, &c, &d);
        to += words;
        MEDIA_ORDER();
    }
}

#if MEDIA_PROGRAM == MEDIA_LANES
static void thread(uint32_t number, const struct plane *plane)
{
    uint32_t band = media_divide(number, plane->reciprocal);
    block(plane, band * ROWS, number - band * (plane->width / 2));
}

static void work(void)
{
    for (uint32_t at = 0; at < 3; at++)
        media_start(at, (media_thread)thread, planes[at].width / 2 * (planes[at].height / ROWS), &planes[at], 0);
    for (uint32_t at = 0; at < 3; at++)
        media_wait(at);
}
#elif MEDIA_PROGRAM == MEDIA_SCALAR_1
/* As the threads go. */
static void work(void)
{
    for (uint32_t at = 0; at < 3; at++)
        for (uint32_t first = 0; first < planes[at].height; first += ROWS)
            for (uint32_t group = 0; group < planes[at].width / 2; group++)
                block(&planes[at], first, group);
}
#else
/* Each row of the input once along the row, into one of four buffers; then two rows of the output
 * from these. */
#define MOST_WIDTH 480

static int32_t clamp(int32_t value, int32_t last)
{
    value = value < 0 ? 0 : value;
    return value > last ? last : value;
}

static int32_t buffers[4][2 * MOST_WIDTH] __attribute__((aligned(64)));

static void stretch(const struct plane *plane, int32_t row)
{
    const uint8_t *in = plane->in + clamp(row, plane->height - 1) * plane->width;
    const struct taps values = TAPS, *taps = &values;
    int32_t *to = buffers[row & 3], last = plane->width - 1;
    int32_t a = in[0], b = in[0], c = in[0], d = in[1];
    for (int32_t pixel = 0; pixel <= last; pixel++) {
        int32_t e = in[clamp(pixel + 2, last)];
        to[2 * pixel] = before(taps, a, b, c, d);
        to[2 * pixel + 1] = behind(taps, b, c, d, e);
        a = b;
        b = c;
        c = d;
        d = e;
    }
}

/* The output row behind the pixels of row `row`, or with `is_before` before those of the next. */
MEDIA_INLINE void cross(const struct plane *plane, int32_t row, int is_before, uint32_t *to)
{
    const struct taps values = TAPS, *taps = &values;
    const int32_t *a = buffers[(row - 1) & 3], *b = buffers[row & 3], *c = buffers[(row + 1) & 3], *d = buffers[(row + 2) & 3];
    for (uint32_t at = 0; at < 2 * plane->width; at += 4) {
        const struct four *w = (const struct four *)(a + at), *x = (const struct four *)(b + at);
        const struct four *y = (const struct four *)(c + at), *z = (const struct four *)(d + at);
        *to++ = is_before ? cross_before(taps, w, x, y, z) : cross_behind(taps, w, x, y, z);
    }
}

static void work(void)
{
    for (uint32_t at = 0; at < 3; at++) {
        const struct plane *plane = &planes[at];
        int32_t height = plane->height, words = plane->width / 2;
        for (int32_t row = -2; row < 1; row++)
            stretch(plane, row);
        for (int32_t row = -1; row < height; row++) {
            stretch(plane, row + 2);
            if (row >= 0)
                cross(plane, row, 0, plane->out + (2 * row + 1) * words);
            if (row + 1 < height)
                cross(plane, row, 1, plane->out + (2 * row + 2) * words);
        }
    }
}
#endif

int main(void)
{
    uint32_t width = input[0], height = input[1];
    media_expect("width", width, 16, 480, 8);
    media_expect("height", height, 16, 2048, 2 * ROWS);
    uint32_t pixels = width * height;
    media_expect_bytes(pixels + pixels / 2, 4 * (pixels + pixels / 2));
    const uint8_t *in = (const uint8_t *)(input + MEDIA_HEADER / 4);
    uint32_t *out = output;
    for (uint32_t at = 0; at < 3; at++) {
        struct plane *plane = &planes[at];
        plane->in = in;
        plane->out = out;
        plane->width = at ? width / 2 : width;
        plane->height = at ? height / 2 : height;
        plane->reciprocal = media_reciprocal(plane->width / 2);
        in += plane->width * plane->height;
        out += plane->width * plane->height;
    }
    return media_main(work);
}
