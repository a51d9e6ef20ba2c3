/* arch_ctranslate2.c - CTranslate2's Transformer translators. Linear layers are stored (out, in), those of one input
 * together; integers are divided by their scales (arrays.c). Source and target words are those between blanks of
 * source_vocabulary.txt and target_vocabulary.txt. */
#include "import/foreign.h"

#include <string.h>

#include "data/text/vocab_files.h"

#define STACK(name)                                                                                      \
    { name ".#.self.wqkv", { name "/layer_#/self_attention/linear_0/weight" }, RG_IMPORT_TURN, 0 },      \
    { name ".#.self.bqkv", { name "/layer_#/self_attention/linear_0/bias" }, RG_IMPORT_OPTIONAL, 0 },    \
    { name ".#.self.wo", { name "/layer_#/self_attention/linear_1/weight" }, RG_IMPORT_TURN, 0 },        \
    { name ".#.self.bo", { name "/layer_#/self_attention/linear_1/bias" }, RG_IMPORT_OPTIONAL, 0 },      \
    { name ".#.self.norm.gain", { name "/layer_#/self_attention/layer_norm/gamma" }, 0, 0 },             \
    { name ".#.self.norm.bias", { name "/layer_#/self_attention/layer_norm/beta" }, 0, 0 },              \
    { name ".#.ff.inner.w", { name "/layer_#/ffn/linear_0/weight" }, RG_IMPORT_TURN, 0 },                \
    { name ".#.ff.inner.b", { name "/layer_#/ffn/linear_0/bias" }, RG_IMPORT_OPTIONAL, 0 },              \
    { name ".#.ff.outer.w", { name "/layer_#/ffn/linear_1/weight" }, RG_IMPORT_TURN, 0 },                \
    { name ".#.ff.outer.b", { name "/layer_#/ffn/linear_1/bias" }, RG_IMPORT_OPTIONAL, 0 },              \
    { name ".#.ff.norm.gain", { name "/layer_#/ffn/layer_norm/gamma" }, 0, 0 },                          \
    { name ".#.ff.norm.bias", { name "/layer_#/ffn/layer_norm/beta" }, 0, 0 },                           \
    { name ".end.gain", { name "/layer_norm/gamma" }, 0, 0 },                                            \
    { name ".end.bias", { name "/layer_norm/beta" }, 0, 0 }

static const rg_import_row rows[] = {
    STACK("encoder"), STACK("decoder"),
    { "decoder.#.cross.wq", { "decoder/layer_#/attention/linear_0/weight" }, RG_IMPORT_TURN, 0 },
    { "decoder.#.cross.bq", { "decoder/layer_#/attention/linear_0/bias" }, RG_IMPORT_OPTIONAL, 0 },
    { "decoder.#.cross.wkv", { "decoder/layer_#/attention/linear_1/weight" }, RG_IMPORT_TURN, 0 },
    { "decoder.#.cross.bkv", { "decoder/layer_#/attention/linear_1/bias" }, RG_IMPORT_OPTIONAL, 0 },
    { "decoder.#.cross.wo", { "decoder/layer_#/attention/linear_2/weight" }, RG_IMPORT_TURN, 0 },
    { "decoder.#.cross.bo", { "decoder/layer_#/attention/linear_2/bias" }, RG_IMPORT_OPTIONAL, 0 },
    { "decoder.#.cross.norm.gain", { "decoder/layer_#/attention/layer_norm/gamma" }, 0, 0 },
    { "decoder.#.cross.norm.bias", { "decoder/layer_#/attention/layer_norm/beta" }, 0, 0 },
    { "source.embedding", { "encoder/embeddings/weight" }, 0, 0 },
    { "source.embedding", { "encoder/embeddings_0/weight" }, 0, 0 }, /* since version 3 sources may have several */
    { "target.embedding", { "decoder/embeddings/weight" }, 0, 0 },
    { "output.weight", { "decoder/projection/weight" }, 0, 0 },
    { "output.bias", { "decoder/projection/bias" }, RG_IMPORT_OPTIONAL, 0 },
    { "source.norm.gain", { "encoder/layernorm_embedding/gamma" }, 0, 0 },
    { "source.norm.bias", { "encoder/layernorm_embedding/beta" }, 0, 0 },
    { "target.norm.gain", { "decoder/layernorm_embedding/gamma" }, 0, 0 },
    { "target.norm.bias", { "decoder/layernorm_embedding/beta" }, 0, 0 },
    { NULL, { NULL }, 0, 0 },
};

