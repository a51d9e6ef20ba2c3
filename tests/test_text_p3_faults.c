/* test_text_p3_faults.c - every failed allocation and file call in the text pipeline comes back as an error, without
 * a leak (P3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "regard/grammar.h"
#include "regard/metrics.h"
#include "support/faults.h"

static const char *const lines[] = { "l'homme voit le chat", "the dogs' bone", "un \xC3\xA9te\xCC\x81 chaud",
                                     "a b c d e f", "le vieil homme" };
enum { LINES = sizeof lines / sizeof *lines };

static rg_status feed(bool *more, const char **text, size_t *bytes, void *context)
{
    size_t *next = context;
    *more = *next < 10 * LINES;
    if (!*more) return RG_OK;
    *text = lines[(*next)++ % LINES];
    *bytes = strlen(*text);
    return RG_OK;
}

/* Learn, store, restore, cut, join. */
static rg_status use_vocabulary(void *context)
{
    rg_vocab_config config = RG_VOCAB_CONFIG_DEFAULT;
    rg_vocab       *a = NULL, *b = NULL;
    rg_text         bytes = { 0 }, text = { 0 };
    rg_ids          ids = { 0 };
    rg_spans        spans = { 0 };
    size_t          next = 0;
    config.kind = *(const rg_vocab_kind *)context;
    config.size = 60;
    rg_status status = rg_vocab_train(&a, &config, feed, &next);
    if (status == RG_OK) status = rg_vocab_to_bytes(&bytes, a);
    if (status == RG_OK) status = rg_vocab_from_bytes(&b, bytes.data, bytes.length);
    if (status == RG_OK) status = rg_vocab_encode(&ids, NULL, b, lines[0], strlen(lines[0]));
    if (status == RG_OK) status = rg_vocab_encode(&ids, &spans, b, lines[2], strlen(lines[2]));
    if (status == RG_OK) status = rg_vocab_decode(&text, b, ids.data, ids.count);
    if (status == RG_OK) status = rg_vocab_normalize(&text, b, lines[1], strlen(lines[1]));
    rg_vocab_free(a);
    rg_vocab_free(b);
    rg_text_free(&bytes);
    rg_text_free(&text);
    rg_ids_free(&ids);
    rg_spans_free(&spans);
    return status;
}

static void vocabularies_survive_every_failed_allocation(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        rg_vocab_kind k = (rg_vocab_kind)kind;
        faults_every_alloc(use_vocabulary, &k, NULL, false);
    }
}

/* Read two files, spill to disk, give two epochs of batches. */
static rg_status use_corpus(void *context)
{
    const char      *pieces[] = { "a", "b", "c", "d" };
    rg_vocab        *vocab = NULL;
    rg_corpus       *corpus = NULL;
    rg_corpus_config config = RG_CORPUS_CONFIG_DEFAULT;
    rg_text          text = { 0 };
    config.memory = *(const size_t *)context;
    config.temp = ".";
    config.mini_batch = 4;
    config.maxi_batch = 3;
    rg_status status = rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 4);
    if (status == RG_OK) status = rg_corpus_open(&corpus, &config, "faults.en.gz", "faults.fr", vocab, vocab);
    for (int i = 0; i < 16 && status == RG_OK; i++) {
        rg_batch batch;
        status = rg_corpus_next(&batch, NULL, corpus);
    }
    if (status == RG_OK) status = rg_corpus_describe(&text, corpus);
    rg_corpus_free(corpus);
    rg_vocab_free(vocab);
    rg_text_free(&text);
    return status;
}

static void write_files(void)
{
    gzFile gz = gzopen("faults.en.gz", "wb");
    FILE  *fr = fopen("faults.fr", "wb");
    for (int i = 0; i < 30; i++) {
        gzprintf(gz, "a b %c\n", 'a' + i % 4);
        fprintf(fr, "%s d c\n", i % 3 ? "a" : "b b");
    }
    gzclose(gz);
    fclose(fr);
}

static void no_file_is_left(void *context, rg_status status)
{
    (void)context;
    (void)status;
    assert_int_equal(system("ls regard-corpus-* 2>/dev/null | grep -q ."), 256);
}

static void corpora_survive_every_failed_allocation_and_file_call(void **state)
{
    (void)state;
    size_t in_memory = 1 << 20, on_disk = 300;
    write_files();
    faults_every_alloc(use_corpus, &in_memory, NULL, false);
    faults_every_alloc(use_corpus, &on_disk, no_file_is_left, false);
    faults_every_file_call(use_corpus, &on_disk, no_file_is_left);
    faults_file_teasing(5);
    assert_int_equal(use_corpus(&on_disk), RG_OK);
    faults_off();
    unlink("faults.en.gz");
    unlink("faults.fr");
}

static rg_status use_scorer(void *context)
{
    rg_scorer       *s = NULL;
    rg_scorer_config config = RG_SCORER_CONFIG_DEFAULT;
    rg_text          text = { 0 };
    double           mean, half;
    const char      *references[2] = { lines[0], lines[4] };
    config.lowercase = config.normalized = true;
    rg_status status = rg_scorer_new(&s, context, &config);
    for (size_t i = 0; i < LINES && status == RG_OK; i++) status = rg_scorer_add(s, lines[i], references, 2);
    if (status == RG_OK) status = rg_scorer_bootstrap(&mean, &half, s, 50, 1);
    if (status == RG_OK) status = rg_scorer_signature(&text, s);
    rg_text_free(&text);
    rg_scorer_free(s);
    return status;
}

static void metrics_survive_every_failed_allocation(void **state)
{
    (void)state;
    char *const metrics[] = { "bleu", "chrf++", "ter", "rouge2", "rougeL" };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        faults_every_alloc(use_scorer, metrics[i], NULL, false);
}

static rg_status use_links(void *context)
{
    rg_aer        aer = { 0 };
    rg_set_counts counts;
    int32_t       ids[3] = { 3, 1, 2 };
    (void)context;
    RG_TRY(rg_aer_add(&aer, "0-0 1-2", "0-0 1?2"));
    return rg_set_compare(&counts, ids, 3, ids, 2);
}

static rg_status use_grammar(void *context)
{
    rg_grammar *g = NULL;
    (void)context;
    rg_status status = rg_grammar_new(&g, 1);
    if (status == RG_OK) status = rg_grammar_write(g, RG_GRAMMAR_TEST, 20, "faults.en", "faults.fr", "faults.links");
    rg_grammar_free(g);
    return status;
}

static void the_rest_survives_every_failed_allocation(void **state)
{
    (void)state;
    faults_every_alloc(use_links, NULL, NULL, false);
    faults_every_alloc(use_grammar, NULL, NULL, false);
    faults_every_file_call(use_grammar, NULL, NULL);
    unlink("faults.en");
    unlink("faults.fr");
    unlink("faults.links");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vocabularies_survive_every_failed_allocation),
        cmocka_unit_test(corpora_survive_every_failed_allocation_and_file_call),
        cmocka_unit_test(metrics_survive_every_failed_allocation),
        cmocka_unit_test(the_rest_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
