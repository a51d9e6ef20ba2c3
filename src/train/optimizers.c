/* optimizers.c - the table of optimisers. A row names a rule of tensor/optimise.h and the arrays it keeps. */
#include <string.h>

#include "train/optimizer.h"

static const rg_optimizer_kind kinds[] = {
    { "sgd", "gradient descent with momentum a (0: none)", "Polyak 1964", .rate = 0.1, .a = 0 },
    { "nesterov", "momentum whose gradient looks one step ahead", "Nesterov 1983; Sutskever et al. 2013", .rate = 0.1,
      .a = 0.9 },
    { "adam", "steps of the size of the learning rate; betas a, b", "Kingma, Ba 2015", .rate = 3e-4, .a = 0.9,
      .b = 0.98, .eps = 1e-9 },
    { "adamw", "Adam with decay apart from the gradient", "Loshchilov, Hutter 2019", .rate = 1e-3, .a = 0.9, .b = 0.999,
      .eps = 1e-8 },
    { "adadelta", "steps scaled by the running size of earlier steps", "Zeiler 2012", .rate = 1, .b = 0.95,
      .eps = 1e-6 },
    { "adagrad", "rates fall with the sum of squared gradients", "Duchi, Hazan, Singer 2011", .rate = 0.15,
      .eps = 1e-10 },
    { "rmsprop", "gradient over its running size, with momentum a", "Tieleman, Hinton 2012", .rate = 1e-3, .a = 0,
      .b = 0.99, .eps = 1e-8 },
    { "rmsprop-centred", "the same over the running deviation", "Graves 2013", .rate = 1e-3, .a = 0, .b = 0.99,
      .eps = 1e-8 },
    { "graves", "centred RMSprop as printed: epsilon under the root", "Graves 2013, equations 38-41", .rate = 1e-4,
      .a = 0.9, .b = 0.95, .eps = 1e-4 },
    { .name = NULL }
};

static const rg_optimizer_row rows[] = {
    { RG_RULE_MOMENTUM, .m = true },
    { RG_RULE_NESTEROV, .m = true },
    { RG_RULE_ADAM, .m = true, .v = true },
    { RG_RULE_ADAM, .m = true, .v = true, .decoupled = true },
    { RG_RULE_ADADELTA, .v = true, .d = true },
    { RG_RULE_ADAGRAD, .v = true },
    { RG_RULE_RMSPROP, .m = true, .v = true },
    { RG_RULE_CENTRED, .m = true, .v = true, .d = true },
    { RG_RULE_GRAVES, .m = true, .v = true, .d = true },
};
_Static_assert(sizeof rows / sizeof *rows + 1 == sizeof kinds / sizeof *kinds, "a row for each optimiser");

const rg_optimizer_kind *rg_optimizer_kinds(void) { return kinds; }

rg_status rg_optimizer__find(const rg_optimizer_kind **out, rg_optimizer_row *row, const char *name)
{
    for (size_t i = 0; kinds[i].name; i++)
        if (name && strcmp(kinds[i].name, name) == 0) {
            *out = &kinds[i];
            *row = rows[i];
            return RG_OK;
        }
    char   known[256] = "";
    size_t at = 0;
    for (size_t i = 0; kinds[i].name; i++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", kinds[i].name);
    return rg_fail(RG_EINVAL, "there is no optimiser '%s'; there are %s", name ? name : "", known);
}
