/* arch_gat.c - graph attention networks of pytorch-GAT. What scores a node as the one that reads (scoring_fn_target)
 * is our query's half, what scores it as one that is read (scoring_fn_source) the key's; they have no biases. Nodes'
 * features are normalised to sum 1. */
#include "import/foreign.h"

#include "tasks/graph_task.h"

static const rg_import_row rows[] = {
    { "#.w", { "gat_net.#.linear_proj.weight" }, RG_IMPORT_TURN, 0 },
    { "#.b", { "gat_net.#.bias" }, 0, 0 },
    { "#.linear.wq", { "gat_net.#.scoring_fn_target" }, 0, 0 },
    { "#.linear.wk", { "gat_net.#.scoring_fn_source" }, 0, 0 },
    { "#.linear.bq", { "gat_net.#.no_such_bias" }, RG_IMPORT_OPTIONAL, 0 },
    { "#.linear.bk", { "gat_net.#.no_such_bias" }, RG_IMPORT_OPTIONAL, 0 },
    { NULL, { NULL }, 0, 0 },
};

static bool fits(const rg_foreign *f)
{
    return rg_arrays_find(&f->arrays, "gat_net.0.scoring_fn_target") &&
           rg_arrays_find(&f->arrays, "gat_net.0.linear_proj.weight");
}

/* Heads and features of a layer: the two last dimensions of its scoring vectors. */
static rg_status shape_of(size_t *heads, size_t *width, const rg_foreign *f, size_t layer)
{
    char name[80];
    snprintf(name, sizeof name, "gat_net.%zu.scoring_fn_target", layer);
    const rg_array *a = rg_arrays_find(&f->arrays, name);
    if (!a || a->ndim != 3 || a->dims[0] != 1) return rg_fail(RG_EMATCH, "%s is not 1 x heads x features", name);
    *heads = a->dims[1];
    *width = a->dims[2];
    return RG_OK;
}

static rg_status plan(rg_import_plan *p, rg_foreign *f)
{
    const size_t    layers = rg_foreign_layers(f, "gat_net.#.linear_proj.weight", 0);
    const rg_array *first = rg_arrays_find(&f->arrays, "gat_net.0.linear_proj.weight");
    size_t          heads = 0, width = 0, last_heads = 0, classes = 0;
    RG_TRY(shape_of(&heads, &width, f, 0));
    RG_TRY(shape_of(&last_heads, &classes, f, layers - 1));
    for (size_t i = 0; i + 1 < layers; i++) {
        size_t h = 0, w = 0;
        RG_TRY(shape_of(&h, &w, f, i));
        if (h != heads || w != width)
            return rg_fail(RG_EMATCH,
                           "layer %zu has %zu heads of %zu features, the first %zu of %zu; they must be equal here", i,
                           h, w, heads, width);
    }
    if (rg_config_flag(f->arrays.about, "add_skip_connection", false))
        return rg_fail(RG_EMATCH, "skip connections with weights of their own are not known here");
    if (first->ndim != 2) return rg_fail(RG_EMATCH, "gat_net.0.linear_proj.weight has %zu dimensions", first->ndim);
    rg_graph_assets *assets = rg_alloc_zero(sizeof *assets);
    if (!assets) return RG_ENOMEM;
    assets->normalize = true;
    p->assets = assets;
    p->system = "gat";
    p->rows = rows;
    p->drop = NULL;
    p->sizes = (rg_sizes){ { { "features", first->dims[1] }, { "classes", classes } } };
    return rg_text_print(&p->settings,
                         "layers: %zu\nheads: %zu\nwidth: %zu\noutput-heads: %zu\ndropout: %g\ndropout-attention: %g\n",
                         layers, heads, width, last_heads, rg_config_real(f->arrays.about, "dropout", 0.6),
                         rg_config_real(f->arrays.about, "dropout", 0.6));
}

const rg_architecture rg_architecture_gat = { "gat", "graph attention network of pytorch-GAT", fits, plan };
