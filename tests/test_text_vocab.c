/* test_text_vocab.c - every kind of vocabulary: learning, cutting and joining, storing, refusing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regard/text.h"

static const char *const corpus[] = {
    "the old dog sleeps under the table", "l'homme n'aime pas l'eau froide", "the dogs' bone is on the table",
    "les petits chats mangent \xC3\xA0 la maison", "a cat sees the small dogs", "it was 3.50 euros, wasn't it?",
    "un \xC3\xA9t\xC3\xA9 chaud et sec", "the table of the old man is small", "rock 'n' roll", "aujourd'hui il pleut",
};
enum { LINES = sizeof corpus / sizeof *corpus };

static rg_status feed(bool *more, const char **text, size_t *bytes, void *context)
{
    size_t *next = context;
    *more = *next < 20 * LINES; /* the same lines again: SentencePiece wants some text */
    if (!*more) return RG_OK;
    *text = corpus[(*next)++ % LINES];
    *bytes = strlen(*text);
    return RG_OK;
}

static rg_vocab *train(rg_vocab_kind kind, size_t size)
{
    rg_vocab_config config = RG_VOCAB_CONFIG_DEFAULT;
    rg_vocab       *vocab = NULL;
    size_t          next = 0;
    config.kind = kind;
    config.size = size;
    rg_status status = rg_vocab_train(&vocab, &config, feed, &next);
    if (status != RG_OK) print_error("%s\n", rg_message());
    assert_int_equal(status, RG_OK);
    return vocab;
}

static const rg_vocab_kind kinds[] = { RG_VOCAB_UNIGRAM, RG_VOCAB_BPE,   RG_VOCAB_CHAR,
                                       RG_VOCAB_WORD,    RG_VOCAB_WORDS, RG_VOCAB_CHARACTERS };

/* Cut and joined again, a line of known pieces is its normal form; the spans cover it in order. */
static void check_round_trip(const rg_vocab *vocab, const char *line)
{
    rg_ids   ids = { 0 };
    rg_spans spans = { 0 };
    rg_text  back = { 0 }, normal = { 0 };
    assert_int_equal(rg_vocab_encode(&ids, &spans, vocab, line, strlen(line)), RG_OK);
    assert_int_equal(rg_vocab_normalize(&normal, vocab, line, strlen(line)), RG_OK);
    assert_int_equal(rg_vocab_decode(&back, vocab, ids.data, ids.count), RG_OK);
    assert_int_equal(ids.count, spans.count);
    for (size_t i = 0; i < ids.count; i++) {
        assert_true(ids.data[i] != rg_vocab_unk(vocab));
        assert_true(spans.data[i].begin <= spans.data[i].end && spans.data[i].end <= normal.length);
        if (i) assert_true(spans.data[i].begin >= spans.data[i - 1].end);
    }
    assert_string_equal(rg_text_c(&back), rg_text_c(&normal));
    rg_ids_free(&ids);
    rg_spans_free(&spans);
    rg_text_free(&back);
    rg_text_free(&normal);
}

static void decode_of_encode_is_the_normalised_line(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        rg_vocab *vocab = train(kinds[k], 90);
        assert_int_equal(rg_vocab_kind_of(vocab), kinds[k]);
        assert_int_equal(rg_vocab_unk(vocab), 0);
        assert_int_equal(rg_vocab_bos(vocab), 1);
        assert_int_equal(rg_vocab_eos(vocab), 2);
        for (size_t i = 0; i < LINES; i++) check_round_trip(vocab, corpus[i]);
        check_round_trip(vocab, "");
        check_round_trip(vocab, "  the   old \xC2\xA0 table\r"); /* blanks of any sort */
        check_round_trip(vocab, "un e\xCC\x81te\xCC\x81");        /* decomposed */
        rg_vocab_free(vocab);
    }
}

