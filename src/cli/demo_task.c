/* demo_task.c - a demo from a task's list: make its data, learn them, give a verdict, and draw what was attended to. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/answers.h"
#include "cli/demo.h"
#include "cli/show.h"
#include "cli/training.h"
#include "regard/probe.h"

void rg_demo_list(FILE *out)
{
    rg_help_row(out, "translate", "English to French by a small grammar (about a minute; make demo runs it)");
    rg_help_row(out, "trace", "a recurrent network step by step, before and after it learned a sentence");
    for (const rg_task *const *t = rg_task_all(); *t; t++)
        for (const rg_demo *d = (*t)->demos; d && d->name; d++) rg_help_row(out, d->name, d->summary);
}

/* -------------------------------------------------------------------------------------------------------- learning */

static rg_status make_recipe(rg_recipe **out, const rg_task *task, const rg_demo *d, const rg_demo_settings *s,
                             const char *model)
{
    rg_text   yaml = { 0 }, whole = { 0 };
    char     *rest =
        rg_format("overwrite: true\nseed: %lld\ncpu-threads: %lld\n", (long long)s->seed, (long long)s->threads);
    char     *limit = rg_format("after-batches: %lld\nlr-cooldown: 0\n", (long long)s->updates);
    rg_status status = rest && limit ? RG_OK : RG_ENOMEM;
    if (status == RG_OK)
        status = (d->small ? d->small : task->small)(&yaml, s->folder, s->quick ? RG_SMALL_TEST : RG_SMALL_DEMO);
    if (status == RG_OK) /* the data also say which of several systems of a name it is */
        status = rg_text_print(&whole, "type: %s\nobjective: [%s]\n%s", d->type, d->objective ? d->objective : "",
                               rg_text_c(&yaml));
    if (status == RG_OK) status = rg_recipe_new(out, rg_text_c(&whole));
    if (status == RG_OK && d->settings) status = rg_recipe_read(*out, d->settings, false);
    if (status == RG_OK && s->quick) status = rg_recipe_read(*out, rg_text_c(&yaml), false); /* few data once more: settings are for many */
    if (status == RG_OK) status = rg_recipe_read(*out, rest, false);
    if (status == RG_OK && s->updates) status = rg_recipe_read(*out, limit, false);
    if (status == RG_OK) status = rg_recipe_set(*out, "model", 1, &model);
    rg_free(rest);
    rg_free(limit);
    rg_text_free(&yaml);
    rg_text_free(&whole);
    return status;
}

/* "lost" is the name of lost and lost-5. */
static bool named(const rg_metric *m, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(m->name, name, n) == 0 && (!m->name[n] || m->name[n] == '-');
}

/* The number the verdict is about: of the end, else of the validation whose weights the model has. */
static bool find_metric(double *out, const rg_demo *d, const rg_learned *learned, const rg_metrics *valid, bool best)
{
    for (size_t i = 0; i < learned->final.count; i++)
        if (named(&learned->final.metric[i], d->metric)) return *out = learned->final.metric[i].value, true;
    for (size_t i = 0; i < valid->count; i++)
        if (named(&valid->metric[i], d->metric))
            return *out = best ? valid->metric[i].best : valid->metric[i].value, true;
    return false;
}

