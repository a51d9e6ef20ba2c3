/* arch_bart.c - Hugging Face BART. Its text is bytes (vocab.json, merges.txt) or, in small models for spelling,
 * single characters that config.json lists as grapheme_chars and phoneme_chars, whose first four are <pad> <s> </s>
 * <unk>. Lines of both sides begin with <s>: what the decoder is given first is another start token. */
#include "import/huggingface.h"

#include <string.h>

#include "data/text/vocab_files.h"

static bool fits(const rg_foreign *f)
{
    return rg_hf_is(f, "bart") && rg_arrays_find(&f->arrays, "model.shared.weight");
}

/* ------------------------------------------------------------------------------------------------------- characters */

static rg_status list_characters(rg_line_list *out, const char *text, size_t size)
{
    static const char *const signs[] = { "<pad>", "<s>", "</s>", "<unk>" };
    const size_t             bytes = strlen(text);
    for (size_t at = 0, step; at < bytes; at += step) {
        uint32_t c;
        step = rg_utf8_next(&c, text + at, bytes - at);
        if (out->count < 4) RG_TRY(rg_pieces_add(out, signs[out->count], strlen(signs[out->count])));
        else RG_TRY(rg_pieces_add(out, text + at, step));
    }
    if (out->count > size)
        return rg_fail(RG_EMATCH, "config.json lists %zu characters, the model's table has %zu rows", out->count, size);
    while (out->count < size) {
        char name[40];
        snprintf(name, sizeof name, "<unused%zu>", out->count);
        RG_TRY(rg_pieces_add(out, name, strlen(name)));
    }
    return RG_OK;
}

static rg_status of_characters(rg_vocab **out, const rg_foreign *f, const char *key, size_t size)
{
    const int64_t bos = rg_config_integer(f->config, "bos_token_id", 1),
                  start = rg_config_integer(f->config, "decoder_start_token_id", bos),
                  eos = rg_config_integer(f->config, "eos_token_id", 2);
    rg_line_list  pieces = { 0 };
    rg_status     status = list_characters(&pieces, rg_config_text(f->config, key, ""), size);
    if (status == RG_OK) {
        const rg_vocab_table table = { .kind = RG_VOCAB_CHARACTERS,
                                       .form = RG_TEXT_NFC,
                                       .pieces = (const char *const *)pieces.line,
                                       .count = pieces.count,
                                       .unk = 3,
                                       .bos = (int32_t)start,
                                       .eos = (int32_t)eos,
                                       .begin = (int32_t)bos };
        status = rg_vocab_from_table(out, &table);
        if (status != RG_OK) rg_fail_in(status, "config.json, %s: ", key);
    }
    rg_line_list_free(&pieces);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

static rg_status of_bytes(rg_vocab **out, const rg_foreign *f, size_t size)
{
    const rg_vocab_table table = { .bos = (int32_t)rg_config_integer(f->config, "decoder_start_token_id", 2),
                                   .eos = (int32_t)rg_config_integer(f->config, "eos_token_id", 2),
                                   .begin = (int32_t)rg_config_integer(f->config, "bos_token_id", 0) };
    return rg_hf_bytes(out, f, size, "<unk>", &table);
}

static rg_status plan(rg_import_plan *p, rg_foreign *f)
{
    const rg_array *shared = rg_arrays_find(&f->arrays, "model.shared.weight"),
                   *places = rg_arrays_find(&f->arrays, "model.encoder.embed_positions.weight");
    const size_t    size = shared->ndim ? shared->dims[0] : 0;
    rg_vocab       *source = NULL, *target = NULL;
    char            positions[120];
    if (!places || places->ndim != 2 || places->dims[0] < 4)
        return rg_fail(RG_EMATCH, "has no table of positions, model.encoder.embed_positions.weight");
    snprintf(positions, sizeof positions, "transformer-positions: learned\ntransformer-max-positions: %zu\n",
             places->dims[0] - 2);
    RG_TRY(rg_hf_plan(p, f, positions));
    if (!json_object_get(f->config, "grapheme_chars")) {
        RG_TRY(of_bytes(&source, f, size));
        return rg_plan_translator(p, source, NULL);
    }
    RG_TRY(of_characters(&source, f, "grapheme_chars", size));
    const rg_status status = of_characters(&target, f, "phoneme_chars", size);
    if (status == RG_OK) return rg_plan_translator(p, source, target);
    rg_vocab_free(source);
    return status;
}

const rg_architecture rg_architecture_bart = { "bart", "Hugging Face BART", fits, plan };
