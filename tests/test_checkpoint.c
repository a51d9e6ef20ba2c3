/* test_checkpoint.c - what is saved comes back bit for bit, and a whole file is there whatever fails (P3, P4, P5,
 * P9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"
#include "support/toy.h"
#include "autograd/params.h"
#include "regard/safetensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) expect_ok((call), #call)
static void expect_ok(rg_status status, const char *call)
{
    if (status != RG_OK) fail_msg("%s: %s", call, rg_message());
}

static char folder[] = "test_checkpoint.XXXXXX";
static char path[64], path_prev[80], other[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/model.st", folder);
    snprintf(path_prev, sizeof path_prev, "%s.prev", path);
    snprintf(other, sizeof other, "%s/other.st", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static int no_files(void **state)
{
    (void)state;
    char command[128];
    faults_no_sync(); /* what is written matters here, not when the disk has it */
    snprintf(command, sizeof command, "rm -f '%s'/*", folder);
    return system(command);
}

typedef struct run {
    toy           toy;
    rg_workers   *workers;
    rg_optimizer *opt;
    rg_state     *state;
} run;

static rg_status open_run_with(run *r, const char *optimizer, double smoothing)
{
    memset(r, 0, sizeof *r);
    rg_workers_config   wc = RG_WORKERS_CONFIG_DEFAULT;
    rg_optimizer_config oc = RG_OPTIMIZER_CONFIG_DEFAULT;
    wc.workers = 2;
    oc.name = optimizer;
    oc.smoothing = smoothing;
    RG_TRY(toy_build(&r->toy, 1));
    RG_TRY(rg_workers_new(&r->workers, r->toy.params, &wc));
    RG_TRY(rg_optimizer_new(&r->opt, r->toy.params, &oc));
    return rg_state_new(&r->state);
}

static rg_status open_run(run *r) { return open_run_with(r, "adam", 1e-2); }

static void close_run(run *r)
{
    rg_state_free(r->state);
    rg_optimizer_free(r->opt);
    rg_workers_free(r->workers);
    toy_free(&r->toy);
}

static void train(run *r, uint64_t from, uint64_t to)
{
    rg_losses losses;
    for (uint64_t step = from; step <= to; step++) OK(toy_step(&losses, &r->toy, r->workers, r->opt, step));
}

static bool same(const run *a, const run *b)
{
    const rg_params *p = a->toy.params, *q = b->toy.params;
    return memcmp(p->block, q->block, p->numbers * sizeof(float)) == 0;
}

static char *read_whole(const char *name, size_t *bytes)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    char *all = malloc(*bytes + 1);
    assert_int_equal(fread(all, 1, *bytes, f), *bytes);
    fclose(f);
    return all;
}

static void write_whole(const char *name, const char *all, size_t bytes)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(all, 1, bytes, f), bytes);
    fclose(f);
}

/* ------------------------------------------------------------------------------------------------------ state */

