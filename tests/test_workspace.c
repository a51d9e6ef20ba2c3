/* release only: bytes in use are the same in every build, and the sanitizers fill and guard each of them */
/* The memory budget of training (--workspace is honoured): the most memory in use at once, seen through the
 * allocation seam, is that of a run whose batches are single sentences plus the budget; also when one side of the
 * corpus is far longer than the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/seams.h"
#include "tasks/translation.h"

#include <malloc.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const char *const source_file = "test_workspace.en", *const target_file = "test_workspace.de",
                         *const model_file = "test_workspace.safetensors";

/* ------------------------------------------------------------------------------------------------ a lopsided corpus */

static void write_words(FILE *file, size_t count, rg_random *random)
{
    for (size_t i = 0; i < count; i++) fprintf(file, "%sw%u", i ? " " : "", (unsigned)rg_random_below(random, 300));
    fputc('\n', file);
}

/* A third is balanced, a third long on the left, a third long on the right. */
static void write_corpus(void)
{
    FILE     *source = fopen(source_file, "w"), *target = fopen(target_file, "w");
    rg_random random = rg_random_new(5, 1);
    assert_true(source && target);
    for (size_t i = 0; i < 450; i++) {
        const size_t a = 1 + (size_t)rg_random_below(&random, 30), b = 1 + (size_t)rg_random_below(&random, 4);
        write_words(source, i % 3 == 2 ? b : a, &random);
        write_words(target, i % 3 == 1 ? b : a, &random);
    }
    assert_int_equal(fclose(source) | fclose(target), 0);
}

/* ------------------------------------------------------------------------------------------------------- the peak */

static atomic_size_t most;

static bool measure(void *context, size_t bytes)
{
    (void)context;
    const size_t now = rg_base__live_bytes() + bytes;
    size_t       before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now)) {}
    return false; /* nothing is refused */
}

static char last_remark[256];

static void remember(void *context, const char *line)
{
    (void)context;
    if (strstr(line, "workspace")) snprintf(last_remark, sizeof last_remark, "%s", line);
}

/* Most bytes in use while a fresh model learns from the whole corpus once. */
static size_t peak(const char *name, int64_t workspace, int64_t words, int64_t threads)
{
    static const char *const yaml =
        "dim-emb: 64\ntransformer-dim-ffn: 128\ntransformer-heads: 4\nenc-depth: 2\ndec-depth: 2\ndim-rnn: 64\n"
        "vocab-kind: words\ndim-vocabs: [0]\nmax-length: 40\nafter-epochs: 1\nsave-freq: 0\noverwrite: true\n";
    const char           *sets[] = { source_file, target_file };
    const rg_train_report report = { .say = remember };
    rg_recipe            *recipe;
    char                  more[160];
    snprintf(more, sizeof more, "workspace: %lld\nmini-batch-words: %lld\ncpu-threads: %lld\n", (long long)workspace,
             (long long)words, (long long)threads);
    char *type = rg_format("type: %s\n", name);
    assert_int_equal(rg_recipe_new(&recipe, type), RG_OK);
    rg_free(type);
    assert_int_equal(rg_recipe_read(recipe, yaml, true), RG_OK);
    assert_int_equal(rg_recipe_read(recipe, more, false), RG_OK);
    assert_int_equal(rg_recipe_set(recipe, "train-sets", 2, sets), RG_OK);
    assert_int_equal(rg_recipe_set(recipe, "model", 1, &model_file), RG_OK);
    const rg_training training = rg_recipe_training(recipe, &report);
    atomic_store(&most, 0);
    rg_base__seam_alloc(measure, NULL);
    const rg_status status = rg_learn(NULL, NULL, &training);
    rg_base__seam_alloc(NULL, NULL);
    if (status != RG_OK) fail_msg("%s, workspace %lld: %s", name, (long long)workspace, rg_message());
    rg_recipe_free(recipe);
    return atomic_load(&most);
}

static void the_peak_is_that_of_single_sentences_and_the_budget(void **state)
{
    (void)state;
    static const char *const systems[] = { "transformer", "rnnsearch", "luong", "seq2seq" };
    const int64_t            budget = 24;
    write_corpus();
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        for (int64_t threads = 1; threads <= 2; threads++) {
            const size_t least = peak(systems[i], 0, 1, threads), held = peak(systems[i], budget, 0, threads),
                         free_peak = peak(systems[i], 0, 20000, threads);
            print_message(
                "%s, %d threads: %.1f MiB with single sentences, %.1f with a budget of %d (%s), %.1f without\n",
                systems[i], (int)threads, (double)least / 0x1p20, (double)held / 0x1p20, (int)budget, last_remark,
                (double)free_peak / 0x1p20);
            if (held > least + ((size_t)budget << 20))
                fail_msg("%s: %zu bytes over", systems[i], held - least - ((size_t)budget << 20));
            assert_true(free_peak > least + ((size_t)budget << 20)); /* the corpus is large enough for the budget to matter */
        }
    unlink(source_file);
    unlink(target_file);
    unlink(model_file);
    unlink("test_workspace.safetensors.checkpoint");
    unlink("test_workspace.safetensors.checkpoint.prev");
}

int main(void)
{
    mallopt(M_MMAP_MAX, 0); /* what a mapped block counts as depends on where it landed, by up to 2 MiB that nobody touches */
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_peak_is_that_of_single_sentences_and_the_budget) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
