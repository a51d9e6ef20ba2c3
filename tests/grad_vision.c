/* grad_vision.c - systems that read pictures, in double: gradients of every pooling and front of cnn, its class
 * activation map; what the places of ram learn from, and what they leave alone; pictures by themselves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "regard/model.h"
#include "regard/spatial.h"
#include "support/gradient.h"

enum { PICTURES = 3, SIDE = 6, PIXELS = SIDE * SIDE, CHANNELS = 2 };
static const int32_t pixel_start[] = { 0, PIXELS, 2 * PIXELS, 3 * PIXELS }, label_start[] = { 0, 1, 2, 3 },
                     labels[] = { 2, 0, 1 };
static const int32_t sizes_of[] = { SIDE, SIDE, SIDE, SIDE, SIDE, SIDE };
static rg_real       values[PICTURES * PIXELS * CHANNELS];

/* The first `count` pictures from `first` on. */
static rg_batch batch_of(size_t first, size_t count)
{
    if (values[0] == 0) rg_test_fill(values, PICTURES * PIXELS * CHANNELS, 11, 0, 1);
    return (rg_batch){ .examples = count,
                       .fields = 2,
                       .field = { { .kind = RG_FIELD_PIXELS,
                                    .layout = { .groups = count, .start = pixel_start, .height = SIDE, .width = SIDE },
                                    .values = values + first * PIXELS * CHANNELS,
                                    .width = CHANNELS,
                                    .size = sizes_of },
                                  { .kind = RG_FIELD_CLASS,
                                    .layout = { .groups = count, .start = label_start },
                                    .ids = labels + first } } };
}

static rg_model *make_system(const char *name, const char *yaml)
{
    const rg_system      *s = rg_system_find(name);
    const rg_sizes sizes = { { { "channels", CHANNELS }, { "height", SIDE }, { "width", SIDE }, { "classes", 3 } } };
    void                 *options = rg_alloc_zero(s->options_bytes);
    const rg_option_group group = { name, s->options, options };
    rg_model             *m = NULL;
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    if (rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false) != RG_OK ||
        rg_model_new(&m, s, options, &sizes, 5) != RG_OK)
        fail_msg("%s: %s", yaml, rg_message());
    rg_options_fini(s->options, options);
    rg_free(options);
    return m;
}

static rg_model *make(const char *yaml) { return make_system("cnn", yaml); }

static rg_tensor *loss_of(rg_tape *t, rg_tensor *const *x, void *context)
{
    static rg_batch b; /* layouts are borrowed until the tape has gone back */
    (void)x;
    b = batch_of(0, PICTURES);
    return rg_model_loss(t, context, &b).sum;
}

static const char *const variants[] = {
    "layers: c3x3 p2 c2x4",
    "layers: c3x3 p2 c3x4\npool: max",
    "layers: c3x4g2 a2 f5 f4\npool: flatten",
    "layers: c3x3\npool: soft",
    "layers: c3x4s2n",
    "layers: c3x3s2t i2x4s2t i2x4t c1x4l",
    "layers: c2x4r i1x3n i2x3n q2x3 p3s2u",
    "layers: c3x4 c3x3l\nhead: maps",
    "layers: c3x3\nfront: stn\nfront-layers: p2 f4",
    "layers: c3x3\nfront: stn\nfronts: 2\ngrid: attention\nfront-layers: p2 f4\nfront-size: 4",
    "layers: c3x3\nfront: stn\ngrid: projective\nfront-layers: ''",
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Off the grid: places on pixels have no derivative, and the identity is all on pixels; nor has relu at 0, where a
 * bias of 0 puts black cells. */
static void leave_the_grid(rg_model *m)
{
    for (size_t i = 0; i < rg_params_count(m->params); i++) {
        rg_param *p = rg_params_at(m->params, i);
        const size_t n = strlen(rg_param_name(p));
        if (strncmp(rg_param_name(p), "net.", 4) == 0 && strcmp(rg_param_name(p) + n - 2, ".b") == 0)
            rg_test_fill(rg_param_data(p), rg_param_cols(p), 3 + i, 0.01, 0.1);
        if (!strstr(rg_param_name(p), "theta")) continue;
        rg_test_fill(rg_param_data(p), rg_param_rows(p) * rg_param_cols(p), 3 + i, -0.08, 0.05);
    }
    assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
}

static void every_pooling_and_front_has_a_correct_gradient(void **state)
{
    (void)state;
    for (size_t i = 0; i < VARIANTS; i++) {
        rg_model *m = make(variants[i]);
        leave_the_grid(m);
        const rg_gradient_case c = {
            .name = variants[i], .function = loss_of, .context = m, .params = m->params, .plain_only = true
        };
        rg_expect_gradient(&c);
        rg_model_free(m);
    }
}

static void predict(double *out, rg_model *m, size_t first, size_t count)
{
    const rg_tape_config config = { .record = false };
    const rg_batch       b = batch_of(first, count);
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_tensor *y = m->system->predict(t, m, &b);
    assert_int_equal(rg_tape_status(t), RG_OK);
    for (size_t i = 0; i < count * 3; i++) out[i] = (double)rg_tensor_at(y, i / 3, i % 3);
    rg_tape_free(t);
}

static void a_picture_is_answered_the_same_alone_and_among_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < VARIANTS; i++) {
        rg_model *m = make(variants[i]);
        double    all[9], one[3];
        predict(all, m, 0, 3);
        for (size_t k = 0; k < 3; k++) {
            predict(one, m, k, 1);
            assert_memory_equal(one, all + 3 * k, sizeof one);
        }
        rg_model_free(m);
    }
}

