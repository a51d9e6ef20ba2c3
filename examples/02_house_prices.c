/* Lesson 2: the price of a house is the mean of similar houses.
 *
 *     price(q) = sum_j softmax(-|q - k_j|^2 / (2 h^2)) v_j          Nadaraya and Watson's kernel regression
 *
 * is attention with the distance score. The bandwidth h is learned here by gradient descent: each house is priced
 * from all the others (a reach of lists that leaves itself out), and log h goes down the slope of the squared error.
 * Then it is compared with the mean of the k nearest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "regard/attention.h"

enum { HOUSES = 1000, SOLD = 700, ATTRIBUTES = 3, STEPS = 31 };

static rg_real house[HOUSES * ATTRIBUTES], price[HOUSES]; /* standardised surface, rooms and garden; price in 100,000 */

static void build_houses(void)
{
    rg_random random = rg_random_new(4, 0);
    for (size_t i = 0; i < HOUSES; i++) {
        double x[ATTRIBUTES];
        for (size_t c = 0; c < ATTRIBUTES; c++) house[i * ATTRIBUTES + c] = (rg_real)(x[c] = rg_random_normal(&random));
        price[i] = (rg_real)(3 + x[0] + 0.5 * sin(2 * x[1]) + 0.4 * x[0] * x[2] + 0.1 * rg_random_normal(&random));
    }
}

static double distance(size_t a, size_t b)
{
    double square = 0;
    for (size_t c = 0; c < ATTRIBUTES; c++)
        square += pow((double)(house[a * ATTRIBUTES + c] - house[b * ATTRIBUTES + c]), 2);
    return square;
}

/* Mean squared error on the houses not sold yet of the mean price of the k nearest sold ones. */
static double nearest_error(size_t k)
{
    double error = 0;
    for (size_t i = SOLD; i < HOUSES; i++) {
        double seen[SOLD], sum = 0;
        for (size_t j = 0; j < SOLD; j++) seen[j] = distance(i, j);
        for (size_t n = 0; n < k; n++) {
            size_t best = 0;
            for (size_t j = 1; j < SOLD; j++)
                if (seen[j] < seen[best]) best = j;
            sum += (double)price[best];
            seen[best] = INFINITY;
        }
        error += pow(sum / (double)k - (double)price[i], 2);
    }
    return error / (HOUSES - SOLD);
}

/* Everybody sold but oneself. */
static rg_status others(rg_reach **out)
{
    size_t   *first = malloc((SOLD + 1) * sizeof *first);
    int32_t  *list = malloc((size_t)SOLD * (SOLD - 1) * sizeof *list);
    rg_status status = RG_ENOMEM;
    if (first && list) {
        first[0] = 0;
        for (size_t i = 0; i < SOLD; i++) {
            size_t n = first[i];
            for (size_t j = 0; j < SOLD; j++)
                if (j != i) list[n++] = (int32_t)j;
            first[i + 1] = n;
        }
        status = rg_reach_new_lists(out, SOLD, SOLD, first, list);
    }
    free(first);
    free(list);
    return status;
}

int main(void)
{
    rg_params          *params = NULL;
    rg_grads           *grads = NULL;
    rg_tape            *tape = NULL;
    rg_reach           *reach = NULL;
    rg_attention        att;
    rg_attention_config config = RG_ATTENTION_CONFIG_DEFAULT;
    config.score = "distance";
    config.learned = true;
    config.bandwidth = 2;
    config.q_width = config.k_width = ATTRIBUTES;
    build_houses();
    if (rg_params_new(&params) != RG_OK || rg_attention_init(&att, &config, params) != RG_OK ||
        rg_params_build(params, 1) != RG_OK || rg_grads_new(&grads, params) != RG_OK || others(&reach) != RG_OK)
        return fprintf(stderr, "%s\n", rg_message()), 1;
    rg_tape_config recording = RG_TAPE_CONFIG_DEFAULT;
    recording.grads = grads;
    if (rg_tape_new(&tape, &recording) != RG_OK) return fprintf(stderr, "%s\n", rg_message()), 1;

    rg_real *log_h = rg_param_data(att.b); /* what the score learns: log(h / 2) */
    double   error = 0;
    for (int step = 0; step < STEPS; step++) {
        rg_tape_reset(tape, (uint64_t)step); /* everything of the last step is gone */
        rg_tensor *x = rg_constant(tape, house, SOLD, ATTRIBUTES, NULL); /* only h learns */
        rg_tensor *guess = rg_attend(tape, &att, x, x, rg_constant(tape, price, SOLD, 1, NULL), reach);
        rg_tensor *loss = rg_scale(tape, rg_squared_error(tape, guess, price), 1.0 / SOLD);
        if (rg_tape_backward(tape, loss) != RG_OK) return fprintf(stderr, "%s\n", rg_message()), 1;
        error = (double)rg_tensor_at(loss, 0, 0);
        if (step % 10 == 0) printf("step %2d   h = %.3f   squared error %.4f\n", step, 2 * exp((double)*log_h), error);
        *log_h -= (rg_real)0.5 * *rg_grads_of(grads, att.b);
    }

    /* Price the houses that are not sold yet: queries and keys are different rows now. */
    const int32_t   unsold[] = { 0, HOUSES - SOLD }, sold[] = { 0, SOLD };
    const rg_layout q = { .groups = 1, .start = unsold }, k = { .groups = 1, .start = sold };
    rg_tape_reset(tape, 0);
    rg_tensor *guess = rg_attend(tape, &att, rg_input(tape, house + SOLD * ATTRIBUTES, HOUSES - SOLD, ATTRIBUTES, &q),
                                 rg_input(tape, house, SOLD, ATTRIBUTES, &k), rg_input(tape, price, SOLD, 1, &k),
                                 rg_reach_groups(tape, &q, &k));
    if (rg_tape_status(tape) != RG_OK) return fprintf(stderr, "%s\n", rg_message()), 1;
    double attention = 0, uniform = INFINITY;
    for (size_t i = SOLD; i < HOUSES; i++)
        attention += pow((double)(rg_tensor_at(guess, i - SOLD, 0) - price[i]), 2) / (HOUSES - SOLD);
    for (size_t n = 1; n <= 24; n++) uniform = fmin(uniform, nearest_error(n));
    printf("unsold houses: learned bandwidth %.4f, best mean of nearest houses %.4f\n", attention, uniform);

    rg_tape_free(tape);
    rg_reach_free(reach);
    rg_grads_free(grads);
    rg_params_free(params);
    return attention < uniform ? 0 : 1;
}
