/* State that streams carry: chunks give the numbers of one long sequence, workers share streams, a stopped run
 * resumes with the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/carry.h"
#include "regard/ops.h"
#include "regard/trainer.h"
#include "support/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 3, LONG = 12, CHUNK = 4, D = 5, WORKERS = 2, EPOCHS = 3 };
static const size_t width[] = { D, D };

/* Two layers of h_t = tanh(x_t W + h_t-1 U), x_t one number per stream; the loss is the squared output. */
typedef struct {
    rg_params *params;
    rg_param  *w[2], *u[2];
    rg_carry  *carry;
    rg_real    data[STREAMS * LONG];
    int32_t    start[STREAMS + 1], storage[WORKERS * (STREAMS + 1)];
    rg_batch   whole, share[WORKERS];
    const void *shares[WORKERS];
    size_t     at, asked, stop_at;
    uint64_t   lines[STREAMS];
} toy;

static void make(toy *y)
{
    assert_int_equal(rg_params_new(&y->params), RG_OK);
    for (size_t i = 0; i < 2; i++) {
        rg_params_push(y->params, "%zu", i);
        y->w[i] = rg_params_add(y->params, "w", RG_WEIGHT, i ? D : 1, D, RG_INIT_NORMAL, 0.7);
        y->u[i] = rg_params_add(y->params, "u", RG_WEIGHT, D, D, RG_INIT_NORMAL, 0.7);
        rg_params_pop(y->params);
    }
    assert_int_equal(rg_params_build(y->params, 2), RG_OK);
    assert_int_equal(rg_carry_new(&y->carry, STREAMS, width, 2), RG_OK);
}

static void drop(toy *y)
{
    rg_params_free(y->params);
    rg_carry_free(y->carry);
}

/* Numbers from .. from + n of every stream; values of an example lie side by side. */
static void cut(toy *y, size_t from, size_t n)
{
    for (size_t s = 0; s < STREAMS; s++) {
        y->start[s] = (int32_t)(s * n);
        y->lines[s] = s + 1;
        for (size_t i = 0; i < n; i++) y->data[s * n + i] = (rg_real)((s * 31 + (from + i) * 17) % 13) / 13;
    }
    y->start[STREAMS] = (int32_t)(STREAMS * n);
    y->whole = (rg_batch){
        .examples = STREAMS,
        .fields = 1,
        .lines = y->lines,
        .carry = y->carry,
        .field = { { .layout = { .groups = STREAMS, .start = y->start }, .values = y->data, .width = 1 } }
    };
}

/* The outputs of every step, (examples, D) each, into out[] when it is asked for. */
static rg_loss run(rg_tape *t, const toy *y, const rg_batch *b, rg_real *out)
{
    const size_t n = b->examples, steps = n ? rg_field_rows(&b->field[0]) / n : 0,
                 kept = b->carry_after ? b->carry_after : steps;
    rg_tensor   *h[2] = { rg_carry_read(t, b, 0, D), rg_carry_read(t, b, 1, D) }, *sum = NULL;
    for (size_t i = 0; i < steps; i++) {
        rg_real column[STREAMS];
        for (size_t s = 0; s < n; s++) column[s] = b->field[0].values[s * steps + i];
        rg_tensor *x = rg_constant(t, column, n, 1, NULL);
        for (size_t k = 0; k < 2; k++)
            x = h[k] =
                rg_tanh(t, rg_add(t, rg_matmul(t, x, rg_use(t, y->w[k])), rg_matmul(t, h[k], rg_use(t, y->u[k]))));
        if (i + 1 == kept)
            for (size_t k = 0; k < 2; k++) rg_carry_write(t, b, k, h[k]);
        for (size_t s = 0; out && s < n; s++) memcpy(out + (s * LONG + i) * D, rg_tensor_row(x, s), D * sizeof *out);
        sum = sum ? rg_add(t, sum, rg_sum(t, rg_mul(t, x, x))) : rg_sum(t, rg_mul(t, x, x));
    }
    return (rg_loss){ sum, (double)(n * steps) };
}

static rg_tape *tape(void)
{
    const rg_tape_config c = { .record = false };
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &c), RG_OK);
    return t;
}

static void chunks_give_the_numbers_of_one_long_sequence(void **state)
{
    (void)state;
    toy      y = { 0 };
    rg_tape *t = tape();
    rg_real  once[STREAMS * LONG * D], cuts[STREAMS * LONG * D];
    make(&y);
    for (size_t overlap = 0; overlap < 3; overlap++) { /* k2 - k1: steps that are run again, from a state carried from before them */
        rg_carry_zero(y.carry);
        cut(&y, 0, LONG);
        run(t, &y, &y.whole, once);
        rg_carry_zero(y.carry);
        for (size_t from = 0; from + CHUNK + overlap <= LONG; from += CHUNK)
            for (int pass = 0; pass < 2; pass++) { /* a second pass over the same batch sees the same state */
                if (pass == 0) rg_carry_turn(y.carry);
                rg_tape_reset(t, 0);
                cut(&y, from, CHUNK + overlap);
                y.whole.carry_after = overlap ? CHUNK : 0;
                run(t, &y, &y.whole, cuts + from * D);
                assert_int_equal(rg_tape_status(t), RG_OK);
                for (size_t s = 0; s < STREAMS; s++)
                    assert_memory_equal(once + (s * LONG + from) * D, cuts + (s * LONG + from) * D,
                                        (CHUNK + overlap) * D * sizeof *once);
            }
    }
    rg_tape_free(t);
    drop(&y);
}