/* A spatial transformer starts as the identity: with the same network behind it, the same answers. */
static void a_front_begins_as_the_identity(void **state)
{
    static const char *const grids[] = { "affine", "attention", "projective" };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char     *yaml = rg_format("layers: c3x3\nfront: stn\nfront-layers: p2 f4\ngrid: %s", grids[i]);
        rg_model *with = make(yaml), *without = make("layers: c3x3");
        double    a[9], b[9];
        for (size_t k = 0; k < rg_params_count(without->params); k++) {
            rg_param *from = rg_params_at(without->params, k), *to = rg_params_find(with->params, rg_param_name(from));
            memcpy(rg_param_data(to), rg_param_data(from), rg_param_rows(from) * rg_param_cols(from) * sizeof(rg_real));
        }
        assert_int_equal(rg_params_repack(with->params, NULL), RG_OK);
        predict(a, with, 0, 3);
        predict(b, without, 0, 3);
        for (size_t k = 0; k < 9; k++) assert_true(fabs(a[k] - b[k]) < 1e-9);
        rg_model_free(with);
        rg_model_free(without);
        rg_free(yaml);
    }
}

/* The mean over the cells of f w_c is the logit of class c without its bias; and what is shown are the positive
 * parts of the winner's. */
typedef struct {
    double share[64];
    size_t count;
} seen_map;

static bool wants(void *context, const char *name) { return (void)context, strcmp(name, "evidence.weights") == 0; }
static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    seen_map *s = context;
    (void)name, (void)reach;
    s->count = rg_tensor_rows(x);
    for (size_t i = 0; i < s->count && i < 64; i++) s->share[i] = (double)rg_tensor_at(x, i, 0);
}

static void the_mean_of_the_map_is_the_logit(void **state)
{
    const rg_tape_config config = { .record = false };
    rg_model            *m = make("layers: c3x4 p2 c3x5");
    const rg_batch       b = batch_of(1, 1);
    seen_map             s = { .count = 0 };
    const rg_watcher     watcher = { &s, wants, see };
    rg_tape             *t;
    (void)state;
    rg_test_fill(rg_param_data(rg_params_find(m->params, "output.b")), 3, 7, -1, 1);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_set_watcher(t, &watcher);
    const rg_tensor *F = m->system->features(t, m, &b, m->system->enter(t, m, &b));
    rg_tape_set_watcher(t, NULL);
    double logit[3], sum = 0;
    size_t best = 0;
    predict(logit, m, 1, 1);
    const rg_real *w = rg_param_data(rg_params_find(m->params, "output.w")),
                  *bias = rg_param_data(rg_params_find(m->params, "output.b"));
    for (size_t c = 0; c < 3; c++) { /* F is the mean of f, so F w_c is the mean of the map */
        double mean = 0;
        for (size_t d = 0; d < 5; d++) mean += (double)rg_tensor_at(F, 0, d) * (double)w[3 * d + c];
        assert_true(fabs(mean - (logit[c] - (double)bias[c])) < 1e-9);
        if (logit[c] > logit[best]) best = c;
    }
    assert_int_equal(s.count, 9);
    for (size_t i = 0; i < 9; i++) {
        assert_true(s.share[i] >= 0 && s.share[i] <= 1);
        sum += s.share[i];
    }
    assert_true(fabs(sum - 1) < 1e-9 || sum == 0);
    rg_tape_free(t);
    rg_model_free(m);
}

