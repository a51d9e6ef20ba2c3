/* arch_gpt2.c - Hugging Face GPT-2 (Radford et al. 2019): pre-norm blocks, learned places, byte-level BPE. Its weights
 * are Conv1D's, (in, out), as ours are; queries, keys and values already stand side by side. Arrays are named with
 * "transformer." in front (GPT2LMHeadModel) or without (GPT2Model). */
#include "import/huggingface.h"

#define ROWS(at)                                                                                          \
    { "block.#.self.norm.gain", { at "h.#.ln_1.weight" }, 0, 0 },                                         \
        { "block.#.self.norm.bias", { at "h.#.ln_1.bias" }, 0, 0 },                                       \
        { "block.#.self.wqkv", { at "h.#.attn.c_attn.weight" }, 0, 0 },                                   \
        { "block.#.self.bqkv", { at "h.#.attn.c_attn.bias" }, 0, 0 },                                     \
        { "block.#.self.wo", { at "h.#.attn.c_proj.weight" }, 0, 0 },                                     \
        { "block.#.self.bo", { at "h.#.attn.c_proj.bias" }, 0, 0 },                                       \
        { "block.#.ff.norm.gain", { at "h.#.ln_2.weight" }, 0, 0 },                                       \
        { "block.#.ff.norm.bias", { at "h.#.ln_2.bias" }, 0, 0 },                                         \
        { "block.#.ff.inner.w", { at "h.#.mlp.c_fc.weight" }, 0, 0 },                                     \
        { "block.#.ff.inner.b", { at "h.#.mlp.c_fc.bias" }, 0, 0 },                                       \
        { "block.#.ff.outer.w", { at "h.#.mlp.c_proj.weight" }, 0, 0 },                                   \
        { "block.#.ff.outer.b", { at "h.#.mlp.c_proj.bias" }, 0, 0 },                                     \
        { "block.end.gain", { at "ln_f.weight" }, 0, 0 }, { "block.end.bias", { at "ln_f.bias" }, 0, 0 }, \
        { "embedding", { at "wte.weight" }, 0, 0 },                                                       \
    {                                                                                                     \
        "places", { at "wpe.weight" }, 0, 0                                                               \
    }

const rg_import_row rg_gpt2_rows[] = {
    ROWS("transformer."),
    ROWS(""),
    { "output", { "lm_head.weight" }, 0, 0 },
    { NULL, { NULL }, 0, 0 },
};

/* Causal masks that some versions store, and the output's copy of the embedding. */
static const char *const unused[] = { "*.attn.bias", "*.attn.masked_bias", "lm_head.weight", NULL };

static const rg_array *find(const rg_foreign *f, const char *name)
{
    char            whole[80];
    const rg_array *a = rg_arrays_find(&f->arrays, name);
    snprintf(whole, sizeof whole, "transformer.%s", name);
    return a ? a : rg_arrays_find(&f->arrays, whole);
}

static bool fits(const rg_foreign *f)
{
    return (!f->config || rg_hf_is(f, "gpt2")) && find(f, "wte.weight") && find(f, "wpe.weight") &&
           find(f, "h.0.attn.c_attn.weight");
}

static rg_status settings_of(rg_import_plan *p, const rg_foreign *f, size_t width, size_t places)
{
    const json_t *c = f->config;
    const char   *activation = NULL;
    const size_t  with = rg_foreign_layers(f, "transformer.h.#.ln_1.weight", 0),
                 layers = with ? with : rg_foreign_layers(f, "h.#.ln_1.weight", 0);
    const bool tied = rg_config_flag(c, "tie_word_embeddings", true) || !rg_arrays_find(&f->arrays, "lm_head.weight");
    RG_TRY(rg_hf_activation(&activation, c, "activation_function", "gelu_new"));
    if (rg_config_flag(c, "scale_attn_by_inverse_layer_idx", false) || !rg_config_flag(c, "scale_attn_weights", true))
        return rg_fail(RG_EMATCH,
                       "config.json: scores that are scaled otherwise than by the width of a head are not known here");
    return rg_text_print(
        &p->settings,
        "dim-emb: %zu\ntransformer-dim-ffn: %lld\ntransformer-heads: %lld\nlayers: %zu\ntransformer-dropout: %g\n"
        "transformer-dropout-attention: %g\ntransformer-norm: pre\ntransformer-positions: "
        "learned\ntransformer-max-positions: %zu\n"
        "transformer-ffn-activation: %s\nnorm-epsilon: %g\ntied-embeddings: %s\n",
        width, (long long)rg_config_integer(c, "n_inner", 0), (long long)rg_config_integer(c, "n_head", 12), layers,
        rg_config_real(c, "resid_pdrop", 0.1), rg_config_real(c, "attn_pdrop", 0.1), places, activation,
        rg_config_real(c, "layer_norm_epsilon", 1e-5), tied ? "true" : "false");
}

static rg_status plan(rg_import_plan *p, rg_foreign *f)
{
    const rg_array *table = find(f, "wte.weight"), *places = find(f, "wpe.weight");
    rg_vocab       *vocab = NULL;
    if (!f->config) return rg_fail(RG_EMATCH, "config.json is not beside it: it says how many heads there are");
    if (table->ndim != 2 || places->ndim != 2 || places->dims[0] < 1)
        return rg_fail(RG_EMATCH, "wte.weight and wpe.weight are not matrices");
    p->system = "gpt";
    p->rows = rg_gpt2_rows;
    p->unused = unused;
    RG_TRY(settings_of(p, f, table->dims[1], places->dims[0]));
    const int64_t last = (int64_t)table->dims[0] - 1, eos = rg_config_integer(f->config, "eos_token_id", last);
    if (eos < 0 || eos > last)
        return rg_fail(RG_EMATCH, "config.json: eos_token_id is %lld, the table has %zu rows", (long long)eos,
                       table->dims[0]);
    const rg_vocab_table ids = { .bos = (int32_t)eos, .eos = (int32_t)eos, .begin = -1 };
    RG_TRY(rg_hf_bytes(&vocab, f, table->dims[0], NULL, &ids));
    return rg_plan_language(p, vocab, places->dims[0]);
}

const rg_architecture rg_architecture_gpt2 = { "gpt2", "Hugging Face GPT-2", fits, plan };
