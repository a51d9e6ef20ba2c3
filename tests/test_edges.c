/* test_edges.c - attention over edges in one pass, in float: kernels of every table, equality with the pair path,
 * bits, memory. */
#include "attention/fused.h"
#include "attention/pairs.h"
#include "support/gradient.h"
#include "tensor/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* --------------------------------------------------------------------------------------------------------- kernels */

enum { QUERIES = 9, KEYS = 13, MOST_HEADS = 17, MOST_WIDTH = 70, MOST_PAIRS = 64 };

/* Query i has i pairs; transposed lists have no order of their own here. */
static size_t make_lists(size_t *first, int32_t *key, size_t *pair)
{
    first[0] = 0;
    for (size_t i = 0; i < QUERIES; i++) {
        first[i + 1] = first[i] + i;
        for (size_t p = first[i]; p < first[i + 1]; p++) key[p] = (int32_t)((p * 5 + i) % KEYS), pair[p] = (p * 7) % 36;
    }
    return first[QUERIES];
}

static void near(const char *table, const char *what, const rg_real *a, const rg_real *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= 4e-6f * fmaxf(1, fabsf(b[i]))))
            fail_msg("%s: %s: number %zu is %.8g, plain gives %.8g", table, what, i, (double)a[i], (double)b[i]);
}

static void sums_over_lists_of_every_table_equal_the_plain_ones(void **state)
{
    (void)state;
    static const size_t heads[] = { 1, 2, 8, 9, 16 }, widths[] = { 1, 4, 7, 8, 16, 20, 70 };
    static rg_real      a[MOST_PAIRS * MOST_HEADS], x[MOST_PAIRS * MOST_HEADS * MOST_WIDTH],
        y[2][MOST_HEADS * MOST_WIDTH + 1];
    size_t              first[QUERIES + 1], pair[MOST_PAIRS];
    int32_t             key[MOST_PAIRS];
    const size_t        P = make_lists(first, key, pair);
    rg_test_fill(a, sizeof a / sizeof *a, 1, -1, 1);
    rg_test_fill(x, sizeof x / sizeof *x, 2, -1, 1);
    assert_int_equal(P, 36);
    for (const rg_kernels *const *k = rg_kernels_all(); *k; k++)
        for (size_t which = 0; which < 5 * 7 * 8; which++) {
            const size_t H = heads[which / 8 % 5], d = widths[which / 40], n = which % 3 ? P - 3 : 0;
            const bool   add = which & 1, through = which & 2, far = which & 4;
            for (int s = 0; s < 2; s++) {
                const rg_kernels *table = s ? *k : rg_kernels_all()[0];
                rg_test_fill(y[s], H * d + 1, 3, -1, 1);
                table->lists_mix(n, H, d, y[s], add, a, MOST_HEADS, through ? pair : NULL, x, H * d + 1, key,
                                 far ? 3 : 0);
            }
            near((*k)->name, "weighted sums", y[1], y[0], H * d + 1); /* and nothing behind them is touched */
            for (int s = 0; s < 2; s++) {
                rg_test_fill(y[s], H + 1, 3, -1, 1);
                (s ? *k : rg_kernels_all()[0])->lists_sum(n, H, y[s], add, x, through ? pair : NULL);
            }
            near((*k)->name, "sums", y[1], y[0], H + 1);
        }
}

/* Room that seats, weights and slopes of one table go to. */
typedef struct {
    rg_real a[2 * MOST_PAIRS * MOST_HEADS], seats[QUERIES * 4 * MOST_HEADS], steep[QUERIES * 4 * MOST_HEADS],
        ds[MOST_PAIRS * MOST_HEADS], again[MOST_PAIRS * MOST_HEADS], dz[MOST_HEADS];
} edge_numbers;

