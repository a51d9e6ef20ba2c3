/* export_huggingface.c - models as folders of Hugging Face, and of them Transformers that translate: MarianMT where
 * positions are sinusoids, BART where they were learned. config.json, model.safetensors, and the tokeniser's files:
 * source.spm, target.spm and vocab.json of MarianMT; vocab.json and merges.txt of BART, or the characters that
 * config.json lists. */
#include "import/export_huggingface.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/vocab.h"

/* Both have these; LayerNorm's epsilon is PyTorch's default. */
#define SHARED                                                                                               \
    { "transformer-norm", { "post" } }, { "transformer-norm-epsilon", { "1e-5" } },                          \
        { "decoder", { "self-attention" } }, { "decoder-start", { "token" } },                               \
        { "transformer-first-position", { "0" } }, { "score", { "scaled_dot" } }, { "reach", { "groups" } }, \
        { "window", { "0" } }, { "experts", { "0" } }, { "copy", { "false" } },                              \
    {                                                                                                        \
        NULL, { NULL }                                                                                       \
    }

static const rg_export_rule marian_rules[] = { { "type", { "transformer" } },
                                               { "transformer-positions", { "sinusoidal-halves", "learned" } },
                                               { "transformer-norm-embedding", { "false" } },
                                               SHARED };
static const rg_export_rule bart_rules[] = { { "type", { "transformer" } },
                                             { "transformer-norm-embedding", { "true" } },
                                             SHARED };

/* --------------------------------------------------------------------------------------------------------- settings */

int64_t rg_hf_integer(const rg_exporting *e, const char *key)
{
    char room[RG_SETTING];
    return strtoll(rg_setting(room, e->settings, key, "0"), NULL, 10);
}

bool rg_hf_flag(const rg_exporting *e, const char *key)
{
    char room[RG_SETTING];
    return strcmp(rg_setting(room, e->settings, key, "false"), "true") == 0;
}

bool rg_hf_put_numbers(json_t *out, const rg_hf_number *numbers, size_t count)
{
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = json_object_set_new(out, numbers[i].key, json_integer(numbers[i].value)) == 0;
    return good;
}

bool rg_hf_put_real(json_t *out, const char *key, const rg_exporting *e, const char *setting)
{
    char room[RG_SETTING];
    return json_object_set_new(out, key, json_real(strtod(rg_setting(room, e->settings, setting, "0"), NULL))) == 0;
}

bool rg_hf_put_text(json_t *out, const char *key, const char *text)
{
    return json_object_set_new(out, key, json_string(text)) == 0;
}

bool rg_hf_put_flag(json_t *out, const char *key, bool value)
{
    return json_object_set_new(out, key, json_boolean(value)) == 0;
}

bool rg_hf_put_kind(json_t *out, const rg_exporting *e, const char *class, const char *key)
{
    char        room[RG_SETTING];
    const char *ours = rg_setting(room, e->settings, "transformer-ffn-activation", "relu");
    return json_object_set_new(out, "architectures", json_pack("[s]", class)) == 0 &&
           rg_hf_put_text(out, "torch_dtype", "float32") && rg_hf_put_text(out, key, rg_hf_activation_name(ours));
}

