/* gradient.c - see gradient.h. */
#include "support/gradient.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const double STEP = 1e-5, RELATIVE = 1e-6, FLOOR = 1e-9;

typedef enum { PLAIN, COLUMNS, ROWS, PIECES, TWICE, WAYS } way;
static const char *const way_name[WAYS] = { "plain", "columns of a wider tensor", "rows of a taller tensor",
                                            "pieces of a split", "used twice" };

typedef struct {
    const rg_gradient_case *c;
    way                     worn;
    size_t                  inputs;
    rg_real                *data[RG_GRADIENT_INPUTS]; /* as stored: wider or taller than the case asked */
    rg_tensor              *stored[RG_GRADIENT_INPUTS];
    rg_tape                *tape, *plain_tape; /* recording; not recording */
    rg_grads               *grads;
} check;

void rg_test_fill(rg_real *x, size_t n, uint64_t seed, double low, double high)
{
    rg_random random = rg_random_new(seed, 77);
    for (size_t i = 0; i < n; i++) x[i] = (rg_real)(low + (high - low) * rg_random_uniform(&random));
}

/* ------------------------------------------------------------------------------------------- how inputs are worn */

static size_t stored_rows(const check *k, size_t i) { return k->c->input[i].rows + (k->worn == ROWS ? 3 : 0); }
static size_t stored_cols(const check *k, size_t i)
{
    const size_t cols = k->c->input[i].cols;
    return k->worn == COLUMNS ? cols + 5 : k->worn == PIECES ? 3 * cols : cols;
}

static rg_tensor *wear(const check *k, rg_tape *t, size_t i, rg_tensor *stored)
{
    const rg_gradient_input *in = &k->c->input[i];
    rg_tensor               *piece[3];
    switch (k->worn) {
    case COLUMNS: return rg_columns(t, stored, 2, in->cols);
    case ROWS: return rg_with_layout(t, rg_rows(t, stored, 1, in->rows), in->layout);
    case PIECES: rg_split(t, stored, 3, piece); return piece[1];
    default: return stored;
    }
}

/* ------------------------------------------------------------------------------------------------- one evaluation */

static rg_tensor *weighted(rg_tape *t, rg_tensor *y)
{
    const size_t rows = rg_tensor_rows(y), cols = rg_tensor_cols(y);
    if (!y || (rows == 1 && cols == 1)) return y;
    rg_real *w = rg_tape_memory(t, (rows * cols + 1) * sizeof *w);
    if (!w) return NULL;
    rg_test_fill(w, rows * cols, 5, -1, 1);
    return rg_sum(t, rg_mul(t, y, rg_constant(t, w, rows, cols, NULL)));
}

static rg_tensor *evaluate(check *k, rg_tape *t)
{
    rg_tape_reset(t, 3);
    rg_tensor *x[RG_GRADIENT_INPUTS] = {0};
    for (size_t i = 0; i < k->inputs; i++) {
        const rg_layout *layout = k->worn == ROWS ? NULL : k->c->input[i].layout;
        k->stored[i] = rg_input(t, k->data[i], stored_rows(k, i), stored_cols(k, i), layout);
        x[i] = wear(k, t, i, k->stored[i]);
    }
    rg_tensor *loss = weighted(t, k->c->function(t, x, k->c->context));
    if (k->worn == TWICE) loss = rg_add(t, loss, weighted(t, k->c->function(t, x, k->c->context)));
    return loss;
}

static double value(check *k)
{
    rg_tensor *loss = evaluate(k, k->plain_tape);
    if (rg_tape_status(k->plain_tape) != RG_OK) fail_msg("%s (%s): %s", k->c->name, way_name[k->worn], rg_message());
    return (double)rg_tensor_at(loss, 0, 0);
}

static double value_at(check *k, rg_real *at, double x)
{
    const rg_real was = *at;
    *at = (rg_real)x;
    if (k->c->params) assert_int_equal(rg_params_repack(k->c->params, NULL), RG_OK);
    const double y = value(k);
    *at = was;
    return y;
}

static double slope(check *k, rg_real *at, double h)
{
    return (value_at(k, at, (double)*at + h) - value_at(k, at, (double)*at - h)) / (2 * h);
}

static bool close_to(const check *k, double a, double b)
{
    return fabs(a - b) <= RELATIVE * fmax(fabs(a), fabs(b)) + (k->c->floor > 0 ? k->c->floor : FLOOR);
}