/* With the text it came from in its place, an unknown piece no longer shows, whatever stands beside it. */
static void what_stands_in_for_unknown_pieces_is_joined_like_them(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "the zebra\xCE\xA9 table",          "\xCE\xA9", "\xCE\xA9 the", "the \xCE\xA9", "l'\xCE\xA9 old",
        "the\xCE\xA9\xCE\xA8 old \xCE\xA9", ""
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        rg_vocab *vocab = train(kinds[k], 90);
        for (size_t n = 0; n < sizeof lines / sizeof *lines; n++) {
            rg_ids      ids = { 0 };
            rg_spans    spans = { 0 };
            rg_text     back = { 0 }, normal = { 0 };
            char        word[64][64];
            const char *instead[64] = { NULL };
            size_t      unknown = 0;
            assert_int_equal(rg_vocab_encode(&ids, &spans, vocab, lines[n], strlen(lines[n])), RG_OK);
            assert_int_equal(rg_vocab_normalize(&normal, vocab, lines[n], strlen(lines[n])), RG_OK);
            assert_true(ids.count < 64);
            for (size_t i = 0; i < ids.count; i++) {
                if (ids.data[i] != rg_vocab_unk(vocab)) continue;
                const char *text = normal.data + spans.data[i].begin;
                size_t      bytes = spans.data[i].end - spans.data[i].begin;
                if (bytes && *text == ' ') text++, bytes--;
                snprintf(word[i], sizeof word[i], "%.*s", (int)bytes, text);
                instead[i] = word[i];
                unknown++;
            }
            assert_true(unknown || !*lines[n]);
            assert_int_equal(rg_vocab_decode_with(&back, vocab, ids.data, ids.count, instead), RG_OK);
            assert_string_equal(rg_text_c(&back), rg_text_c(&normal));
            rg_ids_free(&ids);
            rg_spans_free(&spans);
            rg_text_free(&back);
            rg_text_free(&normal);
        }
        rg_vocab_free(vocab);
    }
}

static void training_twice_gives_the_same_bytes(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        rg_vocab *a = train(kinds[k], 80), *b = train(kinds[k], 80);
        rg_text   x = { 0 }, y = { 0 };
        assert_int_equal(rg_vocab_to_bytes(&x, a), RG_OK);
        assert_int_equal(rg_vocab_to_bytes(&y, b), RG_OK);
        assert_int_equal(x.length, y.length);
        assert_memory_equal(x.data, y.data, x.length);
        assert_true(rg_vocab_checksum(a) == rg_vocab_checksum(b));
        rg_text_free(&x);
        rg_text_free(&y);
        rg_vocab_free(a);
        rg_vocab_free(b);
    }
}

static void bytes_give_the_vocabulary_back_or_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        rg_vocab *a = train(kinds[k], 80), *b = NULL;
        rg_text   x = { 0 }, y = { 0 };
        assert_int_equal(rg_vocab_to_bytes(&x, a), RG_OK);
        assert_int_equal(rg_vocab_from_bytes(&b, x.data, x.length), RG_OK);
        assert_int_equal(rg_vocab_to_bytes(&y, b), RG_OK);
        assert_int_equal(x.length, y.length);
        assert_memory_equal(x.data, y.data, x.length);
        assert_int_equal(rg_vocab_size(a), rg_vocab_size(b));
        for (int32_t i = 0; i < (int32_t)rg_vocab_size(a); i++) {
            assert_string_equal(rg_vocab_piece(a, i), rg_vocab_piece(b, i));
            assert_int_equal(rg_vocab_find(b, rg_vocab_piece(a, i)), i);
        }
        rg_vocab_free(b);
        for (size_t i = 0; i < x.length; i++) { /* every changed byte, every cut */
            rg_vocab *c = NULL;
            if (i % 7 && i > 120) continue;
            x.data[i] ^= 4;
            assert_int_not_equal(rg_vocab_from_bytes(&c, x.data, x.length), RG_OK);
            x.data[i] ^= 4;
            assert_int_not_equal(rg_vocab_from_bytes(&c, x.data, i), RG_OK);
            assert_null(c);
        }
        rg_text_free(&x);
        rg_text_free(&y);
        rg_vocab_free(a);
    }
}

