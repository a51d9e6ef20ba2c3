/* test_hostile_models_p2.c - forged model files through every command that loads models (P1, P2, P9): refused by name,
 * in little memory.
 *
 * Each forgery is a good file with one lie in it: a setting or size that asks for more than the file holds, a weight
 * that is not finite, a task or system that is not there. The checksums of a forged file are right, or left out: they
 * are no proof of origin. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/seams.h"
#include "cli/command.h"
#include "regard/safetensors.h"
#include "support/faults.h"
#include "support/small_translator.h"
#include "tasks/memory_task.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EDGES "0\t1\n1\t2\n"
#define FEATURES "0\n1\n0 2\n"
enum { MOST_BYTES = 64 << 20, MOST_WORDS = 16 };

static char folder[] = "/tmp/regard-hostile-XXXXXX";

/* ------------------------------------------------------------------------------------------------------ good models */

static rg_status fill_settings(rg_state *state)
{
    rg_memory_options     o = { 0 };
    const rg_option_group group = { .rows = rg_memory_rows, .values = &o };
    RG_TRY(rg_options_init(rg_memory_rows, &o));
    char     *yaml = rg_options_yaml(&group, 1);
    rg_status status = yaml ? rg_state_put_text(state, "memory.settings", yaml) : RG_ENOMEM;
    rg_free(yaml);
    rg_options_fini(rg_memory_rows, &o);
    return status;
}

static rg_sizes puzzle_sizes(void)
{
    rg_memory_options o = { 0 };
    assert_int_equal(rg_options_init(rg_memory_rows, &o), RG_OK);
    const rg_puzzle_config p = rg_memory_puzzle(&o);
    const rg_sizes         sizes = { { { "features", rg_puzzle_in(&p) }, { "classes", rg_puzzle_out(&p) } } };
    rg_options_fini(rg_memory_rows, &o);
    return sizes;
}

/* A model of `name` with its default settings but for `yaml`. */
static void save_model(const char *path, const char *name, const char *yaml, rg_sizes sizes)
{
    const rg_system *on_graphs = rg_system_find_for(name, &rg_task_graph),
                    *system = on_graphs ? on_graphs : rg_system_find(name);
    void                 *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group group = { .rows = system->options, .values = options };
    rg_model             *m = NULL;
    rg_state             *state = NULL;
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK);
    assert_int_equal(rg_model_new(&m, system, options, &sizes, 1), RG_OK);
    assert_int_equal(rg_state_new(&state), RG_OK);
    assert_int_equal(rg_model_describe(state, m), RG_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            rg_state_put_count(state, (const char *const[]){ "graph.several", "graph.directed", "graph.normalize" }[i],
                               0),
            RG_OK);
    assert_int_equal(fill_settings(state), RG_OK);
    assert_int_equal(rg_checkpoint_save(path, m->params, NULL, state), RG_OK);
    rg_state_free(state);
    rg_model_free(m);
    rg_options_fini(system->options, options);
    rg_free(options);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int make_folder(void **state)
{
    (void)state;
    faults_no_sync();
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("graph", 0777), 0);
    put("graph/edges.tsv", EDGES);
    put("graph/features.txt", FEATURES);
    put("lines", "a b c\nc\n");
    assert_int_equal(small_translator_save("transformer.good", "transformer", 8), RG_OK);
    assert_int_equal(small_translator_save("luong.good", "luong", 8), RG_OK);
    save_model("gat.good", "gat", "heads: 2\nwidth: 4\n", (rg_sizes){ { { "features", 3 }, { "classes", 2 } } });
    save_model("mlp.good", "mlp", "width: 4\n", (rg_sizes){ { { "features", 3 }, { "classes", 2 } } });
    save_model("ntm.good", "ntm", "units: 8\nmemory-rows: 8\nmemory-width: 4\n", puzzle_sizes());
    return 0;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    faults_off();
    return chdir("/") == 0 ? nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) : 1;
}

/* -------------------------------------------------------------------------------------------------------- forgeries */

typedef struct {
    const char *models;      /* whose files are forged                                  */
    const char *key, *value; /* of the metadata; value NULL: left out                   */
    float       poison;      /* into the middle of the largest array, unless it is 0    */
    const char *says;        /* a part of every refusal                                 */
} forgery;

