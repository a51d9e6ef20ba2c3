/* cmd_demo.c - trainings that are over in a minute: a demo of a task; or `translate`: write an English-French
 * corpus, learn it, translate what was never seen, show where it looked. Without a name: what there is. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/demo.h"
#include "cli/training.h"
#include "regard/grammar.h"
#include "regard/task.h"
#include "regard/translate.h"
#include "regard/unrolled.h"
#include "regard/view.h"

typedef struct {
    char   *output, *type, *from;
    int64_t sentences, tests, updates, seed, threads;
    bool    list, quick;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "output", offsetof(settings, output), "regard-demo", "folder for data, model and figures", 'o',
      NULL },
    { RG_OPTION_STRING, "type", offsetof(settings, type), "transformer", "which system learns to translate", 0, NULL },
    { RG_OPTION_STRING, "from", offsetof(settings, from), "en", "translate: from English, or from French", 0, "en|fr" },
    { RG_OPTION_INT, "sentences", offsetof(settings, sentences), "40000", "sentences to learn from", 0, "[1,inf)" },
    { RG_OPTION_INT, "tests", offsetof(settings, tests), "1000", "unseen sentences to be tested on", 0, "[1,inf)" },
    { RG_OPTION_INT, "after-batches", offsetof(settings, updates), "0",
      "updates; 0: as the demo needs (translate: 1200)", 0, "[0,inf)" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of sentences and weights", 0, "[0,inf)" },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0", "threads; 0: one a core", 0, "[0,1024]" },
    { RG_OPTION_BOOL, "list", offsetof(settings, list), "false", "list the demos", 'l', NULL },
    { RG_OPTION_BOOL, "quick", offsetof(settings, quick), "false",
      "a few data and updates, to see that it runs; the verdict means nothing", 0, NULL },
    RG_OPTION_END
};

/* What the demo is trained with; the same words would do on the command line of `regard train`. */
static const char *const training_settings =
    "vocab-kind: words\ndim-vocabs: 0\njoint-vocab: true\nmini-batch-words: 1500\nlearn-rate: 0.003\nlr-warmup: 150\n"
    "lr-decay-inv-sqrt: 0\nclip-norm: 1\nexponential-smoothing: 0.005\nvalid-freq: 0\nsave-freq: 0\n"
    "disp-freq: 10\nearly-stopping: 0\nkeep-best: false\noverwrite: true\n";
static const char *const system_settings = "dim-emb: 96\ntransformer-dim-ffn: 256\ntransformer-heads: 4\nenc-depth: "
                                           "2\ndec-depth: 2\ntransformer-dropout: 0.1\n"
                                           "transformer-norm: post\nlabel-smoothing: 0.05\ndim-rnn: 128\n";

/* Sentences whose words do not follow each other: the article waits for its noun, the adjective moves. */
enum { SHOWN = 3 };
static const char *const shown_en[SHOWN] = { "the red house is big", "the small black cat sees the old man",
                                             "she does not eat the green apples" };
static const char *const shown_fr[SHOWN] = { "la maison rouge est grande", "le petit chat noir voit le vieil homme",
                                             "elle ne mange pas les pommes vertes" };

static bool from_french(const settings *s) { return s->from[0] == 'f'; }

typedef struct {
    char *train[2], *test[2], *model, *json; /* English, French */
} files;

static void free_files(files *f)
{
    for (size_t i = 0; i < 2; i++) rg_free(f->train[i]), rg_free(f->test[i]);
    rg_free(f->model);
    rg_free(f->json);
}

static rg_status name_files(files *f, const char *folder)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return rg_fail(RG_EIO, "cannot make the folder %s: %s", folder, strerror(errno));
    *f = (files){ { rg_format("%s/train.en", folder), rg_format("%s/train.fr", folder) },
                  { rg_format("%s/test.en", folder), rg_format("%s/test.fr", folder) },
                  rg_format("%s/model.safetensors", folder),
                  rg_format("%s/log.jsonl", folder) };
    return f->train[0] && f->train[1] && f->test[0] && f->test[1] && f->model && f->json ? RG_OK : RG_ENOMEM;
}

