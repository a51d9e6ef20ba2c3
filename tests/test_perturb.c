/* Perturbations: against closed forms and enumeration on models of two and three numbers; inner passes leave no
 * trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "regard/ops.h"
#include "regard/perturb.h"
#include "regard/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

typedef struct {
    rg_recipe *recipe;
    rg_model  *model;
    rg_tape   *tape;
    rg_grads  *grads;
    rg_batch   batch;
    int32_t    start[MOST + 1], label_start[MOST + 1], label[MOST];
} fixture;

/* Dense layers on D numbers; `pixels`: each a pixel of its own row. */
static void make(fixture *f, const char *layers, const char *dropout, size_t D, size_t classes, bool pixels, bool learn)
{
    rg_text  yaml = { 0 };
    rg_sizes sizes = { { { "classes", classes }, { "features", D } } };
    if (pixels) {
        rg_sizes_put(&sizes, "channels", 1);
        rg_sizes_put(&sizes, "height", 1);
        rg_sizes_put(&sizes, "width", D);
    }
    *f = (fixture){ 0 };
    assert_int_equal(rg_text_print(&yaml, "type: mlp\nlayers: '%s'\ndropout: %s\n", layers, dropout), RG_OK);
    if (rg_recipe_new(&f->recipe, rg_text_c(&yaml)) != RG_OK) fail_msg("%s", rg_message());
    const rg_training t = rg_recipe_training(f->recipe, NULL);
    assert_int_equal(rg_model_new(&f->model, t.system, t.system_options, &sizes, 3), RG_OK);
    assert_int_equal(rg_grads_new(&f->grads, f->model->params), RG_OK);
    const rg_tape_config c = { .record = true, .learn = learn, .seed = 5, .grads = f->grads };
    assert_int_equal(rg_tape_new(&f->tape, &c), RG_OK);
    rg_text_free(&yaml);
}

static void give(fixture *f, const rg_real *x, size_t n, size_t D, const int32_t *label, bool pixels)
{
    const size_t rows = pixels ? D : 1;
    size_t       labels = 0;
    for (size_t i = 0; i <= n; i++) {
        f->start[i] = (int32_t)(i * rows);
        f->label_start[i] = (int32_t)labels;
        if (i < n && label[i] >= 0) f->label[labels++] = label[i];
    }
    f->batch = (rg_batch){ .examples = n, .fields = 2 };
    f->batch.field[RG_INPUT] = (rg_field){ .kind = pixels ? RG_FIELD_PIXELS : RG_FIELD_NUMBERS,
                                           .layout = { .groups = n, .start = f->start },
                                           .values = x,
                                           .width = pixels ? 1 : D };
    if (pixels) f->batch.field[RG_INPUT].layout.height = 1, f->batch.field[RG_INPUT].layout.width = D;
    f->batch.field[RG_LABEL] =
        (rg_field){ .kind = RG_FIELD_CLASS, .layout = { .groups = n, .start = f->label_start }, .ids = f->label };
}

static void drop(fixture *f)
{
    rg_tape_free(f->tape);
    rg_grads_free(f->grads);
    rg_model_free(f->model);
    rg_recipe_free(f->recipe);
}

static rg_pass run(fixture *f)
{
    rg_tape_reset(f->tape, 1);
    const rg_pass p = rg_pass_run(f->tape, f->model, &f->batch, true);
    if (rg_tape_status(f->tape) != RG_OK) fail_msg("%s", rg_message());
    return p;
}

static const rg_real *weights(const fixture *f) { return rg_param_data(rg_params_find(f->model->params, "layer.0.w")); }

/* Loss of one example moved by r. */
static double loss_at(fixture *f, const rg_real *x, size_t D, int32_t label, const double *r)
{
    rg_real moved[MOST];
    for (size_t j = 0; j < D; j++) moved[j] = x[j] + (rg_real)r[j];
    give(f, moved, 1, D, &label, false);
    return (double)rg_tensor_at(run(f).loss.sum, 0, 0);
}

/* Logistic regression in two dimensions: r is eps sign(w) or eps w / |w|, w the difference of the classes' weights,
 * and no r of a fine grid on the ball has a larger loss. */