static void what_does_not_fit_is_named(void **state)
{
    (void)state;
    toy      y = { 0 };
    rg_tape *t = tape();
    size_t   bytes;
    make(&y);
    cut(&y, 0, 2);
    y.whole.stream = 1;
    assert_null(rg_carry_read(t, &y.whole, 0, D));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    rg_tape_reset(t, 0);
    y.whole.stream = 0;
    assert_null(rg_carry_read(t, &y.whole, 2, D));
    rg_tape_reset(t, 0);
    assert_null(rg_carry_read(t, &y.whole, 0, D + 1));
    rg_tape_reset(t, 0);
    y.whole.carry = NULL;
    assert_int_equal(rg_tensor_cols(rg_carry_read(t, &y.whole, 7, 4)), 4); /* nothing is carried: zeros */
    const void *data = rg_carry_bytes(y.carry, &bytes);
    assert_int_equal(rg_carry_set(y.carry, data, bytes - 1), RG_EMATCH);
    rg_carry *huge;
    const size_t wide[] = { SIZE_MAX / 2 };
    assert_int_equal(rg_carry_new(&huge, 3, wide, 1), RG_ELIMIT);
    rg_tape_free(t);
    drop(&y);
}

/* --------------------------------------------------------------------------------------------------------- training */

static rg_status next(void *context, rg_shares *out)
{
    toy *y = context;
    *out = (rg_shares){ .share = y->shares };
    if (y->at == LONG) return y->at = 0, RG_OK;
    if (y->at == 0) rg_carry_zero(y->carry);
    else rg_carry_turn(y->carry);
    cut(y, y->at, CHUNK);
    y->at += CHUNK;
    for (size_t i = 0; i < WORKERS; i++) {
        rg_batch_share(&y->share[i], y->storage + i * (STREAMS + 1), &y->whole, i, WORKERS);
        y->shares[i] = &y->share[i];
    }
    out->count = WORKERS;
    return RG_OK;
}

static rg_loss loss(void *context, rg_tape *t, const void *share, int worker)
{
    (void)worker;
    return run(t, context, share, NULL);
}

static rg_status save(void *context, rg_state *s)
{
    const toy  *y = context;
    size_t      count;
    const void *bytes = rg_carry_bytes(y->carry, &count);
    RG_TRY(rg_state_put_count(s, "at", y->at));
    return rg_state_put_bytes(s, "carry", bytes, count);
}

static rg_status load(void *context, const rg_state *s)
{
    toy        *y = context;
    uint64_t    at;
    const void *bytes;
    size_t      count;
    RG_TRY(rg_state_get_count(&at, s, "at"));
    RG_TRY(rg_state_get_bytes(&bytes, &count, s, "carry"));
    y->at = (size_t)at;
    return rg_carry_set(y->carry, bytes, count);
}

static bool stop(void *context)
{
    toy *y = context;
    return ++y->asked == y->stop_at;
}

static rg_status train(const char *checkpoint, size_t stop_at, size_t *asked)
{
    toy                    y = { .stop_at = stop_at };
    const rg_trainer_hooks hooks = {
        .context = &y, .next = next, .loss = loss, .save = save, .load = load, .stop = stop
    };
    rg_trainer_config      c = RG_TRAINER_CONFIG_DEFAULT;
    rg_trainer            *trainer;
    uint64_t               step;
    c.workers.workers = WORKERS;
    c.epochs = EPOCHS;
    c.checkpoint = checkpoint;
    make(&y);
    assert_int_equal(rg_trainer_new(&trainer, y.params, &c, &hooks), RG_OK);
    if (rg_trainer_resume(&step, trainer) != RG_OK) fail_msg("%s", rg_message());
    const rg_status status = rg_trainer_run(trainer);
    rg_trainer_free(trainer);
    drop(&y);
    *asked = y.asked;
    return status;
}

static void a_run_resumes_with_what_its_streams_carried(void **state)
{
    (void)state;
    size_t all, asked;
    faults_no_sync();
    assert_int_equal(train("whole.checkpoint", 0, &all), RG_OK);
    assert_true(all >= EPOCHS * LONG / CHUNK);
    for (size_t n = 1; n <= all; n++) {
        remove("part.checkpoint");
        remove("part.checkpoint.prev");
        assert_int_equal(train("part.checkpoint", n, &asked), RG_ESTOP);
        assert_int_equal(train("part.checkpoint", 0, &asked), RG_OK);
        if (system("cmp whole.checkpoint part.checkpoint") != 0) fail_msg("stopped at %zu of %zu: other bytes", n, all);
    }
    faults_off();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_give_the_numbers_of_one_long_sequence),
        cmocka_unit_test(what_does_not_fit_is_named),
        cmocka_unit_test(a_run_resumes_with_what_its_streams_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
