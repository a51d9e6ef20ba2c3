/* test_tokenizers.c - vocabularies of other programs: their ids are kept, and text is cut as their own tokenisers cut
 * it.
 *
 * data/tokenizers holds small vocabularies and the ids of some 280 unusual strings, by its make.py from the
 * definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/vocab.h"
#include "data/text/vocab_files.h"
#include "support/faults.h"

#define OK(call) expect_ok((call), #call)

static void expect_ok(rg_status status, const char *call)
{
    if (status != RG_OK) fail_msg("%s: %s", call, rg_message());
}

static rg_text read_whole(const char *name)
{
    char     path[4096];
    rg_file *file;
    uint64_t size;
    rg_text  text = { 0 };
    snprintf(path, sizeof path, TEST_DATA "/tokenizers/%s", name);
    OK(rg_file_open(&file, path, "rb"));
    OK(rg_file_size(&size, file));
    char *bytes = rg_alloc((size_t)size + 1);
    assert_non_null(bytes);
    OK(rg_file_read(file, bytes, (size_t)size));
    OK(rg_text_add(&text, bytes, (size_t)size));
    rg_free(bytes);
    OK(rg_file_close(file));
    return text;
}

static rg_vocab *byte_bpe(void)
{
    rg_text      json = read_whole("vocab.json"), merges = read_whole("merges.txt");
    rg_line_list pieces = { 0 };
    rg_vocab    *v = NULL;
    OK(rg_pieces_of_json(&pieces, json.data, json.length));
    const int32_t        end = rg_pieces_find(&pieces, "<|endoftext|>");
    const rg_vocab_table table = { .kind = RG_VOCAB_BYTES,
                                   .form = RG_TEXT_AS_IS,
                                   .pieces = (const char *const *)pieces.line,
                                   .count = pieces.count,
                                   .unk = -1,
                                   .bos = end,
                                   .eos = end,
                                   .begin = -1,
                                   .model = merges.data,
                                   .model_bytes = merges.length };
    OK(rg_vocab_from_table(&v, &table));
    rg_line_list_free(&pieces);
    rg_text_free(&json);
    rg_text_free(&merges);
    return v;
}

static rg_vocab *wordpiece(rg_text_form form, bool begins)
{
    rg_text      text = read_whole("vocab.txt");
    rg_line_list pieces = { 0 };
    rg_vocab    *v = NULL;
    OK(rg_pieces_of_lines(&pieces, text.data, text.length));
    const rg_vocab_table table = { .kind = RG_VOCAB_WORDPIECE,
                                   .form = form,
                                   .pieces = (const char *const *)pieces.line,
                                   .count = pieces.count,
                                   .unk = 1,
                                   .bos = 2,
                                   .eos = 3,
                                   .begin = begins ? 2 : -1 };
    OK(rg_vocab_from_table(&v, &table));
    rg_line_list_free(&pieces);
    rg_text_free(&text);
    return v;
}

/* --------------------------------------------------------------------------------------------------- the stored ids */

static size_t compare(const rg_vocab *v, const json_t *row, const char *key)
{
    const json_t *text = json_object_get(row, "text"), *wanted = json_object_get(row, key);
    rg_ids        ids = { 0 };
    rg_spans      spans = { 0 };
    rg_text       normal = { 0 }, again = { 0 };
    OK(rg_vocab_encode(&ids, &spans, v, json_string_value(text), json_string_length(text)));
    OK(rg_vocab_normalize(&normal, v, json_string_value(text), json_string_length(text)));
    bool same = ids.count == json_array_size(wanted) && spans.count == ids.count, unknown = false;
    for (size_t i = 0; same && i < ids.count; i++) {
        same = ids.data[i] == json_integer_value(json_array_get(wanted, i));
        unknown = unknown || ids.data[i] == rg_vocab_unk(v);
        assert_true(spans.data[i].begin <= spans.data[i].end && spans.data[i].end <= normal.length);
    }
    if (!same) {
        char *line = json_dumps(row, 0);
        print_error("%s: %s: ", key, line);
        for (size_t i = 0; i < ids.count; i++) print_error(" %d", ids.data[i]);
        print_error("\n");
        free(line);
    }
    OK(rg_vocab_decode(&again, v, ids.data, ids.count));
    if (!unknown) assert_string_equal(rg_text_c(&again), rg_text_c(&normal));
    rg_ids_free(&ids);
    rg_spans_free(&spans);
    rg_text_free(&normal);
    rg_text_free(&again);
    return !same;
}