static void both_norms_agree_with_closed_forms_and_enumeration(void **state)
{
    (void)state;
    static const rg_real x[] = { (rg_real)0.3, (rg_real)-0.7 };
    static const int32_t label[] = { 1 };
    fixture              f;
    for (rg_ball ball = RG_BALL_LINF; ball <= RG_BALL_L2; ball++) {
        make(&f, "", "0", 2, 2, false, false);
        const rg_real    *w = weights(&f); /* (2, classes) */
        const double      d[2] = { (double)(w[0] - w[1]), (double)(w[2] - w[3]) }, eps = 0.4, norm = hypot(d[0], d[1]);
        rg_perturb_config c = { .ball = ball, .epsilon = eps, .steps = 1 };
        give(&f, x, 1, 2, label, false);
        const rg_pass    p = run(&f);
        const rg_tensor *r = rg_perturb(f.tape, &p, &c);
        assert_non_null(r);
        const double got[2] = { (double)rg_tensor_at(r, 0, 0), (double)rg_tensor_at(r, 0, 1) };
        for (size_t j = 0; j < 2; j++) {
            const double want = ball == RG_BALL_L2 ? eps * d[j] / norm : eps * ((d[j] > 0) - (d[j] < 0));
            assert_true(fabs(got[j] - want) < 1e-6);
        }
        const double best = loss_at(&f, x, 2, 1, got);
        for (size_t k = 0; k < 720; k++) {
            const double a = 6.283185307179586 * (double)k / 720,
                         s = ball == RG_BALL_L2 ? 1 : 1 / fmax(fabs(cos(a)), fabs(sin(a)));
            const double other[2] = { eps * s * cos(a), eps * s * sin(a) };
            assert_true(loss_at(&f, x, 2, 1, other) <= best + 1e-5);
        }
        drop(&f);
    }
}

static void the_size_is_epsilon_and_pixels_stay_in_their_range(void **state)
{
    (void)state;
    enum { N = 6, D = 9 };
    rg_real       x[N * D];
    int32_t       label[N];
    fixture       f;
    for (size_t i = 0; i < N * D; i++) x[i] = (rg_real)((i * 37) % 101) / 100;
    for (size_t i = 0; i < N; i++) label[i] = (int32_t)(i % 3);
    for (size_t steps = 1; steps <= 7; steps += 6)
        for (rg_ball ball = RG_BALL_LINF; ball <= RG_BALL_L2; ball++) {
            make(&f, "8", "0", D, 3, true, false);
            give(&f, x, N, D, label, true);
            const rg_pass     p = run(&f);
            rg_perturb_config c = { .ball = ball, .epsilon = 0.3, .steps = steps };
            const rg_tensor  *free_r = rg_perturb(f.tape, &p, &c);
            for (size_t i = 0; i < N; i++) {
                double most = 0, squares = 0;
                for (size_t j = 0; j < D; j++) {
                    const double v = (double)rg_tensor_at(free_r, i * D + j, 0);
                    most = fmax(most, fabs(v));
                    squares += v * v;
                }
                const double size = ball == RG_BALL_L2 ? sqrt(squares) : most;
                assert_true(size <= 0.3 + 1e-6);
                if (steps == 1) assert_true(size > 0.3 - 1e-6);
            }
            rg_perturb_range(&c.low, &c.high, &p);
            assert_true(c.low == 0 && c.high == 1);
            const rg_tensor *r = rg_perturb(f.tape, &p, &c);
            for (size_t i = 0; i < N * D; i++) {
                const rg_real to = x[i] + rg_tensor_at(r, i, 0);
                assert_true(to >= 0 && to <= 1);
            }
            drop(&f);
        }
}

/* Without a label there is no loss, no gradient and no direction. */
static void a_zero_gradient_gives_a_zero_perturbation(void **state)
{
    (void)state;
    static const rg_real x[] = { 1, 2, 3, 4 };
    static const int32_t label[] = { 0, -1 };
    fixture              f;
    for (rg_ball ball = RG_BALL_LINF; ball <= RG_BALL_L2; ball++) {
        make(&f, "4", "0", 2, 2, false, false);
        give(&f, x, 2, 2, label, false);
        const rg_pass           p = run(&f);
        const rg_perturb_config c = { .ball = ball, .epsilon = 1, .steps = 1 };
        const rg_tensor        *r = rg_perturb(f.tape, &p, &c);
        assert_true(rg_tensor_at(r, 1, 0) == 0 && rg_tensor_at(r, 1, 1) == 0 && rg_tensor_at(r, 0, 0) != 0);
        rg_real tiny[4] = { (rg_real)1e-30, (rg_real)-1e-30, 0, (rg_real)3e30 };
        rg_perturb_scale(tiny, &p, RG_BALL_L2, 1, NULL);
        assert_true(fabs((double)tiny[0] - sqrt(0.5)) < 1e-6 && fabs((double)tiny[1] + sqrt(0.5)) < 1e-6 &&
                    tiny[2] == 0 && tiny[3] == 1);
        drop(&f);
    }
}

