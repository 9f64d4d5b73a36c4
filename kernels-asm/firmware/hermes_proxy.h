/* Faults of spawned threads that the command processor resolves (docs/lane-traps.md): lanes that
 * fault go to a page of code, which asks a hart and waits for its answer; they do the instruction
 * again, go on behind it with a result, or end. One source of a program includes it. */
#ifndef HERMES_PROXY_H
#define HERMES_PROXY_H

#include "hermes_cp.h"

/* The array that the program is for, at most: cores and lanes of a core. -D PROXY_LANES=N */
#ifndef PROXY_CORES
#define PROXY_CORES 2
#endif
#ifndef PROXY_LANES
#define PROXY_LANES 8
#endif
#if PROXY_LANES > 8 || PROXY_CORES > 2
#error "expected PROXY_LANES at most 8, PROXY_CORES at most 2"
#endif
/* Warps of a core: 16 of threads with 32 registers, 32 of those with 16. */
#if SPAWN_REGISTERS == 16
#define PROXY_SLOTS_LOG2 5
#else
#define PROXY_SLOTS_LOG2 4
#endif
#define PROXY_PLACES (PROXY_CORES << PROXY_SLOTS_LOG2)

/* What a lane asks and what it is answered: rows of words, one of each lane. Row 0 is the ticket of
 * the request, row n register n, that of tp the address of the instruction. The last three are the
 * answer: its ticket, what to do, a value. */
#define PROXY_ANSWER_ROW SPAWN_REGISTERS
#define PROXY_ROWS (PROXY_ANSWER_ROW + 3)
/* All that lanes must reach to ask, so a window has to be open to it. */
static volatile struct {
    uint32_t rings[PROXY_PLACES]; /* a bit for each lane of a warp that asks */
    uint32_t asked[16];           /* the first word has bit n % 32 for place n; it is what the channel watches */
    uint32_t words[PROXY_PLACES][PROXY_ROWS][PROXY_LANES];
} proxy_area __attribute__((aligned(64)));

/* What a lane does: the instruction again, the next one, nothing more: it ends with a fault. With
 * the last, beside one of the others, it drops its data cache before: memory was written for it. */
#define PROXY_RETRY 0u
#define PROXY_SKIP 1u
#define PROXY_KILL 2u
#define PROXY_WROTE 4u

/* The page. It needs 24 bytes below sp, and is for threads with SPAWN_REGISTERS registers. The
 * answer's second word is the register to write in bits 7:3, and what to do in bits 2:0; tp is not
 * written. Looks are atomic operations, which pass the data cache and wait for stores before them.
 * No jump of it is one that returns from a function, which would take the lane out of a call. */
#define PROXY_TEXT_(x) #x
#define PROXY_TEXT(x) PROXY_TEXT_(x)
#define PROXY_STORE(n) "sw x" #n ", " #n "*ROW(t0)\n"
#define PROXY_MOVE(n) "mv x" #n ", t2\nj 3f\n"
#if SPAWN_REGISTERS == 16
#define PROXY_STORE_UPPER
#define PROXY_MOVE_UPPER
#else
#define PROXY_STORE_UPPER                                                                                              \
    PROXY_STORE(16) PROXY_STORE(17) PROXY_STORE(18) PROXY_STORE(19) PROXY_STORE(20) PROXY_STORE(21) PROXY_STORE(22)    \
    PROXY_STORE(23) PROXY_STORE(24) PROXY_STORE(25) PROXY_STORE(26) PROXY_STORE(27) PROXY_STORE(28) PROXY_STORE(29)    \
    PROXY_STORE(30) PROXY_STORE(31)
#define PROXY_MOVE_UPPER                                                                                               \
    PROXY_MOVE(16) PROXY_MOVE(17) PROXY_MOVE(18) PROXY_MOVE(19) PROXY_MOVE(20) PROXY_MOVE(21) PROXY_MOVE(22)           \
    PROXY_MOVE(23) PROXY_MOVE(24) PROXY_MOVE(25) PROXY_MOVE(26) PROXY_MOVE(27) PROXY_MOVE(28) PROXY_MOVE(29)           \
    PROXY_MOVE(30) PROXY_MOVE(31)
