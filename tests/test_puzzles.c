/* Puzzles for machines with a memory: what they show and ask for, codings, vectors of zeros, and limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/puzzles.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define expect_near(a, b, most) near_at(__LINE__, (double)(a), (double)(b), most)
static void near_at(int line, double a, double b, double most)
{
    if (!(fabs(a - b) <= most)) fail_msg("line %d: %.9g, not %.9g", line, a, b);
}

static double sum(const rg_real *x, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) s += (double)x[i];
    return s;
}

static const rg_real *input_row(const rg_puzzle_batch *b, size_t s, size_t i)
{
    return b->input + (s * b->steps + i) * b->in;
}
static const rg_real *target_row(const rg_puzzle_batch *b, size_t s, size_t i)
{
    return b->target + (s * b->answers + i) * b->out;
}

static void puzzles_ask_for_what_they_showed(void **state)
{
    (void)state;
    rg_puzzle_batch  b = { 0 };
    rg_puzzle_config c = { .kind = "copy", .bits = 5, .min_length = 2, .max_length = 4, .max_repeats = 3 };
    size_t           seen = 0;
    for (uint64_t number = 0; number < 40; number++) {
        assert_int_equal(rg_puzzle_draw(&b, &c, 7, number, 0, 3), RG_OK);
        const size_t L = b.answers;
        seen |= (size_t)1 << L;
        assert_true(L >= 2 && L <= 4 && b.steps == 2 * L + 1 && b.in == 7 && b.out == 5 && b.sequences == 3);
        for (size_t s = 0; s < 3; s++) {
            for (size_t i = 0; i < L; i++)
                assert_memory_equal(target_row(&b, s, i), input_row(&b, s, i), 5 * sizeof(rg_real));
            assert_true(input_row(&b, s, L)[5] == 1);
            for (size_t i = L + 1; i < b.steps; i++) expect_near(sum(input_row(&b, s, i), 7), 0, 0);
        }
    }
    assert_int_equal(seen, 4 + 8 + 16); /* every length comes */
    c.kind = "repeat-copy";
    for (uint64_t number = 0; number < 20; number++) {
        assert_int_equal(rg_puzzle_draw(&b, &c, 7, number, 0, 2), RG_OK);
        const size_t L = b.steps - b.answers - 1, repeats = (b.answers - 1) / L;
        assert_true(b.out == 6 && repeats >= 1 && repeats <= 3 && b.answers == L * repeats + 1);
        expect_near(input_row(&b, 0, L)[6], ((double)repeats - 2) / sqrt(8.0 / 12), 1e-5);
        for (size_t i = 0; i < L * repeats; i++) {
            assert_memory_equal(target_row(&b, 1, i), input_row(&b, 1, i % L), 5 * sizeof(rg_real));
            assert_true(target_row(&b, 1, i)[5] == 0);
        }
        assert_true(target_row(&b, 1, L * repeats)[5] == 1);
    }
    c.kind = "recall";
    for (uint64_t number = 0; number < 20; number++) {
        assert_int_equal(rg_puzzle_draw(&b, &c, 7, number, 0, 2), RG_OK);
        assert_int_equal(b.answers, 3);
        const size_t items = (b.steps - 3 - 1) / 4 - 1, query = items * 4;
        assert_true(items >= 2 && items <= 4 && b.steps == (items + 1) * 4 + 1 + 3);
        size_t asked = 0;
        while (asked < items &&
               memcmp(input_row(&b, 0, asked * 4 + 1), input_row(&b, 0, query + 1), 3 * 7 * sizeof(rg_real)) != 0)
            asked++;
        assert_true(asked + 1 < items); /* it has one after it */
        for (size_t i = 0; i < 3; i++)
            assert_memory_equal(target_row(&b, 0, i), input_row(&b, 0, (asked + 1) * 4 + 1 + i), 5 * sizeof(rg_real));
        assert_true(input_row(&b, 0, 0)[5] == 1 && input_row(&b, 0, query)[6] == 1 &&
                    input_row(&b, 0, query + 4)[6] == 1);
    }
    rg_puzzle_free(&b);
}

