/* int8.c - which loops multiply 8-bit integers here, and weights on their way into packs of few bytes and out of
 * them. */
#include "tensor/int8.h"

#include <pthread.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

/* ------------------------------------------------------------------------------------------------------ which loops */

/* Slowest first, each with the kernel table that may use it and the test of whether the machine can. */
#if defined(RG_REAL)
#define LOOPS(X) X(plain, plain)
#elif defined(__x86_64__)
#define LOOPS(X) X(plain, plain) X(baseline, baseline) RG_WIDE(X(wide, wide)) X(avx2, avx2) X(avx512, avx512) X(vnni, avx512)
#elif defined(__aarch64__) && defined(RG_NEONDOT)
#define LOOPS(X) X(plain, plain) X(neon, neon) X(neondot, neon)
#elif defined(__aarch64__)
#define LOOPS(X) X(plain, plain) X(neon, neon)
#else
#define LOOPS(X) X(plain, plain) X(baseline, baseline)
#endif

#define DECLARE(loops, table) extern const rg_int8_loops rg_##loops##_int8;
LOOPS(DECLARE)

static bool has_table(const char *name)
{
    for (const rg_kernels *const *k = rg_kernels_all(); *k; k++)
        if (strcmp((*k)->name, name) == 0) return true;
    return false;
}

static bool has_instruction(const char *loops)
{
#if !defined(RG_REAL) && defined(__x86_64__)
    return strcmp(loops, "vnni") != 0 || __builtin_cpu_supports("avx512vnni");
#elif defined(RG_NEONDOT)
    return strcmp(loops, "neondot") != 0 || (getauxval(AT_HWCAP) & 1ul << 20) != 0; /* HWCAP_ASIMDDP */
#else
    (void)loops;
    return true;
#endif
}