#endif
__asm__(".pushsection .text.proxy, \"ax\"\n.balign 4096\n.globl proxy_page\nproxy_page:\n"
        ".set ROW, 4 * " PROXY_TEXT(PROXY_LANES) "\n.set ANSWER, ROW * " PROXY_TEXT(PROXY_ANSWER_ROW) "\n"
        "sw t0, -4(sp)\nsw t1, -8(sp)\nsw t2, -12(sp)\n"
        /* t1 = core and slot, t0 = the words of the lane. Of the other register class, a warp may
         * have a slot that there is no place for. */
        "csrr t1, 0xcc2\nsrli t0, t1, " PROXY_TEXT(PROXY_SLOTS_LOG2) "\nbnez t0, 4f\n"
        "csrr t0, 0xcc3\nslli t0, t0, " PROXY_TEXT(PROXY_SLOTS_LOG2) "\nor t1, t0, t1\nsw t1, -16(sp)\n"
        "li t0, ROW * " PROXY_TEXT(PROXY_ROWS) "\nmul t0, t0, t1\n"
        "la t1, proxy_area + 64 + 4 * " PROXY_TEXT(PROXY_PLACES) "\nadd t0, t0, t1\ncsrr t1, 0xcc1\nslli t1, t1, 2\nadd t0, t0, t1\n"
        /* No ticket while the registers are stored: those of a request stand while its ticket
         * does. The stores wait for the value that was there. */
        "amoswap.w t1, zero, (t0)\nand t1, t1, zero\nadd t0, t0, t1\n"
        PROXY_STORE(1) PROXY_STORE(2) PROXY_STORE(3) PROXY_STORE(4) PROXY_STORE(7) PROXY_STORE(8) PROXY_STORE(9)
        PROXY_STORE(10) PROXY_STORE(11) PROXY_STORE(12) PROXY_STORE(13) PROXY_STORE(14) PROXY_STORE(15) PROXY_STORE_UPPER
        "lw t1, -4(sp)\nlw t2, -8(sp)\nsw t1, 5*ROW(t0)\nsw t2, 6*ROW(t0)\n"
        /* The ticket is another one in each request: the answer to a thread that the watchdog ended
         * is none to the next thread in its place. */
        "csrr t2, cycle\nori t2, t2, 1\namoswap.w zero, t2, (t0)\n"
        /* Ring, while tp and t0 are in the stack. */
        "sw tp, -20(sp)\nsw t0, -24(sp)\nlw t1, -16(sp)\nslli t1, t1, 2\nla tp, proxy_area\nadd t1, t1, tp\n"
        "csrr tp, 0xcc1\nli t0, 1\nsll t0, t0, tp\namoor.w zero, t0, (t1)\n"
        "lw t1, -16(sp)\nli t0, 1\nsll t0, t0, t1\nla t1, proxy_area + 4 * " PROXY_TEXT(PROXY_PLACES) "\namoor.w zero, t0, (t1)\n"
        "lw t0, -24(sp)\naddi t1, t0, ANSWER\n"
        "1: amoor.w tp, zero, (t1)\nbne tp, t2, 1b\n"
        "addi t1, t0, ANSWER + 2*ROW\namoor.w t2, zero, (t1)\naddi t1, t0, ANSWER + ROW\namoor.w t1, zero, (t1)\n"
        "lw tp, -20(sp)\nsw sp, -16(sp)\nandi t0, t1, 2\nbnez t0, 4f\n"
        "andi t0, t1, 4\nbeqz t0, 5f\nfence\n"
        "5: andi t0, t1, 1\nslli t0, t0, 2\nadd tp, tp, t0\n"
        "andi t1, t1, 8 * (" PROXY_TEXT(SPAWN_REGISTERS) " - 1)\nla t0, 2f\nadd t1, t0, t1\njr t1\n"
        "2: j 3f\nnop\n" PROXY_MOVE(1) "sw t2, -16(sp)\nj 3f\n" PROXY_MOVE(3) "j 3f\nnop\n"
        "sw t2, -4(sp)\nj 3f\nsw t2, -8(sp)\nj 3f\nsw t2, -12(sp)\nj 3f\n"
        PROXY_MOVE(8) PROXY_MOVE(9) PROXY_MOVE(10) PROXY_MOVE(11) PROXY_MOVE(12) PROXY_MOVE(13) PROXY_MOVE(14)
        PROXY_MOVE(15) PROXY_MOVE_UPPER
        "3: lw t0, -4(sp)\nlw t1, -8(sp)\nlw t2, -12(sp)\nlw sp, -16(sp)\njr tp\n"
        "4: ebreak\n"
        ".balign 4096\n.popsection");