/* What a network was trained to see is made inside: attacks change the pixels themselves, 0 .. 1. */
static void the_rows_that_enter_are_the_pixels(void **state)
{
    static const int32_t  start[] = { 0, 4 }, size[] = { 2, 2 };
    const rg_system      *s = rg_system_find("cnn");
    const rg_sizes        sizes = { { { "channels", 3 }, { "height", 2 }, { "width", 2 }, { "classes", 3 } } };
    const rg_tape_config  config = { .record = false };
    void                 *options = rg_alloc_zero(s->options_bytes);
    const rg_option_group group = { "cnn", s->options, options };
    const char           *yaml = "layers: c1x2\npixels: signed";
    rg_real               x[12];
    rg_model             *m = NULL;
    rg_tape              *t;
    (void)state;
    rg_test_fill(x, 12, 3, 0, 1);
    const rg_field field = { .kind = RG_FIELD_PIXELS, .layout = { .groups = 1, .start = start, .height = 2, .width = 2 },
                             .values = x, .width = 3, .size = size };
    const rg_batch b = { .examples = 1, .fields = 1, .field = { field } };
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false), RG_OK);
    assert_int_equal(rg_model_new(&m, s, options, &sizes, 5), RG_OK);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_tensor *rows = s->enter(t, m, &b);
    for (size_t i = 0; i < 12; i++) assert_true(rg_tensor_at(rows, i / 3, i % 3) == x[i]);
    const rg_tensor *F = s->features(t, m, &b, s->enter(t, m, &b));
    const rg_real   *w = rg_param_data(rg_params_find(m->params, "net.0.w"));
    double           mean = 0; /* of relu(w . (255 x - 128) / 128) over the four pixels: the first map */
    for (size_t i = 0; i < 4; i++) {
        double sum = 0;
        for (size_t c = 0; c < 3; c++) sum += (255 * (double)x[3 * i + c] - 128) / 128 * (double)w[2 * c];
        mean += fmax(0, sum) / 4;
    }
    assert_true(fabs((double)rg_tensor_at(F, 0, 0) - mean) < 1e-6);
    rg_tape_free(t);
    rg_model_free(m);
    rg_options_fini(s->options, options);
    rg_free(options);
}

static void wrong_layers_are_told(void **state)
{
    const rg_system      *s = rg_system_find("cnn");
    const rg_sizes        sizes = { { { "channels", 1 }, { "height", 4 }, { "width", 4 }, { "classes", 3 } } };
    void                 *options = rg_alloc_zero(s->options_bytes);
    const rg_option_group group = { "cnn", s->options, options };
    const char           *bad = "c3x8 p2 p2 p2";
    rg_model             *m = NULL;
    (void)state;
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    assert_int_equal(rg_options_set(&group, 1, "layers", 1, &bad), RG_OK);
    assert_int_equal(rg_model_new(&m, s, options, &sizes, 1), RG_ESHAPE);
    assert_non_null(strstr(rg_message(), "--layers: layer 4 'p2': a map of 1 x 1 cannot be pooled"));
    rg_options_fini(s->options, options);
    rg_free(options);
}

/* -------------------------------------------------------------------------------------------------------------- ram */

#define SMALL_RAM "glimpses: 3\npatch: 3\nscales: 2\nhidden: 5\nwidth: 4\n"

/* Where places are given, the loss is an ordinary function of the parameters. */
static void ram_with_given_places_has_a_correct_gradient(void **state)
{
    (void)state;
    rg_model *m = make_system("ram", SMALL_RAM "locations: centre");
    rg_test_fill(rg_param_data(rg_params_find(m->params, "place.b")), 5, 4, 0.05, 0.3); /* at place (0, 0) relu would stand on its kink */
    const rg_gradient_case c = {
        .name = "ram", .function = loss_of, .context = m, .params = m->params, .plain_only = true
    };
    rg_expect_gradient(&c);
    rg_model_free(m);
}