static rg_status learn(rg_model **out, double *out_value, const rg_task *task, const rg_demo *d,
                       const rg_demo_settings *s, const char *model)
{
    rg_recipe *recipe = NULL;
    rg_console console = { 0 };
    rg_learned learned = { 0 };
    rg_status  status = make_recipe(&recipe, task, d, s, model);
    if (status == RG_OK) status = rg_console_open(&console, "", true, false);
    if (status == RG_OK) {
        console.unit = task->unit;
        const rg_train_report report = rg_console_report(&console);
        const rg_training     t = rg_recipe_training(recipe, &report);
        status = rg_learn(out, &learned, &t);
        if (status == RG_OK && d->attack == 0 &&
            !find_metric(out_value, d, &learned, &console.metrics, t.learning->restore_best))
            status = rg_fail(RG_EINVAL, "the demo %s measures no %s", d->name, d->metric);
        rg_console_close(&console);
    }
    rg_recipe_free(recipe);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- showing */

typedef struct {
    const char *figure;
    bool        drawn;
} drawing;

static rg_status draw(void *context, const rg_record *r)
{
    drawing *d = context;
    if (!r->maps) return RG_OK; /* a system that does not attend */
    printf("\n");
    RG_TRY(rg_cli_draw_record(r, NULL));
    if (rg_cli_draw_record(r, d->figure) != RG_OK) fprintf(stderr, "no figure: %s\n", rg_message()); /* the terminal has shown it */
    else d->drawn = true;
    return RG_OK;
}

/* Text with the folder's name where it says FOLDER. */
static rg_status with_folder(rg_text *out, const char *text, const char *folder)
{
    rg_status status = RG_OK;
    for (const char *at = text, *word; status == RG_OK && *at;) {
        word = strstr(at, "FOLDER");
        status = rg_text_add(out, at, word ? (size_t)(word - at) : strlen(at));
        if (status == RG_OK && word) status = rg_text_add_string(out, folder);
        at = word ? word + strlen("FOLDER") : at + strlen(at);
    }
    return status;
}

static rg_status fill_asking(void *options, const rg_task *task, const char *yaml, const char *folder)
{
    const rg_option_group group = { .title = task->name, .rows = task->asking, .values = options };
    rg_text               text = { 0 };
    rg_status             status = with_folder(&text, yaml, folder);
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, rg_text_c(&text), text.length, "demo", false);
    rg_text_free(&text);
    return status;
}

static rg_status show(const rg_model *m, const rg_demo *d, const char *folder)
{
    static const rg_option nothing[] = { RG_OPTION_END };
    const rg_task         *task = m->system->task;
    const rg_option       *rows = task->asking ? task->asking : nothing;
    rg_text                asked = { 0 };
    rg_status              status = d->ask ? with_folder(&asked, d->ask, folder) : RG_OK;
    char                  *figure = rg_format("%s/attention.png", folder), *word = asked.data;
    const rg_list          words = { d->ask ? 1 : 0, &word };
    void                  *options = rg_alloc_zero(task->asking_bytes + 1);
    drawing                drawn = { .figure = figure };
    rg_answer_printer      printer = { .quiet = !d->ask, .draw = draw, .draw_context = &drawn };
    if (status == RG_OK) status = figure && options ? rg_options_init(rows, options) : RG_ENOMEM;
    if (status == RG_OK && d->asking) status = fill_asking(options, task, d->asking, folder);
    if (status == RG_OK && d->ask) printf("\n%s\n", word);
    if (status == RG_OK) {
        const rg_question q = { .options = options,
                                .words = &words,
                                .input = "/dev/null",
                                .threads = 1,
                                .sink = rg_answer_printer_sink(&printer) };
        status = task->answer(m, &q);
    }
    if (status == RG_OK && drawn.drawn) printf("\n(the same drawing: %s)\n", figure);
    rg_answer_printer_fini(&printer);
    if (options) rg_options_fini(rows, options);
    rg_free(options);
    rg_free(figure);
    rg_text_free(&asked);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- drawing */

static rg_status text_column(void *context, const char *const *names, size_t count)
{
    size_t *at = context;
    for (*at = 0; *at < count && strcmp(names[*at], "text") != 0;) (*at)++;
    return *at < count ? RG_OK : rg_fail(RG_EINVAL, "this model draws no text");
}

static rg_status print_text(void *context, const rg_value *cells)
{
    printf("  %s\n", cells[*(const size_t *)context].text);
    return RG_OK;
}

static rg_status draw_texts(const rg_model *m, const rg_demo *d)
{
    const rg_task        *task = m->system->task;
    size_t                column = 0;
    const rg_sink         sink = { .context = &column, .columns = text_column, .row = print_text };
    void                 *options = rg_alloc_zero(task->drawing_bytes + 1);
    const rg_option_group group = { .title = task->name, .rows = task->drawing, .values = options };
    const rg_question     q = { .options = options, .threads = 1, .sink = &sink };
    rg_status             status = options ? rg_options_init(task->drawing, options) : RG_ENOMEM;
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, d->drawing, strlen(d->drawing), "demo", false);
    if (status == RG_OK) printf("\nDrawn from the model:\n");
    if (status == RG_OK) status = task->generate(m, &q);
    if (options) rg_options_fini(task->drawing, options);
    rg_free(options);
    return status;
}