static void inner_passes_leave_parameter_gradients_and_masks_alone(void **state)
{
    (void)state;
    enum { N = 4, D = 5 };
    rg_real       x[N * D], *before;
    const int32_t label[N] = { 0, 1, 2, 1 };
    fixture       f;
    for (size_t i = 0; i < N * D; i++) x[i] = (rg_real)sin((double)i);
    make(&f, "16 16", "0.5", D, 3, false, true);
    give(&f, x, N, D, label, false);
    size_t bytes = 0;
    for (size_t i = 0; i < rg_params_count(f.model->params); i++) {
        const rg_param *e = rg_params_at(f.model->params, i);
        if (rg_param_get_kind(e) != RG_KEPT) bytes += rg_param_rows(e) * rg_param_cols(e) * sizeof(rg_real);
    }
    before = malloc(bytes);
    rg_pass p = run(&f);
    assert_int_equal(rg_tape_backward(f.tape, p.loss.sum), RG_OK);
    memcpy(before, rg_grads_block(f.grads), bytes);
    p = run(&f);
    const rg_perturb_config c = { .ball = RG_BALL_L2, .epsilon = 1, .steps = 3, .towards = RG_TOWARDS_ANSWER };
    assert_non_null(rg_perturb(f.tape, &p, &c));
    assert_non_null(rg_vat_direction(f.tape, &p, 0.01, 2, NULL));
    const rg_tensor *again = rg_pass_again(f.tape, &p, p.rows); /* the same masks: KL(clean, clean) is 0 */
    for (size_t i = 0; i < N; i++)
        assert_memory_equal(rg_tensor_row(again, i), rg_tensor_row(p.logits, i), 3 * sizeof(rg_real));
    assert_int_equal(rg_tape_backward(f.tape, p.loss.sum), RG_OK);
    assert_memory_equal(before, rg_grads_block(f.grads), bytes);
    free(before);
    drop(&f);
}

/* -------------------------------------------------------------------------------------------------------------- VAT */

static void softmax3(double p[3], double W[3][3], const double x[3])
{
    double y[3], most = -1e300, sum = 0;
    for (size_t c = 0; c < 3; c++) {
        y[c] = 0;
        for (size_t j = 0; j < 3; j++) y[c] += W[j][c] * x[j];
        most = fmax(most, y[c]);
    }
    for (size_t c = 0; c < 3; c++) sum += p[c] = exp(y[c] - most);
    for (size_t c = 0; c < 3; c++) p[c] /= sum;
}

static double cosine(const double *a, const double *b, size_t n)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
    return ab / sqrt(aa * bb);
}

/* One iteration in double: d <- grad KL(p || p(x + xi d / |d|)) = W (p(x + r) - p). */
static void iterate(double d[3], double W[3][3], const double x[3], double xi)
{
    double p[3], q[3], moved[3], norm = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (size_t j = 0; j < 3; j++) moved[j] = x[j] + xi * d[j] / norm;
    softmax3(p, W, x);
    softmax3(q, W, moved);
    for (size_t j = 0; j < 3; j++) {
        d[j] = 0;
        for (size_t c = 0; c < 3; c++) d[j] += W[j][c] * (q[c] - p[c]);
    }
}

/* The Hessian at r = 0 is W (diag p - p p') W'. */
static void first_eigenvector(double v[3], double W[3][3], const double x[3])
{
    double p[3], H[3][3];
    softmax3(p, W, x);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            double s = 0, a = 0, b = 0;
            for (size_t c = 0; c < 3; c++) s += W[i][c] * p[c] * W[j][c], a += W[i][c] * p[c], b += W[j][c] * p[c];
            H[i][j] = s - a * b;
        }
    for (size_t j = 0; j < 3; j++) v[j] = 1 + (double)j;
    for (size_t k = 0; k < 1000; k++) {
        double to[3], norm = 0;
        for (size_t i = 0; i < 3; i++) {
            to[i] = H[i][0] * v[0] + H[i][1] * v[1] + H[i][2] * v[2];
            norm += to[i] * to[i];
        }
        for (size_t i = 0; i < 3; i++) v[i] = to[i] / sqrt(norm);
    }
}

