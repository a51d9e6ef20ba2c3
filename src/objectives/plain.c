/* The loss of the answers as they are:
 *
 *     L = compare(answer(features(enter(batch)))) */
#include "regard/objective.h"

static rg_loss loss(rg_tape *t, const rg_objective_use *use, const rg_pass *pass)
{
    return (void)t, (void)use, pass->loss;
}

const rg_objective rg_objective_plain = {
    .name = "plain",
    .summary = "the loss of the answers",
    .formula = "L(y, f(x))",
    .whole = true,
    .any_batch = true,
    .loss = loss,
};
