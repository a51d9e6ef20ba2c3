/* arch_bert.c - Hugging Face BERT (Devlin et al. 2019): post-norm blocks that see the whole window, learned places and
 * segments, WordPiece. Matrices are (out, in), as PyTorch's Linear stores them. Arrays are named with "bert." in front
 * (BertForPreTraining, BertForMaskedLM). */
#include "import/huggingface.h"

#include <string.h>

#include "data/text/vocab_files.h"

#define BLOCK "bert.encoder.layer.#."
#define NORM(ours, theirs)                                                                     \
    { ours ".gain", { theirs ".weight" }, 0, 0 }, { ours ".gain", { theirs ".gamma" }, 0, 0 }, \
        { ours ".bias", { theirs ".bias" }, 0, 0 },                                            \
    {                                                                                          \
        ours ".bias", { theirs ".beta" }, 0, 0                                                 \
    }
#define DENSE(w, b, theirs) \
    { w, { theirs ".weight" }, RG_IMPORT_TURN, 0 }, { b, { theirs ".bias" }, 0, 0 }

const rg_import_row rg_bert_rows[] = {
    { "embedding", { "bert.embeddings.word_embeddings.weight" }, 0, 0 },
    { "places", { "bert.embeddings.position_embeddings.weight" }, 0, 0 },
    { "segments", { "bert.embeddings.token_type_embeddings.weight" }, 0, 0 },
    NORM("entry", "bert.embeddings.LayerNorm"),
    { "block.#.self.wqkv",
      { BLOCK "attention.self.query.weight", BLOCK "attention.self.key.weight", BLOCK "attention.self.value.weight" },
      RG_IMPORT_TURN,
      0 },
    { "block.#.self.bqkv",
      { BLOCK "attention.self.query.bias", BLOCK "attention.self.key.bias", BLOCK "attention.self.value.bias" },
      0,
      0 },
    DENSE("block.#.self.wo", "block.#.self.bo", BLOCK "attention.output.dense"),
    NORM("block.#.self.norm", BLOCK "attention.output.LayerNorm"),
    DENSE("block.#.ff.inner.w", "block.#.ff.inner.b", BLOCK "intermediate.dense"),
    DENSE("block.#.ff.outer.w", "block.#.ff.outer.b", BLOCK "output.dense"),
    NORM("block.#.ff.norm", BLOCK "output.LayerNorm"),
    DENSE("head.w", "head.b", "cls.predictions.transform.dense"),
    NORM("head.norm", "cls.predictions.transform.LayerNorm"),
    { "output.bias", { "cls.predictions.bias" }, 0, 0 },
    { "output.bias", { "cls.predictions.decoder.bias" }, 0, 0 },
    DENSE("pooler.w", "pooler.b", "bert.pooler.dense"),
    DENSE("follows.w", "follows.b", "cls.seq_relationship"),
    { NULL, { NULL }, 0, 0 },
};

/* Copies of the embedding, numbers of places, and a pooler that nobody reads where next sentences were not learned. */
static const char *const unused[] = { "bert.embeddings.position_ids", "cls.predictions.decoder.*",
                                      "cls.predictions.bias", "bert.pooler.*", NULL };

static bool fits(const rg_foreign *f)
{
    return (!f->config || rg_hf_is(f, "bert")) && rg_arrays_find(&f->arrays, "bert.embeddings.word_embeddings.weight");
}

/* Uncased unless tokenizer_config.json says otherwise. */
static rg_status lowers(bool *out, const rg_foreign *f)
{
    rg_text   text = { 0 };
    bool      there = false;
    rg_status status = rg_foreign_file(&there, &text, f, "tokenizer_config.json");
    *out = true;
    if (status == RG_OK && there) {
        json_t *config = json_loadb(rg_text_c(&text), text.length, 0, NULL);
        *out = rg_config_flag(config, "do_lower_case", true);
        json_decref(config);
    }
    rg_text_free(&text);
    return status;
}

