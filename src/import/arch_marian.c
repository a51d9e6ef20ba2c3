/* arch_marian.c - Marian's Transformers (.npz, .bin). Matrices are (in, out); layers are counted from 1; the decoder
 * starts from zeros, and may recur (SSRU) where others look back. Activation scales of integer files have no use here:
 * weights become float.
 *
 * Vocabularies beside the file: source.spm and target.spm with one vocab.yml that numbers their pieces (OPUS-MT),
 * one .spm for both sides or srcvocab*.spm and trgvocab*.spm (Firefox), or a vocab.yml of words. A shortlist
 * lex*.s2t.bin beside it is taken along. Each may be packed by gzip. */
#include "import/foreign.h"
#include "import/marian.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/vocab.h"
#include "data/text/vocab_files.h"
#include "regard/translate.h"

enum { ONE = RG_IMPORT_FROM_ONE, PRE = ONE | RG_EXPORT_PRE, RNN = ONE | RG_EXPORT_RECURS };
#define NORM(ours, theirs)                                                                                              \
    { ours ".gain", { theirs "_ln_scale_pre" }, PRE, 0 }, { ours ".gain", { theirs "_ln_scale" }, ONE, 0 },             \
    { ours ".bias", { theirs "_ln_bias_pre" }, PRE, 0 }, { ours ".bias", { theirs "_ln_bias" }, ONE, 0 }
#define LONE_NORM(ours, theirs, end)                                                                                    \
    { ours ".gain", { theirs "_ln_scale" end }, 0, 0 }, { ours ".bias", { theirs "_ln_bias" end }, 0, 0 }
#define STACK(name)                                                                                                     \
    { name ".#.self.wqkv", { name "_l#_self_Wq", name "_l#_self_Wk", name "_l#_self_Wv" }, ONE, 0 },                    \
    { name ".#.self.bqkv", { name "_l#_self_bq", name "_l#_self_bk", name "_l#_self_bv" }, ONE, 0 },                    \
    { name ".#.self.wo", { name "_l#_self_Wo" }, ONE, 0 },                                                              \
    { name ".#.self.bo", { name "_l#_self_bo" }, ONE, 0 },                                                              \
    NORM(name ".#.self.norm", name "_l#_self_Wo"),                                                                      \
    { name ".#.ff.inner.w", { name "_l#_ffn_W1" }, ONE, 0 },                                                            \
    { name ".#.ff.inner.b", { name "_l#_ffn_b1" }, ONE, 0 },                                                            \
    { name ".#.ff.outer.w", { name "_l#_ffn_W2" }, ONE, 0 },                                                            \
    { name ".#.ff.outer.b", { name "_l#_ffn_b2" }, ONE, 0 },                                                            \
    NORM(name ".#.ff.norm", name "_l#_ffn_ffn"),                                                                        \
    LONE_NORM(name ".end", name "_top", "")

const rg_import_row rg_marian_rows[] = {
    { "decoder.#.self.norm.gain", { "decoder_l#_rnn_ln_scale_pre" }, RNN | PRE, 0 },
    { "decoder.#.self.norm.gain", { "decoder_l#_rnn_ffn_ln_scale" }, RNN, 0 },
    { "decoder.#.self.norm.bias", { "decoder_l#_rnn_ln_bias_pre" }, RNN | PRE, 0 },
    { "decoder.#.self.norm.bias", { "decoder_l#_rnn_ffn_ln_bias" }, RNN, 0 },
    STACK("encoder"),
    STACK("decoder"),
    { "decoder.#.cross.wq", { "decoder_l#_context_Wq" }, ONE, 0 },
    { "decoder.#.cross.bq", { "decoder_l#_context_bq" }, ONE, 0 },
    { "decoder.#.cross.wkv", { "decoder_l#_context_Wk", "decoder_l#_context_Wv" }, ONE, 0 },
    { "decoder.#.cross.bkv", { "decoder_l#_context_bk", "decoder_l#_context_bv" }, ONE, 0 },
    { "decoder.#.cross.wo", { "decoder_l#_context_Wo" }, ONE, 0 },
    { "decoder.#.cross.bo", { "decoder_l#_context_bo" }, ONE, 0 },
    NORM("decoder.#.cross.norm", "decoder_l#_context_Wo"),
    { "decoder.#.self.recur", { "decoder_l#_rnn_W" }, ONE, 0 },
    { "decoder.#.self.forget", { "decoder_l#_rnn_Wf" }, ONE, 0 },
    { "decoder.#.self.forget.bias", { "decoder_l#_rnn_bf" }, ONE, 0 },
    LONE_NORM("source.norm", "encoder_emb", "_pre"),
    LONE_NORM("target.norm", "decoder_emb", "_pre"),
    { "embedding", { "Wemb" }, 0, 0 },
    { "source.embedding", { "encoder_Wemb" }, 0, 0 },
    { "target.embedding", { "decoder_Wemb" }, 0, 0 },
    { "source.places", { "Wpos" }, 0, 0 },
    { "target.places", { "Wpos" }, 0, 0 },
    { "output.weight", { "decoder_ff_logit_out_W" }, RG_IMPORT_TURN, 0 },
    { "output.weight", { "decoder_ff_logit_out_Wt" }, 0, 0 },
    { "output.bias", { "decoder_ff_logit_out_b" }, RG_IMPORT_OPTIONAL, 0 },
    { NULL, { NULL }, 0, 0 },
};