/* The files that are attacked, words of one text. */
static rg_status split_files(rg_list *out, char *text)
{
    for (char *word = strtok(text, " "); word && out->count < 2; word = strtok(NULL, " "))
        out->items[out->count++] = word;
    return out->count ? RG_OK : rg_fail(RG_EINVAL, "the demo names no files to attack");
}

static rg_status attack(double *out, const rg_model *m, const rg_demo *d, const char *folder)
{
    static char            none[] = "", automatic[] = "auto";
    char                  *items[2], *sheet = rg_format("%s/attacked.png", folder);
    rg_set_options         sets = {
                .train = { 0, items }, .format = none, .columns = none, .header = automatic, .pictures = none, .batch = 100
    };
    const int64_t          steps[] = { 1, 10 };
    const rg_attack_config c = {
        .epsilon = &d->attack, .epsilons = 1, .steps = steps, .step_counts = 2, .sheet = sheet, .threads = 2, .seed = 1
    };
    rg_attack_row          r[2];
    rg_text                text = { 0 };
    rg_status              status = sheet ? with_folder(&text, d->attacked, folder) : RG_ENOMEM;
    if (status == RG_OK) status = split_files(&sets.train, text.data);
    if (status == RG_OK) status = rg_attack(r, m, &sets, &c);
    for (size_t i = 0; status == RG_OK && i < 2; i++)
        printf("%s%2lld step%s: error %.3f, clean %.3f; random changes of the same size change %.3f of the answers\n",
               i ? "" : "\n", (long long)steps[i], i ? "s" : " ", r[i].error, r[i].clean_error, r[i].noise);
    if (status == RG_OK) printf("(pictures, changes and what came of them: %s)\n", sheet);
    if (status == RG_OK) *out = r[0].error;
    rg_text_free(&text);
    rg_free(sheet);
    return status;
}

rg_status rg_demo_run(bool *out_good, const rg_task *task, const rg_demo *d, const rg_demo_settings *s)
{
    const double started = rg_now();
    rg_model    *model = NULL;
    double       value = 0;
    if (mkdir(s->folder, 0777) != 0 && errno != EEXIST)
        return rg_fail(RG_EIO, "cannot make the folder %s: %s", s->folder, strerror(errno));
    char     *path = rg_format("%s/model.safetensors", s->folder);
    rg_status status = path ? learn(&model, &value, task, d, s, path) : RG_ENOMEM;
    if (status == RG_OK && d->attack > 0) status = attack(&value, model, d, s->folder);
    else if (status == RG_OK && task->answer) status = show(model, d, s->folder);
    if (status == RG_OK && d->drawing && task->generate) status = draw_texts(model, d);
    if (status == RG_OK) {
        *out_good = d->below ? value <= d->expected : value >= d->expected;
        printf("\ndemo %s: %s %.4g, %s %g was expected: %s (%.0f s)\n", d->name, d->metric, value,
               d->below ? "at most" : "at least", d->expected, *out_good ? "good" : "NOT as expected",
               rg_now() - started);
    }
    rg_model_free(model);
    rg_free(path);
    return status;
}
