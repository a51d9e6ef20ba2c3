/* test_text_vocab_lines.c - the lines a vocabulary is learned from: all, or a sample that follows from seed and
 * limits; and the vocabulary that is kept beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regard/reader.h"
#include "regard/text.h"

static const rg_text_side sides[] = { { "a.txt", -1 }, { "b.txt", -1 } };

/* Words of two or three syllables; every file has its own. */
static void write_files(unsigned lines)
{
    static const char *const syllables[] = { "ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "ti" };
    rg_random                random = rg_random_new(3, 0);
    FILE                    *both = fopen("both.tsv", "wb");
    FILE                    *file[2] = { fopen("a.txt", "wb"), fopen("b.txt", "wb") };
    for (unsigned i = 0; i < lines; i++) {
        for (int f = 0; f < 2; f++) {
            char   line[256] = "";
            size_t at = 0;
            for (int w = 0; w < 6; w++) {
                for (uint64_t k = 2 + rg_random_below(&random, 2); k > 0; k--)
                    at += (size_t)snprintf(line + at, sizeof line - at, "%s", syllables[rg_random_below(&random, 12)]);
                at += (size_t)snprintf(line + at, sizeof line - at, "%s", w < 5 ? " " : "");
            }
            fprintf(file[f], "%s\n", line);
            fprintf(both, "%s%s", line, f ? "\n" : "\t");
        }
    }
    for (int f = 0; f < 2; f++) assert_int_equal(fclose(file[f]), 0);
    assert_int_equal(fclose(both), 0);
}

static rg_vocab_config settings(void)
{
    rg_vocab_config c = RG_VOCAB_CONFIG_DEFAULT;
    c.size = 120;
    return c;
}

static uint64_t learned(const rg_vocab_config *c)
{
    rg_vocab *vocab = NULL;
    rg_status status = rg_vocab_train_files(&vocab, c, sides, 2);
    if (status != RG_OK) print_error("%s\n", rg_message());
    assert_int_equal(status, RG_OK);
    const uint64_t sum = rg_vocab_checksum(vocab);
    rg_vocab_free(vocab);
    return sum;
}

static size_t file_bytes(const char *path)
{
    uint64_t bytes = 0;
    assert_int_equal(rg_file_size_at(&bytes, path), RG_OK);
    return (size_t)bytes;
}

static void text_below_the_limits_is_used_whole(void **state)
{
    (void)state;
    write_files(400);
    rg_vocab_config c = settings(), all = c, exact = c; /* the limit of lines is part of SentencePiece's model */
    all.max_bytes = 0;
    exact.max_lines = all.max_lines = c.max_lines = 800;
    exact.max_bytes = file_bytes("a.txt") + file_bytes("b.txt");
    assert_true(learned(&c) == learned(&exact));
    assert_true(learned(&c) == learned(&all));
    exact.max_bytes -= 1000; /* without line ends it is 800 less */
    assert_true(learned(&c) != learned(&exact));
}

static void a_sample_follows_from_the_seed_and_not_from_the_cores(void **state)
{
    (void)state;
    write_files(400);
    rg_vocab_config c = settings(), lines = c, bytes = c;
    const uint64_t  whole = learned(&c);
    lines.max_lines = 250;
    bytes.max_bytes = 10000;
    const uint64_t by_lines = learned(&lines), by_bytes = learned(&bytes);
    assert_true(by_lines != whole);
    assert_true(by_bytes != whole && by_bytes != by_lines);
    assert_true(by_lines == learned(&lines));
    lines.threads = 1;
    assert_true(by_lines == learned(&lines));
    lines.seed = 9;
    assert_true(by_lines != learned(&lines));
}

static void a_table_is_sampled_like_its_columns(void **state)
{
    (void)state;
    write_files(400);
    static const char *const wanted[] = { "source", "target" };
    rg_reader_config         table = RG_READER_CONFIG_DEFAULT;
    rg_vocab_config          c = settings();
    rg_vocab                *vocab = NULL;
    table.wanted = wanted;
    table.wanted_count = 2;
    table.format = "tsv";
    table.columns = "1,2";
    table.header = RG_HEADER_NO;
    c.max_lines = 250;
    assert_int_equal(rg_vocab_train_table(&vocab, &c, "both.tsv", &table, 0, 2), RG_OK);
    assert_true(rg_vocab_checksum(vocab) == learned(&c));
    rg_vocab_free(vocab);
}

/* Words are counted in all lines. */
static void plain_kinds_are_not_sampled(void **state)
{
    (void)state;
    write_files(300);
    rg_vocab_config c = settings(), few = c;
    c.kind = few.kind = RG_VOCAB_WORDS;
    few.max_lines = 10;
    assert_true(learned(&c) == learned(&few));
}

static size_t kept(char name[256])
{
    glob_t found;
    size_t count = 0;
    if (glob("b.txt.*.vocab", 0, NULL, &found) == 0) {
        count = found.gl_pathc;
        snprintf(name, 256, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return count;
}

static bool never(void *context, uint64_t lines)
{
    (void)context, (void)lines;
    return false;
}

static bool always(void *context, uint64_t lines)
{
    (void)lines;
    ++*(int *)context;
    return true;
}

static void a_vocabulary_is_learned_once(void **state)
{
    (void)state;
    char name[256];
    int  asked = 0;
    write_files(300);
    const rg_read_watch counted = { always, &asked }, stopped = { never, NULL };
    rg_vocab_config     c = settings();
    rg_vocab           *vocab = NULL;
    const uint64_t      known = learned(&c);
    c.watch = &counted;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rg_vocab_train_files_kept(&vocab, &c, sides, 2, NULL), RG_OK);
        assert_true(rg_vocab_checksum(vocab) == known);
        rg_vocab_free(vocab);
        assert_int_equal(kept(name), 1);
    }
    const int before = asked;
    assert_int_equal(rg_vocab_train_files_kept(&vocab, &c, sides, 2, NULL), RG_OK);
    assert_int_equal(asked - before, 4); /* two blocks of two files: their lines are not gone through */
    rg_vocab_free(vocab);

    FILE *f = fopen(name, "r+b"); /* damaged: learned again */
    assert_non_null(f);
    assert_int_equal(fseek(f, 200, SEEK_SET), 0);
    fputs("XXXX", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rg_vocab_train_files_kept(&vocab, &c, sides, 2, NULL), RG_OK);
    assert_true(rg_vocab_checksum(vocab) == known);
    rg_vocab_free(vocab);

    c.size = 100; /* another setting, another text: another file */
    assert_int_equal(rg_vocab_train_files_kept(&vocab, &c, sides, 2, NULL), RG_OK);
    rg_vocab_free(vocab);
    write_files(301);
    assert_int_equal(rg_vocab_train_files_kept(&vocab, &c, sides, 2, NULL), RG_OK);
    rg_vocab_free(vocab);
    assert_int_equal(kept(name), 3);
    assert_int_equal(rg_vocab_train_files_kept(&vocab, &c, sides, 2, "no/such/place"), RG_OK); /* and nothing kept */
    rg_vocab_free(vocab);
    c.watch = &stopped;
    assert_int_equal(rg_vocab_train_files_kept(&vocab, &c, sides, 2, NULL), RG_ESTOP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_below_the_limits_is_used_whole),
        cmocka_unit_test(a_sample_follows_from_the_seed_and_not_from_the_cores),
        cmocka_unit_test(a_table_is_sampled_like_its_columns),
        cmocka_unit_test(plain_kinds_are_not_sampled),
        cmocka_unit_test(a_vocabulary_is_learned_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