static void words_are_cut_after_the_apostrophe_of_an_elision(void **state)
{
    (void)state;
    const char *const pieces[] = { "l'", "homme", "dogs'\xE2\x96\x81", "the", "n'", "a" };
    rg_vocab         *vocab = NULL;
    rg_ids            ids = { 0 };
    rg_text           text = { 0 };
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 6), RG_OK);
    assert_int_equal(rg_vocab_encode(&ids, NULL, vocab, "l'homme n'a the dogs' cat", 25), RG_OK);
    const int32_t expected[] = { 3, 4, 7, 8, 6, 5, 0 };
    assert_int_equal(ids.count, 7);
    assert_memory_equal(ids.data, expected, sizeof expected);
    assert_int_equal(rg_vocab_decode(&text, vocab, ids.data, ids.count), RG_OK);
    assert_string_equal(text.data, "l'homme n'a the dogs' <unk>");
    rg_text_free(&text);
    rg_ids_free(&ids);
    rg_vocab_free(vocab);
}

static void signs_written_in_the_text_are_not_signs(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        rg_vocab *vocab = train(kinds[k], 90);
        rg_ids    ids = { 0 };
        assert_int_equal(rg_vocab_encode(&ids, NULL, vocab, "the </s> dog <s>", 16), RG_OK);
        for (size_t i = 0; i < ids.count; i++)
            assert_true(ids.data[i] != rg_vocab_bos(vocab) && ids.data[i] != rg_vocab_eos(vocab));
        rg_ids_free(&ids);
        rg_vocab_free(vocab);
    }
}

static void rare_words_become_unknown(void **state)
{
    (void)state;
    rg_vocab_config config = RG_VOCAB_CONFIG_DEFAULT;
    rg_vocab       *vocab = NULL;
    size_t          next = 19 * LINES; /* each line once */
    config.kind = RG_VOCAB_WORDS;
    config.size = 0;
    config.min_count = 2;
    assert_int_equal(rg_vocab_train(&vocab, &config, feed, &next), RG_OK);
    assert_true(rg_vocab_find(vocab, "the") == 3); /* the most frequent comes first */
    assert_true(rg_vocab_find(vocab, "table") > 3);
    assert_int_equal(rg_vocab_find(vocab, "euros"), rg_vocab_unk(vocab));
    rg_vocab_free(vocab);
}

static void ids_outside_the_vocabulary_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        rg_vocab *vocab = train(kinds[k], 80);
        rg_text   text = { 0 };
        int32_t   bad[] = { -1, (int32_t)rg_vocab_size(vocab), INT32_MAX, INT32_MIN };
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(rg_vocab_decode(&text, vocab, &bad[i], 1), RG_EINVAL);
            assert_string_equal(rg_vocab_piece(vocab, bad[i]), "");
        }
        rg_text_free(&text);
        rg_vocab_free(vocab);
    }
}

static void byte_pieces_leave_nothing_unknown(void **state)
{
    (void)state;
    rg_vocab_config config = RG_VOCAB_CONFIG_DEFAULT;
    rg_vocab       *vocab = NULL;
    size_t          next = 0;
    config.kind = RG_VOCAB_BPE;
    config.size = 350;
    config.byte_fallback = true;
    assert_int_equal(rg_vocab_train(&vocab, &config, feed, &next), RG_OK);
    check_round_trip(vocab, "the dog \xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x98\x80 old");
    rg_vocab_free(vocab);
}