/* The gradient of one parameter of one pass with seed 3; the caller's to free. */
static rg_real *gradient_of(rg_model *m, const char *name)
{
    const rg_param *p = rg_params_find(m->params, name);
    const size_t    n = rg_param_rows(p) * rg_param_cols(p);
    rg_real        *out = rg_alloc_zero(n * sizeof *out);
    rg_grads       *grads;
    rg_tape        *t;
    assert_int_equal(rg_grads_new(&grads, m->params), RG_OK);
    const rg_tape_config config = { .record = true, .learn = true, .seed = 3, .grads = grads };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    assert_int_equal(rg_tape_backward(t, loss_of(t, NULL, m)), RG_OK);
    if (rg_grads_of(grads, p)) memcpy(out, rg_grads_of(grads, p), n * sizeof *out);
    rg_tape_free(t);
    rg_grads_free(grads);
    return out;
}

/* Rewards move the places, twice the weight twice as much, and nothing else: the state, the glimpses and the classes
 * do not feel them. */
static void rewards_teach_the_places_alone(void **state)
{
    static const char *const rest[] = { "state.w", "glimpse.w", "place.w", "see.w", "action.w", "input.w" };
    rg_model                *m[3];
    (void)state;
    m[0] = make_system("ram", SMALL_RAM "reward-weight: 0\nbaseline: none");
    m[1] = make_system("ram", SMALL_RAM "reward-weight: 1\nbaseline: none");
    m[2] = make_system("ram", SMALL_RAM "reward-weight: 2\nbaseline: none");
    for (int k = 0; k < 3; k++) { /* a class that is right for one of the pictures at least */
        rg_real *b = rg_param_data(rg_params_find(m[k]->params, "action.b"));
        b[2] = 50;
    }
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        rg_real     *a = gradient_of(m[0], rest[i]), *b = gradient_of(m[1], rest[i]);
        const size_t n =
            rg_param_rows(rg_params_find(m[0]->params, rest[i])) * rg_param_cols(rg_params_find(m[0]->params, rest[i]));
        assert_memory_equal(a, b, n * sizeof *a);
        rg_free(a), rg_free(b);
    }
    rg_real *g[3];
    for (int k = 0; k < 3; k++) g[k] = gradient_of(m[k], "location.b");
    assert_true(g[0][0] == 0 && g[0][1] == 0);
    for (int d = 0; d < 2; d++)
        assert_true(fabs((double)g[1][d]) > 1e-6 &&
                    fabs((double)(g[2][d] - 2 * g[1][d])) < 1e-9 * fabs((double)g[2][d]));
    for (int k = 0; k < 3; k++) rg_free(g[k]), rg_model_free(m[k]);
}

static void ram_answers_a_picture_the_same_alone_and_among_others(void **state)
{
    static const char *const ways[] = { SMALL_RAM, SMALL_RAM "copies: 3", SMALL_RAM "locations: random" };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        rg_model *m = make_system("ram", ways[i]);
        double    all[9], one[3];
        predict(all, m, 0, 3);
        for (size_t k = 0; k < 3; k++) {
            predict(one, m, k, 1);
            assert_memory_equal(one, all + 3 * k, sizeof one);
        }
        rg_model_free(m);
    }
}

/* (x, y) in pixels of the glimpses of the first picture, one after another. */
typedef struct {
    double at[8];
    size_t n;
} path;

static bool wants_places(void *context, const char *name) { return (void)context, strstr(name, "place") != NULL; }
static void see_place(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    path *p = context;
    (void)name, (void)reach;
    for (size_t d = 0; d < 2 && p->n < 8; d++) p->at[p->n++] = (double)rg_tensor_at(x, 0, d);
}

/* Box 1, 2, 4 x 2: its middle is (2.5, 2.5); a quarter of 4 and of 2 away from it is the first quarter's. Without boxes
 * it says what is needed. */
