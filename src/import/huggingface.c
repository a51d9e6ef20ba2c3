/* huggingface.c - see huggingface.h. Linear layers are stored (out, in). */
#include "import/huggingface.h"

#include <string.h>

#include "data/text/vocab_files.h"

#define STACK(ours, theirs)                                                                                                            \
    { ours ".#.self.wqkv", { theirs ".self_attn.q_proj.weight", theirs ".self_attn.k_proj.weight", theirs ".self_attn.v_proj.weight" }, RG_IMPORT_TURN, 0 }, \
    { ours ".#.self.bqkv", { theirs ".self_attn.q_proj.bias", theirs ".self_attn.k_proj.bias", theirs ".self_attn.v_proj.bias" }, 0, 0 }, \
    { ours ".#.self.wo", { theirs ".self_attn.out_proj.weight" }, RG_IMPORT_TURN, 0 },                                                 \
    { ours ".#.self.bo", { theirs ".self_attn.out_proj.bias" }, 0, 0 },                                                                \
    { ours ".#.self.norm.gain", { theirs ".self_attn_layer_norm.weight" }, 0, 0 },                                                     \
    { ours ".#.self.norm.bias", { theirs ".self_attn_layer_norm.bias" }, 0, 0 },                                                       \
    { ours ".#.ff.inner.w", { theirs ".fc1.weight" }, RG_IMPORT_TURN, 0 },                                                             \
    { ours ".#.ff.inner.b", { theirs ".fc1.bias" }, 0, 0 },                                                                            \
    { ours ".#.ff.outer.w", { theirs ".fc2.weight" }, RG_IMPORT_TURN, 0 },                                                             \
    { ours ".#.ff.outer.b", { theirs ".fc2.bias" }, 0, 0 },                                                                            \
    { ours ".#.ff.norm.gain", { theirs ".final_layer_norm.weight" }, 0, 0 },                                                           \
    { ours ".#.ff.norm.bias", { theirs ".final_layer_norm.bias" }, 0, 0 }

const rg_import_row rg_hf_rows[] = {
    STACK("encoder", "model.encoder.layers.#"),
    STACK("decoder", "model.decoder.layers.#"),
    { "decoder.#.cross.wq", { "model.decoder.layers.#.encoder_attn.q_proj.weight" }, RG_IMPORT_TURN, 0 },
    { "decoder.#.cross.bq", { "model.decoder.layers.#.encoder_attn.q_proj.bias" }, 0, 0 },
    { "decoder.#.cross.wkv",
      { "model.decoder.layers.#.encoder_attn.k_proj.weight", "model.decoder.layers.#.encoder_attn.v_proj.weight" },
      RG_IMPORT_TURN,
      0 },
    { "decoder.#.cross.bkv",
      { "model.decoder.layers.#.encoder_attn.k_proj.bias", "model.decoder.layers.#.encoder_attn.v_proj.bias" },
      0,
      0 },
    { "decoder.#.cross.wo", { "model.decoder.layers.#.encoder_attn.out_proj.weight" }, RG_IMPORT_TURN, 0 },
    { "decoder.#.cross.bo", { "model.decoder.layers.#.encoder_attn.out_proj.bias" }, 0, 0 },
    { "decoder.#.cross.norm.gain", { "model.decoder.layers.#.encoder_attn_layer_norm.weight" }, 0, 0 },
    { "decoder.#.cross.norm.bias", { "model.decoder.layers.#.encoder_attn_layer_norm.bias" }, 0, 0 },
    { "encoder.end.gain", { "model.encoder.layer_norm.weight" }, 0, 0 },
    { "encoder.end.bias", { "model.encoder.layer_norm.bias" }, 0, 0 },
    { "decoder.end.gain", { "model.decoder.layer_norm.weight" }, 0, 0 },
    { "decoder.end.bias", { "model.decoder.layer_norm.bias" }, 0, 0 },
    { "source.norm.gain", { "model.encoder.layernorm_embedding.weight" }, 0, 0 },
    { "source.norm.bias", { "model.encoder.layernorm_embedding.bias" }, 0, 0 },
    { "target.norm.gain", { "model.decoder.layernorm_embedding.weight" }, 0, 0 },
    { "target.norm.bias", { "model.decoder.layernorm_embedding.bias" }, 0, 0 },
    { "source.places", { "model.encoder.embed_positions.weight" }, 0, 2 }, /* two rows for padding in front */
    { "target.places", { "model.decoder.embed_positions.weight" }, 0, 2 },
    { "embedding", { "model.shared.weight" }, 0, 0 },
    { "output.weight", { "lm_head.weight" }, 0, 0 },
    { "output.bias", { "final_logits_bias" }, RG_IMPORT_OPTIONAL | RG_EXPORT_LINE, 0 },
    { NULL, { NULL }, 0, 0 },
};