static const forgery forgeries[] = {
    { "gat mlp ntm", "sizes.classes", "8000000", 0, "sizes.classes is 8000000" },
    { "gat mlp ntm", "sizes.classes", "18446744073709551615", 0, "sizes.classes is 18446744073709551615" },
    { "gat mlp ntm", "sizes.classes", "1000000", 0, "the file has room for" },
    { "gat mlp ntm", "sizes.classes", "0", 0, "sizes.classes is 0" },
    { "gat mlp ntm", "sizes.features", "16000000", 0, "the file has room for" },
    { "gat mlp ntm", "sizes.features", "-1", 0, "sizes.features" },
    { "gat", "regard.settings", "heads: 1000000\nwidth: 1000000\n", 0, "room for" },
    { "gat", "regard.settings", "heads: 1000000000000\n", 0, "--heads is 1000000000000" },
    { "gat", "regard.settings", "layers: 1000000\n", 0, "--layers is 1000000" },
    { "mlp", "regard.settings", "width: 1000000\n", 0, "room for" },
    { "ntm", "regard.settings", "units: 1000000\n", 0, "room for" },
    { "transformer", "regard.settings", "dim-emb: 1000000\ntransformer-heads: 2\n", 0, "room for" },
    { "transformer", "regard.settings", "dim-emb: 8\ntransformer-heads: 2\nenc-depth: 1000000000\n", 0, "depth" },
    { "transformer", "regard.settings", "dim-emb: 8\ntransformer-heads: 2\nwindow: 9000000000000000000\n", 0,
      "--window is 9000000000000000000" },
    { "luong", "regard.settings", "dim-rnn: 1000000\n", 0, "room for" },
    { "luong", "regard.settings", "enc-depth: 1000000000\n", 0, "depth" },
    { "transformer luong", "alignment.head", "1e300", 0, "alignment.head is 1e+300" },
    { "transformer luong gat mlp ntm", "regard.system", "nosuch", 0, "'nosuch'" },
    { "transformer luong gat mlp ntm", "regard.task", NULL, 0, "not a model" },
    { "transformer luong gat mlp ntm", NULL, NULL, (float)NAN, "infinite or not a number" },
    { "transformer luong gat mlp ntm", NULL, NULL, (float)INFINITY, "infinite or not a number" },
    { "transformer luong gat mlp ntm", NULL, NULL, -(float)INFINITY, "infinite or not a number" },
};

static const rg_safetensors_entry *largest_of(const rg_safetensors *st)
{
    const rg_safetensors_entry *best = NULL;
    for (size_t i = 0; i < rg_safetensors_count(st); i++) {
        const rg_safetensors_entry *e = rg_safetensors_at(st, i);
        if (e->dtype == RG_DTYPE_F32 && (!best || e->bytes > best->bytes)) best = e;
    }
    return best;
}

static void forge(const char *out, const char *good, const forgery *f)
{
    rg_safetensors        *st = NULL;
    rg_safetensors_writer *w = NULL;
    assert_int_equal(rg_safetensors_open(&st, good), RG_OK);
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    for (size_t i = 0; i < rg_safetensors_count(st); i++) {
        const rg_safetensors_entry *e = rg_safetensors_at(st, i);
        const void                 *data = NULL;
        assert_int_equal(rg_safetensors_data(&data, st, e), RG_OK);
        if (f->poison != 0 && e == largest_of(st)) ((float *)(uintptr_t)data)[e->bytes / sizeof(float) / 2] = f->poison;
        assert_int_equal(rg_safetensors_writer_add(w, e->name, e->dtype, e->dims, e->ndim, data), RG_OK);
    }
    for (size_t i = 0; i < rg_safetensors_metadata_count(st); i++) {
        const char *key, *value;
        rg_safetensors_metadata_at(&key, &value, st, i);
        const bool mine = f->key && strcmp(key, f->key) == 0;
        if (!mine || f->value) assert_int_equal(rg_safetensors_writer_metadata(w, key, mine ? f->value : value), RG_OK);
    }
    assert_int_equal(rg_safetensors_writer_save(w, out), RG_OK);
    rg_safetensors_writer_free(w);
    rg_safetensors_close(st);
}

