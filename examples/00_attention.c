/* Lesson 0: attention is three lines.
 *
 *     e = how well the query fits each key        a = softmax(e)        out = sum a v
 *
 * The worked example of many lectures: q . k is 112 and 96, keys are 64 wide, 112 / 8 = 14 and 96 / 8 = 12, and the
 * softmax of 14 and 12 is 0.88 and 0.12. Build: cc 00_attention.c -lregard */
#include <math.h>
#include <stdio.h>

#include "regard/attention.h"

int main(void)
{
    rg_params          *params = NULL; /* this score learns nothing; others would declare their weights here */
    rg_tape            *tape = NULL;
    rg_attention        att;
    rg_attention_config config = RG_ATTENTION_CONFIG_DEFAULT; /* scaled_dot, one head */
    rg_tape_config      recording = RG_TAPE_CONFIG_DEFAULT;

    if (rg_params_new(&params) != RG_OK || rg_attention_init(&att, &config, params) != RG_OK ||
        rg_params_build(params, 1) != RG_OK || rg_tape_new(&tape, &recording) != RG_OK) {
        fprintf(stderr, "%s\n", rg_message());
        return 1;
    }

    rg_real query[64] = { 1 }, keys[2 * 64] = { 0 }, values[2] = { 10, 20 };
    keys[0] = 112; /* first key   */
    keys[64] = 96; /* second key  */

    /* Everything is rows: one query, two keys, two values one column wide. The reach lets the query see keys 0 and
     * 1. */
    const int32_t   begin = 0, end = 2;
    const rg_reach *reach = rg_reach_intervals(tape, 1, 2, &begin, &end);
    rg_tensor      *q = rg_input(tape, query, 1, 64, NULL), *k = rg_input(tape, keys, 2, 64, NULL),
              *v = rg_input(tape, values, 2, 1, NULL);

    rg_tensor *a = rg_weigh(tape, &att, q, k, reach);
    rg_tensor *out = rg_mix(tape, a, v, reach); /* rg_attend does both, without storing the weights */

    /* Ops never return an error; the first failure stays on the tape. */
    if (rg_tape_status(tape) != RG_OK) {
        fprintf(stderr, "%s\n", rg_message());
        return 1;
    }
    printf("weights %.2f and %.2f, output %.2f\n", (double)rg_tensor_at(a, 0, 0), (double)rg_tensor_at(a, 1, 0),
           (double)rg_tensor_at(out, 0, 0));

    /* The same tape knows the backward pass: d out / d v is the weights. */
    const rg_real one = 1;
    if (rg_tape_backward_from(tape, out, &one) != RG_OK) return 1;
    const rg_real *dv = rg_tape_gradient(tape, v);
    printf("d out / d v   %.2f and %.2f\n", (double)dv[0], (double)dv[1]);

    const double first = 1 / (1 + exp(-2));
    const int    right = fabs((double)rg_tensor_at(a, 0, 0) - first) < 1e-6 && fabs((double)dv[0] - first) < 1e-6;
    rg_tape_free(tape);
    rg_params_free(params);
    return right ? 0 : 1;
}