/* Copies of the shared table; sinusoids are computed. */
static const char *const unused[] = { "*.embed_tokens.weight", "*.embed_positions.weight", "lm_head.weight", NULL };

bool rg_hf_is(const rg_foreign *f, const char *type)
{
    return strcmp(rg_config_text(f->config, "model_type", ""), type) == 0;
}

static const struct {
    const char *theirs, *ours;
} activations[] = { { "relu", "relu" },
                    { "gelu", "gelu" },
                    { "gelu_new", "gelu_tanh" },
                    { "gelu_pytorch_tanh", "gelu_tanh" },
                    { "swish", "swish" },
                    { "silu", "swish" } };

rg_status rg_hf_activation(const char **out, const json_t *config, const char *key, const char *other)
{
    const char *theirs = rg_config_text(config, key, other);
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (strcmp(activations[i].theirs, theirs) == 0) {
            *out = activations[i].ours;
            return RG_OK;
        }
    return rg_fail(RG_EMATCH, "config.json: %s \"%.40s\" is not known here", key, theirs);
}

const char *rg_hf_activation_name(const char *ours)
{
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (strcmp(activations[i].ours, ours) == 0) return activations[i].theirs;
    return ours;
}

/* Both stacks have one width and number of heads here. */
static rg_status same(int64_t *out, const json_t *config, const char *encoder, const char *decoder)
{
    const int64_t a = rg_config_integer(config, encoder, 0), b = rg_config_integer(config, decoder, a);
    if (a < 1 || a != b)
        return rg_fail(RG_EMATCH, "config.json: %s is %lld and %s %lld; they must be equal here", encoder, (long long)a,
                       decoder, (long long)b);
    *out = a;
    return RG_OK;
}

rg_status rg_hf_plan(rg_import_plan *plan, const rg_foreign *f, const char *positions)
{
    const json_t *c = f->config;
    const char   *activation = NULL;
    int64_t       heads = 0, ff = 0;
    RG_TRY(rg_hf_activation(&activation, c, "activation_function", "gelu"));
    RG_TRY(same(&heads, c, "encoder_attention_heads", "decoder_attention_heads"));
    RG_TRY(same(&ff, c, "encoder_ffn_dim", "decoder_ffn_dim"));
    const bool pre =
        rg_config_flag(c, "normalize_before", rg_arrays_find(&f->arrays, "model.encoder.layer_norm.weight") != NULL);
    const bool tied = rg_config_flag(c, "tie_word_embeddings", true) || !rg_arrays_find(&f->arrays, "lm_head.weight");
    plan->system = "transformer";
    plan->rows = rg_hf_rows;
    plan->unused = unused;
    return rg_text_print(
        &plan->settings,
        "dim-emb: %lld\ntransformer-dim-ffn: %lld\ntransformer-heads: %lld\nenc-depth: %zu\ndec-depth: %zu\n"
        "transformer-dropout: %g\ntransformer-norm: %s\ntransformer-norm-epsilon: 1e-5\ntransformer-ffn-activation: "
        "%s\n"
        "transformer-scale-embedding: %s\ntransformer-norm-embedding: %s\nshared-embeddings: true\ntied-embeddings: "
        "%s\n%s",
        (long long)rg_config_integer(c, "d_model", 0), (long long)ff, (long long)heads,
        rg_foreign_layers(f, "model.encoder.layers.#.fc1.weight", 0),
        rg_foreign_layers(f, "model.decoder.layers.#.fc1.weight", 0), rg_config_real(c, "dropout", 0.1),
        pre ? "pre" : "post", activation, rg_config_flag(c, "scale_embedding", false) ? "true" : "false",
        rg_arrays_find(&f->arrays, "model.encoder.layernorm_embedding.weight") ? "true" : "false",
        tied ? "true" : "false", positions);
}

