/* cmd_distill.c - a small translator that learns from what a large one answers. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/training.h"
#include "regard/distill.h"
#include "regard/metrics.h"
#include "regard/task.h"

typedef struct {
    char   *teacher, *output, *student, *guided;
    rg_list sets, valid, settings;
    int64_t n_best, threads, first, best;
    bool    quiet;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, teacher), "", "model file of the teacher", 'm', NULL },
    { RG_OPTION_LIST, "train-sets", offsetof(settings, sets), "", "two files of lines that translate each other", 't',
      NULL },
    { RG_OPTION_LIST, "valid-sets", offsetof(settings, valid), "",
      "the same, for early stopping and for the table at the end", 0, NULL },
    { RG_OPTION_STRING, "output", offsetof(settings, output), "", "model file of the student, int8 with a shortlist", 'o',
      NULL },
    { RG_OPTION_STRING, "student", offsetof(settings, student), "tiny", "its sizes: 6 encoder layers and few SSRU ones", 0,
      "tiny|base-memory|base" },
    { RG_OPTION_INT, "n-best", offsetof(settings, n_best), "8",
      "the teacher's translations of a line, of which the one most like the reference (chrF) is learned", 0, "[1,1000]" },
    { RG_OPTION_STRING, "guided-alignment", offsetof(settings, guided), "",
      "a head of the student learns word alignments: auto, or links of the source and the teacher's lines (--set "
      "guided-alignment-weight=W)",
      0, NULL },
    { RG_OPTION_LIST, "set", offsetof(settings, settings), "",
      "settings of the student's training, NAME=VALUE with the names of `regard train`", 0, NULL },
    { RG_OPTION_INT, "first", offsetof(settings, first), "50", "shortlist: most frequent target tokens", 0, "[0,1000000]" },
    { RG_OPTION_INT, "best", offsetof(settings, best), "50", "shortlist: translations of each source token", 0,
      "[1,1000000]" },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0", "threads; 0: as many as there are cores", 0,
      "[0,1024]" },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "no log lines; the table alone", 0, NULL },
    RG_OPTION_END
};

static const struct {
    const char *name, *yaml;
} students[] = {
    { "tiny", "dim-emb: 256\ntransformer-dim-ffn: 1536\ntransformer-heads: 8\nenc-depth: 6\ndec-depth: 2\n" },
    { "base-memory", "dim-emb: 384\ntransformer-dim-ffn: 1536\ntransformer-heads: 8\nenc-depth: 6\ndec-depth: 4\n" },
    { "base", "dim-emb: 512\ntransformer-dim-ffn: 2048\ntransformer-heads: 8\nenc-depth: 6\ndec-depth: 2\n" },
};

typedef struct {
    const settings *s;
    char           *corpus, *whole; /* what the teacher wrote; the student in float32 */
    int             threads;
    rg_console      console;
} distillation;