static void weigh_and_go_back(edge_numbers *to, const rg_kernels *k, size_t H, size_t d, const size_t *first,
                              const int32_t *key, const uint8_t *bits, size_t more)
{
    static rg_real u[QUERIES * MOST_HEADS], z[KEYS * MOST_HEADS], v[MOST_HEADS * 9], dout[QUERIES * MOST_HEADS * 9],
        bias[MOST_PAIRS];
    const size_t   from = 2, pairs = first[QUERIES] - first[from];
    size_t         pair[QUERIES];
    int32_t        query[QUERIES];
    rg_test_fill(u, sizeof u / sizeof *u, 1, -4, 4);
    rg_test_fill(z, sizeof z / sizeof *z, 2, -4, 4);
    rg_test_fill(v, sizeof v / sizeof *v, 3, -1, 1);
    rg_test_fill(dout, sizeof dout / sizeof *dout, 4, -1, 1);
    rg_test_fill(to->dz, MOST_HEADS, 5, -1, 1);
    rg_test_fill(bias, MOST_PAIRS, 6, -1, 1);
    memset(to->ds, 0, sizeof to->ds);
    k->edges_weigh(QUERIES - from, first + from, key + first[from], H, to->a, u, MOST_HEADS, z, MOST_HEADS, 0.2f,
                   more ? bias + first[from] : NULL, NULL, bits, bits ? 2 : 1);
    memcpy(to->again, to->a, pairs * H * sizeof *to->a);
    k->edges_weigh(QUERIES - from, first + from, key + first[from], H, to->a, u, MOST_HEADS, z, MOST_HEADS, 0.2f,
                   more ? bias + first[from] : NULL, to->seats, bits, bits ? 2 : 1);
    assert_memory_equal(to->again, to->a, pairs * H * sizeof *to->a); /* seats or none */
    memcpy(to->steep, to->seats, sizeof to->steep);
    for (size_t i = 0; i < QUERIES - from; i++)
        for (size_t h = 0; h < H; h++) to->seats[(4 * i + 3) * H + h] = (rg_real)(i + 1) / (rg_real)(h + 2);
    for (size_t t = 0; t < QUERIES - from; t++) pair[t] = first[from + t + 1] - 1, query[t] = (int32_t)t; /* the last pair of each query */
    k->edges_back(QUERIES - from - 1 - more, H, d, more ? NULL : to->ds, to->again, to->dz, pair + 1, query + 1,
                  to->seats, dout, MOST_HEADS * 9, z, v, 0.2f, more ? bias : NULL, bits, bits ? 2 : 1, more);
}

static void weights_of_edges_and_the_way_back_of_every_table_equal_the_plain_ones(void **state)
{
    (void)state;
    static const size_t  heads[] = { 1, 3, 4, 8, 8, 11, 16, 17 }, widths[] = { 7, 3, 9, 8, 5, 2, 8, 1 };
    static edge_numbers  got, want;
    static uint8_t       mask[MOST_PAIRS * MOST_HEADS / 8];
    size_t               first[QUERIES + 1], pair[MOST_PAIRS];
    int32_t              key[MOST_PAIRS];
    const size_t         P = make_lists(first, key, pair), pairs = P - first[2];
    for (size_t i = 0; i < sizeof mask; i++) mask[i] = (uint8_t)(i * 89 + 53);
    for (const rg_kernels *const *k = rg_kernels_all(); *k; k++)
        for (size_t which = 0; which < 8 * 4; which++) {
            const size_t   H = heads[which / 4], d = widths[which / 4], more = which & 2;
            const uint8_t *bits = which & 1 ? mask : NULL;
            weigh_and_go_back(&want, rg_kernels_all()[0], H, d, first, key, bits, more);
            weigh_and_go_back(&got, *k, H, d, first, key, bits, more);
            near((*k)->name, "weights", got.a, want.a, pairs * H);
            near((*k)->name, "bent weights", got.a + pairs * H, want.a + pairs * H, pairs * H);
            near((*k)->name, "seats", got.steep, want.steep, (QUERIES - 2) * 4 * H);
            near((*k)->name, "slopes", got.ds, want.ds, MOST_PAIRS * MOST_HEADS); /* and other pairs are left alone */
            near((*k)->name, "weights again", got.again, want.again, (QUERIES - 3 - more) * H);
            near((*k)->name, "sums of slopes", got.dz, want.dz, MOST_HEADS);
        }
}

static void a_kept_mask_drops_what_drawing_anew_drops(void **state)
{
    (void)state;
    enum { MOST = 700 };
    const uint32_t key[2] = { 5, 6 };
    rg_real        x[MOST], y[2][MOST + 1];
    uint8_t        bits[MOST / 8 + 2];
    rg_test_fill(x, MOST, 1, -1, 1);
    for (const rg_kernels *const *k = rg_kernels_all(); *k; k++)
        for (size_t n = 0; n < MOST; n += n < 70 ? 1 : 209)
            for (uint64_t from = 0; from < 6; from++) {
                const bool   add = n & 1;
                const size_t bytes = (n + 7) / 8;
                memset(bits, 0xee, sizeof bits);
                (*k)->dropout_mask(n, bits, 0.3f, key, 9, from);
                assert_int_equal(bits[bytes], 0xee);
                if (n % 8) assert_int_equal(bits[bytes - 1] >> n % 8, 0);
                for (int s = 0; s < 2; s++) rg_test_fill(y[s], MOST + 1, 3, -1, 1);
                (*k)->dropout(n, y[0], x, 0.3f, key, 9, from, add);
                (*k)->dropout_by(n, y[1], x, 0.3f, bits, add);
                assert_memory_equal(y[0], y[1], sizeof y[0]);
            }
}