static void ids_are_those_of_the_reference(void **state)
{
    rg_vocab *v[3] = { byte_bpe(), wordpiece(RG_TEXT_LOWER, false), wordpiece(RG_TEXT_AS_IS, false) };
    static const char *const key[3] = { "bytes", "uncased", "cased" };
    rg_text                  cases = read_whole("cases.jsonl");
    size_t                   wrong = 0, count = 0;
    (void)state;
    for (char *at = cases.data, *lf; (lf = strchr(at, '\n')); at = lf + 1, count++) {
        json_t *row = json_loadb(at, (size_t)(lf - at), JSON_ALLOW_NUL, NULL);
        assert_non_null(row);
        for (int k = 0; k < 3; k++) wrong += compare(v[k], row, key[k]);
        json_decref(row);
    }
    assert_true(count >= 200);
    assert_int_equal(wrong, 0);
    rg_text_free(&cases);
    for (int k = 0; k < 3; k++) rg_vocab_free(v[k]);
}

/* --------------------------------------------------------------------------------------------------- other promises */

static void they_are_stored_whole(void **state)
{
    rg_vocab *v[3] = { byte_bpe(), wordpiece(RG_TEXT_LOWER, true), wordpiece(RG_TEXT_AS_IS, false) };
    (void)state;
    for (int k = 0; k < 3; k++) {
        rg_text   a = { 0 }, b = { 0 };
        rg_vocab *again = NULL;
        OK(rg_vocab_to_bytes(&a, v[k]));
        OK(rg_vocab_from_bytes(&again, a.data, a.length));
        OK(rg_vocab_to_bytes(&b, again));
        assert_int_equal(a.length, b.length);
        assert_memory_equal(a.data, b.data, a.length);
        assert_int_equal(rg_vocab_checksum(again), rg_vocab_checksum(v[k]));
        assert_int_equal(rg_vocab_eos(again), rg_vocab_eos(v[k]));
        assert_int_equal(rg_vocab_size(again), rg_vocab_size(v[k]));
        char *signs = strstr(a.data, "signs ");
        signs[6] = signs[6] == '1' ? '4' : '1'; /* another <unk> is another vocabulary */
        rg_vocab *other = NULL;
        assert_int_equal(rg_vocab_from_bytes(&other, a.data, a.length), RG_EFORMAT);
        rg_vocab_free(again);
        rg_text_free(&a);
        rg_text_free(&b);
        rg_vocab_free(v[k]);
    }
}

static void lines_begin_as_the_model_wants(void **state)
{
    rg_vocab *v = wordpiece(RG_TEXT_LOWER, true);
    rg_ids    ids = { 0 };
    rg_spans  spans = { 0 };
    (void)state;
    OK(rg_vocab_encode(&ids, &spans, v, "the", 3));
    assert_true(ids.count == 2 && ids.data[0] == 2 && spans.count == 2 && spans.data[1].end == 3);
    ids.count = spans.count = 0;
    OK(rg_vocab_encode(&ids, &spans, v, " \x01 ", 3)); /* nothing in it: an empty line stays empty */
    assert_true(ids.count == 0 && spans.count == 0);
    rg_ids_free(&ids);
    rg_spans_free(&spans);
    rg_vocab_free(v);
}