static void values_come_back_exactly(void **unused)
{
    (void)unused;
    rg_state   *s;
    uint64_t    count;
    double      number;
    const char *text;
    const void *bytes;
    size_t      n;
    OK(rg_state_new(&s));
    OK(rg_state_put_count(s, "step", UINT64_MAX));
    OK(rg_state_put_number(s, "tiny", 0x1.23456789abcdfp-1000));
    OK(rg_state_put_number(s, "best", -INFINITY));
    OK(rg_state_put_text(s, "config", "type: transformer\nlabel-smoothing: 0.1\n\"\xc3\xa9\""));
    OK(rg_state_put_bytes(s, "order", "\0\1\2", 3));
    OK(rg_state_put_bytes(s, "nothing", NULL, 0));
    OK(rg_state_put_count(s, "again", 1));
    OK(rg_state_put_count(s, "again", 2));
    run r;
    OK(open_run(&r));
    OK(rg_checkpoint_save(path, r.toy.params, NULL, s));
    rg_state_clear(s);
    OK(rg_checkpoint_state(path, s));
    OK(rg_state_get_count(&count, s, "step"));
    assert_true(count == UINT64_MAX);
    OK(rg_state_get_number(&number, s, "tiny"));
    assert_true(number == 0x1.23456789abcdfp-1000);
    OK(rg_state_get_number(&number, s, "best"));
    assert_true(number == -INFINITY);
    OK(rg_state_get_text(&text, s, "config"));
    assert_string_equal(text, "type: transformer\nlabel-smoothing: 0.1\n\"\xc3\xa9\"");
    OK(rg_state_get_bytes(&bytes, &n, s, "order"));
    assert_int_equal(n, 3);
    assert_memory_equal(bytes, "\0\1\2", 3);
    OK(rg_state_get_bytes(&bytes, &n, s, "nothing"));
    assert_int_equal(n, 0);
    OK(rg_state_get_count(&count, s, "again"));
    assert_true(count == 2);
    assert_int_equal(rg_state_get_count(&count, s, "config"), RG_EMATCH);
    assert_int_equal(rg_state_get_count(&count, s, "missing"), RG_EMATCH);
    assert_non_null(strstr(rg_message(), "missing"));
    assert_int_equal(rg_state_get_text(&text, s, "order"), RG_EMATCH);
    assert_int_equal(rg_state_get_bytes(&bytes, &n, s, "step"), RG_EMATCH);
    assert_int_equal(rg_state_put_count(s, "two words", 1), RG_EINVAL);
    assert_true(rg_state_has(s, "order") && !rg_state_has(s, "disorder"));
    rg_state_free(s);
    close_run(&r);
}

/* ------------------------------------------------------------------------------------------------------- files */