static void masks_as_bits_of_every_table_equal_the_plain_ones_and_keep_the_right_share(void **state)
{
    (void)state;
    enum { BYTES = 8003, MOST = 1 + 17 * 30 };
    const uint32_t key[2] = { 5, 6 };
    rg_real        value[30], a[2][MOST];
    static uint8_t bits[BYTES + 1], plain[BYTES];
    size_t         pair[30];
    rg_test_fill(value, 30, 1, 0.5, 1);
    for (size_t t = 0; t < 30; t++) pair[t] = t * 7 % 30;
    for (const rg_kernels *const *k = rg_kernels_all(); *k; k++) {
        size_t kept = 0;
        bits[BYTES] = 77;
        (*k)->dropout_bits(BYTES, bits, 0.6f, key, 9, ((uint64_t)1 << 32) - 64); /* over the end of the first word of the counter */
        rg_kernels_all()[0]->dropout_bits(BYTES, plain, 0.6f, key, 9, ((uint64_t)1 << 32) - 64);
        assert_memory_equal(bits, plain, BYTES);
        assert_int_equal(bits[BYTES], 77);
        for (size_t i = 0; i < 8 * BYTES; i++) kept += bits[i / 8] >> i % 8 & 1;
        assert_true(fabs((double)kept / (8 * BYTES) - 0.4) < 4 * sqrt(0.24 / (8 * BYTES)));
        static const size_t heads[] = { 1, 3, 8, 16, 17 };
        for (size_t h = 0; h < 5; h++)
            for (int through = 0; through < 2; through++) {
                for (int s = 0; s < 2; s++) {
                    a[s][30 * heads[h]] = 7;
                    (s ? *k : rg_kernels_all()[0])
                        ->lists_expand(through ? 30 : 20, heads[h], a[s], bits, value, 2.5f, through ? pair : NULL, 10);
                }
                assert_memory_equal(a[0], a[1], (through ? 30 : 20) * heads[h] * sizeof(rg_real));
                assert_true(a[1][30 * heads[h]] == 7);
            }
    }
}

/* ---------------------------------------------------------------------------------------------------- one attention */

enum { NODES = 700, EDGES = 4000, HEADS = 8, WIDTH = 8 };

/* Node 0 sees everybody, some nodes nobody. */
static rg_reach *graph(bool self)
{
    static int32_t from[EDGES], to[EDGES];
    rg_reach      *r = NULL;
    size_t         P = 0;
    for (int32_t j = 1; j < NODES; j++) from[P] = j, to[P++] = 0;
    for (int32_t i = 1; i < NODES && P + 8 < EDGES; i++)
        for (int32_t s = 0; s < i % 9; s++)
            from[P] = (i * 31 + s * 97 + 1) % NODES == i ? 0 : (i * 31 + s * 97 + 1) % NODES, to[P++] = i;
    if (rg_reach_new_edges(&r, NODES, P, from, to, self) != RG_OK) fail_msg("%s", rg_message());
    return r;
}

typedef struct {
    rg_real out[NODES * HEADS * WIDTH], d[3][NODES * HEADS * WIDTH];
} result;