/* The names under which checksums are looked for, spoiled. */
static void drop_checksums(const char *path)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    static char  bytes[1 << 20];
    const size_t count = fread(bytes, 1, sizeof bytes, f);
    assert_true(count > 0 && count < sizeof bytes);
    for (size_t i = 0; i + 13 < count; i++) {
        if (memcmp(bytes + i, "\"xxh64:", 7) == 0) bytes[i + 1] = 'X';
        if (memcmp(bytes + i, "regard.header", 13) == 0) bytes[i] = 'R';
    }
    rewind(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

/* --------------------------------------------------------------------------------------------------------- commands */

typedef struct {
    const char *models;
    const char *words[MOST_WORDS]; /* FILE is the forged one, GOOD the good one */
} use;

static const use uses[] = {
    { "transformer luong", { "translate", "-m", "FILE", "-i", "lines", "--cpu-threads", "1" } },
    { "transformer luong", { "translate", "-m", "GOOD", "FILE", "-i", "lines", "--cpu-threads", "1" } },
    { "transformer luong", { "score", "-m", "FILE", "--cpu-threads", "1", "lines", "lines" } },
    { "transformer luong", { "show", "-m", "FILE", "a" } },
    { "transformer luong", { "heads", "-m", "FILE", "--data", "lines", "lines" } },
    { "transformer luong", { "average", "GOOD", "FILE", "-o", "mean" } },
    { "transformer luong", { "average", "FILE", "-o", "mean" } },
    { "transformer luong", { "serve", "-m", "FILE", "--port", "0" } },
    { "gat mlp", { "predict", "-m", "FILE", "--graph", "graph" } },
    { "transformer luong", { "predict", "-m", "FILE", "-i", "lines" } },
    { "gat mlp ntm", { "translate", "-m", "FILE", "-i", "lines" } },
    { "ntm", { "predict", "-m", "FILE" } },
};

static size_t peak;

static bool watch_peak(void *context, size_t bytes)
{
    const size_t live = rg_base__live_bytes() + bytes;
    (void)context;
    if (live > peak) peak = live;
    return live > MOST_BYTES;
}

/* Both outputs of the program go to the file "said". */
static int run(const char *const *words, const char *good, const char *file)
{
    const char *argv[MOST_WORDS + 1] = { "regard" };
    int         argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = strcmp(words[argc - 1], "FILE") == 0   ? file
                     : strcmp(words[argc - 1], "GOOD") == 0 ? good
                                                            : words[argc - 1];
    fflush(stdout);
    fflush(stderr);
    const int out = dup(1), err = dup(2), to = open("said", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    dup2(to, 1);
    dup2(to, 2);
    peak = 0;
    rg_base__seam_alloc(watch_peak, NULL);
    const int code = rg_cli_main(argc, argv);
    rg_base__seam_alloc(NULL, NULL);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(err, 2);
    close(out), close(err), close(to);
    return code;
}

static char *said(void)
{
    static char text[1 << 16];
    FILE       *f = fopen("said", "r");
    text[f ? fread(text, 1, sizeof text - 1, f) : 0] = 0;
    if (f) fclose(f);
    return text;
}

static bool lists(const char *models, const char *name)
{
    const char *at = strstr(models, name);
    return at && (at[strlen(name)] == ' ' || !at[strlen(name)]);
}

/* Another task than the command's is also a reason to refuse. */
static void refuses(const use *u, const forgery *f, const char *good, const char *file)
{
    const size_t before = rg_base__live_blocks();
    const int    code = run(u->words, good, file);
    const char  *text = said();
    const bool   says =
        strstr(text, f->says) || strstr(text, "the file holds a model for") || strstr(text, "there is no --graph");
    if (code != 1 || !strstr(text, file) || !says || strstr(text, "nan\n") || peak > MOST_BYTES) {
        const bool wrong_use = code == 2 && strstr(text, "there is no --graph"); /* the exit code of wrong usage */
        if (!wrong_use)
            fail_msg("regard %s with %s: %s = %s, %g: exit code %d, %zu bytes, said: %s", u->words[0], file,
                     f->key ? f->key : "weight", f->value ? f->value : "nothing", (double)f->poison, code, peak, text);
    }
    assert_int_equal(rg_base__live_blocks(), before);
}

static void every_forged_file_is_refused_by_every_command(void **state)
{
    static const char *const models[] = { "transformer", "luong", "gat", "mlp", "ntm" };
    size_t                   runs = 0;
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
            char good[64];
            snprintf(good, sizeof good, "%s.good", models[m]);
            if (!lists(forgeries[i].models, models[m])) continue;
            for (int bare = 0; bare < 2; bare++) {
                forge("forged", good, &forgeries[i]);
                if (bare) drop_checksums("forged");
                for (size_t k = 0; k < sizeof uses / sizeof *uses; k++)
                    if (lists(uses[k].models, models[m])) refuses(&uses[k], &forgeries[i], good, "forged"), runs++;
            }
        }
    assert_true(runs > 300);
}

static void a_good_file_is_taken_by_every_command(void **state)
{
    static const use good[] = { { "", { "translate", "-m", "transformer.good", "-i", "lines" } },
                                { "", { "score", "-m", "luong.good", "lines", "lines" } },
                                { "", { "predict", "-m", "gat.good", "--graph", "graph" } },
                                { "", { "predict", "-m", "mlp.good", "--graph", "graph" } },
                                { "", { "predict", "-m", "ntm.good" } },
                                { "", { "average", "transformer.good", "-o", "mean" } } };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (run(good[i].words, "", "") != 0) fail_msg("regard %s: %s", good[i].words[0], said());
}

/* ---------------------------------------------------------------------------------------- finite, but far too large */

/* Weights of 3e38 are finite and load; what they give is not. */
static void an_answer_that_is_not_finite_is_an_error(void **state)
{
    static const char *const models[] = { "transformer", "luong", "gat", "ntm" };
    static const use         asks[] = { { "transformer luong", { "translate", "-m", "FILE", "-i", "lines" } },
                                        { "transformer luong", { "translate", "-m", "FILE", "-i", "lines", "-b", "1" } },
                                        { "transformer luong", { "translate", "-m", "FILE", "-i", "lines", "--sampling" } },
                                        { "transformer luong", { "translate", "-m", "FILE", "-i", "lines", "--prefix", "a" } },
                                        { "transformer luong", { "translate", "-m", "GOOD", "FILE", "-i", "lines" } },
                                        { "transformer luong", { "score", "-m", "FILE", "lines", "lines" } },
                                        { "transformer luong", { "show", "-m", "FILE", "a" } },
                                        { "gat", { "predict", "-m", "FILE", "--graph", "graph" } },
                                        { "ntm", { "predict", "-m", "FILE" } } };
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char            good[64];
        rg_safetensors *st = NULL;
        snprintf(good, sizeof good, "%s.good", models[m]);
        forge("large", good, &(forgery){ 0 });
        assert_int_equal(rg_safetensors_open(&st, "large"), RG_OK);
        FILE *f = fopen("large", "r+b");
        assert_non_null(f);
        for (size_t i = 0; i < rg_safetensors_count(st); i++) {
            const rg_safetensors_entry *e = rg_safetensors_at(st, i);
            const float                 large = 3e38f;
            fseek(f, (long)e->offset, SEEK_SET);
            for (size_t n = 0; e->dtype == RG_DTYPE_F32 && n < e->bytes / sizeof large; n++)
                fwrite(&large, sizeof large, 1, f);
        }
        fclose(f);
        rg_safetensors_close(st);
        drop_checksums("large");
        for (size_t k = 0; k < sizeof asks / sizeof *asks; k++) {
            if (!lists(asks[k].models, models[m])) continue;
            const int   code = run(asks[k].words, good, "large");
            const char *text = said();
            if (code != 1 || !strstr(text, "finite") || strstr(text, "nan"))
                fail_msg("%s %s: exit code %d: %s", models[m], asks[k].words[0], code, text);
        }
    }
}

