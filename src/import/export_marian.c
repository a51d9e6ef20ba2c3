/* export_marian.c - a Transformer as Marian's files, which marian-decoder, Bergamot and Firefox read:
 *
 *   model.bin (or model.npz)   weights, float32 or int8, and the settings
 *   vocab.spm                  or srcvocab.spm and trgvocab.spm; of imported models that number SentencePiece's pieces
 *                              otherwise: source.spm, target.spm and vocab.yml; words: vocab.yml
 *   lex.s2t.bin                the shortlist, where the model has one
 *   config.yml                 for marian-decoder and Bergamot: greedy */
#include "import/export.h"
#include "import/marian.h"

#include <stdlib.h>
#include <string.h>

static const char whose[] = "Marian";

static const rg_export_rule rules[] = {
    { "type", { "transformer" } },
    { "decoder-start", { "zero", "zero-or-end" } },
    { "transformer-positions", { "sinusoidal-spread" } },
    { "transformer-first-position", { "0" } },
    { "transformer-norm-epsilon", { "1e-6" } },
    { "transformer-ffn-activation", { "relu", "swish" } },
    { "transformer-scale-embedding", { "true" } },
    { "score", { "scaled_dot" } },
    { "reach", { "groups" } },
    { "window", { "0" } },
    { "experts", { "0" } },
    { "copy", { "false" } },
    { NULL, { NULL } },
};

/* ----------------------------------------------------------------------------------------------------- vocabularies */

static rg_status write_spm(const rg_exporting *e, const char *name, const rg_vocab *v)
{
    const char *bytes;
    size_t      count;
    RG_TRY(rg_export_spm(&bytes, &count, v));
    return rg_export_file(e, name, bytes, count);
}

static bool is_numbered(const rg_vocab *v)
{
    const rg_vocab_kind kind = rg_vocab_kind_of(v);
    return kind == RG_VOCAB_PIECES || kind == RG_VOCAB_WORDS;
}

/* One numbering for both sides, or Marian's own by each .spm. */
static rg_status check_vocabularies(const rg_translator *t)
{
    const char *bytes;
    size_t      count;
    const bool  numbered = is_numbered(t->source) || is_numbered(t->target);
    for (int side = 0; side < 2; side++) {
        const rg_vocab *v = side ? t->target : t->source;
        if (rg_vocab_kind_of(v) != RG_VOCAB_WORDS) RG_TRY(rg_export_spm(&bytes, &count, v));
        if (rg_vocab_eos(v) < 0 || rg_vocab_begin(v) >= 0)
            return rg_fail(RG_EMATCH, "its %s lines do not end in </s>, or begin with a sign, as Marian's do not",
                           side ? "target" : "source");
    }
    if (!numbered) return RG_OK;
    if (rg_vocab_eos(t->target) != 0 || rg_vocab_unk(t->target) != 1)
        return rg_fail(RG_EMATCH,
                       "in its vocabulary of kind %s </s> is token %d and <unk> %d; where a vocab.yml numbers, Marian "
                       "wants 0 and 1. Vocabularies of --vocab-kind unigram and bpe can be written",
                       rg_vocab_kind_name(rg_vocab_kind_of(t->target)), rg_vocab_eos(t->target),
                       rg_vocab_unk(t->target));
    bool same = rg_vocab_size(t->source) == rg_vocab_size(t->target);
    for (size_t i = 0; same && i < rg_vocab_size(t->source); i++)
        same = strcmp(rg_vocab_piece(t->source, (int32_t)i), rg_vocab_piece(t->target, (int32_t)i)) == 0;
    return same ? RG_OK
                : rg_fail(RG_EMATCH, "its two vocabularies are numbered by two tables; one vocab.yml numbers both");
}

static rg_status write_vocabularies(const rg_exporting *e)
{
    const rg_translator *t = e->translator;
    rg_text              yaml = { 0 };
    if (!is_numbered(t->source)) {
        if (t->source == t->target) return write_spm(e, "vocab.spm", t->source);
        RG_TRY(write_spm(e, "srcvocab.spm", t->source));
        return write_spm(e, "trgvocab.spm", t->target);
    }
    rg_status status = rg_export_vocab_yaml(&yaml, t->target);
    if (status == RG_OK) status = rg_export_file(e, "vocab.yml", yaml.data, yaml.length);
    rg_text_free(&yaml);
    if (status != RG_OK || rg_vocab_kind_of(t->source) == RG_VOCAB_WORDS) return status;
    RG_TRY(write_spm(e, "source.spm", t->source));
    return write_spm(e, "target.spm", t->target);
}