static rg_status read_vocab(rg_vocab **out, const rg_foreign *f, size_t size)
{
    rg_line_list pieces = { 0 };
    rg_text      text = { 0 };
    bool         there = false, lower = true;
    rg_status    status = rg_foreign_file(&there, &text, f, "vocab.txt");
    if (status == RG_OK && !there) status = rg_fail(RG_EMATCH, "%s: vocab.txt is not beside it", f->folder);
    if (status == RG_OK) status = rg_pieces_of_lines(&pieces, rg_text_c(&text), text.length);
    if (status == RG_OK) status = lowers(&lower, f);
    if (status == RG_OK && pieces.count != size)
        status =
            rg_fail(RG_EMATCH, "%s/vocab.txt has %zu lines, the model's table %zu rows", f->folder, pieces.count, size);
    const rg_vocab_table table = { .kind = RG_VOCAB_WORDPIECE,
                                   .form = lower ? RG_TEXT_LOWER : RG_TEXT_AS_IS,
                                   .pieces = (const char *const *)pieces.line,
                                   .count = pieces.count,
                                   .unk = rg_pieces_find(&pieces, "[UNK]"),
                                   .bos = rg_pieces_find(&pieces, "[CLS]"),
                                   .eos = rg_pieces_find(&pieces, "[SEP]"),
                                   .begin = -1 };
    if (status == RG_OK && (table.unk < 0 || table.bos < 0 || table.eos < 0 || rg_pieces_find(&pieces, "[MASK]") < 0))
        status = rg_fail(RG_EMATCH, "%s/vocab.txt lacks one of [UNK], [CLS], [SEP] and [MASK]", f->folder);
    if (status == RG_OK && (status = rg_vocab_from_table(out, &table)) != RG_OK)
        rg_fail_in(status, "%s/vocab.txt: ", f->folder);
    rg_text_free(&text);
    rg_line_list_free(&pieces);
    return status;
}

static rg_status settings_of(rg_import_plan *p, const rg_foreign *f, size_t width)
{
    const json_t   *c = f->config;
    const rg_array *segments = rg_arrays_find(&f->arrays, "bert.embeddings.token_type_embeddings.weight");
    const char     *activation = NULL, *positions = rg_config_text(c, "position_embedding_type", "absolute");
    RG_TRY(rg_hf_activation(&activation, c, "hidden_act", "gelu"));
    if (strcmp(positions, "absolute") != 0)
        return rg_fail(RG_EMATCH, "config.json: positions of kind \"%.40s\" are not known here", positions);
    return rg_text_print(
        &p->settings,
        "dim-emb: %zu\ntransformer-dim-ffn: %lld\ntransformer-heads: %lld\nlayers: %zu\ntransformer-dropout: %g\n"
        "transformer-dropout-attention: %g\ntransformer-norm: post\ntransformer-positions: "
        "learned\ntransformer-ffn-activation: %s\n"
        "segments: %zu\nembedding-norm: true\nnorm-epsilon: %g\n",
        width, (long long)rg_config_integer(c, "intermediate_size", 0),
        (long long)rg_config_integer(c, "num_attention_heads", 12),
        rg_foreign_layers(f, BLOCK "attention.self.query.weight", 0), rg_config_real(c, "hidden_dropout_prob", 0.1),
        rg_config_real(c, "attention_probs_dropout_prob", 0.1), activation,
        segments && segments->ndim == 2 ? segments->dims[0] : 0, rg_config_real(c, "layer_norm_eps", 1e-12));
}

static rg_status plan(rg_import_plan *p, rg_foreign *f)
{
    const rg_array *table = rg_arrays_find(&f->arrays, "bert.embeddings.word_embeddings.weight");
    const rg_array *places = rg_arrays_find(&f->arrays, "bert.embeddings.position_embeddings.weight");
    rg_vocab       *vocab = NULL;
    if (!f->config) return rg_fail(RG_EMATCH, "config.json is not beside it: it says how many heads there are");
    if (table->ndim != 2 || !places || places->ndim != 2 || places->dims[0] < 3)
        return rg_fail(RG_EMATCH, "word and position embeddings are not matrices");
    p->system = "bert";
    p->rows = rg_bert_rows;
    p->unused = unused;
    RG_TRY(settings_of(p, f, table->dims[1]));
    RG_TRY(read_vocab(&vocab, f, table->dims[0]));
    const int32_t mask = rg_vocab_find(vocab, "[MASK]");
    RG_TRY(rg_plan_language(p, vocab, places->dims[0]));
    RG_TRY(rg_sizes_put(&p->sizes, "mask", (size_t)mask));
    return rg_arrays_find(&f->arrays, "cls.seq_relationship.weight") ? rg_sizes_put(&p->sizes, "follows", 1) : RG_OK;
}

const rg_architecture rg_architecture_bert = { "bert", "Hugging Face BERT", fits, plan };
