/* vocab_table.c - vocabularies of models that other programs trained: a table of pieces whose ids are kept, and how
 * text is cut.
 *
 *   stored after the head (vocab.c)   every piece, one a line, in order of ids
 *                                     a blank line
 *                                     SentencePiece's model, or merges.txt, or nothing
 *
 * Kind `pieces`, which is here, is cut by SentencePiece; its pieces are looked up in the table (MarianMT: source.spm
 * and target.spm beside one vocab.json). The other cutters have files of their own. */
#include "data/text/vocab.h"

#include <stdlib.h>
#include <string.h>

const rg_cutter *rg_cutter_of(rg_vocab_kind kind)
{
    static const rg_cutter *const all[] = { &rg_cutter_words,  &rg_cutter_tokens, &rg_cutter_characters,
                                            &rg_cutter_pieces, &rg_cutter_bytes,  &rg_cutter_wordpiece };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->kind == kind) return all[i];
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------- the table */

static bool outside(const rg_vocab *v, int32_t id, int32_t least)
{
    return id < least || (id >= 0 && (size_t)id >= v->pieces.count);
}

/* All pieces and the model are there: is it a vocabulary? */
static rg_status check(rg_vocab *v)
{
    const int32_t least = v->kind == RG_VOCAB_BYTES ? -1 : 0;
    if (outside(v, v->unk, least) || outside(v, v->bos, 0) || outside(v, v->eos, -1) || outside(v, v->begin, -1))
        return rg_fail(RG_EFORMAT,
                       "<unk> is %d, <s> %d, </s> %d and a line begins with %d, in a vocabulary of %zu tokens", v->unk,
                       v->bos, v->eos, v->begin, v->pieces.count);
    if ((v->unk == v->eos && v->unk >= 0) || v->unk == v->bos)
        return rg_fail(RG_EFORMAT, "<unk> and <s> or </s> are the same token, %d", v->unk);
    return v->cutter->load ? v->cutter->load(v) : RG_OK;
}

rg_status rg_table__fill(rg_vocab *v, const rg_vocab_table *t)
{
    v->foreign = true;
    v->unk = t->unk;
    v->bos = t->bos;
    v->eos = t->eos;
    v->begin = t->begin;
    if (!v->cutter)
        return rg_fail(RG_EINVAL, "a vocabulary of kind %s numbers its own tokens", rg_vocab_kind_name(v->kind));
    for (size_t i = 0; i < t->count; i++) RG_TRY(rg_plain_add(v, t->pieces[i], strlen(t->pieces[i])));
    RG_TRY(rg_text_add(&v->model, t->model ? t->model : "", t->model_bytes));
    return check(v);
}

rg_status rg_table__write(rg_text *out, const rg_vocab *v)
{
    for (size_t i = 0; i < v->pieces.count; i++) {
        RG_TRY(rg_text_add(out, rg_words_get(&v->pieces, i), v->pieces.words[i].bytes));
        RG_TRY(rg_text_add(out, "\n", 1));
    }
    RG_TRY(rg_text_add(out, "\n", 1));
    return rg_text_add(out, rg_text_c(&v->model), v->model.length);
}

rg_status rg_table__read(rg_vocab *v, const char *bytes, size_t count)
{
    const char *at = bytes, *end = bytes + count, *lf;
    if (!v->cutter)
        return rg_fail(RG_EFORMAT, "a vocabulary of kind %s numbers its own tokens", rg_vocab_kind_name(v->kind));
    for (; at < end && *at != '\n'; at = lf + 1) {
        lf = memchr(at, '\n', (size_t)(end - at));
        if (!lf) return rg_fail(RG_EFORMAT, "the vocabulary's last token has no line end");
        RG_TRY(rg_plain_add(v, at, (size_t)(lf - at)));
    }
    if (at == end) return rg_fail(RG_EFORMAT, "the vocabulary's tokens are not closed by a blank line");
    RG_TRY(rg_text_add(&v->model, at + 1, (size_t)(end - at - 1)));
    return check(v);
}

/* ------------------------------------------------------------------------------------------- cut by SentencePiece */

