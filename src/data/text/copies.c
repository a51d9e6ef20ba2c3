/* copies.c - words outside of the vocabulary that can be copied from a source. */
#include "regard/copies.h"

#include "data/text/words.h"

struct rg_open_words {
    rg_words words;
};

rg_status rg_open_words_new(rg_open_words **out) { return (*out = rg_alloc_zero(sizeof **out)) ? RG_OK : RG_ENOMEM; }

void rg_open_words_free(rg_open_words *w)
{
    if (w) rg_words_fini(&w->words);
    rg_free(w);
}

void rg_open_words_clear(rg_open_words *w)
{
    rg_words_fini(&w->words);
    w->words = (rg_words){ .count = 0 };
}

const char *rg_open_words_get(const rg_open_words *w, size_t number)
{
    return number < w->words.count ? rg_words_get(&w->words, number) : "";
}

rg_status rg_encode_open(rg_ids *out, const rg_vocab *vocab, rg_open_words *extra, const char *line, size_t bytes)
{
    const size_t  first = out->count;
    const int32_t V = (int32_t)rg_vocab_size(vocab), unknown = rg_vocab_unk(vocab);
    rg_text       text = { 0 };
    rg_spans      spans = { 0 };
    rg_status     status = rg_vocab_encode(out, &spans, vocab, line, bytes);
    if (status == RG_OK) status = rg_vocab_normalize(&text, vocab, line, bytes);
    for (size_t i = 0; status == RG_OK && i < spans.count; i++) {
        if (out->data[first + i] != unknown) continue;
        const rg_span part = spans.data[i];
        const size_t  begin = part.begin + (part.begin < part.end && text.data[part.begin] == ' ');
        uint32_t      number;
        status = rg_words_add(&number, &extra->words, text.data + begin, part.end - begin);
        if (status == RG_OK && number > (uint32_t)(INT32_MAX - V))
            status = rg_fail(RG_ELIMIT, "more than %d words that the vocabulary does not know", INT32_MAX - V);
        if (status == RG_OK) out->data[first + i] = V + (int32_t)number;
    }
    rg_spans_free(&spans);
    rg_text_free(&text);
    return status;
}

/* Where in numbers[0 .. count) a number stands; count: nowhere. Sentences have few unknown words. */
static size_t place_of(const int32_t *numbers, size_t count, int32_t number)
{
    size_t k = 0;
    while (k < count && numbers[k] != number) k++;
    return k;
}

size_t rg_copies_source(int32_t *ids, int32_t *copies, int32_t *numbers, const int32_t *open, size_t n,
                        const rg_vocab *vocab)
{
    const int32_t V = (int32_t)rg_vocab_size(vocab), eos = rg_vocab_eos(vocab);
    size_t        extra = 0;
    for (size_t i = 0; i < n; i++) {
        ids[i] = open[i] < V ? open[i] : rg_vocab_unk(vocab);
        copies[i] = open[i] == eos ? -1 : open[i];
        if (open[i] < V) continue;
        const size_t k = place_of(numbers, extra, open[i]);
        if (k == extra) numbers[extra++] = open[i];
        copies[i] = V + (int32_t)k;
    }
    return extra;
}

void rg_copies_fini(rg_copies *room)
{
    rg_ids *all[] = { &room->ids, &room->copies, &room->numbers, &room->target, &room->previous };
    for (size_t i = 0; i < 5; i++) rg_ids_free(all[i]);
    *room = (rg_copies){ .ids = { 0 } };
}

rg_status rg_copies_map(rg_batch *batch, rg_copies *room, const rg_vocab *vocab)
{
    rg_field     *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const size_t  N = rg_field_rows(from), M = rg_field_rows(to);
    const int32_t V = (int32_t)rg_vocab_size(vocab), unknown = rg_vocab_unk(vocab);
    rg_ids *sources[] = { &room->ids, &room->copies, &room->numbers }, *targets[] = { &room->target, &room->previous };
    for (size_t i = 0; i < 3; i++) sources[i]->count = 0;
    for (size_t i = 0; i < 2; i++) targets[i]->count = 0;
    for (size_t i = 0; i < 3; i++) RG_TRY(rg_ids_reserve(sources[i], N + 1));
    for (size_t i = 0; i < 2; i++) RG_TRY(rg_ids_reserve(targets[i], M + 1));
    from->extra = 0;
    for (size_t g = 0; g < batch->examples; g++) {
        const size_t at = (size_t)from->layout.start[g], n = (size_t)from->layout.start[g + 1] - at;
        int32_t     *numbers = room->numbers.data;
        const size_t extra =
            rg_copies_source(room->ids.data + at, room->copies.data + at, numbers, from->ids + at, n, vocab);
        if (extra > from->extra) from->extra = extra;
        for (int32_t i = to->layout.start[g]; i < to->layout.start[g + 1]; i++) {
            const size_t k = to->ids[i] < V ? 0 : place_of(numbers, extra, to->ids[i]);
            room->target.data[i] = to->ids[i] < V ? to->ids[i] : k < extra ? V + (int32_t)k
                                                                           : unknown;
            room->previous.data[i] = to->previous[i] < V ? to->previous[i] : unknown;
        }
    }
    from->ids = room->ids.data;
    from->copies = room->copies.data;
    to->ids = room->target.data;
    to->previous = room->previous.data;
    return RG_OK;
}