static void an_oracle_looks_where_the_box_is(void **state)
{
    static const int32_t boxes[] = { 1, 2, 4, 2, 0, 0, 6, 6, 2, 2, 1, 1 };
    const rg_tape_config config = { .record = false };
    path                 p = { .n = 0 };
    const rg_watcher     watcher = { &p, wants_places, see_place };
    rg_model            *m = make_system("ram", "glimpses: 2\npatch: 3\nhidden: 5\nwidth: 4\nlocations: oracle");
    rg_batch             b = batch_of(0, 3);
    rg_tape             *t;
    (void)state;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_set_watcher(t, &watcher);
    b.field[RG_INPUT].box = boxes;
    assert_non_null(m->system->predict(t, m, &b));
    assert_int_equal(p.n, 4);
    assert_true(fabs(p.at[0] - 2.5) < 1e-9 && fabs(p.at[1] - 2.5) < 1e-9);
    assert_true(fabs(p.at[2] - 1.5) < 1e-9 && fabs(p.at[3] - 2.0) < 1e-9);
    rg_tape_set_watcher(t, NULL);
    rg_tape_reset(t, 0);
    b.field[RG_INPUT].box = NULL;
    assert_null(m->system->predict(t, m, &b));
    assert_int_equal(rg_tape_status(t), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "--augment"));
    rg_tape_free(t);
    rg_model_free(m);
}

/* ------------------------------------------------------------------------------------------------- moved, turned */

enum { WIDE = 9 };

/* One picture of WIDE x WIDE with one channel; its answer, and its map of class 1 where one is asked for. */
typedef struct {
    double map[WIDE * WIDE];
} wide_map;
static bool wants_wide_map(void *context, const char *name) { return (void)context, strstr(name, "evidence") != NULL; }
static void see_wide_map(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    wide_map *s = context;
    (void)name, (void)reach;
    for (size_t i = 0; i < rg_tensor_rows(x) && i < (size_t)WIDE * WIDE; i++) s->map[i] = (double)rg_tensor_at(x, i, 0);
}

static void answer_wide(double out[3], wide_map *map, const rg_model *m, const rg_real *pixels)
{
    static const int32_t start[] = { 0, WIDE * WIDE }, one[] = { 0, 1 }, size[] = { WIDE, WIDE }, about[] = { 1 };
    const rg_tape_config config = { .record = false };
    const rg_watcher     watcher = { map, wants_wide_map, see_wide_map };
    const rg_batch       b = { .examples = 1,
                               .fields = 2,
                               .field = { { .kind = RG_FIELD_PIXELS,
                                            .layout = { .groups = 1, .start = start, .height = WIDE, .width = WIDE },
                                            .values = pixels,
                                            .width = 1,
                                            .size = size },
                                          { .kind = RG_FIELD_CLASS, .layout = { .groups = 1, .start = one }, .ids = about } } };
    rg_tape *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    if (map) rg_tape_set_watcher(t, &watcher);
    const rg_tensor *y = m->system->predict(t, m, &b);
    assert_non_null(y);
    for (size_t c = 0; c < 3; c++) out[c] = (double)rg_tensor_at(y, 0, c);
    rg_tape_free(t);
}

static rg_model *make_wide(const char *yaml)
{
    const rg_system      *s = rg_system_find("cnn");
    const rg_sizes        sizes = { { { "channels", 1 }, { "height", WIDE }, { "width", WIDE }, { "classes", 3 } } };
    void                 *options = rg_alloc_zero(s->options_bytes);
    const rg_option_group group = { "cnn", s->options, options };
    rg_model             *m = NULL;
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false), RG_OK);
    assert_int_equal(rg_model_new(&m, s, options, &sizes, 5), RG_OK);
    rg_options_fini(s->options, options);
    rg_free(options);
    return m;
}

/* Something small on an empty ground, away from the border: k pixels down and across, its map goes with it. */
static void a_map_moves_with_the_picture(void **state)
{
    (void)state;
    rg_model *m = make_wide("layers: c3x3 c3x4");
    rg_real   here[WIDE * WIDE] = { 0 }, there[WIDE * WIDE] = { 0 };
    wide_map  a = { { 0 } }, b = { { 0 } };
    double    y[3], largest = 0;
    for (size_t k = 1; k <= 2; k++) {
        memset(there, 0, sizeof there);
        for (size_t i = 3; i < 5; i++)
            for (size_t j = 2; j < 5; j++)
                here[i * WIDE + j] = there[(i + k) * WIDE + j + k - 1] = (rg_real)(0.3 + 0.1 * (double)(i + 2 * j));
        answer_wide(y, &a, m, here);
        answer_wide(y, &b, m, there);
        for (size_t i = 0; i + k < WIDE; i++)
            for (size_t j = 0; j + k - 1 < WIDE; j++) {
                if (i < 1 || j < 1 || i + k + 1 >= WIDE || j + k >= WIDE) continue; /* the border has zeros around it */
                assert_true(fabs(a.map[i * WIDE + j] - b.map[(i + k) * WIDE + j + k - 1]) < 1e-12);
                largest = fmax(largest, fabs(a.map[i * WIDE + j] - a.map[WIDE * WIDE - 1]));
            }
    }
    assert_true(largest > 1e-3);
    rg_model_free(m);
}