/* Where the third derivative is large (a norm over nearly equal numbers), two steps cancel the leading error. */
static void compare(check *k, const char *what, size_t row, size_t col, double tape, rg_real *at)
{
    double difference = slope(k, at, STEP);
    if (close_to(k, tape, difference)) return;
    difference = (4 * difference - slope(k, at, 2 * STEP)) / 3;
    if (close_to(k, tape, difference)) return;
    fail_msg("%s (%s): gradient of %s at (%zu, %zu) is %.12g on the tape, %.12g by differences", k->c->name,
             way_name[k->worn], what, row, col, tape, difference);
}

/* ----------------------------------------------------------------------------------------- inputs and parameters */

static void check_inputs(check *k, rg_tensor *const *recorded)
{
    for (size_t i = 0; i < k->inputs; i++) {
        const size_t   rows = stored_rows(k, i), cols = stored_cols(k, i);
        const rg_real *g = rg_tape_gradient(k->tape, recorded[i]);
        char           what[32];
        snprintf(what, sizeof what, "input %zu", i);
        for (size_t j = 0; j < rows * cols; j++)
            compare(k, what, j / cols, j % cols, g ? (double)g[j] : 0, k->data[i] + j);
    }
}

static void check_params(check *k)
{
    for (size_t i = 0; k->c->params && i < rg_params_count(k->c->params); i++) {
        rg_param *p = rg_params_at(k->c->params, i);
        if (rg_param_get_kind(p) == RG_KEPT) continue;
        const rg_real *g = rg_grads_of(k->grads, p);
        const size_t   cols = rg_param_cols(p), n = rg_param_rows(p) * cols;
        /* a gradient block is overwritten by the next recording pass only: value() does not record */
        const size_t step = k->c->most && n > k->c->most ? n / k->c->most : 1;
        for (size_t j = 0; j < n; j += step)
            compare(k, rg_param_name(p), j / cols, j % cols, g ? (double)g[j] : 0, rg_param_data(p) + j);
    }
    if (k->c->params) assert_int_equal(rg_params_repack(k->c->params, NULL), RG_OK);
}

static void run(const rg_gradient_case *c, way worn)
{
    check k = { .c = c, .worn = worn };
    while (k.inputs < RG_GRADIENT_INPUTS && c->input[k.inputs].cols) k.inputs++;
    for (size_t i = 0; i < k.inputs; i++) {
        const size_t n = stored_rows(&k, i) * stored_cols(&k, i);
        const bool   given = c->input[i].low != 0 || c->input[i].high != 0;
        k.data[i] = rg_alloc_array(n, sizeof(rg_real));
        assert_non_null(k.data[i]);
        rg_test_fill(k.data[i], n, 11 + i, given ? c->input[i].low : -1, given ? c->input[i].high : 1);
    }
    if (c->params) assert_int_equal(rg_grads_new(&k.grads, c->params), RG_OK);
    rg_tape_config config = { .record = true, .learn = !c->no_learn, .seed = 9, .grads = k.grads };
    assert_int_equal(rg_tape_new(&k.tape, &config), RG_OK);
    config.record = false;
    config.grads = NULL;
    assert_int_equal(rg_tape_new(&k.plain_tape, &config), RG_OK);

    rg_tensor *loss = evaluate(&k, k.tape), *recorded[RG_GRADIENT_INPUTS];
    if (rg_tape_backward(k.tape, loss) != RG_OK) fail_msg("%s (%s): %s", c->name, way_name[worn], rg_message());
    memcpy(recorded, k.stored, sizeof recorded);
    const double with = (double)rg_tensor_at(loss, 0, 0), without = value(&k);
    if (with != without)
        fail_msg("%s (%s): %.17g while recording, %.17g otherwise", c->name, way_name[worn], with, without);
    check_inputs(&k, recorded);
    check_params(&k);

    rg_tape_free(k.plain_tape);
    rg_tape_free(k.tape);
    rg_grads_free(k.grads);
    for (size_t i = 0; i < k.inputs; i++) rg_free(k.data[i]);
}

void rg_expect_gradient(const rg_gradient_case *c)
{
    for (way worn = PLAIN; worn < WAYS; worn++)
        if (worn == PLAIN || worn == TWICE || !c->plain_only) run(c, worn);
}