/* What MarianMT and BART share. */
static bool fill_config(json_t *c, const rg_exporting *e, const char *class, bool sinusoids)
{
    const rg_vocab    *v = e->translator->target;
    const rg_hf_number numbers[] = {
        { "d_model", rg_hf_integer(e, "dim-emb") },
        { "encoder_layers", rg_hf_integer(e, "enc-depth") },
        { "num_hidden_layers", rg_hf_integer(e, "enc-depth") },
        { "decoder_layers", rg_hf_integer(e, "dec-depth") },
        { "encoder_attention_heads", rg_hf_integer(e, "transformer-heads") },
        { "decoder_attention_heads", rg_hf_integer(e, "transformer-heads") },
        { "encoder_ffn_dim", rg_hf_integer(e, "transformer-dim-ffn") },
        { "decoder_ffn_dim", rg_hf_integer(e, "transformer-dim-ffn") },
        { "max_position_embeddings", rg_hf_integer(e, "transformer-max-positions") },
        { "vocab_size", (int64_t)rg_vocab_size(v) },
        { "eos_token_id", rg_vocab_eos(v) },
        { "forced_eos_token_id", rg_vocab_eos(v) },
        { "decoder_start_token_id", rg_vocab_bos(v) },
        { "pad_token_id", rg_vocab_bos(v) }, /* MarianMT's decoder starts from its padding */
        { "bos_token_id", rg_vocab_begin(v) >= 0 ? rg_vocab_begin(v) : rg_vocab_bos(v) },
    };
    return rg_hf_put_kind(c, e, class, "activation_function") &&
           rg_hf_put_numbers(c, numbers, sizeof numbers / sizeof *numbers) &&
           rg_hf_put_real(c, "dropout", e, "transformer-dropout") && rg_hf_put_flag(c, "is_encoder_decoder", true) &&
           rg_hf_put_flag(c, "normalize_before", false) && rg_hf_put_flag(c, "add_final_layer_norm", false) &&
           rg_hf_put_flag(c, "add_bias_logits", false) && rg_hf_put_flag(c, "static_position_embeddings", sinusoids) &&
           rg_hf_put_flag(c, "normalize_embedding", rg_hf_flag(e, "transformer-norm-embedding")) &&
           rg_hf_put_flag(c, "scale_embedding", rg_hf_flag(e, "transformer-scale-embedding")) &&
           rg_hf_put_flag(c, "tie_word_embeddings", rg_hf_flag(e, "tied-embeddings")) &&
           rg_hf_put_flag(c, "share_encoder_decoder_embeddings", true);
}

static bool marian_config(json_t *c, const rg_exporting *e) { return fill_config(c, e, "MarianMTModel", true); }
static bool bart_config(json_t *c, const rg_exporting *e)
{
    return fill_config(c, e, "BartForConditionalGeneration", false);
}

