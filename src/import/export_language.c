/* export_language.c - language models as folders of Hugging Face: a gpt as GPT-2 (vocab.json, merges.txt), a bert as
 * BERT (vocab.txt). */
#include "import/export_huggingface.h"

#include <string.h>

#include "autograd/params.h"
#include "data/text/vocab.h"
#include "tasks/language.h"

static const rg_vocab *vocab_of(const rg_exporting *e)
{
    const rg_language_model *m = e->model->assets;
    return m->vocab;
}

static int64_t rows_of(const rg_exporting *e, const char *param)
{
    const rg_param *p = rg_params_find(e->model->params, param);
    return p ? (int64_t)p->rows : 0;
}

/* ------------------------------------------------------------------------------------------------------------ GPT-2 */

static const rg_export_rule gpt2_rules[] = { { "type", { "gpt" } },
                                             { "transformer-norm", { "pre" } },
                                             { "transformer-positions", { "learned" } },
                                             { NULL, { NULL } } };

static bool gpt2_config(json_t *c, const rg_exporting *e)
{
    const int32_t      eos = rg_vocab_eos(vocab_of(e));
    const rg_hf_number numbers[] = { { "n_embd", rg_hf_integer(e, "dim-emb") },
                                     { "n_head", rg_hf_integer(e, "transformer-heads") },
                                     { "n_layer", rg_hf_integer(e, "layers") },
                                     { "n_positions", rows_of(e, "places") },
                                     { "n_ctx", rows_of(e, "places") },
                                     { "vocab_size", (int64_t)rg_vocab_size(vocab_of(e)) },
                                     { "bos_token_id", eos },
                                     { "eos_token_id", eos } };
    const rg_hf_number inner = {
        "n_inner", rg_hf_integer(e, "transformer-dim-ffn")
    }; /* four times the width unless it is there */
    return rg_hf_put_kind(c, e, "GPT2LMHeadModel", "activation_function") &&
           (!inner.value || rg_hf_put_numbers(c, &inner, 1)) &&
           rg_hf_put_numbers(c, numbers, sizeof numbers / sizeof *numbers) &&
           rg_hf_put_real(c, "layer_norm_epsilon", e, "norm-epsilon") &&
           rg_hf_put_real(c, "resid_pdrop", e, "transformer-dropout") &&
           rg_hf_put_real(c, "embd_pdrop", e, "transformer-dropout") &&
           rg_hf_put_real(c, "attn_pdrop", e, "transformer-dropout-attention") &&
           rg_hf_put_flag(c, "tie_word_embeddings", rg_hf_flag(e, "tied-embeddings"));
}

static rg_status gpt2_vocabulary(const rg_exporting *e, json_t *config, bool write)
{
    const rg_vocab *v = vocab_of(e);
    (void)config;
    if (v->kind != RG_VOCAB_BYTES)
        return rg_fail(RG_EMATCH, "a vocabulary of kind %s is not GPT-2's: byte-level BPE is",
                       rg_vocab_kind_name(v->kind));
    return write ? rg_hf_write_bytes(e, v) : RG_OK;
}

const rg_hf_kind rg_hf_kind_gpt2 = { "Hugging Face GPT-2", "gpt2",      gpt2_rules,
                                     rg_gpt2_rows,         gpt2_config, gpt2_vocabulary };

/* ------------------------------------------------------------------------------------------------------------- BERT */

static const rg_export_rule bert_rules[] = { { "type", { "bert" } },
                                             { "transformer-norm", { "post" } },
                                             { "transformer-positions", { "learned" } },
                                             { "embedding-norm", { "true" } },
                                             { NULL, { NULL } } };

/* 0 means four times the width here. */
static int64_t inner_of(const rg_exporting *e)
{
    const int64_t inner = rg_hf_integer(e, "transformer-dim-ffn");
    return inner ? inner : 4 * rg_hf_integer(e, "dim-emb");
}

static bool bert_config(json_t *c, const rg_exporting *e)
{
    const bool         follows = rg_params_find(e->model->params, "follows.w") != NULL;
    const rg_hf_number numbers[] = { { "hidden_size", rg_hf_integer(e, "dim-emb") },
                                     { "num_attention_heads", rg_hf_integer(e, "transformer-heads") },
                                     { "num_hidden_layers", rg_hf_integer(e, "layers") },
                                     { "intermediate_size", inner_of(e) },
                                     { "max_position_embeddings", rows_of(e, "places") },
                                     { "type_vocab_size", rows_of(e, "segments") },
                                     { "vocab_size", (int64_t)rg_vocab_size(vocab_of(e)) } };
    return rg_hf_put_kind(c, e, follows ? "BertForPreTraining" : "BertForMaskedLM", "hidden_act") &&
           rg_hf_put_numbers(c, numbers, sizeof numbers / sizeof *numbers) &&
           rg_hf_put_real(c, "layer_norm_eps", e, "norm-epsilon") &&
           rg_hf_put_real(c, "hidden_dropout_prob", e, "transformer-dropout") &&
           rg_hf_put_real(c, "attention_probs_dropout_prob", e, "transformer-dropout-attention") &&
           rg_hf_put_text(c, "position_embedding_type", "absolute");
}

static rg_status write_wordpieces(const rg_exporting *e, const rg_vocab *v)
{
    rg_text   lines = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < rg_vocab_size(v); i++)
        status = rg_text_print(&lines, "%s\n", rg_vocab_piece(v, (int32_t)i));
    if (status == RG_OK) status = rg_export_file(e, "vocab.txt", lines.data, lines.length);
    rg_text_free(&lines);
    json_t *about =
        json_pack("{s:s, s:b}", "tokenizer_class", "BertTokenizer", "do_lower_case", v->form == RG_TEXT_LOWER);
    if (status == RG_OK) status = about ? rg_hf_write_json(e, "tokenizer_config.json", about) : RG_ENOMEM;
    json_decref(about);
    return status;
}

static rg_status bert_vocabulary(const rg_exporting *e, json_t *config, bool write)
{
    const rg_vocab *v = vocab_of(e);
    (void)config;
    if (v->kind != RG_VOCAB_WORDPIECE)
        return rg_fail(RG_EMATCH, "a vocabulary of kind %s is not BERT's: WordPiece is", rg_vocab_kind_name(v->kind));
    if (!rows_of(e, "segments"))
        return rg_fail(RG_EMATCH, "its setting segments: 0 cannot be written for BERT, which has 2");
    return write ? write_wordpieces(e, v) : RG_OK;
}

const rg_hf_kind rg_hf_kind_bert = {
    "Hugging Face BERT", "bert", bert_rules, rg_bert_rows, bert_config, bert_vocabulary
};