static void saving_what_was_loaded_gives_the_same_bytes(void **unused)
{
    (void)unused;
    run a, b;
    OK(open_run(&a));
    OK(open_run(&b));
    train(&a, 1, 4);
    OK(rg_state_put_count(a.state, "step", 4));
    OK(rg_state_put_bytes(a.state, "order", "abc", 3));
    OK(rg_checkpoint_save(path, a.toy.params, a.opt, a.state));
    OK(rg_checkpoint_load(path, b.toy.params, b.opt, b.state, NULL));
    assert_true(same(&a, &b));
    assert_int_equal(rg_optimizer_steps(b.opt), 4);
    OK(rg_checkpoint_save(other, b.toy.params, b.opt, b.state));
    size_t n, m;
    char  *x = read_whole(path, &n), *y = read_whole(other, &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
    close_run(&a);
    close_run(&b);
}

static void every_optimiser_resumes_bit_for_bit(void **unused)
{
    (void)unused;
    for (const rg_optimizer_kind *k = rg_optimizer_kinds(); k->name; k++) {
        run whole;
        OK(open_run_with(&whole, k->name, 1e-2));
        train(&whole, 1, 6);
        for (uint64_t at = 1; at < 6; at += 2) {
            run first, second;
            OK(open_run_with(&first, k->name, 1e-2));
            train(&first, 1, at);
            OK(rg_checkpoint_save(path, first.toy.params, first.opt, NULL));
            close_run(&first);
            OK(open_run_with(&second, k->name, 1e-2));
            OK(rg_checkpoint_load(path, second.toy.params, second.opt, NULL, NULL));
            train(&second, at + 1, 6);
            if (!same(&whole, &second)) fail_msg("%s resumed after step %u differs", k->name, (unsigned)at);
            OK(rg_optimizer_swap(second.opt, NULL));
            OK(rg_optimizer_swap(whole.opt, NULL));
            assert_true(same(&whole, &second)); /* the averages too */
            OK(rg_optimizer_swap(whole.opt, NULL));
            close_run(&second);
        }
        close_run(&whole);
    }
}

static void weights_alone_can_be_saved_and_loaded(void **unused)
{
    (void)unused;
    run a, b;
    OK(open_run(&a));
    OK(open_run(&b));
    train(&a, 1, 2);
    OK(rg_checkpoint_save(path, a.toy.params, NULL, NULL));
    OK(rg_checkpoint_load(path, b.toy.params, NULL, NULL, NULL));
    assert_true(same(&a, &b));
    assert_int_equal(rg_checkpoint_load(path, b.toy.params, b.opt, NULL, NULL), RG_EMATCH);
    OK(rg_checkpoint_save(path, a.toy.params, a.opt, NULL));
    OK(rg_checkpoint_load(path, b.toy.params, NULL, NULL, NULL)); /* the optimiser's arrays are passed over */
    close_run(&a);
    close_run(&b);
}

/* Weights cut to the upper half of their bits, as other programs store them. */
static void weights_in_bfloat16_are_loaded(void **unused)
{
    (void)unused;
    run a, b;
    OK(open_run(&a));
    OK(open_run(&b));
    train(&a, 1, 2);
    rg_safetensors_writer *w;
    OK(rg_safetensors_writer_new(&w));
    uint16_t *bits[16] = { 0 };
    for (size_t i = 0; i < rg_params_count(a.toy.params); i++) {
        rg_param    *e = rg_params_at(a.toy.params, i);
        const size_t n = e->rows * e->cols, dims[2] = { e->rows, e->cols };
        assert_true(i < 16 && (bits[i] = rg_alloc(2 * n)) != NULL);
        for (size_t j = 0; j < n; j++) {
            uint32_t word;
            memcpy(&word, &e->data[j], 4);
            word &= 0xFFFF0000u;
            memcpy(&e->data[j], &word, 4);
            bits[i][j] = (uint16_t)(word >> 16);
        }
        OK(rg_safetensors_writer_add(w, e->name, RG_DTYPE_BF16, dims, 2, bits[i]));
    }
    OK(rg_safetensors_writer_save(w, path));
    rg_safetensors_writer_free(w);
    OK(rg_checkpoint_load(path, b.toy.params, NULL, NULL, NULL));
    for (size_t i = 0; i < rg_params_count(a.toy.params); i++) {
        const rg_param *x = rg_params_at(a.toy.params, i), *y = rg_params_at(b.toy.params, i);
        assert_memory_equal(x->data, y->data, x->rows * x->cols * sizeof *x->data);
        rg_free(bits[i]);
    }
    close_run(&a);
    close_run(&b);
}

static void files_of_another_model_are_refused_and_change_nothing(void **unused)
{
    (void)unused;
    const struct { const char *name; size_t rows, cols; const char *says; } rows[] = {
        { "w2", 40, 14, "40 x 13" }, { "w3", 40, 13, "no tensor 'w2'" }, { NULL, 0, 0, "'extra'" },
    };
    for (size_t i = 0; i < 3; i++) {
        rg_params *p;
        run        r, before;
        OK(open_run(&r));
        OK(open_run(&before));
        OK(rg_params_new(&p));
        for (size_t k = 0; k < r.toy.params->count; k++) {
            const rg_param *e = r.toy.params->entry[k];
            bool            change = rows[i].name && strcmp(e->name, "w2") == 0;
            rg_params_add(p, change ? rows[i].name : e->name, e->kind, change ? rows[i].rows : e->rows,
                          change ? rows[i].cols : e->cols, RG_INIT_ONE, 1);
        }
        if (!rows[i].name) rg_params_add(p, "extra", RG_VECTOR, 1, 1, RG_INIT_ONE, 1);
        OK(rg_params_build(p, 1));
        OK(rg_checkpoint_save(path, p, NULL, NULL));
        assert_int_equal(rg_checkpoint_load(path, r.toy.params, NULL, NULL, NULL), RG_EMATCH);
        if (!strstr(rg_message(), rows[i].says)) fail_msg("'%s' does not say %s", rg_message(), rows[i].says);
        assert_true(same(&r, &before));
        rg_params_free(p);
        close_run(&r);
        close_run(&before);
    }
    run adam, sgd;
    OK(open_run(&adam));
    OK(open_run_with(&sgd, "nesterov", 0));
    OK(rg_checkpoint_save(path, adam.toy.params, adam.opt, NULL));
    assert_int_equal(rg_checkpoint_load(path, sgd.toy.params, sgd.opt, NULL, NULL), RG_EMATCH);
    assert_non_null(strstr(rg_message(), "adam"));
    close_run(&adam);
    close_run(&sgd);
}

static void a_value_that_is_not_finite_is_never_saved(void **unused)
{
    (void)unused;
    run r, back;
    OK(open_run(&r));
    OK(open_run(&back));
    OK(rg_checkpoint_rotate(path, r.toy.params, r.opt, NULL));
    float *poisoned[2] = { r.toy.w1->data + 17, r.toy.kept->data };
    for (int i = 0; i < 2; i++) {
        float good = *poisoned[i];
        *poisoned[i] = i ? (float)NAN : INFINITY;
        assert_int_equal(rg_checkpoint_rotate(path, r.toy.params, r.opt, NULL), RG_ENUMBER);
        assert_non_null(strstr(rg_message(), i ? "kept" : "hidden.w"));
        *poisoned[i] = good;
    }
    OK(rg_checkpoint_load(path, back.toy.params, back.opt, NULL, NULL));
    assert_true(same(&r, &back));
    close_run(&r);
    close_run(&back);
}

static void the_one_before_is_kept_and_used_when_the_last_is_broken(void **unused)
{
    (void)unused;
    run   r, back;
    char *found;
    OK(open_run(&r));
    OK(open_run(&back));
    OK(rg_checkpoint_find(&found, path));
    assert_null(found); /* nothing there yet: start from the beginning */
    for (uint64_t step = 1; step <= 3; step++) {
        train(&r, step, step);
        OK(rg_state_put_count(r.state, "step", step));
        OK(rg_checkpoint_rotate(path, r.toy.params, r.opt, r.state));
    }
    OK(rg_checkpoint_find(&found, path));
    assert_string_equal(found, path);
    rg_free(found);

    size_t    n;
    char     *whole = read_whole(path, &n);
    rg_random random = rg_random_new(11, 0);
    for (int i = 0; i < 60; i++) { /* cut anywhere, or one bit flipped anywhere: headers, padding and data */
        size_t at = (size_t)rg_random_below(&random, n);
        if (i % 2) {
            write_whole(path, whole, at);
        } else {
            whole[at] = (char)(whole[at] ^ (1 << i % 8));
            write_whole(path, whole, n);
            whole[at] = (char)(whole[at] ^ (1 << i % 8));
        }
        uint64_t step;
        OK(rg_checkpoint_find(&found, path));
        if (strcmp(found, path_prev) != 0)
            fail_msg("%s at byte %zu of %zu went unnoticed", i % 2 ? "a cut" : "a flip", at, n);
        OK(rg_checkpoint_load(found, back.toy.params, back.opt, back.state, NULL));
        OK(rg_state_get_count(&step, back.state, "step"));
        assert_true(step == 2);
        rg_free(found);
    }
    unlink(path); /* as if killed between the two renames */
    OK(rg_checkpoint_find(&found, path));
    assert_string_equal(found, path_prev);
    rg_free(found);
    write_whole(path, "", 0);
    write_whole(path_prev, "{", 1);
    assert_int_equal(rg_checkpoint_find(&found, path), RG_EFORMAT);
    assert_null(found);
    free(whole);
    close_run(&r);
    close_run(&back);
}

static void an_average_is_the_mean_of_the_parameters(void **unused)
{
    (void)unused;
    run a, b;
    OK(open_run(&a));
    OK(open_run(&b));
    train(&b, 1, 3);
    b.toy.kept->data[1] = 9;
    OK(rg_checkpoint_save(path, a.toy.params, NULL, NULL));
    OK(rg_checkpoint_save(other, b.toy.params, b.opt, NULL));
    float               x = a.toy.w1->data[5], y = b.toy.w1->data[5];
    const char *const   paths[2] = { path, other };
    OK(rg_checkpoint_average(a.toy.params, paths, 2, NULL));
    assert_float_equal(a.toy.w1->data[5], 0.5f * (x + y), 1e-7);
    assert_true(a.toy.kept->data[1] == 9);
    assert_int_equal(rg_checkpoint_average(a.toy.params, paths, 0, NULL), RG_EINVAL);
    close_run(&a);
    close_run(&b);
}

/* ------------------------------------------------------------------------------------------------------ faults */

static rg_status save_twice_and_load(void *context)
{
    run       r;
    (void)context;
    rg_status status = open_run(&r);
    if (status == RG_OK) status = rg_state_put_bytes(r.state, "order", "abc", 3);
    if (status == RG_OK) status = rg_checkpoint_rotate(path, r.toy.params, r.opt, r.state);
    if (status == RG_OK) status = rg_checkpoint_rotate(path, r.toy.params, r.opt, r.state);
    if (status == RG_OK) status = rg_checkpoint_load(path, r.toy.params, r.opt, r.state, NULL);
    close_run(&r);
    return status;
}

static void memory_that_runs_out_is_reported_and_nothing_leaks(void **unused)
{
    (void)unused;
    faults_every_alloc(save_twice_and_load, NULL, NULL, true); /* whether an older file is there can only be tried */
}

static run live; /* what is being trained while saves fail */

static rg_status save_live(void *context)
{
    (void)context;
    return rg_checkpoint_rotate(path, live.toy.params, live.opt, live.state);
}

static void expect_a_whole_file(void *context, rg_status status)
{
    run      back;
    char    *found;
    uint64_t step;
    (void)context, (void)status;
    OK(open_run(&back));
    OK(rg_checkpoint_find(&found, path));
    assert_non_null(found);
    OK(rg_checkpoint_load(found, back.toy.params, back.opt, back.state, NULL));
    OK(rg_state_get_count(&step, back.state, "step"));
    assert_true(step == 2);
    rg_free(found);
    close_run(&back);
}

static void a_save_that_fails_at_any_call_leaves_a_whole_checkpoint(void **unused)
{
    (void)unused;
    OK(open_run(&live));
    train(&live, 1, 2);
    OK(rg_state_put_count(live.state, "step", 2));
    OK(save_live(NULL));
    faults_every_file_call(save_live, NULL, expect_a_whole_file);
    close_run(&live);
}

static void interrupted_and_short_calls_change_nothing(void **unused)
{
    (void)unused;
    run a, b;
    OK(open_run(&a));
    OK(open_run(&b));
    train(&a, 1, 1);
    faults_file_teasing(3);
    OK(rg_checkpoint_rotate(path, a.toy.params, a.opt, NULL));
    OK(rg_checkpoint_load(path, b.toy.params, b.opt, NULL, NULL));
    faults_off();
    assert_true(same(&a, &b));
    close_run(&a);
    close_run(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(values_come_back_exactly, no_files),
        cmocka_unit_test_setup(saving_what_was_loaded_gives_the_same_bytes, no_files),
        cmocka_unit_test_setup(every_optimiser_resumes_bit_for_bit, no_files),
        cmocka_unit_test_setup(weights_alone_can_be_saved_and_loaded, no_files),
        cmocka_unit_test_setup(weights_in_bfloat16_are_loaded, no_files),
        cmocka_unit_test_setup(files_of_another_model_are_refused_and_change_nothing, no_files),
        cmocka_unit_test_setup(a_value_that_is_not_finite_is_never_saved, no_files),
        cmocka_unit_test_setup(the_one_before_is_kept_and_used_when_the_last_is_broken, no_files),
        cmocka_unit_test_setup(an_average_is_the_mean_of_the_parameters, no_files),
        cmocka_unit_test_setup(memory_that_runs_out_is_reported_and_nothing_leaks, no_files),
        cmocka_unit_test_setup(a_save_that_fails_at_any_call_leaves_a_whole_checkpoint, no_files),
        cmocka_unit_test_setup(interrupted_and_short_calls_change_nothing, no_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
