/* activations.c - the names of the functions of one number that layers apply; kernels compute them. */
#include <string.h>

#include "regard/tensor.h"

static const char *const names[RG_ACTIVATIONS] = {
    [RG_IDENTITY] = "identity", [RG_RELU] = "relu",       [RG_LEAKY_RELU] = "leaky_relu", [RG_ELU] = "elu",
    [RG_GELU] = "gelu",         [RG_TANH] = "tanh",       [RG_SIGMOID] = "sigmoid",       [RG_SOFTPLUS] = "softplus",
    [RG_EXP] = "exp",           [RG_LOG] = "log",         [RG_SWISH] = "swish",           [RG_GELU_TANH] = "gelu_tanh",
};

const char *rg_activation_name(rg_activation f)
{
    return (unsigned)f < RG_ACTIVATIONS ? names[f] : "unknown";
}

rg_status rg_activation_find(rg_activation *out, const char *name)
{
    for (int f = 0; f < RG_ACTIVATIONS; f++)
        if (strcmp(names[f], name) == 0) {
            *out = (rg_activation)f;
            return RG_OK;
        }
    return rg_fail(RG_EINVAL, "there is no activation called '%s'; try identity, relu, leaky_relu, elu, gelu, tanh, "
                              "sigmoid, softplus, exp, log, swish or gelu_tanh", name);
}