static rg_status load_spm(rg_vocab *v)
{
    char          why[RG_SPM_WHY];
    rg_vocab_kind kind; /* of the cut; whatever it is */
    RG_TRY(rg_spm_check(&kind, v->model.data, v->model.length));
    if (rg_spm_load(&v->spm, v->model.data, v->model.length, why)) return RG_OK;
    return rg_fail(RG_EFORMAT, "SentencePiece refuses the model: %s", why);
}

static rg_status clean(rg_text *out, const rg_vocab *v, const char *line, size_t bytes)
{
    rg_text_clear(out);
    return rg_text_clean(out, line, bytes, v->form, NULL);
}

typedef struct {
    rg_piece_sink *sink;
    void          *context;
    size_t         at; /* bytes of text so far, a mark counted as one blank and none at the start */
    rg_status      status;
} passing;

static size_t surface(const char *piece, size_t bytes, bool first)
{
    size_t length = 0;
    for (size_t i = 0; i < bytes;) {
        const bool mark = i + 3 <= bytes && memcmp(piece + i, RG_BLANK_MARK, 3) == 0;
        if (!(mark && first && length == 0)) length++;
        i += mark ? 3 : 1;
    }
    return length;
}

static bool pass(void *context, int32_t id, const char *text, size_t bytes, int byte)
{
    passing     *p = context;
    const size_t begin = p->at;
    (void)id;
    p->at += byte >= 0 ? 1 : surface(text, bytes, begin == 0);
    p->status = p->sink(p->context, text, bytes, begin, p->at);
    return p->status == RG_OK;
}

static rg_status cut_spm(const rg_vocab *v, const char *text, size_t bytes, rg_piece_sink *sink, void *context)
{
    char    why[RG_SPM_WHY];
    passing p = { .sink = sink, .context = context };
    if (rg_spm_encode(v->spm, text, bytes, pass, &p, why)) return RG_OK;
    return p.status != RG_OK ? p.status : rg_fail(RG_EINVAL, "SentencePiece cannot cut the line: %s", why);
}

/* "<0xE2>" stands for a byte. */
static bool is_byte(const char *piece, size_t bytes, char *out)
{
    char *end;
    if (bytes != 6 || memcmp(piece, "<0x", 3) != 0 || piece[5] != '>') return false;
    *out = (char)strtoul(piece + 3, &end, 16);
    return end == piece + 5;
}

static rg_status add_surface(rg_text *out, const char *piece, size_t bytes)
{
    char byte;
    if (is_byte(piece, bytes, &byte)) return rg_text_add(out, &byte, 1);
    for (size_t i = 0; i < bytes;) {
        const bool mark = i + 3 <= bytes && memcmp(piece + i, RG_BLANK_MARK, 3) == 0;
        if (!(mark && out->length == 0)) RG_TRY(rg_text_add(out, mark ? " " : piece + i, 1));
        i += mark ? 3 : 1;
    }
    return RG_OK;
}

static rg_status join_spm(rg_text *out, const rg_vocab *v, const int32_t *ids, size_t count, const char *const *instead)
{
    rg_text   raw = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        const char *other = instead ? instead[i] : NULL, *piece = other ? other : rg_vocab_piece(v, ids[i]);
        if (!other && ids[i] != v->unk && rg_vocab_is_special(v, ids[i])) continue;
        status = add_surface(&raw, piece, strlen(piece));
    }
    if (status == RG_OK) status = rg_utf8_repair(out, rg_text_c(&raw), raw.length);
    rg_text_free(&raw);
    return status;
}

static rg_status add_piece(void *context, const char *piece, size_t bytes, size_t begin, size_t end)
{
    (void)begin;
    (void)end;
    return add_surface(context, piece, bytes);
}

static rg_status normalize_spm(rg_text *out, const rg_vocab *v, const char *text, size_t bytes)
{
    rg_text   line = { 0 };
    rg_status status = cut_spm(v, text, bytes, add_piece, &line);
    if (status == RG_OK) status = rg_utf8_repair(out, rg_text_c(&line), line.length);
    rg_text_free(&line);
    return status;
}

const rg_cutter rg_cutter_pieces = { RG_VOCAB_PIECES, load_spm, clean, cut_spm, join_spm, normalize_spm };
