/* optimise.c - the optimiser's loops in ordinary C, and the choice of table. */
#include "tensor/optimise.h"

#include <string.h>

#include "tensor/optimise_loops.h"

static void pack(rg_real *panels, size_t K, const rg_real *w, size_t ld, size_t rows, size_t cols, bool stream)
{
    (void)stream;
    for (size_t c = 0; c < cols; c += RG_PANEL) pack_rest(panels + c * K, w + c, ld, rows, cols - c);
}

static void pack_transposed(rg_real *panels, size_t K, const rg_real *w, size_t ld, size_t rows, size_t cols,
                            bool stream)
{
    (void)stream;
    for (size_t r = 0; r < rows; r += RG_PANEL) pack_transposed_rest(panels + r * K, w + r * ld, ld, rows - r, cols);
}

static const rg_optimise rg_optimise_plain = {
    .name = "plain", .update = update, .squares = squares, .pack = pack, .pack_transposed = pack_transposed
};

#if !defined(RG_REAL) && defined(__x86_64__)
#define TABLES(X) X(baseline) RG_WIDE(X(wide)) X(avx2) X(avx512)
#elif !defined(RG_REAL) && defined(__aarch64__)
#define TABLES(X) X(neon)
#else
#define TABLES(X)
#endif
#define DECLARE(isa) extern const rg_optimise rg_optimise_##isa;
#define ENTRY(isa) &rg_optimise_##isa,
TABLES(DECLARE)
static const rg_optimise *const table[] = { &rg_optimise_plain, TABLES(ENTRY) NULL };

const rg_optimise *rg_optimise_find(const char *name)
{
    for (const rg_optimise *const *o = table; *o; o++)
        if (strcmp((*o)->name, name) == 0) return *o;
    return table[0];
}

const rg_optimise *rg_optimise_chosen(void) { return rg_optimise_find(rg_kernel()->name); }