/* A file as SentencePiece writes it, a list of words, and our own. */
static void files_of_three_sorts_load(void **state)
{
    (void)state;
    char      path[] = "vocab-test-XXXXXX";
    rg_vocab *a = train(RG_VOCAB_UNIGRAM, 80), *b = NULL;
    rg_text   bytes = { 0 };
    int       fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(rg_vocab_save(a, path), RG_OK);
    assert_int_equal(rg_vocab_load(&b, path), RG_OK);
    assert_true(rg_vocab_checksum(a) == rg_vocab_checksum(b));
    rg_vocab_free(b);

    assert_int_equal(rg_vocab_to_bytes(&bytes, a), RG_OK);
    const char *model = strstr(bytes.data, "\n\n") + 2;
    FILE       *file = fopen(path, "wb");
    fwrite(model, 1, bytes.length - (size_t)(model - bytes.data), file);
    fclose(file);
    assert_int_equal(rg_vocab_load(&b, path), RG_OK);
    assert_int_equal(rg_vocab_kind_of(b), RG_VOCAB_UNIGRAM);
    assert_int_equal(rg_vocab_size(b), rg_vocab_size(a));
    check_round_trip(b, "the old table");
    rg_vocab_free(b);

    file = fopen(path, "wb");
    fputs("<unk>\t0\nthe\t12\r\ndog\t3\n", file);
    fclose(file);
    assert_int_equal(rg_vocab_load(&b, path), RG_OK);
    assert_int_equal(rg_vocab_size(b), 5);
    assert_int_equal(rg_vocab_find(b, "dog"), 4);
    rg_vocab_free(b);
    b = NULL;

    file = fopen(path, "wb");
    fputs("the\ndog\nthe\n", file);
    fclose(file);
    assert_int_equal(rg_vocab_load(&b, path), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "line 3"));
    unlink(path);
    rg_text_free(&bytes);
    rg_vocab_free(a);
}

/* ------------------------------------------------------------------------------------- files of other programs */

static rg_vocab *load_text(const char *text, rg_status want, const char *says)
{
    rg_vocab *vocab = NULL;
    FILE     *f = fopen("foreign.vocab", "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    const rg_status status = rg_vocab_load(&vocab, "foreign.vocab");
    unlink("foreign.vocab");
    if (status != want || (says && !strstr(rg_message(), says))) fail_msg("status %d: %s", (int)status, rg_message());
    return vocab;
}

static size_t read_varint(const unsigned char **at)
{
    size_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        value |= (size_t)(**at & 0x7F) << shift;
        if (!(*(*at)++ & 0x80)) return value;
    }
}

/* The .vocab that SentencePiece writes beside a model, from the model's bytes: piece, tab, score in six digits. */
static char *vocab_of_model(const rg_vocab *vocab)
{
    rg_text bytes = { 0 }, out = { 0 };
    assert_int_equal(rg_vocab_to_bytes(&bytes, vocab), RG_OK);
    const unsigned char *at = (const unsigned char *)strstr(bytes.data, "\n\n") + 2,
                        *end = (const unsigned char *)bytes.data + bytes.length;
    while (at < end && *at == 0x0A) {
        at++;
        const size_t         length = read_varint(&at);
        const unsigned char *next = at + length, *p = at + 1;
        const size_t         text = read_varint(&p);
        float                score = 0;
        memcpy(&score, p + text + 1, sizeof score);
        assert_int_equal(rg_text_print(&out, "%.*s\t%g\n", (int)text, (const char *)p, (double)score), RG_OK);
        at = next;
    }
    rg_text_free(&bytes);
    return out.data;
}

/* SentencePiece's .vocab cuts text as the model it was written with. */
static void a_vocab_of_pieces_and_scores_cuts_like_its_model(void **state)
{
    (void)state;
    static const rg_vocab_kind both[] = { RG_VOCAB_UNIGRAM, RG_VOCAB_BPE };
    for (size_t k = 0; k < 2; k++) {
        rg_vocab *model = train(both[k], 80);
        char     *text = vocab_of_model(model);
        rg_vocab *list = load_text(text, RG_OK, NULL);
        assert_int_equal(rg_vocab_size(list), rg_vocab_size(model));
        assert_int_equal(rg_vocab_kind_of(list), both[k]);
        for (size_t i = 0; i < LINES; i++) {
            rg_ids a = { 0 }, b = { 0 };
            assert_int_equal(rg_vocab_encode(&a, NULL, model, corpus[i], strlen(corpus[i])), RG_OK);
            assert_int_equal(rg_vocab_encode(&b, NULL, list, corpus[i], strlen(corpus[i])), RG_OK);
            assert_int_equal(a.count, b.count);
            assert_memory_equal(a.data, b.data, a.count * sizeof *a.data);
            check_round_trip(list, corpus[i]);
            rg_ids_free(&a);
            rg_ids_free(&b);
        }
        rg_free(text);
        rg_vocab_free(list);
        rg_vocab_free(model);
    }
    load_text("\xE2\x96\x81the\t-3.5\n\xE2\x96\x81""cat\t-4.5\n", RG_EFORMAT, "without <unk>");
}