extern const char proxy_page[];

/* What a service runs through lies together, or it would evict itself from the instruction cache of
 * the hart, and what moves windows lies apart; variables are in local memory, since each acquire
 * invalidates the data cache. */
#define PROXY_HOT __attribute__((hot, noinline))
#define PROXY_APART __attribute__((noinline))

/* ---- A request. Every word of it is hostile: any lane may write it. */
struct proxy_request {
    uint32_t pc;
    uint32_t instruction; /* the word at pc */
    uint32_t address; /* what it loads or stores, if the library knows; else 0 */
    uint32_t ticket;
    uint32_t place; /* number of its core and slot */
    uint32_t lane;
    volatile uint32_t *words;
};

/* The thread still waits for this answer, and the registers that were read are its own. The
 * watchdog may have ended it meanwhile, and another thread ask in its place: a handler looks here
 * behind the last register that it reads, and before what must not be done for another. */
static inline int proxy_waits(const struct proxy_request *request)
{
    return __atomic_fetch_or(&request->words[0], 0, __ATOMIC_RELAXED) == request->ticket;
}

/* A register of the lane; 0 if it does not have it. */
static inline uint32_t proxy_register(const struct proxy_request *request, uint32_t number)
{
    return number && number < SPAWN_REGISTERS ? request->words[number * PROXY_LANES] : 0;
}
/* Registers that the instruction names. */
static inline uint32_t proxy_rd(const struct proxy_request *request) { return request->instruction >> 7 & 31; }
static inline uint32_t proxy_rs1(const struct proxy_request *request)
{
    return proxy_register(request, request->instruction >> 15 & 31);
}
static inline uint32_t proxy_rs2(const struct proxy_request *request)
{
    return proxy_register(request, request->instruction >> 20 & 31);
}

/* What the lane does: `action`, and before it register `rd` becomes `value`, unless that is 0, tp
 * or one that it does not have. A handler that wrote memory that threads read adds PROXY_WROTE. */
struct proxy_answer {
    uint32_t action, rd, value;
};
#define PROXY_ANSWER(action, rd, value) ((struct proxy_answer){(action), (rd), (value)})
typedef struct proxy_answer (*proxy_handler)(const struct proxy_request *request);

/* Calls of the program: an instruction that the lanes do not have, `ecall` with another number than
 * those below. 0: the thread ends. */
LOCAL static proxy_handler proxy_illegal, proxy_service;

/* `ecall`: a register says what, as in system calls: a7, or t0 of threads with 16 registers. */
#if SPAWN_REGISTERS == 16
#define PROXY_NUMBER_NAME "t0"
#define PROXY_NUMBER_REGISTER 5u
#else
#define PROXY_NUMBER_NAME "a7"
#define PROXY_NUMBER_REGISTER 17u
#endif
#define PROXY_PUTCHAR 1u /* the byte in a0 */
#define PROXY_MALLOC 2u  /* a0 bytes; a0 = address, a multiple of 64, or 0 */
/* What that is of a request to a proxy_service. */
static inline uint32_t proxy_number(const struct proxy_request *request)
{
    return proxy_register(request, PROXY_NUMBER_REGISTER);
}
/* For threads: asks for a service, and gives a0. */
static inline uint32_t proxy_ecall(uint32_t number, uint32_t argument)
{
    register uint32_t service __asm__(PROXY_NUMBER_NAME) = number;
    register uint32_t a0 __asm__("a0") = argument;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(service) : "memory");
    return a0;
}

/* ---- Memory that the program lets threads reach. For a lane nothing else is accessed, and no
 * window is opened to anything else. */
struct proxy_region {
    uint32_t base, bytes;
    int writable;
};
#define PROXY_REGIONS 8
LOCAL static struct proxy_region proxy_regions[PROXY_REGIONS];
LOCAL static uint32_t proxy_region_count;
LOCAL static uint32_t proxy_heap, proxy_heap_end;