static rg_status write_corpus(const settings *s, const files *f)
{
    rg_grammar *grammar;
    RG_TRY(rg_grammar_new(&grammar, (uint64_t)s->seed));
    rg_status status =
        rg_grammar_write(grammar, RG_GRAMMAR_TRAIN, (size_t)s->sentences, f->train[0], f->train[1], NULL);
    if (status == RG_OK)
        status = rg_grammar_write(grammar, RG_GRAMMAR_TEST, (size_t)s->tests, f->test[0], f->test[1], NULL);
    rg_grammar_free(grammar);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- learning */

static rg_status fill(rg_recipe *recipe, const settings *s, const files *f)
{
    const char *sets[] = { f->train[from_french(s)], f->train[!from_french(s)] };
    char        counts[160];
    const long long updates = s->updates ? s->updates : 1200;
    snprintf(counts, sizeof counts, "after-batches: %lld\nlr-cooldown: %lld\nseed: %lld\ncpu-threads: %lld\n", updates,
             updates, (long long)s->seed, (long long)s->threads);
    RG_TRY(rg_recipe_read(recipe, counts, false));
    RG_TRY(rg_recipe_read(recipe, training_settings, false));
    RG_TRY(rg_recipe_read(recipe, system_settings, true)); /* of several systems */
    RG_TRY(rg_recipe_set(recipe, "train-sets", 2, sets));
    return rg_recipe_set(recipe, "model", 1, (const char *const *)&f->model);
}

static rg_status train(rg_translator **out, const settings *s, const files *f)
{
    rg_recipe *recipe = NULL;
    rg_model  *model = NULL;
    rg_console console = { 0 };
    char      *type = rg_format("type: %s\n", s->type);
    rg_status  status = type ? rg_recipe_new(&recipe, type) : RG_ENOMEM;
    rg_free(type);
    if (status == RG_OK && !rg_recipe_training(recipe, NULL).system->task->translates)
        status = rg_fail(RG_EINVAL, "--type %s does not translate", s->type);
    if (status == RG_OK) status = fill(recipe, s, f);
    if (status == RG_OK) status = rg_console_open(&console, f->json, true, false);
    if (status == RG_OK) {
        const rg_train_report report = rg_console_report(&console);
        const rg_training     t = rg_recipe_training(recipe, &report);
        status = rg_learn(&model, NULL, &t);
        rg_console_close(&console);
    }
    rg_recipe_free(recipe);
    if (status == RG_OK) *out = model->assets;
    return status;
}

/* ------------------------------------------------------------------------------------------------------ testing */

static rg_status count_exact(size_t *out_same, size_t *out_all, rg_session *session, const settings *s, const files *f)
{
    rg_line_list         source = { 0 }, target = { 0 };
    rg_session_config    config = RG_SESSION_CONFIG_DEFAULT;
    const rg_translated *results;
    *out_same = *out_all = 0;
    rg_status status = rg_line_list_read(&source, f->test[from_french(s)], -1);
    if (status == RG_OK) status = rg_line_list_read(&target, f->test[!from_french(s)], -1);
    if (status == RG_OK)
        status = rg_session_run(&results, session, &config, (const char *const *)source.line, source.count, 0, NULL);
    for (size_t i = 0, wrong = 0; status == RG_OK && i < source.count; i++, ++*out_all) {
        const char *text = results[i].count ? results[i].best[0].text : "";
        if (strcmp(text, target.line[i]) == 0) ++*out_same;
        else if (wrong++ < 3) printf("wrong: %s\n    -> %s\n     = %s\n", source.line[i], text, target.line[i]);
    }
    rg_line_list_free(&source);
    rg_line_list_free(&target);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ showing */

static rg_terminal_options terminal(void)
{
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    struct winsize      size;
    const bool          tty = isatty(STDOUT_FILENO);
    rg_terminal_detect(&o, tty, tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0);
    o.links = 0;
    return o;
}

static rg_status save_figure(const settings *s, const rg_record *record, size_t number, rg_figure_format format,
                             const char *ending)
{
    const rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
    char                   *path = rg_format("%s/alignment%zu.%s", s->output, number, ending);
    rg_status               status = path ? rg_figure_save(path, format, NULL, record, &o) : RG_ENOMEM;
    rg_free(path);
    return status;
}

static rg_status show_one(const settings *s, const rg_translator *translator, const rg_translated *translated,
                          const char *english, size_t number)
{
    rg_record *record;
    char      *drawing = NULL;
    RG_TRY(rg_record_of_translation(&record, translator, translated));
    const rg_terminal_options o = terminal();
    rg_status                 status = rg_terminal_draw(&drawing, record, 0, &o);
    if (status == RG_OK) printf("\n%s\n-> %s\n\n%s", english, translated->best[0].text, drawing);
    if (status == RG_OK && (save_figure(s, record, number, RG_FIGURE_SVG, "svg") != RG_OK ||
                            save_figure(s, record, number, RG_FIGURE_PNG, "png") != RG_OK))
        fprintf(stderr, "no figure: %s\n", rg_message()); /* the terminal has shown it already */
    rg_free(drawing);
    rg_record_free(record);
    return status;
}

static rg_status show(const settings *s, rg_translator *translator, rg_session *session)
{
    rg_session_config    config = RG_SESSION_CONFIG_DEFAULT;
    const rg_translated *results;
    const char *const   *shown = from_french(s) ? shown_fr : shown_en;
    config.search.attention = true;
    RG_TRY(rg_session_run(&results, session, &config, shown, SHOWN, 0, NULL));
    for (size_t i = 0; i < SHOWN; i++) RG_TRY(show_one(s, translator, &results[i], shown[i], i + 1));
    return RG_OK;
}

static rg_status translate(const settings *s)
{
    const double    started = rg_now();
    files           f = { 0 };
    rg_translator  *translator = NULL;
    rg_session     *session = NULL;
    size_t          same = 0, all = 0;
    rg_status status = name_files(&f, s->output);
    if (status == RG_OK) status = write_corpus(s, &f);
    if (status == RG_OK) status = train(&translator, s, &f);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (status == RG_OK)
        status = rg_session_new(&session, &translator, 1, s->threads ? (int)s->threads : cores > 0 ? (int)cores : 1);
    if (status == RG_OK) status = show(s, translator, session);
    if (status == RG_OK) status = count_exact(&same, &all, session, s, &f);
    if (status == RG_OK) {
        char *model = rg_shell_quote(f.model);
        printf("\nTry it:\n  echo '%s' | %s translate -m %s\n  %s serve -m %s\n\n",
               from_french(s) ? "le cheval blanc voit les petits oiseaux" : "the white horse sees the small birds",
               rg_program(), model ? model : f.model, rg_program(), model ? model : f.model);
        rg_free(model);
        printf("demo: %zu of %zu unseen sentences exact (%.1f %%) in %.0f s\n", same, all,
               100.0 * (double)same / (double)all, rg_now() - started);
        printf("\nOther demos: %s demo\n", rg_program());
    }
    rg_session_free(session);
    rg_translator_free(translator);
    free_files(&f);
    return status;
}

enum { MOST_NAMES = 128 };

static rg_status unknown(const char *name)
{
    const char *names[MOST_NAMES + 1] = { "translate", "trace" };
    size_t      n = 2;
    for (const rg_task *const *t = rg_task_all(); *t; t++)
        for (const rg_demo *d = (*t)->demos; d && d->name && n < MOST_NAMES; d++) names[n++] = d->name;
    const char *near = rg_nearest(name, names);
    if (near) return rg_fail(RG_EINVAL, "there is no demo '%s'; did you mean %s?", name, near);
    return rg_fail(RG_EINVAL, "there is no demo '%s'; regard demo --list lists them", name);
}

/* A recurrent network before and after it has learned one sentence, and the double sum of its gradient as a figure. */
static rg_status trace(bool *out_good, const settings *s)
{
    const rg_unrolled_options before = { .cell = RG_RNN, .units = 3, .rate = 0.1, .seed = (uint64_t)s->seed };
    rg_unrolled_options       after = before;
    rg_gradients_options      steps = RG_GRADIENTS_OPTIONS_DEFAULT;
    rg_unrolled              *u[2] = { NULL, NULL };
    rg_record                *r = NULL;
    const rg_figure_options   o = RG_FIGURE_OPTIONS_DEFAULT;
    double                    apart = 0;
    char                     *path = rg_format("%s/contributions.png", s->output);
    rg_status                 status = path ? RG_OK : RG_ENOMEM;
    after.updates = s->updates ? (size_t)s->updates : s->quick ? 5 : 200;
    steps.steps = 24;
    if (status == RG_OK && mkdir(s->output, 0777) != 0 && errno != EEXIST)
        status = rg_fail(RG_EIO, "cannot make the folder %s: %s", s->output, strerror(errno));
    if (status == RG_OK) status = rg_unrolled_new(&u[0], "I am Bond , James Bond", &before);
    if (status == RG_OK) status = rg_unrolled_new(&u[1], "I am Bond , James Bond", &after);
    for (size_t k = 0; status == RG_OK && k < u[1]->steps; k++)
        printf("t=%zu  reads %-6s then comes %-6s  L %.3f before, %.3f after %zu updates\n", k + 1,
               u[1]->word[u[1]->step[k].word], u[1]->word[u[1]->step[k].next], u[0]->step[k].loss, u[1]->step[k].loss,
               after.updates);
    if (status == RG_OK) status = rg_gradients_contributions(&r, &apart, &steps);
    if (status == RG_OK && rg_figure_save(path, RG_FIGURE_PNG, NULL, r, &o) != RG_OK)
        fprintf(stderr, "no figure: %s\n", rg_message());
    else if (status == RG_OK)
        printf("\n(what every step adds to the gradient: %s; the sum is the tape's to %.0e)\n", path, apart);
    *out_good = status == RG_OK && u[1]->loss < 0.1 * u[0]->loss && apart < 1e-5;
    if (status == RG_OK)
        printf("\ndemo trace: loss %.3f before, %.3f after; a tenth was expected: %s\n", u[0]->loss, u[1]->loss,
               *out_good ? "good" : "NOT as expected");
    rg_unrolled_free(u[0]);
    rg_unrolled_free(u[1]);
    rg_record_free(r);
    rg_free(path);
    return status;
}

static void list_demos(void)
{
    printf("demos (%s demo NAME runs one):\n", rg_program());
    rg_demo_list(stdout);
}

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    const char     *name = call->words.count ? call->words.items[0] : "";
    const rg_task  *task = NULL;
    bool            good = false;
    if (s->list || !call->argc) return list_demos(), RG_OK;
    if (!*name)
        return rg_fail(RG_EINVAL, "which demo? %s demo translate ..., for one; %s demo lists them", rg_program(),
                       rg_program());
    if (call->words.count > 1) return rg_fail(RG_EINVAL, "one demo at a time; what is \"%s\"?", call->words.items[1]);
    if (strcmp(name, "translate") == 0) return translate(s);
    if (strcmp(name, "trace") == 0) {
        RG_TRY(trace(&good, s));
        call->exit_code = good ? 0 : 1;
        return RG_OK;
    }
    const rg_demo *demo = rg_demo_find(&task, name);
    if (!demo) return unknown(name);
    const rg_demo_settings of = {
        .folder = s->output, .updates = s->updates, .seed = s->seed, .threads = s->threads, .quick = s->quick
    };
    RG_TRY(rg_demo_run(&good, task, demo, &of));
    call->exit_code = good ? 0 : 1;
    return RG_OK;
}

static void more_help(FILE *out, const rg_call *call)
{
    (void)call;
    fprintf(out, "\ndemos:\n");
    rg_demo_list(out);
}

const rg_command rg_command_demo = {
    .name = "demo",
    .summary = "learn something small from nothing within a minute, judge it and show where the model looks",
    .arguments = "[NAME]",
    .details = "Every demo makes its own data, learns them, ends with a verdict (exit code 1 when it is not as "
               "expected), and draws what was "
               "attended to, in the terminal and as a figure in the folder. Without a NAME it lists them.",
    .options = options,
    .size = sizeof(settings),
    .more_help = more_help,
    .run = run,
};
