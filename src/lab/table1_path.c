/* table1_path.c - how many layers until row i depends on row j.
 *
 * One layer is probed by its gradients: where d out_i / d in_j is not exactly zero, j reaches i. Layers are then
 * joined as boolean matrices, so that numbers cannot vanish on the way. */
#include "lab/table1.h"

#include <string.h>

enum { WIDTH = 4, MOST_DEPTH = 4096 };

typedef struct {
    const table1_layer *layer;
    table1_weights      weights;
    rg_tape            *tape;
    size_t              n;
    rg_real            *x, *dy;
    bool               *sees, *reached, *next; /* (n, n): row i of the layer looks at row j; of the stack; of one layer more */
} probe;

/* The support of one layer, a backward pass for each of its rows. */
static rg_status look(probe *p, size_t number)
{
    const int32_t   start[] = { 0, (int32_t)p->n };
    const rg_layout rows = { .groups = 1, .start = start };
    for (size_t i = 0; i < p->n; i++) {
        rg_tape_reset(p->tape, 0);
        rg_tensor *x = rg_input(p->tape, p->x, p->n, WIDTH, &rows);
        rg_tensor *y = (p->layer->probe ? p->layer->probe : p->layer->run)(p->tape, &p->weights, x, &rows, number);
        memset(p->dy, 0, p->n * WIDTH * sizeof *p->dy);
        for (size_t c = 0; c < WIDTH; c++) p->dy[i * WIDTH + c] = (rg_real)(1 + 0.3 * (double)c);
        RG_TRY(rg_tape_backward_from(p->tape, y, p->dy));
        const rg_real *dx = rg_tape_gradient(p->tape, x);
        for (size_t j = 0; j < p->n; j++) {
            p->sees[i * p->n + j] = false;
            for (size_t c = 0; dx && c < WIDTH; c++)
                if (dx[j * rg_tensor_ld(x) + c] != 0) p->sees[i * p->n + j] = true;
        }
    }
    return RG_OK;
}

/* reached = sees reached */
static void join(probe *p)
{
    const size_t n = p->n;
    memset(p->next, 0, n * n * sizeof *p->next);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t m = 0; p->sees[i * n + j] && m < n; m++)
                if (p->reached[j * n + m]) p->next[i * n + m] = true;
    memcpy(p->reached, p->next, n * n * sizeof *p->reached);
}

static bool complete(const probe *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < (p->layer->forward_only ? i + 1 : p->n); j++)
            if (!p->reached[i * p->n + j]) return false;
    return true;
}

static rg_status count(size_t *out, probe *p)
{
    rg_random random = rg_random_new(3, 1);
    for (size_t i = 0; i < p->n * WIDTH; i++) p->x[i] = (rg_real)(rg_random_uniform(&random) - 0.5);
    for (size_t i = 0; i < p->n; i++) p->reached[i * p->n + i] = true;
    for (size_t depth = 0; depth < MOST_DEPTH; depth++) {
        if (complete(p)) return *out = depth, RG_OK;
        if (depth == 0 || p->layer->grows) RG_TRY(look(p, depth)); /* the others look alike in every layer */
        join(p);
    }
    return rg_fail(RG_ELIMIT, "%s: some of %zu rows do not see each other after %d layers", p->layer->name, p->n,
                   MOST_DEPTH);
}

rg_status table1_path(size_t *out, const table1_layer *layer, size_t n)
{
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    probe          p = { .layer = layer,
                         .n = n,
                         .x = rg_alloc_array(n, WIDTH * sizeof *p.x),
                         .dy = rg_alloc_array(n, WIDTH * sizeof *p.dy),
                         .sees = rg_alloc_zero(n * n),
                         .reached = rg_alloc_zero(n * n),
                         .next = rg_alloc_zero(n * n) };
    rg_status      status = p.x && p.dy && p.sees && p.reached && p.next ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) status = table1_weights_new(&p.weights, WIDTH);
    if (status == RG_OK) status = rg_tape_new(&p.tape, &config);
    if (status == RG_OK) status = count(out, &p);
    rg_tape_free(p.tape);
    table1_weights_free(&p.weights);
    rg_free(p.x);
    rg_free(p.dy);
    rg_free(p.sees);
    rg_free(p.reached);
    rg_free(p.next);
    return status;
}