/* ------------------------------------------------------------------------------------------------- what is no model */

static void a_file_that_is_not_a_model_is_refused_with_those_words(void **state)
{
    static const char *const texts[] = { "", "a", "just some text\nof two lines\n", "{\"format\":\"regard-record/1\"}",
                                         "\x89PNG\r\n\x1a\n    IHDR     and so on" };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put("other", texts[i]);
        for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
            assert_int_equal(
                run(uses[k].words, strstr(uses[k].models, "gat") ? "gat.good" : "transformer.good", "other"), 1);
            if (!strstr(said(), "other: not a model")) fail_msg("regard %s: %s", uses[k].words[0], said());
        }
    }
    run((const char *const[]){ "gradients", "--units", "4", "--steps", "5", "-o", "record.safetensors", NULL }, "", "");
    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
        assert_int_equal(run(uses[k].words, "transformer.good", "record.safetensors"), 1);
        if (!strstr(said(), "record.safetensors: not a model but a record"))
            fail_msg("regard %s: %s", uses[k].words[0], said());
    }
}

/* ---------------------------------------------------------------------------------------------- messages of predict */

static void names_its_file(const char *what, int code)
{
    const char *text = said();
    if (code == 0) return;
    if (!strstr(text, "forged") && !strstr(text, "graph/") && !strstr(text, "graph:"))
        fail_msg("%s: the message names no file: %s", what, text);
}