/* SentencePiece cuts, the table numbers: MarianMT's way. */
static rg_status feed(bool *more, const char **text, size_t *bytes, void *context)
{
    static const char *const lines[] = { "the old dog sees the cat", "a house is old", "the cat sees a house" };
    size_t                  *next = context;
    *more = *next < 30;
    *text = lines[(*next)++ % 3];
    *bytes = strlen(*text);
    return RG_OK;
}

static void pieces_have_the_ids_of_the_table(void **state)
{
    rg_vocab_config config = RG_VOCAB_CONFIG_DEFAULT;
    rg_vocab       *spm = NULL, *v = NULL;
    size_t          next = 0, count = 0;
    char           *pieces[64];
    (void)state;
    config.size = 40;
    OK(rg_vocab_train(&spm, &config, feed, &next));
    pieces[count++] = "</s>";
    pieces[count++] = "<unk>";
    for (int32_t id = (int32_t)rg_vocab_size(spm) - 1; id > 2; id--) /* backwards, and without one */
        if (strcmp(rg_vocab_piece(spm, id), "g")) pieces[count++] = (char *)(uintptr_t)rg_vocab_piece(spm, id);
    pieces[count++] = "<pad>";
    const rg_vocab_table table = { .kind = RG_VOCAB_PIECES,
                                   .form = RG_TEXT_AS_IS,
                                   .pieces = (const char *const *)pieces,
                                   .count = count,
                                   .unk = 1,
                                   .bos = (int32_t)count - 1,
                                   .eos = 0,
                                   .begin = -1,
                                   .model = spm->model.data,
                                   .model_bytes = spm->model.length };
    OK(rg_vocab_from_table(&v, &table));
    rg_ids   a = { 0 }, b = { 0 };
    rg_spans spans = { 0 };
    rg_text  text = { 0 }, normal = { 0 };
    OK(rg_vocab_encode(&a, NULL, spm, "the  old dog", 12));
    OK(rg_vocab_encode(&b, &spans, v, "the  old dog", 12));
    OK(rg_vocab_normalize(&normal, v, "the  old dog", 12));
    assert_string_equal(normal.data, "the old dog");
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        const char *piece = rg_vocab_piece(spm, a.data[i]);
        assert_string_equal(rg_vocab_piece(v, b.data[i]), strcmp(piece, "g") ? piece : "<unk>");
    }
    assert_true(spans.data[0].begin == 0 && spans.data[spans.count - 1].end == normal.length);
    b.count--; /* without the unknown g */
    OK(rg_ids_add(&b, 0));
    OK(rg_vocab_decode(&text, v, b.data, b.count));
    assert_string_equal(text.data, "the old do");
    rg_ids_free(&a);
    rg_ids_free(&b);
    rg_spans_free(&spans);
    rg_text_free(&text);
    rg_text_free(&normal);
    rg_vocab_free(spm);
    rg_vocab_free(v);
}

/* --------------------------------------------------------------------------------------------------------- refusals */

static void files_that_are_wrong_are_refused(void **state)
{
    static const char *const wrong[] = { "",
                                         "[]",
                                         "{}",
                                         "{\"a\": 0, \"b\": 0}",
                                         "{\"a\": 1}",
                                         "{\"a\": -1}",
                                         "{\"a\": 0, \"b\": 2}",
                                         "{\"a\": \"0\"}",
                                         "{\"a\": {}}",
                                         "{\"a\": 0, \"a\": 1}",
                                         "{\"a\": 0",
                                         "{\"a\": 1e9}",
                                         "{\"\\u0000\": 0}" };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rg_line_list pieces = { 0 };
        const rg_status status = rg_pieces_of_json(&pieces, wrong[i], strlen(wrong[i]));
        if (status != RG_EFORMAT) fail_msg("%s gives %d", wrong[i], status);
        rg_line_list_free(&pieces);
    }
    rg_line_list pieces = { 0 };
    assert_int_equal(rg_pieces_of_lines(&pieces, "a\n\nb\n", 5), RG_EFORMAT);
    rg_line_list_free(&pieces);
}