/* Adds one. 0: there are as many as can be. */
static inline int proxy_region(const volatile void *base, uint32_t bytes, int writable)
{
    if (proxy_region_count == PROXY_REGIONS)
        return 0;
    proxy_regions[proxy_region_count++] = (struct proxy_region){(uint32_t)base, bytes, writable};
    return 1;
}

/* What PROXY_MALLOC gives out; a region that threads may write. 0: no room for it, or no line in
 * it. */
static inline int proxy_heap_is(volatile void *base, uint32_t bytes)
{
    uint32_t first = ((uint32_t)base + 63) & ~63u, end = ((uint32_t)base + bytes) & ~63u;
    if (end <= first || end - first > bytes || !proxy_region(base, bytes, 1))
        return 0;
    proxy_heap = first;
    proxy_heap_end = end;
    return 1;
}

/* The region of these bytes, for a store if `writes`; 0: none. */
static inline const struct proxy_region *proxy_find(uint32_t address, uint32_t bytes, int writes)
{
    for (uint32_t i = 0; i < proxy_region_count; i++) {
        const struct proxy_region *region = &proxy_regions[i];
        uint32_t offset = address - region->base;
        if (offset < region->bytes && bytes <= region->bytes - offset && (region->writable || !writes))
            return region;
    }
    return 0;
}

/* How often each thing was done. */
LOCAL static uint32_t proxy_windows, proxy_accesses, proxy_services, proxy_instructions, proxy_kills;

/* A load or store of the lane, byte by byte: it may be misaligned. */
PROXY_APART static struct proxy_answer proxy_access(const struct proxy_request *request, uint32_t address,
                                                    uint32_t bytes, int writes)
{
    volatile uint8_t *place = (volatile uint8_t *)address;
    uint32_t value = 0;
    proxy_accesses++;
    if (writes) {
        value = proxy_rs2(request);
        if (!proxy_waits(request))
            return PROXY_ANSWER(PROXY_KILL, 0, 0);
        for (uint32_t i = 0; i < bytes; i++)
            place[i] = (uint8_t)(value >> (8 * i));
        return PROXY_ANSWER(PROXY_SKIP | PROXY_WROTE, 0, 0);
    }
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint32_t)place[i] << (8 * i);
    /* lb and lh are signed. */
    uint32_t unused = 32 - 8 * bytes;
    if (!(request->instruction >> 14 & 1))
        value = (uint32_t)((int32_t)(value << unused) >> unused);
    return PROXY_ANSWER(PROXY_SKIP, proxy_rd(request), value);
}

/* A fault of this lane outside the windows: where, to what address, how many times in a row a
 * window moved for it; how many times it came again though no window has moved since, for anybody,
 * and what proxy_windows was then. */
static struct proxy_fault {
    uint32_t pc, address, moves, stays, windows;
} proxy_faults[PROXY_PLACES][PROXY_LANES];

/* Moves window 1 for loads or for stores. 0: it was there before. */
static int proxy_move(uint32_t first, uint32_t size, int writes)
{
    uint32_t base = writes ? REGISTER(WRITE_WINDOW_1_BASE) : REGISTER(READ_WINDOW_1_BASE);
    uint32_t open = writes ? REGISTER(WRITE_WINDOW_1_SIZE) : REGISTER(READ_WINDOW_1_SIZE);
    if (base == first && open == size)
        return 0;
    proxy_windows++;
    if (writes) {
        REGISTER(WRITE_WINDOW_1_SIZE) = 0;
        REGISTER(WRITE_WINDOW_1_BASE) = first;
        REGISTER(WRITE_WINDOW_1_SIZE) = size;
    } else {
        REGISTER(READ_WINDOW_1_SIZE) = 0;
        REGISTER(READ_WINDOW_1_BASE) = first;
        REGISTER(READ_WINDOW_1_SIZE) = size;
    }
    return 1;
}

#define PROXY_LOADS 1
#define PROXY_STORES 2
/* A fault outside the windows: window 1 moves to the region, and the lanes try again. Two warps may
 * take it from each other for ever: at the third fault of an access in a row it is made here. An
 * atomic operation, which needs both windows, cannot be, and goes on trying. */