static struct {
    const rg_int8_loops *all[8], *chosen;
} loops; /* written once, by choose() */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void)
{
    size_t count = 0;
#define ENTRY(loop, table)                                                           \
    if (has_table(#table) && has_instruction(#loop)) {                               \
        loops.all[count++] = &rg_##loop##_int8;                                      \
        if (strcmp(rg_kernel()->name, #table) == 0) loops.chosen = &rg_##loop##_int8; \
    }
    LOOPS(ENTRY)
}

const rg_int8_loops *rg_int8(void)
{
    pthread_once(&once, choose);
    return loops.chosen;
}

const rg_int8_loops *const *rg_int8_all(void)
{
    pthread_once(&once, choose);
    return loops.all;
}

/* ------------------------------------------------------------------------------------------------------------ packs */

uint16_t rg_bf16_round(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
    return (uint16_t)((rounded >> 16 & 0x7F80u) == 0x7F80u ? bits >> 16 : rounded >> 16);
}

static size_t panels_of(const rg_small *s) { return (s->N + RG_PANEL - 1) / RG_PANEL; }

rg_status rg_small_init(rg_small *s, rg_small_kind kind, size_t K, size_t N)
{
    size_t panels, columns, bytes, K4;
    *s = (rg_small){ .kind = kind, .K = K, .N = N };
    if (kind == RG_SMALL_INT8 && K > RG_INT8_MOST_K)
        return rg_fail(RG_ELIMIT, "a product over %zu numbers is too long for 8-bit weights; at most %d", K,
                       RG_INT8_MOST_K);
    const size_t each = kind == RG_SMALL_INT8 ? 1 : sizeof(uint16_t),
                 beside = kind == RG_SMALL_INT8 ? sizeof(float) + sizeof(int32_t) : 0;
    const bool fits = rg_size_align(&columns, N, RG_PANEL) && rg_size_align(&K4, K, RG_INT8_GROUP_MOST) &&
                      rg_size_mul(&panels, columns, K4) && rg_size_mul(&panels, panels, each) &&
                      rg_size_mul(&bytes, columns, beside) && rg_size_add(&bytes, bytes, panels);
    if (!fits) return rg_fail(RG_ELIMIT, "%zu x %zu weights do not fit in memory", K, N);
    if (!(s->block = rg_alloc_zero(bytes))) return RG_ENOMEM;
    char *at = (char *)s->block + panels;
    if (kind == RG_SMALL_INT8)
        s->right = (rg_int8_right){ s->block, (float *)(void *)at, (int32_t *)(void *)(at + columns * sizeof(float)) };
    else s->halves = s->block;
    return RG_OK;
}

void rg_small_fini(rg_small *s)
{
    rg_free(s->block);
    *s = (rg_small){ 0 };
}

size_t rg_small_bytes(const rg_small *s)
{
    const size_t columns = panels_of(s) * RG_PANEL;
    return s->kind == RG_SMALL_INT8 ? panels_of(s) * rg_int8_panel_bytes(rg_int8(), s->K) + 8 * columns
                                    : columns * s->K * sizeof(uint16_t);
}

/* Where element (k, n) stands. */
static size_t place8(const rg_int8_loops *l, size_t K, size_t k, size_t n)
{
    return n / RG_PANEL * rg_int8_panel_bytes(l, K) + k / l->group * l->group * RG_PANEL + n % RG_PANEL * l->group +
           k % l->group;
}

static size_t place16(size_t K, size_t k, size_t n)
{
    return n / RG_PANEL * K * RG_PANEL + k * RG_PANEL + n % RG_PANEL;
}

static void finish_column(rg_small *s, size_t n, float scale, int32_t sum)
{
    ((float *)s->right.scale)[n] = scale;
    ((int32_t *)s->right.start)[n] = -rg_int8()->offset * sum;
}

static void put_column(rg_small *s, size_t n, const int8_t *q, size_t row, float scale)
{
    const rg_int8_loops *l = rg_int8();
    int8_t              *to = (int8_t *)s->right.panels;
    int32_t              sum = 0;
    for (size_t k = 0; k < s->K; k++) {
        to[place8(l, s->K, k, n)] = q[k * row];
        sum += q[k * row];
    }
    finish_column(s, n, scale, sum);
}

static void set_column(rg_small *s, size_t n, const float *w, size_t row)
{
    const rg_int8_loops *l = rg_int8();
    int8_t              *to = (int8_t *)s->right.panels;
    uint32_t             most = 0;
    int32_t              sum = 0;
    float                scale;
    for (size_t k = 0; k < s->K; k++) {
        const uint32_t size = rg_int8_magnitude(w[k * row]);
        if (size > most) most = size;
    }
    const float inverse = rg_int8_inverse(&scale, most);
    for (size_t k = 0; k < s->K; k++) {
        const int32_t q = inverse > 0 ? rg_int8_round(w[k * row] * inverse) : 0;
        to[place8(l, s->K, k, n)] = (int8_t)q;
        sum += q;
    }
    finish_column(s, n, scale, sum);
}

void rg_small_set(rg_small *s, size_t from, size_t count, const float *w, size_t row, size_t step)
{
    for (size_t n = 0; n < count; n++) {
        if (s->kind == RG_SMALL_INT8) {
            set_column(s, from + n, w + n * step, row);
            continue;
        }
        uint16_t *to = (uint16_t *)s->halves;
        for (size_t k = 0; k < s->K; k++) to[place16(s->K, k, from + n)] = rg_bf16_round(w[k * row + n * step]);
    }
}

void rg_small_put_int8(rg_small *s, const int8_t *q, size_t row, size_t step, const float *scale)
{
    for (size_t n = 0; n < s->N; n++) put_column(s, n, q + n * step, row, scale[n]);
}

void rg_small_get_int8(const rg_small *s, int8_t *q, size_t row, size_t step, float *scale)
{
    const rg_int8_loops *l = rg_int8();
    for (size_t n = 0; n < s->N; n++) {
        for (size_t k = 0; k < s->K; k++) q[k * row + n * step] = s->right.panels[place8(l, s->K, k, n)];
        scale[n] = s->right.scale[n];
    }
}

void rg_small_pick(rg_small *s, const rg_small *from, const int32_t *ids)
{
    const rg_int8_loops *l = rg_int8();
    for (size_t n = 0; n < s->N; n++) {
        const size_t id = (size_t)ids[n];
        if (s->kind == RG_SMALL_BF16) {
            uint16_t *to = (uint16_t *)s->halves;
            for (size_t k = 0; k < s->K; k++) to[place16(s->K, k, n)] = from->halves[place16(s->K, k, id)];
            continue;
        }
        int8_t       *to = (int8_t *)s->right.panels + place8(l, s->K, 0, n);
        const int8_t *column = from->right.panels + place8(l, s->K, 0, id);
        for (size_t g = 0; g < rg_int8_groups(l, s->K); g++)
            memcpy(to + g * l->group * RG_PANEL, column + g * l->group * RG_PANEL, l->group);
        ((float *)s->right.scale)[n] = from->right.scale[id];
        ((int32_t *)s->right.start)[n] = from->right.start[id];
    }
}

static float value(const rg_small *s, size_t k, size_t n)
{
    if (s->kind == RG_SMALL_BF16) return rg_bf16_float(s->halves[place16(s->K, k, n)]);
    return (float)s->right.panels[place8(rg_int8(), s->K, k, n)] * s->right.scale[n];
}

void rg_small_column(const rg_small *s, size_t n, rg_real *y)
{
    for (size_t k = 0; k < s->K; k++) y[k] = (rg_real)value(s, k, n);
}

void rg_small_row(const rg_small *s, size_t k, rg_real *y)
{
    for (size_t n = 0; n < s->N; n++) y[n] = (rg_real)value(s, k, n);
}