rg_status rg_hf_pieces(rg_line_list *out, const rg_foreign *f, size_t size)
{
    rg_text   json = { 0 };
    bool      there;
    rg_status status = rg_foreign_file(&there, &json, f, "vocab.json");
    if (status == RG_OK && !there) status = rg_fail(RG_EMATCH, "%s: vocab.json is not beside it", f->folder);
    if (status == RG_OK && (status = rg_pieces_of_json(out, rg_text_c(&json), json.length)) != RG_OK)
        rg_fail_in(status, "%s/vocab.json: ", f->folder);
    if (status == RG_OK && out->count > size)
        status =
            rg_fail(RG_EMATCH, "%s/vocab.json has %zu tokens, the model's table %zu rows", f->folder, out->count, size);
    while (status == RG_OK && out->count < size) { /* rows without a piece */
        char name[40];
        snprintf(name, sizeof name, "<unused%zu>", out->count);
        status = rg_pieces_add(out, name, strlen(name));
    }
    rg_text_free(&json);
    return status;
}

/* Every piece of several characters comes from a merge, a few signs aside: far fewer merges than such pieces are
 * part of a file. */
static rg_status enough_merges(const rg_foreign *f, const rg_line_list *pieces, const rg_text *merges)
{
    size_t long_ones = 0, lines = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        const char  *piece = pieces->line[i];
        const size_t bytes = strlen(piece);
        uint32_t     c;
        long_ones += bytes && piece[0] != '<' && rg_utf8_next(&c, piece, bytes) < bytes;
    }
    for (size_t i = 0; i < merges->length; i++) lines += merges->data[i] == '\n';
    if (lines >= long_ones - long_ones / 10) return RG_OK;
    return rg_fail(RG_EFORMAT,
                   "%s/merges.txt has %zu lines, vocab.json %zu pieces of several characters, each of which a merge "
                   "makes: the file is cut short",
                   f->folder, lines, long_ones);
}

rg_status rg_hf_bytes(rg_vocab **out, const rg_foreign *f, size_t size, const char *unknown, const rg_vocab_table *ids)
{
    rg_line_list pieces = { 0 };
    rg_text      merges = { 0 };
    bool         there = false;
    rg_status    status = rg_hf_pieces(&pieces, f, size);
    if (status == RG_OK) status = rg_foreign_file(&there, &merges, f, "merges.txt");
    if (status == RG_OK && !there) status = rg_fail(RG_EMATCH, "%s: merges.txt is not beside it", f->folder);
    if (status == RG_OK) status = enough_merges(f, &pieces, &merges);
    if (status == RG_OK) {
        rg_vocab_table table = *ids;
        table.kind = RG_VOCAB_BYTES;
        table.form = RG_TEXT_AS_IS;
        table.pieces = (const char *const *)pieces.line;
        table.count = pieces.count;
        table.unk = unknown ? rg_pieces_find(&pieces, unknown) : -1;
        table.model = merges.data;
        table.model_bytes = merges.length;
        status = rg_vocab_from_table(out, &table);
        if (status != RG_OK) rg_fail_in(status, "%s/vocab.json, merges.txt: ", f->folder);
    }
    rg_text_free(&merges);
    rg_line_list_free(&pieces);
    return status;
}