static const char *const unused[] = { "*weight_scale", "*/num_heads", "*/pre_norm", "*/activation", "*/embeddings_merge", "*/scale_embeddings",
                                      "*/scale_outputs", "*/alignment_*", "*/start_from_zero_embedding", "*/multi_query", "*/project_in", "*/low_rank", NULL };

static bool fits(const rg_foreign *f)
{
    return strcmp(f->arrays.format, "CTranslate2") == 0 &&
           rg_arrays_find(&f->arrays, "decoder/layer_0/attention/linear_0/weight");
}

/* ----------------------------------------------------------------------------------------------------- vocabularies */

/* The list of a side, or the one both share; <unk> is the last row where it is not listed. */
static rg_status read_side(rg_line_list *out, const rg_foreign *f, const char *name, size_t rows_of_table)
{
    rg_text   text = { 0 };
    bool      there;
    rg_status status = rg_foreign_file(&there, &text, f, name);
    if (status == RG_OK && !there) status = rg_foreign_file(&there, &text, f, "shared_vocabulary.txt");
    if (status == RG_OK && !there)
        status = rg_fail(RG_EMATCH, "%s: neither %s nor shared_vocabulary.txt is beside it", f->folder, name);
    if (status == RG_OK && (status = rg_pieces_of_lines(out, rg_text_c(&text), text.length)) != RG_OK)
        rg_fail_in(status, "%s/%s: ", f->folder, name);
    if (status == RG_OK && rg_pieces_find(out, "<unk>") < 0) status = rg_pieces_add(out, "<unk>", 5);
    if (status == RG_OK && out->count != rows_of_table)
        status = rg_fail(RG_EMATCH, "%s/%s has %zu words with <unk>, the model's table %zu rows", f->folder, name,
                         out->count, rows_of_table);
    rg_text_free(&text);
    return status;
}