static rg_status check(const settings *s)
{
    if (!s->teacher[0]) return rg_fail(RG_EINVAL, "which teacher? -m MODEL.safetensors");
    if (s->sets.count != 2) return rg_fail(RG_EINVAL, "which texts? -t SOURCE TARGET");
    if (s->valid.count != 2) return rg_fail(RG_EINVAL, "the student is judged on --valid-sets SOURCE TARGET");
    if (!s->output[0]) return rg_fail(RG_EINVAL, "where to? -o STUDENT.safetensors");
    RG_TRY(rg_output_is_not("output", s->output, s->teacher));
    for (size_t i = 0; i < 2; i++) RG_TRY(rg_output_is_not("output", s->output, s->sets.items[i]));
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------- its corpus */

static bool go_on(void *context, uint64_t lines)
{
    const rg_train_report report = rg_console_report(context);
    if (report.reading) report.reading(report.context, lines);
    return !rg_told_to_stop(&report);
}

/* What was written in an earlier run is taken as it is. */
static rg_status translate_corpus(distillation *d)
{
    rg_distill_config c = RG_DISTILL_CONFIG_DEFAULT;
    rg_translator    *teacher;
    bool              there = false;
    RG_TRY(rg_file_exists(&there, d->corpus));
    if (there) rg_console_say(&d->console, "taking the teacher's translations from %s", d->corpus);
    if (there) return RG_OK;
    rg_console_say(&d->console, "the teacher translates %s", d->s->sets.items[0]);
    RG_TRY(rg_translator_load(&teacher, d->s->teacher));
    c.n_best = (size_t)d->s->n_best;
    c.threads = d->threads;
    c.go_on = go_on;
    c.context = &d->console;
    rg_status status = rg_translator_slim(teacher);
    if (status == RG_OK) status = rg_distill(teacher, &c, d->s->sets.items[0], d->s->sets.items[1], d->corpus);
    rg_translator_free(teacher);
    return status;
}

/* -------------------------------------------------------------------------------------------------- its training */

static rg_status set_all(rg_recipe *r, const distillation *d)
{
    const char *const sets[] = { d->s->sets.items[0], d->corpus };
    const char *const model[] = { d->whole }, *const teacher[] = { d->s->teacher };
    RG_TRY(rg_recipe_set(r, "train-sets", 2, sets));
    RG_TRY(rg_recipe_set(r, "valid-sets", 2, (const char *const *)d->s->valid.items));
    RG_TRY(rg_recipe_set(r, "vocabs", 1, teacher));
    RG_TRY(rg_recipe_set(r, "model", 1, model));
    if (d->s->guided[0]) RG_TRY(rg_recipe_set(r, "guided-alignment", 1, (const char *const *)&d->s->guided));
    for (size_t i = 0; i < d->s->settings.count; i++) {
        char *word = rg_strdup(d->s->settings.items[i]), *at = word ? strchr(word, '=') : NULL;
        if (at) *at++ = 0;
        rg_status status = !word ? RG_ENOMEM
                           : at  ? rg_recipe_set(r, word, 1, (const char *const[]){ at })
                                 : rg_fail(RG_EINVAL, "--set %s: NAME=VALUE, such as after-epochs=20", word);
        rg_free(word);
        RG_TRY(status);
    }
    return RG_OK;
}

static rg_status train(distillation *d)
{
    const rg_train_report report = rg_console_report(&d->console);
    rg_recipe            *recipe = NULL;
    const char           *sizes = students[0].yaml;
    for (size_t i = 0; i < sizeof students / sizeof *students; i++)
        if (strcmp(students[i].name, d->s->student) == 0) sizes = students[i].yaml;
    char *yaml = rg_format("type: transformer\ndecoder: ssru\ntransformer-dropout: 0.1\nlabel-smoothing: 0\nkeep-best: true\n"
                           "restore-best: true\ncpu-threads: %d\n%s",
                           d->threads, sizes);
    if (!yaml) return RG_ENOMEM;
    rg_status status = rg_recipe_new(&recipe, yaml);
    if (status == RG_OK) status = set_all(recipe, d);
    if (status == RG_OK) {
        const rg_training training = rg_recipe_training(recipe, &report);
        status = rg_learn(NULL, NULL, &training);
    }
    rg_recipe_free(recipe);
    rg_free(yaml);
    return status;
}

/* int8, and a shortlist from what it learned. */
static rg_status shrink(distillation *d)
{
    rg_shortlist_config c = RG_SHORTLIST_CONFIG_DEFAULT;
    rg_shortlist       *list = NULL;
    rg_translator      *student;
    c.first = (size_t)d->s->first;
    c.best = (size_t)d->s->best;
    RG_TRY(rg_translator_load_as(&student, d->whole, RG_WEIGHT_INT8));
    rg_status status =
        rg_shortlist_learn(&list, student->source, student->target, d->s->sets.items[0], d->corpus, &c);
    if (status == RG_OK) status = rg_translator_set_shortlist(student, list);
    if (status == RG_OK) status = rg_translator_save(student, d->s->output);
    rg_translator_free(student);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- the table */

typedef struct {
    double seconds, bleu; /* seconds: of one line, greedy, one thread, one line at a time */
} measured;

static rg_status measure(measured *out, const char *path, rg_weights weights, const rg_list *sets)
{
    rg_line_list         from = { 0 }, to = { 0 };
    rg_translator       *t = NULL;
    rg_session          *session = NULL;
    rg_scorer           *scorer = NULL;
    const rg_translated *answer;
    rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
    c.search.unscored = true;
    rg_status status = rg_line_list_read(&from, sets->items[0], -1);
    if (status == RG_OK) status = rg_line_list_read(&to, sets->items[1], -1);
    if (status == RG_OK) status = rg_translator_load_as(&t, path, weights);
    if (status == RG_OK) status = rg_translator_slim(t);
    if (status == RG_OK) status = rg_session_new(&session, &t, 1, 1);
    if (status == RG_OK) status = rg_scorer_new(&scorer, "bleu", NULL);
    const size_t n = from.count < to.count ? from.count : to.count;
    double       spent = 0;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        const double begun = rg_now();
        status = rg_session_run(&answer, session, &c, (const char *const *)&from.line[i], 1, i, NULL);
        spent += rg_now() - begun;
        if (status == RG_OK)
            status = rg_scorer_add(scorer, answer->count ? answer->best[0].text : "", (const char *const *)&to.line[i], 1);
    }
    if (status == RG_OK) *out = (measured){ spent / (double)(n ? n : 1), rg_scorer_score(scorer) };
    rg_scorer_free(scorer);
    rg_session_free(session);
    rg_translator_free(t);
    rg_line_list_free(&from);
    rg_line_list_free(&to);
    return status;
}

static rg_status print_table(const distillation *d)
{
    const struct {
        const char *name, *path;
        rg_weights  weights;
    } rows[] = { { "teacher", d->s->teacher, RG_WEIGHT_STORED },
                 { "teacher, int8", d->s->teacher, RG_WEIGHT_INT8 },
                 { "student", d->whole, RG_WEIGHT_STORED },
                 { "student, int8 and shortlist", d->s->output, RG_WEIGHT_STORED } };
    measured first = { 0 };
    printf("%-28s %10s %10s %8s %8s\n", "", "MB on disk", "ms a line", "speed", "BLEU");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        measured m = { 0 };
        uint64_t bytes;
        RG_TRY(measure(&m, rows[i].path, rows[i].weights, &d->s->valid));
        RG_TRY(rg_file_size_at(&bytes, rows[i].path));
        if (i == 0) first = m;
        if (i == 1) printf("%-28s %10s", rows[i].name, "-"); /* quantised while loading */
        else printf("%-28s %10.2f", rows[i].name, (double)bytes / 1e6);
        printf(" %10.2f %7.2fx %8.2f\n", 1e3 * m.seconds, first.seconds / m.seconds, m.bleu);
    }
    printf("greedy, one line at a time on one thread; %s\n", d->s->valid.items[0]);
    return RG_OK;
}