static void a_sequence_depends_on_seed_and_number_and_not_on_its_batch(void **state)
{
    (void)state;
    const rg_puzzle_config c = { .kind = "copy", .bits = 8, .min_length = 3, .max_length = 9, .max_repeats = 1 };
    rg_puzzle_batch        all = { 0 }, some = { 0 }, other = { 0 };
    assert_int_equal(rg_puzzle_draw(&all, &c, 1, 4, 0, 5), RG_OK);
    assert_int_equal(rg_puzzle_draw(&some, &c, 1, 4, 2, 2), RG_OK);
    assert_int_equal(all.steps, some.steps);
    assert_memory_equal(input_row(&all, 2, 0), some.input, 2 * all.steps * all.in * sizeof(rg_real));
    assert_memory_equal(target_row(&all, 2, 0), some.target, 2 * all.answers * all.out * sizeof(rg_real));
    assert_int_equal(rg_puzzle_draw(&other, &c, 2, 4, 0, 5), RG_OK);
    assert_true(other.steps != all.steps || memcmp(other.input, all.input, all.steps * all.in * sizeof(rg_real)) != 0);
    rg_puzzle_free(&all);
    rg_puzzle_free(&some);
    rg_puzzle_free(&other);
}

/* What models of earlier versions were asked stays what they are asked. */
static void the_papers_coding_draws_what_it_always_drew(void **state)
{
    (void)state;
    const struct {
        const char *kind, *target; /* of sequence 1 of `regard predict --length 4` */
        size_t      repeats;
    } known[] = {
        { "copy", "11000001 00110011 10010001 10111100 ", 10 },
        { "repeat-copy", "110000010 001100110 100100010 101111000 110000010 001100110 100100010 101111000 000000001 ",
          3 },
        { "recall", "00011000 00000001 01100100 ", 10 },
    };
    rg_puzzle_batch b = { 0 };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const rg_puzzle_config c = {
            .kind = known[i].kind, .bits = 8, .min_length = 4, .max_length = 4, .max_repeats = known[i].repeats
        };
        char   text[256];
        size_t n = 0;
        assert_int_equal(rg_puzzle_draw(&b, &c, 1, UINT64_MAX / 2 + 1, 0, 1), RG_OK);
        for (size_t j = 0; j < b.answers * b.out; j++) {
            text[n++] = b.target[j] > 0 ? '1' : '0';
            if ((j + 1) % b.out == 0) text[n++] = ' ';
        }
        text[n] = '\0';
        assert_string_equal(text, known[i].target);
    }
    rg_puzzle_free(&b);
}

static bool same_columns(const rg_real *x, size_t bits, const rg_real *y)
{
    return x[bits] == y[bits] && x[bits + 1] == y[bits + 1];
}

static void answer_steps_have_an_input_that_no_other_step_has(void **state)
{
    (void)state;
    const char *const kinds[] = { "copy", "repeat-copy", "recall" };
    rg_puzzle_batch   plain = { 0 }, marked = { 0 };
    for (size_t k = 0; k < 3; k++)
        for (uint64_t number = 0; number < 30; number++) {
            rg_puzzle_config c = {
                .kind = kinds[k], .bits = 4, .min_length = 2, .max_length = 5, .max_repeats = 3, .zero_vectors = 0.2
            };
            assert_int_equal(rg_puzzle_draw(&plain, &c, 7, number, 0, 1), RG_OK);
            c.answer_mark = true;
            assert_int_equal(rg_puzzle_draw(&marked, &c, 7, number, 0, 1), RG_OK);
            assert_true(plain.in == marked.in && plain.steps == marked.steps && plain.answers == marked.answers);
            assert_memory_equal(plain.target, marked.target, plain.answers * plain.out * sizeof(rg_real));
            const size_t   first = marked.steps - marked.answers;
            const rg_real *mark = input_row(&marked, 0, first);
            assert_memory_equal(plain.input, marked.input,
                                first * plain.in * sizeof(rg_real)); /* all that comes before is the same */
            expect_near(sum(mark, 4), 0, 0);
            for (size_t i = 0; i < first; i++) assert_false(same_columns(input_row(&marked, 0, i), 4, mark));
            for (size_t i = first; i < marked.steps; i++)
                assert_memory_equal(input_row(&marked, 0, i), mark, marked.in * sizeof(rg_real));
        }
    rg_puzzle_free(&plain);
    rg_puzzle_free(&marked);
}