PROXY_APART static struct proxy_answer proxy_window(struct proxy_request *request, int kind)
{
    struct proxy_fault *fault = &proxy_faults[request->place][request->lane];
    uint32_t code = request->instruction;
    int writes = kind & PROXY_STORES, atomic = kind == (PROXY_LOADS | PROXY_STORES);
    int32_t immediate = (int32_t)code >> 20;
    if (atomic)
        immediate = 0;
    else if (writes)
        immediate = (int32_t)((code & 0xfe000000u) | (code >> 7 & 31) << 20) >> 20;
    uint32_t address = proxy_rs1(request) + (uint32_t)immediate, bytes = 1u << (code >> 12 & 3);
    const struct proxy_region *region = proxy_find(address, bytes, writes);
    request->address = address;
    if (!region)
        return PROXY_ANSWER(PROXY_KILL, 0, 0);
    /* A window is whole lines: what the region has of others is never in one. */
    uint32_t first = (region->base + 63) & ~63u, end = (region->base + region->bytes) & ~63u, size = end - first;
    int reached = address % bytes == 0 && address >= first && address < end;
    if (!reached && atomic)
        return PROXY_ANSWER(PROXY_KILL, 0, 0);
    if (reached && (request->pc != fault->pc || address != fault->address))
        *fault = (struct proxy_fault){request->pc, address, 0, 0, 0};
    if (!reached || (fault->moves >= 2 && !atomic)) {
        fault->moves = 0;
        return proxy_access(request, address, bytes, writes);
    }
    int moved = 0;
    if (kind & PROXY_LOADS)
        moved = proxy_move(first, size, 0);
    if (writes)
        moved |= proxy_move(first, size, 1);
    /* If none did, another lane asked before. */
    fault->moves += moved;
    fault->stays = fault->windows == proxy_windows ? fault->stays + 1 : 0;
    fault->windows = proxy_windows;
    return PROXY_ANSWER(PROXY_RETRY, 0, 0);
}

PROXY_HOT static struct proxy_answer proxy_call(const struct proxy_request *request)
{
    uint32_t number = proxy_number(request), given = 0;
    uint32_t argument = number == PROXY_PUTCHAR || number == PROXY_MALLOC ? proxy_register(request, 10) : 0;
    proxy_services++;
    if (!proxy_waits(request))
        return PROXY_ANSWER(PROXY_KILL, 0, 0);
    switch (number) {
    case PROXY_PUTCHAR:
        console_put((char)argument);
        return PROXY_ANSWER(PROXY_SKIP, 0, 0);
    case PROXY_MALLOC:
        if (argument && argument <= proxy_heap_end - proxy_heap) {
            given = proxy_heap;
            proxy_heap += (argument + 63) & ~63u;
            if (proxy_heap > proxy_heap_end)
                proxy_heap = proxy_heap_end;
        }
        return PROXY_ANSWER(PROXY_SKIP, 10, given);
    default:
        return proxy_service ? proxy_service(request) : PROXY_ANSWER(PROXY_KILL, 0, 0);
    }
}

static struct proxy_answer proxy_unknown(const struct proxy_request *request)
{
    proxy_instructions++;
    return proxy_illegal ? proxy_illegal(request) : PROXY_ANSWER(PROXY_KILL, 0, 0);
}

/* Retries in a row with windows that stay open, until it is taken that the array has no `amocas.w`:
 * no register says whether it has. */
#define PROXY_STAYS 4u
/* An atomic operation: those of the extension A (the bits of this number are their funct5), and
 * `amocas.w`, funct5 5. */
PROXY_APART static struct proxy_answer proxy_atomic(struct proxy_request *request)
{
    uint32_t funct5 = request->instruction >> 27, known = 0x1111111fu;
    if (funct5 == 2 && (request->instruction >> 20 & 31))
        return proxy_unknown(request); /* `lr.w` has no second register */
    if (funct5 != 5)
        return known >> funct5 & 1 ? proxy_window(request, PROXY_LOADS | PROXY_STORES) : proxy_unknown(request);
    struct proxy_answer answer = proxy_window(request, PROXY_LOADS | PROXY_STORES);
    struct proxy_fault *fault = &proxy_faults[request->place][request->lane];
    if (answer.action != PROXY_RETRY || fault->stays < PROXY_STAYS)
        return answer;
    fault->stays = 0;
    return proxy_unknown(request);
}