/* Every value of a model file left out or spoiled, and every file of a graph. */
static void every_message_of_predict_names_its_file(void **state)
{
    static const char *const values[] = {
        NULL, "", "x", "-1", "0", "2", "1000000000000", "task: nothing\n", "max-length: 3\nbits: 1\n", "["
    };
    static const char *const files[] = { "graph/edges.tsv", "graph/features.txt", "graph/labels.txt",
                                         "graph/split.tsv" };
    static const char *const texts[] = { "",       "0\n",        "0 1\n0 2\n0\n", "x\n",
                                         "9 9\n",  "0\t9\n",     "0\t1\t-1\n",    "0\t1\n1\t0\n",
                                         "1 0\n",  "99999999\n", "-1\n-1\n-1\n",  "7\n7\n7\n",
                                         "\377\n", "train\t9\n", "0 1\n0\n1\n",   "0\n0\n0\n0\n" };
    static const char *const models[] = { "gat", "mlp", "ntm" };
    static const use         asks[] = {
                { "gat mlp", { "predict", "-m", "FILE", "--graph", "graph" } },
                { "gat mlp", { "predict", "-m", "FILE" } },
                { "gat mlp", { "predict", "-m", "FILE", "--graph", "graph", "--attention", "forged.json", "--node", "77" } },
                { "ntm", { "predict", "-m", "FILE" } },
                { "ntm", { "predict", "-m", "FILE", "--length", "3" } }
    };
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        char            good[64];
        rg_safetensors *st = NULL;
        snprintf(good, sizeof good, "%s.good", models[m]);
        assert_int_equal(rg_safetensors_open(&st, good), RG_OK);
        for (size_t i = 0; i < rg_safetensors_metadata_count(st); i++)
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                const char *key, *value;
                rg_safetensors_metadata_at(&key, &value, st, i);
                forge("forged", good, &(forgery){ .key = key, .value = values[v] });
                for (size_t k = 0; k < sizeof asks / sizeof *asks; k++)
                    if (lists(asks[k].models, models[m])) names_its_file(key, run(asks[k].words, good, "forged"));
            }
        rg_safetensors_close(st);
    }
    forge("forged", "gat.good", &(forgery){ 0 });
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        const char *before = f == 0 ? EDGES : f == 1 ? FEATURES : NULL;
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            put(files[f], texts[t]);
            names_its_file(files[f], run(asks[0].words, "gat.good", "forged"));
        }
        unlink(files[f]);
        names_its_file(files[f], run(asks[0].words, "gat.good", "forged"));
        if (before) put(files[f], before);
    }
}

/* A checkpoint with a weight that is not finite counts as broken: the one before it is taken. */
static void a_poisoned_checkpoint_gives_way_to_the_one_before(void **state)
{
    char *path = NULL;
    (void)state;
    forge("run.checkpoint", "gat.good", &(forgery){ .poison = (float)NAN });
    forge("run.checkpoint.prev", "gat.good", &(forgery){ 0 });
    assert_int_equal(rg_checkpoint_find(&path, "run.checkpoint"), RG_OK);
    assert_string_equal(path, "run.checkpoint.prev");
    rg_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file_is_taken_by_every_command),
        cmocka_unit_test(every_forged_file_is_refused_by_every_command),
        cmocka_unit_test(an_answer_that_is_not_finite_is_an_error),
        cmocka_unit_test(a_file_that_is_not_a_model_is_refused_with_those_words),
        cmocka_unit_test(every_message_of_predict_names_its_file),
        cmocka_unit_test(a_poisoned_checkpoint_gives_way_to_the_one_before),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