static rg_status run(rg_call *call)
{
    distillation d = { .s = call->options };
    const long   cores = sysconf(_SC_NPROCESSORS_ONLN);
    RG_TRY(check(d.s));
    d.threads = d.s->threads ? (int)d.s->threads : cores > 0 ? (int)cores
                                                             : 1;
    d.corpus = rg_format("%s.distilled", d.s->output);
    d.whole = rg_format("%s.float", d.s->output);
    rg_status  status = d.corpus && d.whole ? rg_console_open(&d.console, "", false, d.s->quiet) : RG_ENOMEM;
    const bool opened = status == RG_OK;
    if (status == RG_OK) status = translate_corpus(&d);
    if (status == RG_OK) status = train(&d);
    if (opened) rg_console_close(&d.console);
    if (status == RG_OK) status = shrink(&d);
    if (status == RG_OK) status = print_table(&d);
    if (status == RG_ESTOP) fprintf(stderr, "stopped as asked; the same command resumes\n");
    rg_free(d.corpus);
    rg_free(d.whole);
    return status == RG_ESTOP ? RG_OK : status;
}

const rg_command rg_command_distill = {
    .name = "distill",
    .summary = "a small, fast translator that learns from a large one",
    .details = "The teacher translates the corpus, and of its n best answers to each line the student learns the one most "
               "like the reference. The student is a Transformer with a deep encoder and a shallow recurrent decoder, "
               "with the teacher's vocabularies; it ends in 8-bit integers with a shortlist in its file. A table compares "
               "size, time and BLEU. OUTPUT.distilled and OUTPUT.float stay, and an interrupted command resumes "
               "(docs/distill.md).",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