/* --------------------------------------------------------------------------------------------------------- settings */

static bool says(const rg_exporting *e, const char *key, const char *value)
{
    char room[RG_SETTING];
    return strcmp(rg_setting(room, e->settings, key, ""), value) == 0;
}

static bool has(const rg_exporting *e, const char *param) { return rg_params_find(e->model->params, param) != NULL; }

/* Keys that Marian asks for without a default are all there. */
static rg_status add_settings(rg_text *out, const rg_exporting *e)
{
    static const char usual[] =
        "version: v1.9\ntype: transformer\ninput-types: []\nskip: false\nulr: false\n"
        "enc-type: bidirectional\nenc-cell: gru\nenc-cell-depth: 1\ndec-cell-base-depth: 2\n"
        "dec-cell-high-depth: 1\nlayer-normalization: false\nright-left: false\n"
        "lemma-dim-emb: 0\noutput-omit-bias: false\nfactors-combine: sum\nfactors-dim-emb: 0\n"
        "transformer-ffn-depth: 2\ntransformer-aan-depth: 2\n"
        "transformer-aan-activation: swish\ntransformer-aan-nogate: false\ntransformer-dim-aan: 2048\n"
        "transformer-no-projection: false\ntransformer-tied-layers: []\n"
        "transformer-guided-alignment-layer: last\ntransformer-train-positions: false\n"
        "transformer-train-position-embeddings: false\ntransformer-pool: false\n"
        "transformer-depth-scaling: false\nbert-train-type-embeddings: true\nbert-type-vocab-size: 2\n";
    static const char *const copied[] = { "dim-emb",           "enc-depth",           "dec-depth",
                                          "transformer-heads", "transformer-dim-ffn", "transformer-ffn-activation" };
    const rg_translator     *t = e->translator;
    const bool pre = says(e, "transformer-norm", "pre"), recurs = says(e, "decoder", "ssru"), all = has(e, "embedding"),
               untied = has(e, "output.weight");
    char room[RG_SETTING];
    RG_TRY(rg_text_add_string(out, usual));
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        RG_TRY(rg_text_print(out, "%s: %s\n", copied[i], rg_setting(room, e->settings, copied[i], "")));
    RG_TRY(rg_text_print(out, "transformer-decoder-dim-ffn: %s\n",
                         rg_setting(room, e->settings, "transformer-dim-ffn", "")));
    RG_TRY(rg_text_print(out, "dim-rnn: %s\ndim-vocabs:\n  - %zu\n  - %zu\n",
                         rg_setting(room, e->settings, "dim-emb", ""), rg_vocab_size(t->source),
                         rg_vocab_size(t->target)));
    RG_TRY(rg_text_print(out, "transformer-decoder-autoreg: %s\ndec-cell: %s\n", recurs ? "rnn" : "self-attention",
                         recurs ? "ssru" : "gru"));
    RG_TRY(rg_text_print(
        out,
        "transformer-preprocess: \"%s\"\ntransformer-postprocess: %s\ntransformer-postprocess-top: \"%s\"\n"
        "transformer-postprocess-emb: %s\n",
        pre ? "n" : "", pre ? "da" : "dan", pre ? "n" : "",
        says(e, "transformer-norm-embedding", "true") ? "nd" : "d"));
    return rg_text_print(out, "tied-embeddings-all: %s\ntied-embeddings-src: %s\ntied-embeddings: %s\n",
                         all && !untied ? "true" : "false", all ? "true" : "false", untied ? "false" : "true");
}

