/* vocab_use.c - what is done with a vocabulary: encode, decode, normalise, look up. */
#include "data/text/vocab.h"

#include <string.h>

uint64_t rg_vocab_checksum(const rg_vocab *v)
{
    return v->checksum;
}

size_t rg_vocab_size(const rg_vocab *v)
{
    return v->size;
}

rg_vocab_kind rg_vocab_kind_of(const rg_vocab *v)
{
    return v->kind;
}

rg_text_form rg_vocab_form_of(const rg_vocab *v)
{
    return v->form;
}

int32_t rg_vocab_unk(const rg_vocab *v)
{
    return v->unk;
}

int32_t rg_vocab_bos(const rg_vocab *v)
{
    return v->bos;
}

int32_t rg_vocab_eos(const rg_vocab *v)
{
    return v->eos;
}

int32_t rg_vocab_begin(const rg_vocab *v)
{
    return v->begin;
}

static bool inside(const rg_vocab *v, int32_t id)
{
    return id >= 0 && (size_t)id < v->size;
}

const char *rg_vocab_piece(const rg_vocab *v, int32_t id)
{
    if (!inside(v, id)) return "";
    return v->cutter ? rg_words_get(&v->pieces, (size_t)id) : rg_spm_piece(v->spm, id);
}

int32_t rg_vocab_find(const rg_vocab *v, const char *piece)
{
    if (!v->cutter) return rg_spm_find(v->spm, piece);
    int64_t id = rg_words_find(&v->pieces, piece, strlen(piece));
    return id < 0 ? v->unk : (int32_t)id;
}

bool rg_vocab_is_special(const rg_vocab *v, int32_t id)
{
    if (!inside(v, id)) return false;
    return id == v->unk || id == v->bos || id == v->eos || id == v->begin ||
           (!v->cutter && rg_spm_is_control(v->spm, id));
}

/* ------------------------------------------------------------------------------------------------------ encoding */

/* Where pieces go: any of the three may be absent. */
typedef struct collector {
    const rg_vocab *vocab;
    rg_ids         *ids;
    rg_spans       *spans;
    rg_text        *text; /* SentencePiece: the normalised line, pieces with blanks for marks */
    size_t          begin, length;
    rg_status       status;
} collector;

static rg_status collect_plain(void *context, const char *piece, size_t bytes, size_t begin, size_t end)
{
    collector *c = context;
    int64_t    id = rg_words_find(&c->vocab->pieces, piece, bytes);
    bool       sign = rg_vocab_is_special(c->vocab, (int32_t)id); /* written out in text, it is not the sign */
    RG_TRY(rg_ids_add(c->ids, (id < 0 || sign) && c->vocab->unk >= 0 ? c->vocab->unk : (int32_t)id));
    return c->spans ? rg_spans_add(c->spans, begin, end) : RG_OK;
}

/* Add a piece's text to the normalised line; a mark is a blank, none at the very start. Returns bytes added. */
static rg_status add_surface(collector *c, const char *text, size_t bytes, int byte)
{
    char one = (char)byte;
    if (byte >= 0) {
        c->length++;
        return c->text ? rg_text_add(c->text, &one, 1) : RG_OK;
    }
    for (size_t i = 0; i < bytes;) {
        bool   mark = i + 3 <= bytes && memcmp(text + i, RG_BLANK_MARK, 3) == 0;
        size_t step = mark ? 3 : 1;
        if (mark && c->length == 0) {
            i += step; /* the blank in front of the first word */
            continue;
        }
        if (c->text) RG_TRY(rg_text_add(c->text, mark ? " " : text + i, 1));
        c->length++;
        i += step;
    }
    return RG_OK;
}

static bool collect_spm(void *context, int32_t id, const char *text, size_t bytes, int byte)
{
    collector *c = context;
    size_t     begin = c->length;
    c->status = add_surface(c, text, bytes, byte);
    if (c->status == RG_OK && c->ids) c->status = rg_ids_add(c->ids, id);
    if (c->status == RG_OK && c->spans) c->status = rg_spans_add(c->spans, begin, c->length);
    return c->status == RG_OK;
}

static bool collect_ids(void *context, const int32_t *ids, size_t count)
{
    collector *c = context;
    c->status = rg_ids_reserve(c->ids, count);
    if (c->status != RG_OK) return false;
    if (count) memcpy(c->ids->data + c->ids->count, ids, count * sizeof *ids);
    c->ids->count += count;
    return true;
}