static const char *const unused[] = { "special:*", "*" RG_MARIAN_SCALE, NULL };

static bool fits(const rg_foreign *f) { return strncmp(f->arrays.format, "Marian ", 7) == 0; }

/* --------------------------------------------------------------------------------------------------------- settings */

static const char *value_of(char room[RG_SETTING], const rg_foreign *f, const char *key, const char *other)
{
    return rg_setting(room, rg_text_c(&f->arrays.settings), key, other);
}

/* What there is no counterpart for, by name. */
static rg_status refuse(const rg_foreign *f)
{
    static const struct {
        const char *key, *good[4];
    } rules[] = {
        { "type", { "transformer" } },
        { "transformer-decoder-autoreg", { "self-attention", "rnn" } },
        { "transformer-postprocess", { "dan", "da", "d" } }, /* dropout, add, norm; d only beside "n" before */
        { "transformer-preprocess", { "", "n", "d", "nd" } },
        { "transformer-postprocess-emb", { "d", "", "dn", "n" } },
        { "transformer-postprocess-top", { "", "n" } },
        { "transformer-no-projection", { "false" } },
        { "transformer-no-bias", { "false" } },
        { "transformer-no-affine", { "false" } },
        { "transformer-tied-layers", { "[]", "" } },
        { "transformer-aan-depth", { "2" } },
        { "lemma-dim-emb", { "0" } },
        { "transformer-ffn-depth", { "2" } },
        { "transformer-pool", { "false" } },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char room[RG_SETTING];
        bool good = false;
        const char *value = value_of(room, f, rules[i].key, rules[i].good[0]);
        for (size_t k = 0; k < 4 && rules[i].good[k]; k++) good = good || strcmp(value, rules[i].good[k]) == 0;
        if (!good) return rg_fail(RG_EMATCH, "its setting %s: %s has no counterpart here", rules[i].key, value);
    }
    return RG_OK;
}

/* Does the decoder recur? Only the SSRU does here, without a norm inside. */
static rg_status recurs(bool *out, const rg_foreign *f)
{
    char room[RG_SETTING];
    *out = strcmp(value_of(room, f, "transformer-decoder-autoreg", ""), "rnn") == 0;
    if (*out && strcmp(value_of(room, f, "dec-cell", "gru"), "ssru") != 0)
        return rg_fail(RG_EMATCH, "its setting dec-cell: %s has no counterpart here in a Transformer; ssru has", room);
    if (*out && strcmp(value_of(room, f, "layer-normalization", "false"), "false") != 0)
        return rg_fail(RG_EMATCH, "its setting layer-normalization: %s has no counterpart here in an SSRU", room);
    return RG_OK;
}

static size_t rows_of(const rg_foreign *f, const char *name)
{
    const rg_array *a = rg_arrays_find(&f->arrays, name);
    return a && a->ndim == 2 ? a->dims[0] : 0;
}