/* What becomes of a request. The instruction is read where the program's code is, which needs no
 * window. */
PROXY_HOT static struct proxy_answer proxy_resolve(struct proxy_request *request)
{
    extern const char _start[], __init_array_start[];
    if (request->pc % 4 || request->pc < (uint32_t)_start || request->pc >= (uint32_t)__init_array_start)
        return PROXY_ANSWER(PROXY_KILL, 0, 0);
    uint32_t code = *(const volatile uint32_t *)request->pc, size = code >> 12 & 7;
    /* With a register that the lane does not have it is an illegal instruction. */
    uint32_t rd = code >> 7 & 31, rs1 = code >> 15 & 31, rs2 = code >> 20 & 31;
    request->instruction = code;
    switch (code & 0x7f) {
    case 0x03: /* lb, lh, lw, lbu, lhu */
        if ((size <= 2 || size == 4 || size == 5) && (rd | rs1) < SPAWN_REGISTERS)
            return proxy_window(request, PROXY_LOADS);
        break;
    case 0x23: /* sb, sh, sw */
        if (size <= 2 && (rs1 | rs2) < SPAWN_REGISTERS)
            return proxy_window(request, PROXY_STORES);
        break;
    case 0x2f:
        if (size == 2 && (rd | rs1 | rs2) < SPAWN_REGISTERS)
            return proxy_atomic(request);
        break;
    case 0x73:
        if (code == 0x73)
            return proxy_call(request);
        if (code == 0x00100073) /* ebreak */
            return PROXY_ANSWER(PROXY_KILL, 0, 0);
        break;
    }
    return proxy_unknown(request);
}

/* The last threads that were ended: their fault record has the address of the page's `ebreak`.
 * Thread N, counted by proxy_kills, is in place N modulo PROXY_KILLED. */
#define PROXY_KILLED 8u
static struct proxy_killed {
    uint32_t pc, instruction, address;
} proxy_killed[PROXY_KILLED];

/* Prints them to the console, for the end of a program. */
static inline void proxy_tell_kills(void)
{
    uint32_t first = proxy_kills < PROXY_KILLED ? 0 : proxy_kills - PROXY_KILLED;
    for (uint32_t i = first; i < proxy_kills; i++) {
        const struct proxy_killed *killed = &proxy_killed[i % PROXY_KILLED];
        printf("ended at PC 0x%x: instruction 0x%x, address 0x%x\n", killed->pc, killed->instruction, killed->address);
    }
    if (first)
        printf("%u threads were ended before these\n", first);
}

/* Bits that places have: a lane may set any. */
#define PROXY_ALL_PLACES (PROXY_PLACES >= 32 ? 0xffffffffu : (1u << PROXY_PLACES % 32) - 1)

/* The interrupt handler notes that lanes ask, and the program resolves it. The channel is off until
 * then: lanes that ask all the time would interrupt between any two instructions. */
LOCAL static volatile uint32_t proxy_asks;
void proxy_asked(void);
__asm__(".pushsection .text.hot.proxy_asked, \"ax\"\n.balign 64\n.globl proxy_asked\n.type proxy_asked, @function\nproxy_asked:\n"
        "addi sp, sp, -16\nsw t0, 0(sp)\nsw t1, 4(sp)\n"
        ".insn r 0x0b, 0, 1, x0, x0, x0\n" /* disarms channel 1 */
        "li t0, 1\nla t1, proxy_asks\nsw t0, 0(t1)\n"
        "lw t0, 0(sp)\nlw t1, 4(sp)\naddi sp, sp, 16\n.word 0x100b\n"
        ".size proxy_asked, . - proxy_asked\n.popsection");

/* Bits of places whose lanes asked, and that are not served yet. */
LOCAL static uint32_t proxy_places;

