/* fuzz_corpus.c - any bytes as a corpus, plain or .gz, two files or one of TSV: refused with its file, or batches in
 * which every pair comes once an epoch (P1, P6).
 *
 * The first byte says how the rest is read: bit 0 two files, cut at the first form feed; bit 1 packed here before it
 * is read (so that mutations reach the text); bit 2 pairs spill to a temporary file; bit 3 long lines are cropped;
 * bit 4 batches by words; bit 5 shards of three lines, where they are two plain files. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/seams.h"
#include "regard/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char *const places[2] = { "fuzz-corpus.a", "fuzz-corpus.b" };

static void must(bool condition)
{
    if (!condition) abort();
}

static void put(const char *path, const uint8_t *bytes, size_t count, bool packed)
{
    if (packed) {
        gzFile z = gzopen(path, "wb1");
        must(z && gzwrite(z, bytes, (unsigned)count) == (int)count && gzclose(z) == Z_OK);
    } else {
        FILE *f = fopen(path, "wb");
        must(f && fwrite(bytes, 1, count, f) == count && fclose(f) == 0);
    }
}

static void check_side(const rg_field *side, size_t pairs, const rg_vocab *vocab)
{
    for (size_t p = 0; p < pairs; p++) must(side->layout.start[p] < side->layout.start[p + 1]);
    for (int32_t i = 0; i < side->layout.start[pairs]; i++)
        must(side->ids[i] >= 0 && (size_t)side->ids[i] < rg_vocab_size(vocab));
}

static void one_epoch(rg_corpus *corpus, const rg_vocab *vocab, bool shards)
{
    rg_batch b;
    bool     more = true;
    uint64_t seen = 0, tokens = 0;
    for (;;) {
        const rg_status status = rg_corpus_next_in_epoch(&more, &b, corpus);
        if (shards && status == RG_EINVAL) return; /* found out only now: no usable pair */
        must(status == RG_OK);
        if (!more) break;
        must(b.examples > 0);
        check_side(&b.field[RG_SOURCE], b.examples, vocab);
        check_side(&b.field[RG_TARGET], b.examples, vocab);
        seen += b.examples;
        tokens += (uint64_t)b.field[RG_TARGET].layout.start[b.examples];
    }
    must(seen == rg_corpus_pairs(corpus) && tokens == rg_corpus_counts(corpus)->target_tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const pieces[] = { "a", "the", "dog", "homme", "\xC3\xA9" };
    const size_t             blocks = rg_base__live_blocks();
    static const char *const wanted[] = { "source", "target" };
    rg_corpus_config         config = RG_CORPUS_CONFIG_DEFAULT;
    rg_reader_config         table = RG_READER_CONFIG_DEFAULT;
    rg_vocab                *vocab = NULL;
    rg_corpus               *corpus = NULL;
    rg_text                  words = { 0 };
    if (!count) return 0;
    const uint8_t  mode = bytes[0], *rest = bytes + 1, *cut = mode & 1 ? memchr(rest, '\f', count - 1) : NULL;
    const size_t   first = cut ? (size_t)(cut - rest) : count - 1, second = cut ? count - 2 - first : 0;
    put(places[0], rest, first, mode & 2);
    put(places[1], cut ? cut + 1 : rest, second, mode & 2);
    config.memory = mode & 4 ? 64 : (size_t)1 << 20;
    config.temp = ".";
    table.format = "tsv";
    table.wanted = wanted;
    table.wanted_count = 2;
    config.max_length = 5;
    config.max_length_crop = mode & 8;
    config.mini_batch = 3;
    config.mini_batch_words = mode & 16 ? 7 : 0;
    config.maxi_batch = 2;
    config.shards_above = mode & 32 ? 1 : 0;
    config.shard_pairs = 3;
    config.pool_shards = 2;
    config.threads = 1 + mode / 128;
    config.cache = "";
    must(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, sizeof pieces / sizeof *pieces) == RG_OK);
    const rg_status status = mode & 1 ? rg_corpus_open(&corpus, &config, places[0], places[1], vocab, vocab)
                                      : rg_corpus_open_table(&corpus, &config, places[0], &table, vocab, vocab);
    if (status == RG_OK) {
        for (int epoch = 0; epoch < 2; epoch++) one_epoch(corpus, vocab, mode & 32);
        must(rg_corpus_describe(&words, corpus) == RG_OK);
        rg_text_free(&words);
    } else {
        must(!corpus && strstr(rg_message(), "fuzz-corpus."));
    }
    rg_corpus_free(corpus);
    rg_vocab_free(vocab);
    must(rg_base__live_blocks() == blocks);
    return 0;
}