/* Marian's vocab.yml: words in the order of their ids, quoted or not, and the same as JSON. */
static void a_map_of_words_to_ids_is_read_in_the_order_of_ids(void **state)
{
    (void)state;
    static const char *const maps[] = {
        "</s>: 0\n<unk>: 1\nthe: 2\n\"\\\"\": 5\n':': 4\ncat: 3\n\"\\u00e9t\\u00e9\": 6\n",
        "{\"</s>\": 0, \"<unk>\": 1, \"the\": 2, \"cat\": 3, \":\": 4, \"\\\"\": 5, \"\\u00e9t\\u00e9\": 6}\n",
    };
    static const char *const words[] = { "the", "cat", ":", "\"", "\xC3\xA9t\xC3\xA9" };
    for (size_t m = 0; m < 2; m++) {
        rg_vocab *vocab = load_text(maps[m], RG_OK, NULL);
        assert_int_equal(rg_vocab_size(vocab), 8);
        assert_int_equal(rg_vocab_kind_of(vocab), RG_VOCAB_WORDS);
        for (int i = 0; i < 5; i++) assert_string_equal(rg_vocab_piece(vocab, 3 + i), words[i]);
        rg_vocab_free(vocab);
    }
    load_text("a: 0\nb: 0\n", RG_EFORMAT, "id 0 has two words");
    load_text("a: 0\nb: 99999999999999999999\n", RG_EFORMAT, "the id of \"b\"");
    load_text("a: 0\na: 1\n", RG_EFORMAT, "twice");
    load_text("{\"a\": [1]}", RG_EFORMAT, "not a map of words");
    load_text("</s>: 0\n<unk>: 1\n\xE2\x96\x81the: 2\n", RG_EFORMAT, "SentencePiece's model");
    load_text("<unk>\n\xE2\x96\x81the\n", RG_EFORMAT, "line 2");
}

/* Words with counts, or with colons in them, are still lists of words. */
static void a_list_of_words_stays_a_list_of_words(void **state)
{
    (void)state;
    rg_vocab *vocab = load_text("the\t120\ncat\t7\n3:\t2\n", RG_OK, NULL);
    assert_int_equal(rg_vocab_size(vocab), 6);
    assert_string_equal(rg_vocab_piece(vocab, 5), "3:");
    rg_vocab_free(vocab);
    vocab = load_text("<unk>\n<s>\n</s>\nthe\ncat\n", RG_OK, NULL);
    assert_int_equal(rg_vocab_size(vocab), 5);
    rg_vocab_free(vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vocab_of_pieces_and_scores_cuts_like_its_model),
        cmocka_unit_test(a_map_of_words_to_ids_is_read_in_the_order_of_ids),
        cmocka_unit_test(a_list_of_words_stays_a_list_of_words),
        cmocka_unit_test(decode_of_encode_is_the_normalised_line),
        cmocka_unit_test(what_stands_in_for_unknown_pieces_is_joined_like_them),
        cmocka_unit_test(training_twice_gives_the_same_bytes),
        cmocka_unit_test(bytes_give_the_vocabulary_back_or_are_refused),
        cmocka_unit_test(words_are_cut_after_the_apostrophe_of_an_elision),
        cmocka_unit_test(signs_written_in_the_text_are_not_signs),
        cmocka_unit_test(rare_words_become_unknown),
        cmocka_unit_test(ids_outside_the_vocabulary_are_refused),
        cmocka_unit_test(byte_pieces_leave_nothing_unknown),
        cmocka_unit_test(files_of_three_sorts_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
