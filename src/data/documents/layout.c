/* layout.c - text that must stand on given lines, such as that of subtitles: its sentences are translated whole, and the
 * line ends and times between its parts are put back where they stood in proportion.
 *
 *     1                                 source      I know him. He was going home | when it began to rain.
 *     00:00:01,000 --> 00:00:03,000     sentences   [I know him.] [He was going home when it began to rain.]
 *     I know him. He was going home     cut         behind 17 of 40 bytes of the second sentence
 *
 *     2                                 translated  [Je le connais.] [Il rentrait | lorsqu'il s'est mis a pleuvoir.]
 *     00:00:03,100 --> 00:00:05,000
 *     when it began to rain. */
#define _GNU_SOURCE 1 /* memmem */
#include "data/documents/documents.h"

#include <string.h>

void rg_blocks__free(rg_block *block, size_t blocks)
{
    for (size_t i = 0; i < blocks; i++) {
        for (size_t k = 0; k < block[i].cuts; k++) rg_free(block[i].cut[k].text);
        rg_free(block[i].cut);
    }
    rg_free(block);
}

/* -------------------------------------------------------------------------------------------------------- reading */

/* The sentence that byte `at` of the block's text is in, and how far: sentences are in order, and parts of the text. */
static void place(rg_block_cut *cut, const rg_document *d, const rg_block *b, const char *plain, size_t bytes, size_t at)
{
    size_t from = 0;
    for (size_t k = b->first; k < b->end; k++) {
        const rg_document_part *p = &d->part[k];
        const char             *found = p->sentence && p->bytes ? memmem(plain + from, bytes - from, p->text, p->bytes) : NULL;
        if (!found) continue;
        const size_t begin = (size_t)(found - plain);
        cut->part = k;
        cut->share = at <= begin ? 0 : (double)(at - begin) / (double)p->bytes;
        from = begin + p->bytes;
        if (at < from) return;
        cut->share = 1;
    }
}

rg_status rg_document__block(rg_document *d, size_t first, const char *plain, size_t bytes, const rg_cut_here *here,
                             size_t cuts)
{
    rg_block b = { .first = first, .end = d->parts };
    bool     any = false;
    for (size_t k = first; k < d->parts && !any; k++) any = d->part[k].sentence;
    if (!any || !cuts) return RG_OK; /* it was copied */
    if (d->blocks == d->block_room) {
        const size_t room = d->block_room ? 2 * d->block_room : 16;
        rg_block    *block = rg_realloc(d->block, room * sizeof *block);
        if (!block) return RG_ENOMEM;
        d->block = block;
        d->block_room = room;
    }
    if (!(b.cut = rg_alloc_zero(cuts * sizeof *b.cut))) return RG_ENOMEM;
    for (; b.cuts < cuts; b.cuts++) {
        rg_block_cut *cut = &b.cut[b.cuts];
        cut->must = here[b.cuts].must;
        if (!(cut->text = rg_document__copy(here[b.cuts].text, here[b.cuts].bytes))) break;
        place(cut, d, &b, plain, bytes, here[b.cuts].at);
    }
    d->block[d->blocks++] = b;
    return b.cuts == cuts ? RG_OK : RG_ENOMEM;
}

const rg_block *rg_document__block_at(const rg_document *d, size_t part)
{
    size_t low = 0, high = d->blocks;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (d->block[middle].first < part) low = middle + 1;
        else high = middle;
    }
    return low < d->blocks && d->block[low].first == part ? &d->block[low] : NULL;
}

/* -------------------------------------------------------------------------------------------------------- writing */

/* Characters outside of tags in the first bytes of a text; and where among these the blanks are at which a line may end:
 * spans of { byte, character }. */
static rg_status count_characters(size_t *out, rg_spans *blanks, const char *text, size_t bytes)
{
    int tag = 0;
    *out = 0;
    for (const char *at = text; *at && (size_t)(at - text) < bytes; at++) {
        tag += *at == '<' || *at == '{' ? 1 : 0;
        if (blanks && !tag && *at == ' ' && at > text && at[1]) RG_TRY(rg_spans_add(blanks, (size_t)(at - text), *out));
        *out += !tag && (*at & 0xC0) != 0x80;
        tag -= (*at == '>' || *at == '}') && tag ? 1 : 0;
    }
    return RG_OK;
}

/* The character behind which a cut is best. */
static double ideal_of(const rg_block_cut *cut, const char *text, rg_range part)
{
    size_t begin = 0, end = 0;
    (void)count_characters(&begin, NULL, text, part.begin);
    (void)count_characters(&end, NULL, text, part.end);
    return (double)begin + cut->share * (double)(end - begin);
}

/* Of blanks from .. to-1 the one nearest to a character. */
static size_t nearest(const rg_spans *blanks, size_t from, size_t to, double ideal)
{
    size_t best = from;
    for (size_t i = from; i < to; i++) {
        const double far = (double)blanks->data[i].end - ideal, least = (double)blanks->data[best].end - ideal;
        if ((far < 0 ? -far : far) < (least < 0 ? -least : least)) best = i;
    }
    return best;
}

/* Each cut takes the place of a blank, in order. Where there are too few, line ends are left out, and what must be there
 * stands at the end. */
rg_status rg_block__write(rg_text *out, const rg_block *b, const char *text, const rg_range *part)
{
    rg_spans  blanks = { 0 };
    size_t    written = 0, next = 0, musts = 0, all;
    rg_status status = count_characters(&all, &blanks, text, SIZE_MAX);
    for (size_t i = 0; i < b->cuts; i++) musts += b->cut[i].must;
    for (size_t i = 0; status == RG_OK && i < b->cuts; i++) {
        const rg_block_cut *cut = &b->cut[i];
        const size_t        behind = b->cuts - i - 1, left = blanks.count - next;
        if (cut->must) musts--;
        const size_t reserved = behind < left ? behind : musts; /* for all that follow, or for those that must be there */
        if (left > reserved) {
            const double ideal = ideal_of(cut, text, part[cut->part - b->first]);
            const size_t at = nearest(&blanks, next, blanks.count - reserved, ideal);
            status = rg_text_add(out, text + written, blanks.data[at].begin - written);
            written = blanks.data[at].begin + 1;
            next = at + 1;
        } else if (!cut->must) continue;
        else {
            status = rg_text_add_string(out, text + written);
            written = strlen(text);
            next = blanks.count;
        }
        if (status == RG_OK) status = rg_text_add_string(out, cut->text);
    }
    if (status == RG_OK) status = rg_text_add_string(out, text + written);
    rg_spans_free(&blanks);
    return status;
}