/* u and z are columns of one wider thing. */
static void run(result *to, const rg_reach *plain, size_t H, size_t d, double dropout, bool biased, bool general,
                int members)
{
    static rg_real x[3][NODES * HEADS * WIDTH * 2], dout[NODES * HEADS * WIDTH], weight[EDGES + NODES], ones[HEADS];
    rg_team       *team = NULL;
    rg_tape       *t = NULL;
    for (uint64_t i = 0; i < 3; i++) rg_test_fill(x[i], sizeof x[i] / sizeof *x[i], i + 1, -2, 2);
    rg_test_fill(dout, sizeof dout / sizeof *dout, 9, -1, 1);
    rg_test_fill(weight, sizeof weight / sizeof *weight, 10, -1, 1);
    for (size_t h = 0; h < HEADS; h++) ones[h] = 1;
    assert_int_equal(rg_team_new(&team, members), RG_OK);
    rg_tape_config config = { .record = true, .learn = true, .team = team, .seed = 5 };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_reset(t, 3);
    rg_tensor *both = rg_input(t, x[0], NODES, 2 * H, NULL), *v = rg_input(t, x[2], NODES, H * d, NULL);
    rg_tensor *u = rg_columns(t, both, 0, H), *z = rg_columns(t, both, H, H), *out;
    rg_reach   leaning = *plain;
    leaning.bias = biased ? weight : NULL;
    const rg_reach *r = &leaning;
    if (general) {
        rg_tensor *e = rg_map(t, rg_pairs_add(t, u, z, r), RG_LEAKY_RELU);
        if (biased) e = rg_add(t, e, rg_matmul(t, rg_borrow(t, weight, r->P, 1, 1), rg_borrow(t, ones, 1, H, H)));
        out = rg_mix(t, rg_dropout(t, rg_softmax_over(t, e, r), dropout), v, r);
    } else out = rg_fused_linear(t, u, z, v, r, 0.2, dropout);
    assert_non_null(out);
    assert_int_equal(rg_tape_backward_from(t, out, dout), RG_OK);
    memcpy(to->out, rg_tensor_data(out), NODES * H * d * sizeof(rg_real));
    memcpy(to->d[0], rg_tape_gradient(t, both), NODES * 2 * H * sizeof(rg_real));
    memcpy(to->d[1], rg_tape_gradient(t, v), NODES * H * d * sizeof(rg_real));
    rg_tape_free(t);
    rg_team_free(team);
}

static void agree(const char *what, size_t H, const rg_real *a, const rg_real *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= 2e-5f * fmaxf(1, fabsf(b[i]))))
            fail_msg("%s with %zu heads: number %zu is %.8g, the pair path gives %.8g", what, H, i, (double)a[i],
                     (double)b[i]);
}

static void the_linear_score_in_one_pass_equals_the_pair_path_with_and_without_dropout(void **state)
{
    (void)state;
    static result a, b;
    static const size_t heads[] = { 1, 8, 3 }, widths[] = { 7, 8, 5 };
    for (int self = 0; self < 2; self++) {
        rg_reach *r = graph(self);
        for (size_t i = 0; i < 12; i++) {
            const size_t H = heads[i % 3], d = widths[i % 3];
            const double drop = i / 3 % 2 ? 0 : 0.6;
            run(&a, r, H, d, drop, i >= 6, false, 2);
            run(&b, r, H, d, drop, i >= 6, true, 1);
            agree("out", H, a.out, b.out, NODES * H * d);
            agree("gradient of the halves", H, a.d[0], b.d[0], NODES * 2 * H);
            agree("gradient of values", H, a.d[1], b.d[1], NODES * H * d);
        }
        rg_reach_free(r);
    }
}

static void the_size_of_the_team_changes_no_bit(void **state)
{
    (void)state;
    static result a, b;
    rg_reach     *r = graph(true);
    for (int members = 2; members < 6; members++)
        for (size_t H = 1; H <= HEADS; H += 7) {
            memset(&a, 0, sizeof a), memset(&b, 0, sizeof b);
            run(&a, r, H, WIDTH, 0.6, H == 1, false, 1);
            run(&b, r, H, WIDTH, 0.6, H == 1, false, members);
            assert_memory_equal(&a, &b, sizeof a);
        }
    rg_reach_free(r);
}