/* A front whose grid turns by 90 degrees the other way sees the picture as it was. theta maps what it hands on to
 * where it is read: (x, y) of the upright picture is at (y, -x) or (-y, x) of the turned one. */
static void a_turned_picture_read_by_a_turned_grid_gives_the_same_answer(void **state)
{
    (void)state;
    rg_model *m = make_wide("layers: c3x3 f4\npool: flatten\nfront: stn\nfront-layers: ''");
    rg_real   upright[WIDE * WIDE], turned[WIDE * WIDE];
    double    before[3], after[3], wrong[3];
    rg_real  *theta = NULL;
    for (size_t i = 0; i < rg_params_count(m->params) && !theta; i++) {
        rg_param *e = rg_params_at(m->params, i);
        if (strstr(rg_param_name(e), "theta.b"))
            theta = rg_param_data(e);
    }
    assert_non_null(theta);
    rg_test_fill(upright, WIDE * WIDE, 23, 0, 1);
    for (size_t i = 0; i < WIDE; i++)
        for (size_t j = 0; j < WIDE; j++) turned[j * WIDE + (WIDE - 1 - i)] = upright[i * WIDE + j]; /* clockwise */
    const rg_real back[6] = { -1, -1, 0, 1, -1, 0 }; /* beside the identity: (0 -1 0; 1 0 0) */
    answer_wide(before, NULL, m, upright);
    answer_wide(wrong, NULL, m, turned);
    memcpy(theta, back, sizeof back);
    assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
    answer_wide(after, NULL, m, turned);
    for (size_t c = 0; c < 3; c++) {
        assert_true(fabs(before[c] - after[c]) < 1e-9);
        assert_true(fabs(before[c] - wrong[c]) > 1e-6);
    }
    rg_model_free(m);
}

/* Mean and deviation of many draws; a row has the same draw wherever it stands. */
static void draws_around_a_mean_have_its_moments(void **state)
{
    enum { N = 4000 };
    const rg_tape_config config = { .learn = true, .seed = 9 };
    static rg_real       mean[2 * N];
    rg_tape             *t;
    double               sum[2] = { 0 }, squares[2] = { 0 };
    (void)state;
    for (size_t i = 0; i < 2 * N; i++) mean[i] = i % 2 ? -2 : 1;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_tensor *y = rg_normal_around(t, rg_constant(t, mean, N, 2, NULL), 0.5, 0);
    for (size_t i = 0; i < N; i++)
        for (size_t d = 0; d < 2; d++) {
            const double e = (double)(rg_tensor_at(y, i, d) - mean[2 * i + d]);
            sum[d] += e, squares[d] += e * e;
        }
    for (size_t d = 0; d < 2; d++) assert_true(fabs(sum[d] / N) < 0.03 && fabs(sqrt(squares[d] / N) - 0.5) < 0.03);
    const double kept = (double)rg_tensor_at(y, 7, 1);
    rg_tape_reset(t, 0);
    const rg_tensor *share = rg_normal_around(t, rg_constant(t, mean, 3, 2, NULL), 0.5, 6);
    assert_true((double)rg_tensor_at(share, 1, 1) == kept);
    rg_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pooling_and_front_has_a_correct_gradient),
        cmocka_unit_test(a_picture_is_answered_the_same_alone_and_among_others),
        cmocka_unit_test(a_front_begins_as_the_identity),
        cmocka_unit_test(the_mean_of_the_map_is_the_logit),
        cmocka_unit_test(the_rows_that_enter_are_the_pixels),
        cmocka_unit_test(wrong_layers_are_told),
        cmocka_unit_test(ram_with_given_places_has_a_correct_gradient),
        cmocka_unit_test(rewards_teach_the_places_alone),
        cmocka_unit_test(ram_answers_a_picture_the_same_alone_and_among_others),
        cmocka_unit_test(an_oracle_looks_where_the_box_is),
        cmocka_unit_test(a_map_moves_with_the_picture),
        cmocka_unit_test(a_turned_picture_read_by_a_turned_grid_gives_the_same_answer),
        cmocka_unit_test(draws_around_a_mean_have_its_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