rg_status rg_hf_write_json(const rg_exporting *e, const char *name, const json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    if (!text) return RG_ENOMEM;
    const rg_status status = rg_export_file(e, name, text, strlen(text));
    free(text);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- vocabularies */

rg_status rg_hf_write_pieces(const rg_exporting *e, const rg_vocab *vocab)
{
    rg_text   json = { 0 };
    rg_status status = rg_export_vocab_json(&json, vocab);
    if (status == RG_OK) status = rg_export_file(e, "vocab.json", json.data, json.length);
    rg_text_free(&json);
    return status;
}

rg_status rg_hf_write_bytes(const rg_exporting *e, const rg_vocab *vocab)
{
    RG_TRY(rg_hf_write_pieces(e, vocab));
    return rg_export_file(e, "merges.txt", rg_text_c(&vocab->model), vocab->model.length);
}

/* SentencePiece cuts, vocab.json numbers. */
static rg_status marian_vocabulary(const rg_exporting *e, json_t *config, bool write)
{
    const rg_vocab *source = e->translator->source, *target = e->translator->target;
    const char     *spm[2];
    size_t          bytes[2];
    (void)config;
    if (rg_vocab_bos(target) < 0 || rg_vocab_eos(target) < 0)
        return rg_fail(RG_EMATCH, "the target vocabulary has no <s> or no </s>");
    RG_TRY(rg_export_spm(&spm[0], &bytes[0], source));
    RG_TRY(rg_export_spm(&spm[1], &bytes[1], target));
    if (!write) return RG_OK;
    RG_TRY(rg_export_file(e, "source.spm", spm[0], bytes[0]));
    RG_TRY(rg_export_file(e, "target.spm", spm[1], bytes[1]));
    RG_TRY(rg_hf_write_pieces(e, target));
    const char *start = rg_vocab_piece(target, rg_vocab_bos(target)),
               *end = rg_vocab_piece(target, rg_vocab_eos(target));
    const char *from = rg_translator_language(e->translator, 0), *to = rg_translator_language(e->translator, 1);
    json_t     *about = json_pack(
            "{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:i}", "tokenizer_class", "MarianTokenizer", "unk_token",
        rg_vocab_unk(target) >= 0 ? rg_vocab_piece(target, rg_vocab_unk(target)) : "<unk>", "eos_token", end,
            "pad_token", start, "source_lang", from, "target_lang", to, "separate_vocabs", 0, "model_max_length", 512);
    const rg_status status = about ? rg_hf_write_json(e, "tokenizer_config.json", about) : RG_ENOMEM;
    json_decref(about);
    return status;
}

/* The characters of a list in order of ids, behind one for each of the four signs. */
static rg_status list_characters(json_t *config, const char *key, const rg_vocab *v)
{
    rg_text   text = { 0 };
    rg_status status = rg_text_add_string(&text, "____");
    for (size_t i = 4; status == RG_OK && i < rg_vocab_size(v); i++) {
        const char *piece = rg_vocab_piece(v, (int32_t)i);
        uint32_t    c;
        if (strncmp(piece, "<unused", 7) == 0) break;
        if (!*piece || rg_utf8_next(&c, piece, strlen(piece)) != strlen(piece))
            status = rg_fail(RG_EMATCH, "token %zu of its characters, \"%s\", is no single one", i, piece);
        else status = rg_text_add_string(&text, piece);
    }
    if (status == RG_OK && json_object_set_new(config, key, json_string(rg_text_c(&text))) != 0) status = RG_ENOMEM;
    rg_text_free(&text);
    return status;
}

static rg_status bart_vocabulary(const rg_exporting *e, json_t *config, bool write)
{
    const rg_vocab *source = e->translator->source, *target = e->translator->target;
    if (target->kind == RG_VOCAB_CHARACTERS && target->foreign && source->foreign) {
        RG_TRY(list_characters(config, "grapheme_chars", source));
        return list_characters(config, "phoneme_chars", target);
    }
    if (target->kind != RG_VOCAB_BYTES || source != target)
        return rg_fail(RG_EMATCH, "a vocabulary of kind %s is none of BART's: byte-level BPE of both sides is",
                       rg_vocab_kind_name(target->kind));
    if (!write) return RG_OK;
    return rg_hf_write_bytes(e, target);
}

/* ---------------------------------------------------------------------------------------------------------- weights */

static rg_status write_weights(const rg_exporting *e, const rg_export_arrays *arrays)
{
    rg_safetensors_writer *writer = NULL;
    void                  *bytes = NULL;
    size_t                 count = 0;
    rg_status              status = rg_safetensors_writer_new(&writer);
    if (status == RG_OK) status = rg_safetensors_writer_metadata(writer, "format", "pt");
    for (size_t i = 0; status == RG_OK && i < arrays->count; i++) {
        const rg_export_array *a = &arrays->list[i];
        status = rg_safetensors_writer_add(writer, a->name, RG_DTYPE_F32, a->dims, a->ndim, a->data);
    }
    if (status == RG_OK) status = rg_safetensors_writer_build(&bytes, &count, writer);
    if (status == RG_OK) status = rg_export_file(e, "model.safetensors", bytes, count);
    rg_safetensors_writer_free(writer);
    rg_free(bytes);
    return status;
}

static rg_status write_all(const rg_exporting *e, const rg_hf_kind *k, const rg_export_arrays *arrays)
{
    json_t    *config = json_object();
    const bool good = config && rg_hf_put_text(config, "model_type", k->type) && k->config(config, e);
    rg_status  status = good ? k->vocabulary(e, config, false) : RG_ENOMEM;
    if (status == RG_OK) status = write_weights(e, arrays);
    if (status == RG_OK) status = k->vocabulary(e, config, true);
    if (status == RG_OK) status = rg_hf_write_json(e, "config.json", config);
    json_decref(config);
    return status;
}

static const rg_hf_kind marian = { "Hugging Face MarianMT", "marian",         marian_rules, rg_hf_rows,
                                   marian_config,           marian_vocabulary },
                        bart = { "Hugging Face BART", "bart", bart_rules, rg_hf_rows, bart_config, bart_vocabulary };

static const rg_hf_kind *kind_of(const rg_exporting *e)
{
    char        room[RG_SETTING];
    const char *system = e->model->system->name;
    if (strcmp(system, "gpt") == 0) return &rg_hf_kind_gpt2;
    if (strcmp(system, "bert") == 0) return &rg_hf_kind_bert;
    return strcmp(rg_setting(room, e->settings, "transformer-positions", ""), "learned") == 0 ? &bart : &marian;
}

static rg_status write(const rg_exporting *e)
{
    const rg_hf_kind *k = kind_of(e);
    rg_export_arrays  arrays = { 0 };
    RG_TRY(rg_export_check(e, k->rules, k->whose));
    rg_status status = rg_export_arrays_of(&arrays, e, k->rows, 0, false, k->whose);
    if (status == RG_OK) status = write_all(e, k, &arrays);
    rg_export_arrays_free(&arrays);
    return status;
}

const rg_exporter rg_exporter_huggingface = {
    "huggingface", "a folder of Hugging Face: MarianMT, BART (learned positions), GPT-2, BERT", write
};
