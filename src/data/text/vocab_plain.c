/* vocab_plain.c - vocabularies without SentencePiece: words between blanks, and characters.
 *
 * Words are also cut after the apostrophe of an elision, for l', d', n' are words of their own:
 *
 *   l'homme n'a pas   ->   l' homme n' a pas        joined again: no blank after a piece that ends in an apostrophe
 *   the dogs' bone    ->   the dogs'_ bone          a word that itself ends so carries the blank mark (U+2581, here _)
 *
 * so that decode(encode(x)) is x. Words of another program's table (vocab->foreign) are what stands between blanks. */
#include "data/text/vocab.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static bool is_letter(uint32_t c)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

static bool is_apostrophe(uint32_t c)
{
    return c == '\'' || c == 0x2019;
}

static bool ends_in_apostrophe(const char *piece, size_t bytes)
{
    return (bytes >= 1 && piece[bytes - 1] == '\'') ||
           (bytes >= 3 && memcmp(piece + bytes - 3, "\xE2\x80\x99", 3) == 0);
}

rg_status rg_plain_normalize(rg_text *out, rg_text_form form, const char *line, size_t bytes)
{
    rg_text_clear(out);
    RG_TRY(rg_text_clean(out, line, bytes, form, NULL));
    for (size_t i = 0; i + 3 <= out->length; i++) /* the mark is ours: in text it reads as a blank */
        if (memcmp(out->data + i, RG_BLANK_MARK, 3) == 0) memset(out->data + i, ' ', 3);
    if (form != RG_TEXT_EXACT) rg_text_squeeze(out);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------ cut and join */

static rg_status cut_characters(const rg_vocab *vocab, const char *text, size_t bytes, rg_piece_sink *sink,
                                void *context)
{
    (void)vocab;
    for (size_t i = 0, step; i < bytes; i += step) {
        uint32_t c;
        step = rg_utf8_next(&c, text + i, bytes - i);
        RG_TRY(c == ' ' ? sink(context, RG_BLANK_MARK, 3, i, i + 1) : sink(context, text + i, step, i, i + step));
    }
    return RG_OK;
}

/* The word's last part, which may need the mark. */
static rg_status give_last(const char *text, size_t begin, size_t end, rg_piece_sink *sink, void *context)
{
    if (!ends_in_apostrophe(text + begin, end - begin)) return sink(context, text + begin, end - begin, begin, end);
    rg_text   marked = { 0 };
    rg_status status = rg_text_add(&marked, text + begin, end - begin);
    if (status == RG_OK) status = rg_text_add(&marked, RG_BLANK_MARK, 3);
    if (status == RG_OK) status = sink(context, marked.data, marked.length, begin, end);
    rg_text_free(&marked);
    return status;
}

static rg_status cut_word(const char *text, size_t begin, size_t end, rg_piece_sink *sink, void *context)
{
    uint32_t before = 0, c, after = 0;
    for (size_t i = begin, step; i < end; i += step, before = c) {
        step = rg_utf8_next(&c, text + i, end - i);
        if (!is_apostrophe(c) || !is_letter(before) || i + step >= end) continue;
        rg_utf8_next(&after, text + i + step, end - i - step);
        if (!is_letter(after)) continue;
        RG_TRY(sink(context, text + begin, i + step - begin, begin, i + step));
        begin = i + step;
    }
    return give_last(text, begin, end, sink, context);
}

/* Is a word what stands between blanks, as it is? */
static bool keeps_words(const rg_vocab *vocab) { return vocab->foreign || vocab->kind == RG_VOCAB_TOKENS; }

static rg_status cut_words(const rg_vocab *vocab, const char *text, size_t bytes, rg_piece_sink *sink, void *context)
{
    for (size_t i = 0; i < bytes;) {
        const char *blank = memchr(text + i, ' ', bytes - i);
        size_t      end = blank ? (size_t)(blank - text) : bytes;
        if (end > i)
            RG_TRY(keeps_words(vocab) ? sink(context, text + i, end - i, i, end)
                                      : cut_word(text, i, end, sink, context));
        i = end + 1;
    }
    return RG_OK;
}

static rg_status join(rg_text *out, const rg_vocab *vocab, const int32_t *ids, size_t count, const char *const *instead)
{
    bool blank = false; /* is one due before the next piece? */
    for (size_t i = 0; i < count; i++) {
        if (rg_vocab_is_special(vocab, ids[i]) && ids[i] != vocab->unk) continue;
        const char *other = instead ? instead[i] : NULL,
                   *piece = other ? other : rg_words_get(&vocab->pieces, (size_t)ids[i]);
        size_t      bytes = other ? strlen(other) : vocab->pieces.words[ids[i]].bytes;
        bool        marked = !other && bytes >= 3 && memcmp(piece + bytes - 3, RG_BLANK_MARK, 3) == 0;
        if (vocab->kind == RG_VOCAB_CHARACTERS) {
            RG_TRY(marked ? rg_text_add(out, " ", 1) : rg_text_add(out, piece, bytes));
            continue;
        }
        if (blank) RG_TRY(rg_text_add(out, " ", 1));
        if (marked) bytes -= 3;
        RG_TRY(rg_text_add(out, piece, bytes));
        blank = marked || keeps_words(vocab) || !ends_in_apostrophe(piece, bytes);
    }
    return RG_OK;
}

static rg_status prepare(rg_text *out, const rg_vocab *vocab, const char *line, size_t bytes)
{
    return rg_plain_normalize(out, vocab->form, line, bytes);
}

const rg_cutter rg_cutter_words = { RG_VOCAB_WORDS, NULL, prepare, cut_words, join, NULL };
const rg_cutter rg_cutter_tokens = { RG_VOCAB_TOKENS, NULL, prepare, cut_words, join, NULL };
const rg_cutter rg_cutter_characters = { RG_VOCAB_CHARACTERS, NULL, prepare, cut_characters, join, NULL };

/* ----------------------------------------------------------------------------------------------------- learning */

rg_status rg_plain_add(rg_vocab *vocab, const char *piece, size_t bytes)
{
    uint32_t id;
    size_t   before = vocab->pieces.count;
    if (!bytes || bytes > RG_VOCAB_MAX_PIECE_BYTES || memchr(piece, '\n', bytes) || memchr(piece, '\0', bytes) ||
        !rg_utf8_check(piece, bytes, NULL))
        return rg_fail(RG_EFORMAT, "token %zu of the vocabulary is empty, longer than %d bytes or not clean UTF-8",
                       before, RG_VOCAB_MAX_PIECE_BYTES);
    if (before >= RG_VOCAB_MAX_PIECES)
        return rg_fail(RG_ELIMIT, "more than %d tokens in a vocabulary", RG_VOCAB_MAX_PIECES);
    RG_TRY(rg_words_add(&id, &vocab->pieces, piece, bytes));
    if (id != before)
        return rg_fail(RG_EFORMAT, "\"%.40s\" is in the vocabulary twice, as %u and %zu", piece, id, before);
    return RG_OK;
}

rg_status rg_plain_begin(rg_vocab *vocab)
{
    vocab->unk = 0;
    vocab->bos = 1;
    vocab->eos = 2;
    RG_TRY(rg_plain_add(vocab, "<unk>", 5));
    RG_TRY(rg_plain_add(vocab, "<s>", 3));
    return rg_plain_add(vocab, "</s>", 4);
}

static rg_status count_piece(void *context, const char *piece, size_t bytes, size_t begin, size_t end)
{
    rg_words *seen = context;
    uint32_t  id;
    (void)begin;
    (void)end;
    if (bytes > RG_VOCAB_MAX_PIECE_BYTES) return RG_OK; /* not a word; it will be <unk> */
    RG_TRY(rg_words_add(&id, seen, piece, bytes));
    seen->words[id].count++;
    return RG_OK;
}

/* What sorting needs: qsort has no context. */
typedef struct candidate {
    uint64_t    count;
    const char *text;
} candidate;

static int often_first(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

static rg_status keep_often(rg_vocab *vocab, const rg_words *seen, const rg_vocab_config *config)
{
    candidate *sorted = rg_alloc_array(seen->count, sizeof *sorted);
    if (!sorted) return RG_ENOMEM;
    for (size_t i = 0; i < seen->count; i++) sorted[i] = (candidate){ seen->words[i].count, rg_words_get(seen, i) };
    if (seen->count) qsort(sorted, seen->count, sizeof *sorted, often_first);
    rg_status status = RG_OK;
    for (size_t i = 0; i < seen->count && status == RG_OK; i++) {
        const char *text = sorted[i].text;
        if (sorted[i].count < config->min_count) break;
        if (config->size && vocab->pieces.count >= config->size) break;
        if (strcmp(text, "<unk>") == 0 || strcmp(text, "<s>") == 0 || strcmp(text, "</s>") == 0) continue;
        status = rg_plain_add(vocab, text, strlen(text));
    }
    rg_free(sorted);
    return status;
}

rg_status rg_plain_train(rg_vocab *vocab, const rg_vocab_config *config, rg_vocab_feed *feed, void *context)
{
    rg_words    seen = { 0 };
    rg_text     line = { 0 };
    const char *text;
    size_t      bytes;
    bool        more = true;
    rg_status   status = rg_plain_begin(vocab);
    while (status == RG_OK && (status = feed(&more, &text, &bytes, context)) == RG_OK && more) {
        status = rg_plain_normalize(&line, config->form, text, bytes);
        if (status == RG_OK) status = vocab->cutter->cut(vocab, line.data, line.length, count_piece, &seen);
    }
    if (status == RG_OK) status = keep_often(vocab, &seen, config);
    rg_text_free(&line);
    rg_words_fini(&seen);
    return status;
}