static rg_status encode_spm(collector *c, const char *line, size_t bytes)
{
    char why[RG_SPM_WHY];
    bool only_ids = !c->spans && !c->text;
    if (only_ids ? rg_spm_encode_ids(c->vocab->spm, line, bytes, collect_ids, c, why)
                 : rg_spm_encode(c->vocab->spm, line, bytes, collect_spm, c, why))
        return RG_OK;
    return c->status != RG_OK ? c->status : rg_fail(RG_EINVAL, "SentencePiece cannot cut the line: %s", why);
}

/* The line as given to the cutter. Models that bring a normaliser get it clean but otherwise as it is. */
static rg_status prepare(rg_text *out, const rg_vocab *v, const char *line, size_t bytes)
{
    if (v->cutter) return v->cutter->prepare(out, v, line, bytes);
    if (v->form == RG_TEXT_AS_IS) return rg_text_clean(out, line, bytes, v->form, NULL);
    return rg_plain_normalize(out, v->form, line, bytes);
}

static rg_status add_begin(collector *c)
{
    RG_TRY(rg_ids_add(c->ids, c->vocab->begin));
    return c->spans ? rg_spans_add(c->spans, 0, 0) : RG_OK;
}

static void drop_begin(collector *c)
{
    c->ids->count--;
    if (c->spans) c->spans->count--;
}

rg_status rg_vocab_encode(rg_ids *out, rg_spans *spans, const rg_vocab *v, const char *line, size_t bytes)
{
    rg_text   clean = { 0 };
    collector c = { .vocab = v, .ids = out, .spans = spans };
    size_t    first = out->count;
    rg_status status = prepare(&clean, v, line, bytes);
    if (status == RG_OK && v->begin >= 0) status = add_begin(&c);
    if (status == RG_OK)
        status = v->cutter ? v->cutter->cut(v, rg_text_c(&clean), clean.length, collect_plain, &c)
                           : encode_spm(&c, rg_text_c(&clean), clean.length);
    if (status == RG_OK && v->begin >= 0 && out->count == first + 1) drop_begin(&c);
    rg_text_free(&clean);
    return status;
}

rg_status rg_vocab_normalize(rg_text *out, const rg_vocab *v, const char *line, size_t bytes)
{
    rg_text   clean = { 0 };
    collector c = { .vocab = v, .text = out };
    rg_status status = prepare(&clean, v, line, bytes);
    if (status == RG_OK && v->cutter && v->cutter->normalize)
        status = v->cutter->normalize(out, v, rg_text_c(&clean), clean.length);
    else if (status == RG_OK)
        status = v->cutter ? rg_text_add(out, rg_text_c(&clean), clean.length)
                           : encode_spm(&c, rg_text_c(&clean), clean.length);
    rg_text_free(&clean);
    return status;
}

static bool collect_text(void *context, const char *bytes, size_t count)
{
    collector *c = context;
    c->status = rg_text_add(c->text, bytes, count);
    return c->status == RG_OK;
}

/* SentencePiece writes its own sign for what is unknown: pieces are joined here. One of the kind `word` is a whole
 * word with the blank before it, and so is what stands in its place. */
static rg_status join_with(rg_text *out, const rg_vocab *v, const int32_t *ids, size_t count,
                           const char *const *instead)
{
    collector c = { .vocab = v, .text = out };
    for (size_t i = 0; i < count; i++) {
        if (!instead[i] && ids[i] != v->unk && rg_vocab_is_special(v, ids[i])) continue;
        const char *piece = instead[i] ? instead[i] : rg_vocab_piece(v, ids[i]);
        if (instead[i] && v->kind == RG_VOCAB_WORD) RG_TRY(add_surface(&c, RG_BLANK_MARK, 3, -1));
        RG_TRY(add_surface(&c, piece, strlen(piece), -1));
    }
    return rg_text_add(out, "", 0);
}

rg_status rg_vocab_decode_with(rg_text *out, const rg_vocab *v, const int32_t *ids, size_t count,
                               const char *const *instead)
{
    char      why[RG_SPM_WHY];
    collector c = { .vocab = v, .text = out };
    for (size_t i = 0; i < count; i++)
        if (!inside(v, ids[i]))
            return rg_fail(RG_EINVAL, "id %d at place %zu is outside the vocabulary of %zu tokens", ids[i], i, v->size);
    if (v->cutter) return v->cutter->join(out, v, ids, count, instead);
    if (instead) return join_with(out, v, ids, count, instead);
    if (rg_spm_decode(v->spm, ids, count, collect_text, &c, why)) return rg_text_add(out, "", 0);
    return c.status != RG_OK ? c.status : rg_fail(RG_EINVAL, "SentencePiece cannot join the tokens: %s", why);
}

rg_status rg_vocab_decode(rg_text *out, const rg_vocab *v, const int32_t *ids, size_t count)
{
    return rg_vocab_decode_with(out, v, ids, count, NULL);
}
