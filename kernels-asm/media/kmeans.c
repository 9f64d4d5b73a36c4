/* k-means clustering (Pangaea, section 6): threads find the nearest centre of each point while the
 * hart adds up the points whose centres are found. Header: points. Then eight centres of eight
 * words; then for each point its coordinates 0 and 1 in a word, then all coordinates 2 and 3, 4 and
 * 5, 6 and 7. The output has a byte with the cluster of each point, then the centres. */
#include "hermes_media.h"

#define CLUSTERS 8u
#define DIMENSIONS 8u
#define ROUNDS 2u
/* Parts of the points: a job each. The hart waits for the first of a round, which is short if they
 * are many; but each has to be started and awaited. */
#ifndef PARTS
#define PARTS 8u
#endif

static uint32_t points;
static const uint32_t *coordinates; /* pairs */
static int32_t centres[CLUSTERS][DIMENSIONS] __attribute__((aligned(64)));
/* The hart's own. */
static LOCAL int32_t sums[CLUSTERS][DIMENSIONS];
static LOCAL uint32_t counts[CLUSTERS];

/* Cycles behind the start of the last pass: of each part its start, when the hart had seen its end,
 * and when it was added up; by rounds. */
uint32_t media_times[ROUNDS][PARTS][3];
static uint32_t began;
static inline void mark(uint32_t round, uint32_t part, uint32_t what) { media_times[round][part][what] = csr_read(mcycle) - began; }

/* The nearest centre of a point; of several the first. */
MEDIA_INLINE uint32_t nearest(const uint32_t *pairs, uint32_t stride, const int32_t *centre)
{
    uint32_t w0 = pairs[0], w1 = pairs[stride], w2 = pairs[2 * stride], w3 = pairs[3 * stride];
#if MEDIA_PROGRAM == MEDIA_LANES /* A hart has them in its cache, and is slower so. */
    MEDIA_LOADED_4(w0, w1, w2, w3);
#endif
    int32_t x0 = w0 & 0xffff, x1 = w0 >> 16, x2 = w1 & 0xffff, x3 = w1 >> 16;
    int32_t x4 = w2 & 0xffff, x5 = w2 >> 16, x6 = w3 & 0xffff, x7 = w3 >> 16;
    uint32_t best = 0, least = 0xffffffff;
#if MEDIA_PROGRAM == MEDIA_SCALAR_2
#pragma GCC unroll 1
#else
#pragma GCC unroll 8
#endif
    for (uint32_t cluster = 0; cluster < CLUSTERS; cluster++, centre += DIMENSIONS) {
        int32_t d0 = x0 - centre[0], d1 = x1 - centre[1], d2 = x2 - centre[2], d3 = x3 - centre[3];
        int32_t d4 = x4 - centre[4], d5 = x5 - centre[5], d6 = x6 - centre[6], d7 = x7 - centre[7];
        uint32_t distance = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4 + d5 * d5 + d6 * d6 + d7 * d7;
        /* Without a branch: lanes would part there. */
        uint32_t is_nearer = -(uint32_t)(distance < least);
        best = (best & ~is_nearer) | (cluster & is_nearer);
        least = least < distance ? least : distance;
    }
    return best;
}

/* Adds a point to the sums of its cluster. */
MEDIA_INLINE void add(uint32_t point, uint32_t cluster)
{
    int32_t *sum = sums[cluster];
    const uint32_t *pairs = coordinates + point;
    uint32_t w0 = pairs[0], w1 = pairs[points], w2 = pairs[2 * points], w3 = pairs[3 * points];
    counts[cluster]++;
    sum[0] += w0 & 0xffff;
    sum[1] += w0 >> 16;
    sum[2] += w1 & 0xffff;
    sum[3] += w1 >> 16;
    sum[4] += w2 & 0xffff;
    sum[5] += w2 >> 16;
    sum[6] += w3 & 0xffff;
    sum[7] += w3 >> 16;
}

static void begin_round(void)
{
    for (uint32_t cluster = 0; cluster < CLUSTERS; cluster++) {
        counts[cluster] = 0;
        for (uint32_t at = 0; at < DIMENSIONS; at++)
            sums[cluster][at] = 0;
    }
}

static void end_round(void)
{
    for (uint32_t cluster = 0; cluster < CLUSTERS; cluster++)
        if (counts[cluster])
            for (uint32_t at = 0; at < DIMENSIONS; at++)
                centres[cluster][at] = sums[cluster][at] / (int32_t)counts[cluster];
}

static void begin(void)
{
    const int32_t *first = (const int32_t *)(input + MEDIA_HEADER / 4);
    for (uint32_t at = 0; at < CLUSTERS * DIMENSIONS; at++)
        (&centres[0][0])[at] = first[at];
    began = csr_read(mcycle);
}

static void end(void)
{
    uint32_t *to = output + points / 4;
    for (uint32_t at = 0; at < CLUSTERS * DIMENSIONS; at++)
        to[at] = (&centres[0][0])[at];
}

#if MEDIA_PROGRAM == MEDIA_LANES
/* Number of the point, counted from `argument1` on. */
static void thread(uint32_t number, const uint32_t *pairs, const uint8_t *labels)
{
    ((uint8_t *)labels)[number] = nearest(pairs + number, points, &centres[0][0]);
}

static void work(void)
{
    uint8_t *labels = (uint8_t *)output;
    uint32_t length = points / PARTS;
    begin();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        begin_round();
        for (uint32_t part = 0; part < PARTS; part++) {
            media_start(part, (media_thread)thread, length, coordinates + part * length, labels + part * length);
            mark(round, part, 0);
        }
        for (uint32_t part = 0; part < PARTS; part++) {
            media_wait(part);
            mark(round, part, 1);
            for (uint32_t point = part * length; point < (part + 1) * length; point++)
                add(point, labels[point]);
            mark(round, part, 2);
        }
        end_round();
    }
    end();
}
#elif MEDIA_PROGRAM == MEDIA_SCALAR_1
/* A point at a time: its cluster, its sums. */
static void work(void)
{
    uint8_t *labels = (uint8_t *)output;
    begin();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        begin_round();
        for (uint32_t point = 0; point < points; point++) {
            uint32_t cluster = nearest(coordinates + point, points, &centres[0][0]);
            labels[point] = cluster;
            add(point, cluster);
        }
        end_round();
    }
    end();
}
#else
/* All clusters first, centres one after the other; then the sums. */
static void work(void)
{
    uint8_t *labels = (uint8_t *)output;
    begin();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        begin_round();
        mark(round, 0, 0);
        for (uint32_t point = 0; point < points; point++)
            labels[point] = nearest(coordinates + point, points, &centres[0][0]);
        mark(round, 0, 1);
        for (uint32_t point = 0; point < points; point++)
            add(point, labels[point]);
        mark(round, 0, 2);
        end_round();
    }
    end();
}
#endif

int main(void)
{
    points = input[0];
    media_expect("width", points, 32, 1 << 20, 32);
    media_expect("height", input[1], 1, 1, 1);
    media_expect_bytes(4 * CLUSTERS * DIMENSIONS + 2 * DIMENSIONS * points, points + 4 * CLUSTERS * DIMENSIONS);
    coordinates = input + MEDIA_HEADER / 4 + CLUSTERS * DIMENSIONS;
    return media_main(work);
}