static void power_iteration_finds_the_direction_of_double_precision(void **state)
{
    (void)state;
    static const rg_real x[] = { (rg_real)0.2, (rg_real)0.9, (rg_real)0.5 };
    const int32_t        none = -1;
    const double         at[3] = { (double)x[0], (double)x[1], (double)x[2] };
    fixture              f;
    make(&f, "", "0", 3, 3, true, false);
    double W[3][3], exact[3], many[3], first[3], v[3];
    for (size_t j = 0; j < 3; j++)
        for (size_t c = 0; c < 3; c++) W[j][c] = (double)weights(&f)[j * 3 + c];
    give(&f, x, 1, 3, &none, true);
    const rg_pass    p = run(&f);
    const uint64_t   draws = rg_tape_draws(f.tape);
    const rg_tensor *random = rg_normal(f.tape, 3, 1, rg_tensor_layout(p.rows));
    for (size_t j = 0; j < 3; j++) exact[j] = (double)rg_tensor_at(random, j, 0);
    iterate(exact, W, at, 0.01);
    rg_tape_redraw(f.tape, draws);
    const rg_real *once = rg_vat_direction(f.tape, &p, 0.01, 1, NULL);
    for (size_t j = 0; j < 3; j++) first[j] = (double)once[j];
    assert_true(cosine(first, exact, 3) > 0.99);
    const rg_real *often = rg_vat_direction(f.tape, &p, 0.01, 30, NULL);
    for (size_t j = 0; j < 3; j++) many[j] = (double)often[j];
    first_eigenvector(v, W, at);
    assert_true(fabs(cosine(many, v, 3)) > 0.99);
    drop(&f);
}

static rg_tensor *from_clean(rg_tape *t, const rg_pass *p, rg_tensor *y, void *context)
{
    return (void)context, rg_divergence(t, rg_detach(t, p->logits), y, NULL);
}

static void the_divergence_is_flat_where_nothing_is_changed(void **state)
{
    (void)state;
    static const rg_real x[] = { (rg_real)0.2, (rg_real)0.9, (rg_real)0.5 };
    const int32_t        none = -1;
    rg_real              g[3];
    fixture              f;
    make(&f, "7", "0", 3, 3, true, false);
    give(&f, x, 1, 3, &none, true);
    const rg_pass p = run(&f);
    assert_true(rg_perturb_gradient(g, f.tape, &p, NULL, from_clean, NULL));
    for (size_t j = 0; j < 3; j++) assert_true(fabs((double)g[j]) < 1e-6);
    drop(&f);
}

static void random_numbers_of_a_row_do_not_depend_on_its_share(void **state)
{
    (void)state;
    fixture f;
    double  mean = 0, squares = 0;
    make(&f, "", "0", 2, 2, false, false);
    const rg_layout  late = { .groups = 0, .start = (const int32_t[]){ 0 }, .first = 60 };
    const rg_tensor *all = rg_normal(f.tape, 100, 7, NULL);
    rg_tape_redraw(f.tape, 0);
    rg_layout l = late;
    int32_t   start[41];
    for (int32_t i = 0; i <= 40; i++) start[i] = i;
    l.groups = 40;
    l.start = start;
    const rg_tensor *part = rg_normal(f.tape, 40, 7, &l);
    for (size_t i = 0; i < 40; i++)
        assert_memory_equal(rg_tensor_row(part, i), rg_tensor_row(all, 60 + i), 7 * sizeof(rg_real));
    for (size_t i = 0; i < 700; i++) {
        const double v = (double)rg_tensor_at(all, i / 7, i % 7),
                     u = (double)rg_tensor_at(rg_uniform(f.tape, 1, 1, NULL), 0, 0);
        mean += v / 700;
        squares += v * v / 700;
        assert_true(u >= 0 && u <= 1);
    }
    assert_true(fabs(mean) < 0.15 && fabs(squares - 1) < 0.2);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_norms_agree_with_closed_forms_and_enumeration),
        cmocka_unit_test(the_size_is_epsilon_and_pixels_stay_in_their_range),
        cmocka_unit_test(a_zero_gradient_gives_a_zero_perturbation),
        cmocka_unit_test(inner_passes_leave_parameter_gradients_and_masks_alone),
        cmocka_unit_test(power_iteration_finds_the_direction_of_double_precision),
        cmocka_unit_test(the_divergence_is_flat_where_nothing_is_changed),
        cmocka_unit_test(random_numbers_of_a_row_do_not_depend_on_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