static rg_status settings(rg_import_plan *p, const rg_foreign *f)
{
    char            heads[RG_SETTING], activation[RG_SETTING], pre[RG_SETTING], places[RG_SETTING];
    const bool      one = rg_arrays_find(&f->arrays, "Wemb") != NULL;
    const rg_array *table = rg_arrays_find(&f->arrays, one ? "Wemb" : "encoder_Wemb"),
                   *ffn = rg_arrays_find(&f->arrays, "encoder_l1_ffn_W1");
    const bool untied =
        rg_arrays_find(&f->arrays, "decoder_ff_logit_out_W") || rg_arrays_find(&f->arrays, "decoder_ff_logit_out_Wt");
    bool       recurrent;
    RG_TRY(recurs(&recurrent, f));
    if (!table || table->ndim != 2 || !ffn || ffn->ndim != 2)
        return rg_fail(RG_EMATCH, "has no tables Wemb (or encoder_Wemb) and encoder_l1_ffn_W1");
    snprintf(places, sizeof places, "learned\ntransformer-max-positions: %zu", rows_of(f, "Wpos"));
    value_of(activation, f, "transformer-ffn-activation", "swish");
    if (strcmp(activation, "swish") != 0 && strcmp(activation, "relu") != 0)
        return rg_fail(RG_EMATCH, "its setting transformer-ffn-activation: %s has no counterpart here", activation);
    return rg_text_print(&p->settings,
                         "dim-emb: %zu\ntransformer-dim-ffn: %zu\ntransformer-heads: %ld\nenc-depth: %zu\ndec-depth: "
                         "%zu\ntransformer-norm: %s\n"
                         "transformer-norm-epsilon: 1e-6\ntransformer-ffn-activation: %s\ntransformer-norm-embedding: "
                         "%s\ntransformer-positions: %s\n"
                         "shared-embeddings: %s\ntied-embeddings-all: %s\ntied-embeddings: %s\ndecoder-start: "
                         "zero\ndecoder: %s\n",
                         table->dims[1], ffn->dims[1], strtol(value_of(heads, f, "transformer-heads", "8"), NULL, 10),
                         rg_foreign_layers(f, "encoder_l#_ffn_W1", 1), rg_foreign_layers(f, "decoder_l#_ffn_W1", 1),
                         strchr(value_of(pre, f, "transformer-preprocess", ""), 'n') ? "pre" : "post", activation,
                         rg_arrays_find(&f->arrays, "encoder_emb_ln_scale_pre") ? "true" : "false",
                         rg_arrays_find(&f->arrays, "Wpos") ? places : "sinusoidal-spread", one ? "true" : "false",
                         one ? "true" : "false", untied ? "false" : "true", recurrent ? "ssru" : "self-attention");
}

/* ----------------------------------------------------------------------------------------------------- vocabularies */

/* One side of source.spm / target.spm with a vocab.yml, or the vocab.yml alone (words). */
static rg_status numbered(rg_vocab **out, const rg_foreign *f, const rg_line_list *pieces, const char *spm)
{
    rg_text   model = { 0 };
    bool      there = false;
    rg_status status = spm ? rg_foreign_file(&there, &model, f, spm) : RG_OK;
    if (status == RG_OK) {
        const int32_t        eos = rg_pieces_find(pieces, "</s>");
        const rg_vocab_table t = { .kind = there ? RG_VOCAB_PIECES : RG_VOCAB_WORDS,
                                   .form = there ? RG_TEXT_AS_IS : RG_TEXT_NFC,
                                   .pieces = (const char *const *)pieces->line,
                                   .count = pieces->count,
                                   .unk = rg_pieces_find(pieces, "<unk>"),
                                   .bos = eos,
                                   .eos = eos,
                                   .begin = -1,
                                   .model = there ? model.data : NULL,
                                   .model_bytes = there ? model.length : 0 };
        status = rg_vocab_from_table(out, &t);
    }
    rg_text_free(&model);
    return status;
}

static rg_status of_yaml(rg_import_plan *p, const rg_foreign *f, const char *yml)
{
    rg_text      text = { 0 };
    rg_line_list pieces = { 0 };
    rg_vocab    *source = NULL, *target = NULL;
    bool         there;
    rg_status    status = rg_foreign_file(&there, &text, f, yml);
    if (status == RG_OK) status = rg_pieces_of_yaml(&pieces, rg_text_c(&text), text.length);
    if (status == RG_OK) status = numbered(&source, f, &pieces, "source.spm");
    if (status == RG_OK) status = numbered(&target, f, &pieces, "target.spm");
    if (status != RG_OK && status != RG_ENOMEM) rg_fail_in(status, "%s/%s: ", f->folder, yml);
    rg_text_free(&text);
    rg_line_list_free(&pieces);
    if (status == RG_OK) return rg_plan_translator(p, source, target);
    rg_vocab_free(source);
    return status;
}

