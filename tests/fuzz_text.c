/* fuzz_text.c - any bytes as lines of text: read, cleaned, tokenised, scored, cut into pieces and joined (P1, P6). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "regard/metrics.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static void must(bool condition)
{
    if (!condition) abort();
}

static rg_vocab *vocab_of(rg_vocab_kind kind)
{
    static const char *const pieces[] = { "a", "l'", "\xE2\x96\x81", "'\xE2\x96\x81", "\xC3\xA9", "homme", "'" };
    rg_vocab                *vocab = NULL;
    must(rg_vocab_from_pieces(&vocab, kind, pieces, 7) == RG_OK);
    return vocab;
}

/* Cut, join, cut again: the same text; without <unk> it is the normal form. */
static void use_vocab(const rg_vocab *vocab, const rg_line *line)
{
    rg_ids   ids = { 0 };
    rg_spans spans = { 0 };
    rg_text  text = { 0 }, normal = { 0 };
    bool     unknown = false;
    must(rg_vocab_encode(&ids, &spans, vocab, line->text, line->bytes) == RG_OK);
    must(rg_vocab_normalize(&normal, vocab, line->text, line->bytes) == RG_OK);
    must(rg_vocab_decode(&text, vocab, ids.data, ids.count) == RG_OK);
    must(ids.count == spans.count);
    for (size_t i = 0; i < ids.count; i++) {
        must(spans.data[i].begin <= spans.data[i].end && spans.data[i].end <= normal.length);
        unknown = unknown || ids.data[i] == rg_vocab_unk(vocab);
    }
    must(unknown || strcmp(rg_text_c(&text), rg_text_c(&normal)) == 0);
    rg_ids_free(&ids);
    rg_spans_free(&spans);
    rg_text_free(&text);
    rg_text_free(&normal);
}

static void use_metrics(const rg_line *line)
{
    static const char *const metrics[] = { "bleu", "chrf", "chrf++", "ter", "rouge1", "rougeL" };
    const char              *half = line->text + line->bytes / 2; /* may begin inside a character: must not matter */
    rg_text                  text = { 0 };
    rg_aer                   aer = { 0 };
    for (int t = 0; t < RG_TOKENIZERS; t++) {
        rg_text_clear(&text);
        must(rg_tokenize(&text, (rg_tokenizer)t, line->text, line->bytes) == RG_OK);
        must(rg_utf8_check(text.data, text.length, NULL));
    }
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics && line->bytes < 300; m++) {
        rg_scorer       *s = NULL;
        rg_scorer_config config = RG_SCORER_CONFIG_DEFAULT;
        config.lowercase = config.normalized = m % 2;
        must(rg_scorer_new(&s, metrics[m], &config) == RG_OK);
        must(rg_scorer_add(s, line->text, &half, 1) == RG_OK);
        double score = rg_scorer_score(s);
        must(score >= 0 && score < 1e9);
        rg_scorer_free(s);
    }
    (void)rg_aer_add(&aer, line->text, half);
    rg_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rg_lines_config config = { (rg_text_form)(count % RG_TEXT_FORMS), 1000 };
    rg_lines       *lines = NULL;
    rg_line         line;
    bool            more = true, gzip = count >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
    rg_vocab       *words = vocab_of(RG_VOCAB_WORDS), *characters = vocab_of(RG_VOCAB_CHARACTERS);
    uint64_t        expected = count && bytes[count - 1] != '\n', seen = 0;
    for (size_t i = 0; i < count; i++) expected += bytes[i] == '\n';
    must(rg_lines_open_bytes(&lines, bytes, count, &config) == RG_OK);
    rg_status status = RG_OK;
    while (seen < 200 && (status = rg_lines_next(&more, &line, lines)) == RG_OK && more) {
        seen++;
        must(strlen(line.text) == line.bytes && !strchr(line.text, '\n') && rg_utf8_check(line.text, line.bytes, NULL));
        use_vocab(words, &line);
        use_vocab(characters, &line);
        use_metrics(&line);
    }
    must(gzip || status == RG_OK);
    must(gzip || seen == 200 || seen == expected);
    rg_lines_close(lines);
    rg_vocab_free(words);
    rg_vocab_free(characters);
    return 0;
}

size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const char *const seeds[] = {
        "l'homme a l' \xC3\xA9t\xC3\xA9\r\n\r\nthe dogs' bone, 3.50 (4-5)!\n",
        "\xEF\xBB\xBFwith a mark\n\n\n",
        "\xFF\xC3(\xED\xA0\x80 bad\n",
        "e\xCC\x81 \xEF\xAC\x81 \xE2\x84\xAB \xCE\xA3\xCE\x91\xCE\xA3 \xC4\xB0\n",
        "0-0 1?2 3p4\n0-0\n",
        "\xE4\xBD\xA0\xE5\xA5\xBD,\xE3\x80\x82 &amp;lt; <skipped>\n",
    };
    if (index < sizeof seeds / sizeof *seeds) {
        size_t length = strlen(seeds[index]);
        memcpy(bytes, seeds[index], length);
        return length;
    }
    if (index > sizeof seeds / sizeof *seeds) return 0;
    z_stream z = { 0 }; /* the same, packed */
    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    z.next_in = (Bytef *)seeds[0];
    z.avail_in = (uInt)strlen(seeds[0]);
    z.next_out = bytes;
    z.avail_out = (uInt)room;
    deflate(&z, Z_FINISH);
    size_t length = room - z.avail_out;
    deflateEnd(&z);
    return length;
}