/* Share of vectors that are zero among `n` sequences of 20; *out_pairs sequences have two in a row. */
static double zero_share(const rg_puzzle_config *c, size_t n, size_t *out_pairs)
{
    rg_puzzle_batch b = { 0 };
    size_t          zeros = 0;
    *out_pairs = 0;
    for (uint64_t number = 0; number < n; number++) {
        bool before = false, pair = false;
        assert_int_equal(rg_puzzle_draw(&b, c, 3, number, 0, 1), RG_OK);
        for (size_t i = 0; i < b.answers; i++) {
            const bool zero = sum(target_row(&b, 0, i), b.out) == 0;
            zeros += zero;
            pair |= zero && before;
            before = zero;
        }
        *out_pairs += pair;
    }
    rg_puzzle_free(&b);
    return (double)zeros / (double)(n * 20);
}

static void vectors_of_zeros_are_as_frequent_as_asked(void **state)
{
    (void)state;
    rg_puzzle_config c = { .kind = "copy", .bits = 8, .min_length = 20, .max_length = 20, .max_repeats = 1 };
    size_t           pairs;
    expect_near(zero_share(&c, 2000, &pairs), 1.0 / 256, 0.0015); /* what random bits give; the deviation is 0.0003 */
    c.zero_vectors = 1.0 / 64;
    expect_near(zero_share(&c, 2000, &pairs), 1.0 / 64 + 63.0 / 64 / 256, 0.003);
    assert_true(pairs > 0 && pairs < 100);
    c.zero_run = 2;
    zero_share(&c, 200, &pairs);
    assert_int_equal(pairs, 200);
}

static void puzzles_that_make_no_sense_are_refused(void **state)
{
    (void)state;
#define PUZZLE(name, n, least, most, repeats) { .kind = name, .bits = n, .min_length = least, .max_length = most, .max_repeats = repeats }
    const struct {
        rg_puzzle_config config;
        const char      *words;
        rg_status        status;
    } bad[] = {
        { PUZZLE("sort", 8, 1, 2, 1), "no puzzle 'sort'", RG_EINVAL },
        { PUZZLE("copy", 0, 1, 2, 1), "bits of a vector is 0", RG_EINVAL },
        { PUZZLE("copy", 1025, 1, 2, 1), "is 1025; it must be 1 .. 1024", RG_EINVAL },
        { PUZZLE("copy", 8, 0, 2, 1), "(min-length) is 0", RG_EINVAL },
        { PUZZLE("copy", 8, 3, 2, 1), "is 3; it must be 1 .. 2", RG_EINVAL },
        { PUZZLE("copy", 8, 1, 10001, 1), "10001; it must be 1 .. 10000", RG_EINVAL },
        { PUZZLE("recall", 8, 1, 2, 1), "two items", RG_EINVAL },
        { PUZZLE("repeat-copy", 8, 1, 2, 0), "(max-repeats) is 0", RG_EINVAL },
        { PUZZLE("repeat-copy", 8, 1, 2, 1001), "1001", RG_EINVAL },
        { { .kind = "copy", .bits = 8, .min_length = 1, .max_length = 2, .max_repeats = 1, .zero_vectors = 1 },
          "zero vectors",
          RG_EINVAL },
        { PUZZLE("repeat-copy", 8, 1, 1000, 100), "101002 steps", RG_ELIMIT },
        { PUZZLE("copy", 1024, 1, 10000, 1), "20001 steps and 30761026", RG_ELIMIT },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rg_puzzle_check(&bad[i].config), bad[i].status);
        if (!strstr(rg_message(), bad[i].words)) fail_msg("no '%s': %s", bad[i].words, rg_message());
    }
    const rg_puzzle_config most = {
        .kind = "copy", .bits = 8, .min_length = 10000, .max_length = 10000, .max_repeats = 1
    };
    assert_int_equal(rg_puzzle_check(&most), RG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puzzles_ask_for_what_they_showed),
        cmocka_unit_test(a_sequence_depends_on_seed_and_number_and_not_on_its_batch),
        cmocka_unit_test(the_papers_coding_draws_what_it_always_drew),
        cmocka_unit_test(answer_steps_have_an_input_that_no_other_step_has),
        cmocka_unit_test(vectors_of_zeros_are_as_frequent_as_asked),
        cmocka_unit_test(puzzles_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
