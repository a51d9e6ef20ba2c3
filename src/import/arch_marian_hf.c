/* arch_marian_hf.c - Hugging Face MarianMT, such as the OPUS-MT translators: source.spm and target.spm cut, one
 * vocab.json numbers. */
#include "import/huggingface.h"

#include <string.h>

#include "base/json_scan.h"
#include "data/text/vocab_files.h"
#include "regard/translate.h"

static bool fits(const rg_foreign *f)
{
    return rg_hf_is(f, "marian") && rg_arrays_find(&f->arrays, "model.shared.weight");
}

static rg_status make_side(rg_vocab **out, const rg_foreign *f, const rg_line_list *pieces, const char *file)
{
    rg_text   spm = { 0 };
    bool      there;
    rg_status status = rg_foreign_file(&there, &spm, f, file);
    if (status == RG_OK && !there) status = rg_fail(RG_EMATCH, "%s: %s is not beside it", f->folder, file);
    const int64_t start = rg_config_integer(f->config, "decoder_start_token_id",
                                            rg_config_integer(f->config, "pad_token_id", (int64_t)pieces->count - 1));
    if (status == RG_OK && (start < 0 || (size_t)start >= pieces->count))
        status = rg_fail(RG_EMATCH, "config.json: decoder_start_token_id is %lld of %zu tokens", (long long)start,
                         pieces->count);
    if (status == RG_OK) {
        const rg_vocab_table table = { .kind = RG_VOCAB_PIECES,
                                       .form = RG_TEXT_AS_IS,
                                       .pieces = (const char *const *)pieces->line,
                                       .count = pieces->count,
                                       .unk = rg_pieces_find(pieces, "<unk>"),
                                       .bos = (int32_t)start,
                                       .eos = rg_pieces_find(pieces, "</s>"),
                                       .begin = -1,
                                       .model = spm.data,
                                       .model_bytes = spm.length };
        status = rg_vocab_from_table(out, &table);
        if (status != RG_OK) rg_fail_in(status, "%s/%s, vocab.json: ", f->folder, file);
    }
    rg_text_free(&spm);
    return status;
}

/* Languages that tokenizer_config.json names by codes that are known here. */
static rg_status languages(rg_import_plan *p, const rg_foreign *f)
{
    rg_text            text = { 0 };
    bool               there;
    rg_status          status = rg_foreign_file(&there, &text, f, "tokenizer_config.json");
    const rg_json_scan scan = rg_json_scan_text(rg_text_c(&text), text.length);
    if (status == RG_OK && there && scan.depth <= RG_JSON_DEPTH_MAX) {
        json_t *about = json_loadb(rg_text_c(&text), text.length, 0, NULL);
        status = rg_translator_set_languages(p->assets, rg_config_text(about, "source_lang", ""),
                                             rg_config_text(about, "target_lang", ""));
        if (status == RG_EINVAL) status = RG_OK;
        json_decref(about);
    }
    rg_text_free(&text);
    return status;
}

static rg_status plan(rg_import_plan *p, rg_foreign *f)
{
    const rg_array *shared = rg_arrays_find(&f->arrays, "model.shared.weight");
    rg_line_list    pieces = { 0 };
    rg_vocab       *source = NULL, *target = NULL;
    RG_TRY(rg_hf_plan(p, f, "transformer-positions: sinusoidal-halves\n"));
    rg_status status = rg_hf_pieces(&pieces, f, shared->ndim ? shared->dims[0] : 0);
    if (status == RG_OK) status = make_side(&source, f, &pieces, "source.spm");
    if (status == RG_OK) status = make_side(&target, f, &pieces, "target.spm");
    rg_line_list_free(&pieces);
    if (status == RG_OK) {
        RG_TRY(rg_plan_translator(p, source, target));
        return languages(p, f);
    }
    rg_vocab_free(source);
    return status;
}

const rg_architecture rg_architecture_marian_hf = { "marian-hf", "Hugging Face MarianMT (OPUS-MT)", fits, plan };