/* Answers the lanes that ask from this place. */
PROXY_HOT static void proxy_serve_place(uint32_t place)
{
    /* The ticket that was answered last: a bit may have been set by a thread that the watchdog
     * ended, and by the next one in its place. */
    LOCAL static uint32_t answered[PROXY_PLACES][PROXY_LANES];
    uint32_t tickets[PROXY_LANES], lanes = __atomic_exchange_n(&proxy_area.rings[place], 0, __ATOMIC_ACQ_REL);
    /* All of them now: what is read of a lane later is of this ticket if it stands then. */
    lanes &= (1u << PROXY_LANES) - 1;
    for (uint32_t left = lanes; left; left &= left - 1)
        tickets[__builtin_ctz(left)] = proxy_area.words[place][0][__builtin_ctz(left)];
    for (; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        if (!tickets[lane] || tickets[lane] == answered[place][lane])
            continue;
        volatile uint32_t *words = &proxy_area.words[place][0][lane];
        struct proxy_request request = {words[4 * PROXY_LANES], 0, 0, tickets[lane], place, lane, words};
        struct proxy_answer answer = proxy_resolve(&request);
        answered[place][lane] = request.ticket;
        if (answer.action == PROXY_KILL && proxy_waits(&request)) {
            proxy_killed[proxy_kills % PROXY_KILLED] =
                (struct proxy_killed){request.pc, request.instruction, request.address};
            proxy_kills++;
        }
        if (answer.rd >= SPAWN_REGISTERS)
            answer.rd = 0;
        volatile uint32_t *told = words + PROXY_ANSWER_ROW * PROXY_LANES;
        told[2 * PROXY_LANES] = answer.value;
        told[PROXY_LANES] = answer.rd << 3 | answer.action;
        release();
        told[0] = request.ticket;
    }
}

/* Answers the lanes that ask from the places of one bit, each bit in its turn; whether others ask.
 * A program looks for what else it waits for behind each call: lanes that always ask cannot hold
 * it up. */
PROXY_HOT static int proxy_serve(void)
{
    LOCAL static uint32_t last;
    if (proxy_asks) {
        proxy_asks = 0;
        uli_arm(ULI_WRITTEN, 1, proxy_asked, uli_word(proxy_area.asked));
    }
    proxy_places |= __atomic_exchange_n(&proxy_area.asked[0], 0, __ATOMIC_RELAXED) & PROXY_ALL_PLACES;
    if (!proxy_places)
        return 0;
    uint32_t behind = proxy_places & ~((2u << last) - 1);
    last = (uint32_t)__builtin_ctz(behind ? behind : proxy_places);
    proxy_places &= ~(1u << last);
    for (uint32_t place = last; place < PROXY_PLACES; place += 32)
        proxy_serve_place(place);
    return proxy_places != 0;
}

#define PROXY_CAUSES 0x8fcu
/* Lanes of spawned threads that fault ask from now on; channel 1 tells of it. Ends the program if
 * the array has more cores or lanes than it is built for, or another register class. */
static inline void proxy_start(void)
{
    uint32_t config = REGISTER(CONFIG), lanes = config & 0xff, cores = config >> 8 & 0xff;
    if (lanes > PROXY_LANES || cores > PROXY_CORES) {
        printf("the array has %u cores of %u lanes; built for %u of %u\n", cores, lanes, PROXY_CORES, PROXY_LANES);
        firmware_end(5);
    }
    if ((REGISTER(KERNEL_CLASS) & 1) != (SPAWN_REGISTERS == 16)) {
        printf("KERNEL_CLASS %u; built for threads with %u registers\n", REGISTER(KERNEL_CLASS), SPAWN_REGISTERS);
        firmware_end(5);
    }
    uli_arm(ULI_WRITTEN, 1, proxy_asked, uli_word(proxy_area.asked));
    REGISTER(FAULT_CAUSES) = PROXY_CAUSES;
    REGISTER(FAULT_ENTRY) = (uint32_t)proxy_page | 1;
}

/* Faults end threads again. Lanes that wait for an answer are answered still. */
static inline void proxy_stop(void) { REGISTER(FAULT_ENTRY) = 0; }

/* Sleeps and answers until the word is `token`, with or without a fault; gives the word. Another
 * channel has to be armed on it. */
PROXY_HOT static __attribute__((unused)) uint32_t proxy_wait(volatile uint32_t *completion, uint32_t token)
{
    for (;;) {
        if (proxy_asks || proxy_places)
            proxy_serve();
        uli_block();
        acquire();
        uint32_t word = *completion;
        if ((word & 0x3fffffffu) == token) {
            uli_unblock();
            return word;
        }
        if (!proxy_asks && !proxy_places)
            wait_for_interrupt();
        uli_unblock();
    }
}

#endif
