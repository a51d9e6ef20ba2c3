/* export_vocab.c - vocabularies as files of other programs, and the exporter that writes nothing else. */
#include "import/export.h"

#include <string.h>

#include "data/text/vocab.h"
#include "tasks/language.h"

static bool is_spm(rg_vocab_kind kind)
{
    return kind == RG_VOCAB_UNIGRAM || kind == RG_VOCAB_BPE || kind == RG_VOCAB_CHAR || kind == RG_VOCAB_WORD ||
           kind == RG_VOCAB_PIECES;
}

rg_status rg_export_spm(const char **out, size_t *out_bytes, const rg_vocab *v)
{
    if (!is_spm(v->kind))
        return rg_fail(RG_EMATCH, "a vocabulary of kind %s is no SentencePiece model; unigram and bpe are",
                       rg_vocab_kind_name(v->kind));
    if (v->form != RG_TEXT_NFC && v->form != RG_TEXT_AS_IS)
        return rg_fail(RG_EMATCH,
                       "lines are brought to the form %s before SentencePiece cuts them, which its file does "
                       "not say; nfc and none can be written",
                       rg_text_form_name(v->form));
    *out = rg_text_c(&v->model);
    *out_bytes = v->model.length;
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------- lists of ids */

/* As JSON's string, which is YAML's too. */
static rg_status add_quoted(rg_text *out, const char *piece)
{
    RG_TRY(rg_text_add(out, "\"", 1));
    for (; *piece; piece++) {
        const unsigned char c = (unsigned char)*piece;
        if (c == '"' || c == '\\') RG_TRY(rg_text_print(out, "\\%c", c));
        else if (c < 0x20 || c == 0x7F) RG_TRY(rg_text_print(out, "\\u%04x", c));
        else RG_TRY(rg_text_add(out, piece, 1));
    }
    return rg_text_add(out, "\"", 1);
}

static rg_status add_list(rg_text *out, const rg_vocab *v, const char *between)
{
    for (size_t i = 0; i < rg_vocab_size(v); i++) {
        if (i) RG_TRY(rg_text_add_string(out, between));
        RG_TRY(add_quoted(out, rg_vocab_piece(v, (int32_t)i)));
        RG_TRY(rg_text_print(out, ": %zu", i));
    }
    return rg_text_add(out, "\n", 1);
}

rg_status rg_export_vocab_json(rg_text *out, const rg_vocab *v)
{
    RG_TRY(rg_text_add(out, "{\n", 2));
    RG_TRY(add_list(out, v, ",\n"));
    return rg_text_add(out, "}\n", 2);
}

rg_status rg_export_vocab_yaml(rg_text *out, const rg_vocab *v) { return add_list(out, v, "\n"); }

/* --------------------------------------------------------------------------------------------------- the exporter */

static bool is_file(const char *path) { return rg_name_matches("*.model", path) || rg_name_matches("*.spm", path); }

static rg_status write_models(const rg_exporting *e)
{
    const char     *bytes[2] = { NULL, NULL };
    size_t          count[2] = { 0, 0 };
    const rg_vocab *source = NULL, *target = NULL;
    if (e->translator) source = e->translator->source, target = e->translator->target;
    else if (e->model->system->task == &rg_task_language)
        source = target = ((const rg_language_model *)e->model->assets)->vocab;
    if (!source) return rg_fail(RG_EMATCH, "a model of %s has no vocabulary of texts", e->model->system->name);
    const bool joint = source == target;
    RG_TRY(rg_export_spm(&bytes[0], &count[0], source));
    RG_TRY(rg_export_spm(&bytes[1], &count[1], target));
    if (!is_file(e->path)) {
        RG_TRY(rg_export_file(e, joint ? "vocab.model" : "source.model", bytes[0], count[0]));
        return joint ? RG_OK : rg_export_file(e, "target.model", bytes[1], count[1]);
    }
    if (!joint)
        return rg_fail(RG_EMATCH,
                       "%s: its two vocabularies are two files: name a folder, with no .model or .spm behind it",
                       e->path);
    RG_TRY(rg_file_replace(e->path, bytes[0], count[0]));
    return e->report ? rg_text_print(e->report, "%s: %zu bytes\n", e->path, count[0]) : RG_OK;
}

const rg_exporter rg_exporter_sentencepiece = { "sentencepiece", "the vocabulary as SentencePiece's .model",
                                                write_models };