/* A source line is closed by </s> and opened by <s> only where config.json says so. */
static rg_status make_side(rg_vocab **out, const rg_foreign *f, const char *file, const rg_array *table, bool target)
{
    rg_line_list  pieces = { 0 };
    rg_status     status = read_side(&pieces, f, file, table->ndim ? table->dims[0] : 0);
    const int32_t bos = rg_pieces_find(&pieces,
                                       rg_config_text(f->config, target ? "decoder_start_token" : "bos_token", "<s>")),
                  eos = rg_pieces_find(&pieces, rg_config_text(f->config, "eos_token", "</s>"));
    if (status == RG_OK) {
        const bool closed = target || rg_config_flag(f->config, "add_source_eos", false),
                   opened = !target && rg_config_flag(f->config, "add_source_bos", false);
        const rg_vocab_table t = { .kind = RG_VOCAB_WORDS,
                                   .form = RG_TEXT_NFC,
                                   .pieces = (const char *const *)pieces.line,
                                   .count = pieces.count,
                                   .unk = rg_pieces_find(&pieces, "<unk>"),
                                   .bos = bos < 0 ? eos : bos,
                                   .eos = closed ? eos : -1,
                                   .begin = opened ? bos : -1 };
        status = rg_vocab_from_table(out, &t);
        if (status != RG_OK) rg_fail_in(status, "%s/%s: ", f->folder, file);
    }
    rg_line_list_free(&pieces);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- settings */

/* Rows and columns of a table; both 0 when it is none. */
static size_t width_of(const rg_array *a) { return a && a->ndim == 2 ? a->dims[1] : 0; }

static rg_status settings(rg_import_plan *p, const rg_foreign *f, const rg_array *source)
{
    static const char *const activations[] = { "relu", "gelu_tanh", "swish", "gelu" }; /* in CTranslate2's order */
    const rg_arrays         *a = &f->arrays;
    const rg_array          *ffn = rg_arrays_find(a, "encoder/layer_0/ffn/linear_0/weight");
    const double             big = strstr(rg_text_c(&a->settings), "Big") ? 16 : 8;
    const double             heads = rg_arrays_number(a, "encoder/num_heads", big),
                 activation = rg_arrays_number(a, "encoder/activation", 0);
    if (rg_arrays_find(a, "encoder/position_encodings/encodings"))
        return rg_fail(RG_EMATCH,
                       "learned or stored positions (encoder/position_encodings) of CTranslate2's are not read");
    if (!(activation >= 0 && activation < 4))
        return rg_fail(RG_EMATCH, "activation %g of CTranslate2's is not known here", activation);
    return rg_text_print(
        &p->settings,
        "dim-emb: %zu\ntransformer-dim-ffn: %zu\ntransformer-heads: %g\nenc-depth: %zu\ndec-depth: "
        "%zu\ntransformer-norm: %s\n"
        "transformer-norm-epsilon: 1e-5\ntransformer-positions: sinusoidal-spread\ntransformer-first-position: %d\n"
        "transformer-ffn-activation: %s\ntransformer-scale-embedding: %s\ntransformer-norm-embedding: "
        "%s\ntied-embeddings: false\n"
        "tied-embeddings-all: false\ndecoder-start: %s\n",
        width_of(source), ffn && ffn->ndim == 2 ? ffn->dims[0] : 0, heads,
        rg_foreign_layers(f, "encoder/layer_#/ffn/linear_0/weight", 0),
        rg_foreign_layers(f, "decoder/layer_#/ffn/linear_0/weight", 0),
        rg_arrays_number(a, "encoder/pre_norm", 1) != 0 ? "pre" : "post", 1, activations[(int)activation],
        rg_arrays_number(a, "encoder/scale_embeddings", 1) != 0 ? "true" : "false",
        rg_arrays_find(a, "encoder/layernorm_embedding/gamma") ? "true" : "false",
        rg_arrays_number(a, "decoder/start_from_zero_embedding", 0) != 0 ? "zero" : "token");
}

static rg_status plan(rg_import_plan *p, rg_foreign *f)
{
    const bool      list = rg_arrays_find(&f->arrays, "encoder/embeddings_0/weight") != NULL;
    const rg_array *source =
                       rg_arrays_find(&f->arrays, list ? "encoder/embeddings_0/weight" : "encoder/embeddings/weight"),
                   *target = rg_arrays_find(&f->arrays, "decoder/embeddings/weight");
    rg_vocab *from = NULL, *to = NULL;
    if (!source || !target)
        return rg_fail(RG_EMATCH, "has no tables encoder/embeddings/weight and decoder/embeddings/weight");
    if (rg_arrays_find(&f->arrays, "encoder/embeddings_1/weight"))
        return rg_fail(RG_EMATCH, "source factors (encoder/embeddings_1) are not known here");
    p->system = "transformer";
    p->rows = rows;
    p->unused = unused;
    RG_TRY(settings(p, f, source));
    RG_TRY(make_side(&from, f, "source_vocabulary.txt", source, false));
    const rg_status status = make_side(&to, f, "target_vocabulary.txt", target, true);
    if (status == RG_OK) return rg_plan_translator(p, from, to);
    rg_vocab_free(from);
    return status;
}

const rg_architecture rg_architecture_ctranslate2 = { "ctranslate2", "CTranslate2 Transformer", fits, plan };
