/* weights.h - how a model's weights are kept while it answers: the options of every command that loads one to
 * answer. */
#ifndef RG_CLI_WEIGHTS_H
#define RG_CLI_WEIGHTS_H

#include "regard/autograd.h"
#include "regard/options.h"

typedef struct rg_weights_choice {
    char *weights;
    bool  int8;
} rg_weights_choice;

#define RG_WEIGHTS_OPTIONS(settings, choice)                                                                                                    \
    { RG_OPTION_BOOL, "int8", offsetof(settings, choice.int8), "false", "quantise weights to 8 bits while loading: --weights int8", 0, NULL }, \
    { RG_OPTION_STRING, "weights", offsetof(settings, choice.weights), "stored",                                                             \
      "how weights are kept: as the file says, or converted while loading", 0, RG_WEIGHT_NAMES }

static inline rg_weights rg_weights_chosen(const rg_weights_choice *c)
{
    rg_weights weights = RG_WEIGHT_STORED;
    (void)rg_weights_find(&weights, c->weights); /* the option row has compared the names */
    return c->int8 ? RG_WEIGHT_INT8 : weights;
}

#endif