/* SentencePiece numbers its own pieces. */
static rg_status load_spm(rg_vocab **out, const rg_foreign *f, const char *name)
{
    rg_text   bytes = { 0 };
    bool      there;
    rg_status status = rg_foreign_file(&there, &bytes, f, name);
    if (status == RG_OK && (status = rg_vocab__from_file_bytes(out, rg_text_c(&bytes), bytes.length)) != RG_OK)
        rg_fail_in(status, "%s/%s: ", f->folder, name);
    rg_text_free(&bytes);
    return status;
}

static rg_status of_spm(rg_import_plan *p, const rg_foreign *f, const char *from, const char *to)
{
    rg_vocab *source = NULL, *target = NULL;
    RG_TRY(load_spm(&source, f, from));
    const rg_status status = to ? load_spm(&target, f, to) : RG_OK;
    if (status == RG_OK) return rg_plan_translator(p, source, target);
    rg_vocab_free(source);
    return status;
}

static rg_status vocabularies(rg_import_plan *p, const rg_foreign *f)
{
    static const char *const yml_names[] = { "*vocab.yml", "*vocab.yml.gz", NULL },
                            *const source_names[] = { "srcvocab*.spm", "srcvocab*.spm.gz", NULL },
                            *const target_names[] = { "trgvocab*.spm", "trgvocab*.spm.gz", NULL },
                            *const both_names[] = { "*.spm", "*.spm.gz", NULL };
    char     *yml = NULL, *spm = NULL, *target = NULL;
    rg_status status = rg_foreign_find(&yml, f, yml_names);
    if (status == RG_OK && !yml) status = rg_foreign_find(&target, f, target_names);
    if (status == RG_OK && !yml) status = rg_foreign_find(&spm, f, target ? source_names : both_names);
    if (status == RG_OK) {
        if (yml) status = of_yaml(p, f, yml);
        else if (spm) status = of_spm(p, f, spm, target);
        else
            status = rg_fail(RG_EMATCH,
                             "%s: no vocabulary beside it: a file *vocab.yml, source.spm and target.spm, srcvocab*.spm "
                             "and trgvocab*.spm, or *.spm",
                             f->folder);
    }
    rg_free(yml);
    rg_free(spm);
    rg_free(target);
    return status;
}

/* -------------------------------------------------------------------------------------------------- what goes along */

static rg_status shortlist(rg_import_plan *p, const rg_foreign *f)
{
    static const char *const names[] = { "lex*s2t.bin", "lex*s2t.bin.gz", NULL };
    rg_translator           *t = p->assets;
    rg_text                  bytes = { 0 };
    char                    *name;
    bool                     there;
    RG_TRY(rg_foreign_find(&name, f, names));
    if (!name) return RG_OK;
    rg_status status = rg_foreign_file(&there, &bytes, f, name);
    if (status == RG_OK) {
        status = rg_shortlist_from_marian(&t->shortlist, bytes.data, bytes.length, t->source, t->target);
        if (status != RG_OK) rg_fail_in(status, "%s/%s: ", f->folder, name);
    }
    rg_text_free(&bytes);
    rg_free(name);
    return status;
}

/* With guided alignment the first head of a layer was taught to align words. */
static rg_status alignment(rg_import_plan *p, const rg_foreign *f)
{
    rg_translator *t = p->assets;
    char           room[RG_SETTING];
    if (strcmp(value_of(room, f, "guided-alignment", "none"), "none") == 0) return RG_OK;
    const size_t depth = rg_foreign_layers(f, "decoder_l#_ffn_W1", 1);
    const long   layer = strtol(value_of(room, f, "transformer-guided-alignment-layer", "last"), NULL, 10);
    const bool   named = layer > 0 && (size_t)layer < depth;
    char        *name = rg_format("decoder.%zu.cross.weights", named ? (size_t)layer - 1 : depth - (depth > 0));
    if (!name) return RG_ENOMEM;
    rg_free(t->alignment_name);
    t->alignment_name = name;
    t->alignment_head = 0;
    return RG_OK;
}

static rg_status plan(rg_import_plan *p, rg_foreign *f)
{
    RG_TRY(refuse(f));
    p->system = "transformer";
    p->rows = rg_marian_rows;
    p->unused = unused;
    RG_TRY(settings(p, f));
    RG_TRY(vocabularies(p, f));
    RG_TRY(alignment(p, f));
    return shortlist(p, f);
}

const rg_architecture rg_architecture_marian = { "marian", "Marian Transformer", fits, plan };