static void rg_attend_drops_weights_the_same_way_on_both_paths(void **state)
{
    (void)state;
    enum { D = HEADS * WIDTH };
    static rg_real x[NODES * D];
    rg_reach      *r = graph(true);
    rg_attention   att;
    rg_params     *params;
    rg_tape       *t;
    rg_test_fill(x, NODES * D, 4, -1, 1);
    for (size_t s = 0; s < 2; s++) {
        rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
        c.score = s ? "scaled_dot" : "linear"; /* the second has no path of its own over edges */
        c.heads = HEADS;
        c.q_width = c.k_width = D;
        c.activation = RG_LEAKY_RELU;
        c.dropout = 0.5;
        assert_int_equal(rg_params_new(&params), RG_OK);
        assert_int_equal(rg_attention_init(&att, &c, params), RG_OK);
        assert_int_equal(rg_params_build(params, 4), RG_OK);
        rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
        assert_int_equal(rg_tape_new(&t, &config), RG_OK);
        rg_tensor *q = rg_input(t, x, NODES, D, NULL), *k = rg_attention_prepare(t, &att, q),
                  *one = rg_attend(t, &att, q, k, q, r);
        rg_tape_reset(t, 0);
        assert_non_null(one);
        q = rg_input(t, x, NODES, D, NULL), k = rg_attention_prepare(t, &att, q), one = rg_attend(t, &att, q, k, q, r);
        static rg_real kept[NODES * D];
        memcpy(kept, rg_tensor_data(one), sizeof kept);
        rg_tape_reset(t, 0);
        q = rg_input(t, x, NODES, D, NULL), k = rg_attention_prepare(t, &att, q);
        rg_tensor *two = rg_mix(t, rg_dropout(t, rg_weigh(t, &att, q, k, r), 0.5), q, r);
        assert_int_equal(rg_tape_status(t), RG_OK);
        agree(c.score, HEADS, kept, rg_tensor_data(two), NODES * D);
        rg_tape_learn(t, false);
        rg_tensor *plain = rg_attend(t, &att, q, k, q, r), *whole = rg_mix(t, rg_weigh(t, &att, q, k, r), q, r);
        agree(c.score, HEADS, rg_tensor_data(plain), rg_tensor_data(whole), NODES * D);
        rg_tape_free(t);
        rg_params_free(params);
    }
    rg_reach_free(r);
}

static void a_row_out_of_sight_may_be_anything(void **state)
{
    (void)state;
    static rg_real  u[6], z[6], v[6] = { 1, 2, 3, NAN, 5, 6 };
    const size_t    first[] = { 0, 2, 2, 4 };
    const int32_t   key[] = { 0, 2, 4, 1 };
    rg_tape_config  config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape        *t;
    z[3] = NAN;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_reach *r = rg_reach_lists(t, 3, 6, first, key);
    rg_tensor      *out = rg_fused_linear(t, rg_input(t, u, 3, 1, NULL), rg_input(t, z, 6, 1, NULL),
                                          rg_input(t, v, 6, 1, NULL), r, 0.2, 0);
    assert_int_equal(rg_tape_status(t), RG_OK);
    assert_float_equal(rg_tensor_at(out, 0, 0), 2, 1e-6);
    assert_float_equal(rg_tensor_at(out, 1, 0), 0, 0); /* sees nobody */
    assert_float_equal(rg_tensor_at(out, 2, 0), 3.5, 1e-6);
    rg_tape_free(t);
}

/* docs/models/gat.md: one bit per pair and head, whatever else is linear in the nodes. */
static void memory_is_one_bit_a_pair_and_head(void **state)
{
    (void)state;
    rg_reach      *r = graph(true);
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    static rg_real x[NODES * HEADS * WIDTH];
    rg_test_fill(x, NODES * HEADS * WIDTH, 1, -1, 1);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *u = rg_input(t, x, NODES, HEADS, NULL), *v = rg_input(t, x, NODES, HEADS * WIDTH, NULL),
              *out = rg_fused_linear(t, u, u, v, r, 0.2, 0.6);
    assert_int_equal(rg_tape_backward_from(t, out, x), RG_OK);
    const size_t nodes = NODES * (7 * HEADS + 5 * HEADS * WIDTH) * sizeof(rg_real), pairs = r->P * HEADS / 8;
    if (rg_tape_get_cost(t).bytes > nodes + pairs + 4096)
        fail_msg("%zu bytes, more than %zu", rg_tape_get_cost(t).bytes, nodes + pairs + 4096);
    rg_tape_free(t);
    rg_reach_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_lists_of_every_table_equal_the_plain_ones),
        cmocka_unit_test(weights_of_edges_and_the_way_back_of_every_table_equal_the_plain_ones),
        cmocka_unit_test(a_kept_mask_drops_what_drawing_anew_drops),
        cmocka_unit_test(masks_as_bits_of_every_table_equal_the_plain_ones_and_keep_the_right_share),
        cmocka_unit_test(the_linear_score_in_one_pass_equals_the_pair_path_with_and_without_dropout),
        cmocka_unit_test(the_size_of_the_team_changes_no_bit),
        cmocka_unit_test(rg_attend_drops_weights_the_same_way_on_both_paths),
        cmocka_unit_test(a_row_out_of_sight_may_be_anything),
        cmocka_unit_test(memory_is_one_bit_a_pair_and_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
