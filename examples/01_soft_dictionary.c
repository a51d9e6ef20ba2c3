/* Lesson 1: a dictionary that forgives.
 *
 * A dictionary gives v_j when q equals k_j. A soft one gives sum_j softmax(beta cos(q, k_j)) v_j: with a large beta the
 * value of the nearest key, with beta = 0 the mean of all. Here 1,000 random keys of 64 numbers, asked with noise of
 * 0.1 on every number, and beta
 * = 50. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "regard/attention.h"

enum { KEYS = 1000, WIDTH = 64, VALUE = 8 };

static rg_real keys[KEYS * WIDTH], queries[KEYS * WIDTH], values[KEYS * VALUE];

static void fill(void)
{
    rg_random random = rg_random_new(1, 0);
    for (size_t j = 0; j < KEYS; j++) {
        double length = 0;
        for (size_t i = 0; i < WIDTH; i++) {
            const double x = rg_random_normal(&random);
            keys[j * WIDTH + i] = (rg_real)x;
            length += x * x;
        }
        for (size_t i = 0; i < WIDTH; i++) {
            keys[j * WIDTH + i] /= (rg_real)sqrt(length);
            queries[j * WIDTH + i] = keys[j * WIDTH + i] + (rg_real)(0.1 * rg_random_normal(&random));
        }
        for (size_t i = 0; i < VALUE; i++) values[j * VALUE + i] = (rg_real)rg_random_normal(&random);
    }
}

/* Which value lies nearest to what was read. */
static size_t nearest(const rg_real *read)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t j = 0; j < KEYS; j++) {
        double square = 0;
        for (size_t i = 0; i < VALUE; i++) square += pow((double)(read[i] - values[j * VALUE + i]), 2);
        if (square < least) least = square, best = j;
    }
    return best;
}

int main(void)
{
    rg_params          *params = NULL;
    rg_tape            *tape = NULL;
    rg_attention        att;
    rg_attention_config config = RG_ATTENTION_CONFIG_DEFAULT;
    rg_tape_config      plain = { .record = false }; /* looking up needs no gradients */
    config.score = "cosine";
    config.sharpness = 50;
    config.q_width = config.k_width = WIDTH;
    if (rg_params_new(&params) != RG_OK || rg_attention_init(&att, &config, params) != RG_OK ||
        rg_params_build(params, 1) != RG_OK || rg_tape_new(&tape, &plain) != RG_OK) {
        fprintf(stderr, "%s\n", rg_message());
        return 1;
    }
    fill();

    /* All thousand questions at once: one group, every query sees every key. prepare() makes unit keys once for all
     * of them. */
    const int32_t   start[] = { 0, KEYS };
    const rg_layout all = { .groups = 1, .start = start };
    rg_tensor      *k = rg_attention_prepare(tape, &att, rg_input(tape, keys, KEYS, WIDTH, &all));
    rg_tensor      *out = rg_attend(tape, &att, rg_input(tape, queries, KEYS, WIDTH, &all), k,
                                    rg_input(tape, values, KEYS, VALUE, &all), rg_reach_groups(tape, &all, &all));
    if (rg_tape_status(tape) != RG_OK) {
        fprintf(stderr, "%s\n", rg_message());
        return 1;
    }
    size_t found = 0;
    for (size_t i = 0; i < KEYS; i++) found += nearest(rg_tensor_row(out, i)) == i;
    printf("%zu of %d questions found their value\n", found, KEYS);
    rg_tape_free(tape);
    rg_params_free(params);
    return found >= 990 ? 0 : 1;
}