static rg_status write_config(const rg_exporting *e)
{
    const rg_translator *t = e->translator;
    const bool           yml = is_numbered(t->source), joint = t->source == t->target;
    rg_text              text = { 0 };
    rg_status            status =
        rg_text_print(&text, "models:\n  - %s\nvocabs:\n  - %s\n  - %s\n", e->options->npz ? "model.npz" : "model.bin",
                      yml     ? "vocab.yml"
                      : joint ? "vocab.spm"
                              : "srcvocab.spm",
                      yml     ? "vocab.yml"
                      : joint ? "vocab.spm"
                              : "trgvocab.spm");
    if (status == RG_OK)
        status = rg_text_print(&text,
                               "beam-size: 1\nnormalize: 1.0\nword-penalty: 0\nmax-length-break: 128\n"
                               "mini-batch-words: 1024\nmax-length-factor: 2.0\nskip-cost: true\ncpu-threads: 1\n"
                               "quiet: true\nquiet-translation: true\ngemm-precision: %s\n",
                               e->options->int8 ? "int8shiftAlphaAll" : "float32");
    if (status == RG_OK && t->shortlist) status = rg_text_print(&text, "shortlist:\n  - lex.s2t.bin\n  - false\n");
    if (status == RG_OK) status = rg_export_file(e, "config.yml", text.data, text.length);
    rg_text_free(&text);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ files */

/* intgemm multiplies by blocks: 64 numbers of a row, 8 columns. */
static rg_status check_blocks(const rg_export_arrays *arrays)
{
    for (size_t i = 0; i < arrays->count; i++) {
        const rg_export_array *a = &arrays->list[i];
        const rg_param_kind    kind = rg_param_get_kind(a->param);
        if (kind != RG_WEIGHT && kind != RG_TIED) continue;
        const size_t in = kind == RG_TIED ? a->dims[1] : a->dims[0], out = kind == RG_TIED ? a->dims[0] : a->dims[1];
        if (in % 64 || out % 8)
            return rg_fail(RG_EMATCH,
                           "\"%s\" is a product of %zu numbers to %zu; in 8 bits Marian wants multiples of 64 and "
                           "of 8 (--dim-emb, --transformer-dim-ffn; --dim-vocabs)",
                           a->name, in, out);
    }
    return RG_OK;
}

static rg_status write_shortlist(const rg_exporting *e)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_shortlist_to_marian(&bytes, e->translator->shortlist, e->translator->source);
    if (status == RG_OK) status = rg_export_file(e, "lex.s2t.bin", bytes.data, bytes.length);
    rg_text_free(&bytes);
    return status;
}

static rg_status make_model(rg_text *out, const rg_exporting *e)
{
    const unsigned holds =
        (says(e, "transformer-norm", "pre") ? RG_EXPORT_PRE : 0) | (says(e, "decoder", "ssru") ? RG_EXPORT_RECURS : 0);
    rg_export_arrays arrays = { 0 };
    rg_text          settings = { 0 };
    float           *most = NULL;
    rg_status        status = rg_export_arrays_of(&arrays, e, rg_marian_rows, holds, true, whose);
    if (status == RG_OK && e->options->int8) status = check_blocks(&arrays);
    if (status == RG_OK) status = add_settings(&settings, e);
    if (status == RG_OK && e->options->int8) status = rg_export_calibrate(&most, e);
    if (status == RG_OK)
        status = e->options->npz ? rg_write_npz(out, &arrays, rg_text_c(&settings))
                                 : rg_write_marian(out, &arrays, most, rg_text_c(&settings));
    rg_free(most);
    rg_text_free(&settings);
    rg_export_arrays_free(&arrays);
    return status;
}

static rg_status write(const rg_exporting *e)
{
    rg_text model = { 0 };
    RG_TRY(rg_export_check(e, rules, whose));
    RG_TRY(check_vocabularies(e->translator));
    if (e->options->int8 && e->options->npz)
        return rg_fail(RG_EINVAL, "an .npz holds floats; integers are written into a .bin");
    rg_status status = make_model(&model, e);
    if (status == RG_OK)
        status = rg_export_file(e, e->options->npz ? "model.npz" : "model.bin", model.data, model.length);
    rg_text_free(&model);
    if (status == RG_OK) status = write_vocabularies(e);
    if (status == RG_OK && e->translator->shortlist) status = write_shortlist(e);
    return status == RG_OK ? write_config(e) : status;
}

const rg_exporter rg_exporter_marian = {
    "marian", "Marian's .bin or .npz, .spm and lex.s2t.bin: marian-decoder, Bergamot, Firefox", write
};