static void tables_that_are_wrong_are_refused(void **state)
{
    static const char *const some[] = { "<unk>", "<s>", "</s>", "a" }, *const twice[] = { "<unk>", "<s>", "</s>", "a",
                                                                                          "a" };
    const rg_vocab_table good = {
        .kind = RG_VOCAB_WORDS, .pieces = some, .count = 4, .unk = 0, .bos = 1, .eos = 2, .begin = -1
    };
    rg_vocab_table           bad[8];
    rg_vocab                *v = NULL;
    (void)state;
    for (int i = 0; i < 8; i++) bad[i] = good;
    bad[0].unk = -1; /* only bytes need none */
    bad[1].eos = 4;
    bad[2].bos = -1;
    bad[3].begin = 9;
    bad[4].pieces = twice;
    bad[4].count = 5;
    bad[5].kind = RG_VOCAB_BYTES; /* without pieces for bytes */
    bad[6].kind = RG_VOCAB_PIECES; /* without a model */
    bad[7].eos = 0;
    OK(rg_vocab_from_table(&v, &good));
    rg_vocab_free(v);
    for (int i = 0; i < 8; i++)
        if (rg_vocab_from_table(&v, &bad[i]) != RG_EFORMAT) fail_msg("table %d: %s", i, rg_message());
    bad[0] = good;
    bad[0].kind = RG_VOCAB_UNIGRAM;
    assert_int_equal(rg_vocab_from_table(&v, &bad[0]), RG_EINVAL);
}

static void merges_that_are_wrong_are_refused(void **state)
{
    static const char *const wrong[] = { "t h\n", "#version: 0.2\nt\n", "t  he\n", "t he x\n", "no \xE2\x82\xAC\n",
                                         "h e",   "h e\nh e\n",         " h\n",    "h \n" };
    rg_text                  json = read_whole("vocab.json");
    rg_line_list             pieces = { 0 };
    rg_vocab                *v = NULL;
    (void)state;
    OK(rg_pieces_of_json(&pieces, json.data, json.length));
    for (size_t i = 1; i < sizeof wrong / sizeof *wrong; i++) {
        const rg_vocab_table table = { .kind = RG_VOCAB_BYTES,
                                       .form = RG_TEXT_AS_IS,
                                       .pieces = (const char *const *)pieces.line,
                                       .count = pieces.count,
                                       .unk = -1,
                                       .begin = -1,
                                       .model = wrong[i],
                                       .model_bytes = strlen(wrong[i]) };
        if (rg_vocab_from_table(&v, &table) != RG_EFORMAT) fail_msg("\"%s\" is accepted", wrong[i]);
    }
    rg_line_list_free(&pieces);
    rg_text_free(&json);
}

/* A word of a million letters is n log n work. */
static void a_long_word_is_cut_in_no_time(void **state)
{
    enum { N = 1 << 20 };
    rg_vocab *v = byte_bpe();
    rg_ids    ids = { 0 };
    char     *text = rg_alloc(N);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < N; i++) text[i] = "the"[i % 3];
    OK(rg_vocab_encode(&ids, NULL, v, text, N));
    assert_true(ids.count > N / 4 && ids.count <= N);
    rg_ids_free(&ids);
    rg_free(text);
    rg_vocab_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_those_of_the_reference),    cmocka_unit_test(they_are_stored_whole),
        cmocka_unit_test(lines_begin_as_the_model_wants),    cmocka_unit_test(pieces_have_the_ids_of_the_table),
        cmocka_unit_test(files_that_are_wrong_are_refused),  cmocka_unit_test(tables_that_are_wrong_are_refused),
        cmocka_unit_test(merges_that_are_wrong_are_refused), cmocka_unit_test(a_long_word_is_cut_in_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
