/* cmd_show.c - look at a record: in the terminal, as a figure, as a page. */
#include "cli/command.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/answers.h"
#include "cli/output.h"
#include "cli/show.h"
#include "regard/explain.h"
#include "regard/view.h"

typedef struct show_options {
    char   *model, *json, *html, *png, *svg, *pdf, *style, *palette, *colour, *font, *name;
    int64_t layer, head, step, links, width;
    double  threshold, scale;
    bool    dark, numbers, list, light;
    char   *by, *against;
    int64_t steps;
} show_options;

static const rg_option rows[] = {
    { RG_OPTION_STRING, "model", offsetof(show_options, model), "",
      "answer the words with this model and show what it looked at; its task decides about further options", 'm',
      NULL },
    { RG_OPTION_STRING, "by", offsetof(show_options, by), "",
      "with -m, why the answer was given: attention, rollout, gradient, input-gradient, integrated, zeroing, "
      "occlusion, several with commas between them, or all",
      0, NULL },
    { RG_OPTION_STRING, "against", offsetof(show_options, against), "",
      "with --by, why the answer and not this word or class: of the difference of log p", 0, NULL },
    { RG_OPTION_INT, "integration-steps", offsetof(show_options, steps), "32", "of --by integrated", 0, "[2,10000]" },
    { RG_OPTION_STRING, "json", offsetof(show_options, json), "",
      "write the record; .safetensors is binary, all else JSON", 0, NULL },
    { RG_OPTION_STRING, "html", offsetof(show_options, html), "", "write one self-contained page", 0, NULL },
    { RG_OPTION_STRING, "png", offsetof(show_options, png), "", "write a figure as PNG", 0, NULL },
    { RG_OPTION_STRING, "svg", offsetof(show_options, svg), "", "write a figure as SVG", 0, NULL },
    { RG_OPTION_STRING, "pdf", offsetof(show_options, pdf), "", "write a figure as PDF", 0, NULL },
    { RG_OPTION_STRING, "style", offsetof(show_options, style), "auto",
      "what the figure draws; grid: every head of every layer", 0,
      "auto|matrix|grid|links|picture|graph|curves|memory|panels|parts|beam" },
    { RG_OPTION_STRING, "name", offsetof(show_options, name), "", "only maps of this name (decoder.cross)", 0, NULL },
    { RG_OPTION_INT, "layer", offsetof(show_options, layer), "-1", "layer to show; -1 is the last", 0, NULL },
    { RG_OPTION_INT, "head", offsetof(show_options, head), "-1", "head to show; -1 is the first", 0, NULL },
    { RG_OPTION_INT, "step", offsetof(show_options, step), "-1", "step to show; -1 is the last", 0, NULL },
    { RG_OPTION_INT, "links", offsetof(show_options, links), "12", "how many of the strongest links to list", 0,
      "[0,inf)" },
    { RG_OPTION_INT, "width", offsetof(show_options, width), "0", "columns to use; 0 is those of the terminal", 0,
      "[0,inf)" },
    { RG_OPTION_REAL, "threshold", offsetof(show_options, threshold), "0.02", "weights below are not drawn as links", 0,
      "[0,1]" },
    { RG_OPTION_REAL, "scale", offsetof(show_options, scale), "2", "pixels per point of a PNG", 0, "(0,100]" },
    { RG_OPTION_STRING, "palette", offsetof(show_options, palette), "auto", "colours from low to high", 0,
      "auto|blue|fire|gray" },
    { RG_OPTION_STRING, "color", offsetof(show_options, colour), "auto", "colours in the terminal", 0,
      "auto|never|256|24bit" },
    { RG_OPTION_STRING, "font", offsetof(show_options, font), "", "font family of figures", 0, NULL },
    { RG_OPTION_BOOL, "light", offsetof(show_options, light), "false",
      "the terminal is light; without it COLORFGBG is asked, which some terminals set", 0, NULL },
    { RG_OPTION_BOOL, "dark", offsetof(show_options, dark), "false", "light on dark", 0, NULL },
    { RG_OPTION_BOOL, "numbers", offsetof(show_options, numbers), "false", "write weights into the cells of figures", 0,
      NULL },
    { RG_OPTION_BOOL, "list", offsetof(show_options, list), "false", "list the maps of the record", 'l', NULL },
    RG_OPTION_END,
};

static rg_palette palette_of(const char *name)
{
    return !strcmp(name, "blue")   ? RG_PALETTE_BLUE
           : !strcmp(name, "fire") ? RG_PALETTE_FIRE
           : !strcmp(name, "gray") ? RG_PALETTE_GRAY
                                   : RG_PALETTE_AUTO;
}

static rg_status list_maps(const rg_record *r)
{
    for (size_t i = 0; i < r->maps; i++) {
        const rg_record_map *m = &r->map[i];
        char         *name = rg_terminal_safe(m->name);
        if (!name) return RG_ENOMEM;
        printf("%zu\t%s\tlayer %d\thead %d\tstep %d\thypothesis %d\t%zu x %zu\n", i, name, m->layer, m->head, m->step,
               m->hypothesis, m->rows, m->cols);
        rg_free(name);
    }
    return RG_OK;
}

/* The difference of what was asked for, of the alignment, or the last there is. */
static const char *beside_name(const rg_record *r, const show_options *o)
{
    static const char *const usual[] = { "alignment", "decoder.cross", "pool" };
    const size_t             n = strcspn(o->by, ","), difference = strlen("difference: ");
    const char              *last = NULL;
    for (size_t i = 0; i < r->maps; i++) {
        const char *name = r->map[i].name;
        if (strncmp(name, "difference: ", difference) != 0) continue;
        if (n && strncmp(name + difference, o->by, n) == 0) return name;
        last = name;
    }
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        for (size_t i = 0; i < r->maps; i++)
            if (!strncmp(r->map[i].name, "difference: ", difference) && !strcmp(r->map[i].name + difference, usual[k]))
                return r->map[i].name;
    return last;
}

/* Where source and target meet: what is asked for when nothing is. */
static const char *default_name(const rg_record *r, const show_options *o)
{
    if (*o->name) return o->name;
    if (strcmp(r->kind, "comparison") == 0) return beside_name(r, o);
    if (strcmp(r->kind, "beam") == 0) return "beam";
    if (*o->by) { /* the first map that was asked for */
        const size_t n = strcspn(o->by, ",");
        for (size_t i = 0; i < r->maps; i++)
            if (r->map[i].head < 0 && r->map[i].layer < 0 &&
                ((strncmp(r->map[i].name, o->by, n) == 0 && (!r->map[i].name[n] || r->map[i].name[n] == ' ')) ||
                 (strcmp(o->by, "all") == 0 && rg_method_find(r->map[i].name))))
                return r->map[i].name;
    }
    if (o->layer < 0 && o->head < 0 && rg_record_find(r, "alignment", -1, -1, (int)o->step) < r->maps)
        return "alignment";
    return rg_record_find(r, "decoder.cross", (int)o->layer, (int)o->head, (int)o->step) < r->maps ? "decoder.cross"
                                                                                                   : NULL;
}

/* Say what was asked for: the flags that were given, and no others. */
static rg_status fail_without_map(const rg_record *r, const show_options *o)
{
    const struct {
        const char *name;
        int64_t     value;
    } asked[] = { { "layer", o->layer }, { "head", o->head }, { "step", o->step } };
    rg_text   text = { 0 };
    rg_status status = *o->name ? rg_text_print(&text, " --name %s", o->name) : RG_OK;
    for (size_t i = 0; status == RG_OK && i < sizeof asked / sizeof *asked; i++)
        if (asked[i].value >= 0) status = rg_text_print(&text, " --%s %lld", asked[i].name, (long long)asked[i].value);
    if (status == RG_OK)
        status = rg_fail(RG_EINVAL, "no map of the record's %zu is%s; --list shows them", r->maps, rg_text_c(&text));
    rg_text_free(&text);
    return status;
}

/* The map the flags name. A record without maps (curves only) gives r->maps. */
static rg_status choose(size_t *out, const rg_record *r, const show_options *o)
{
    *out = rg_record_find(r, default_name(r, o), (int)o->layer, (int)o->head, (int)o->step);
    if (*out < r->maps || (!r->maps && !*o->name && o->layer < 0 && o->head < 0 && o->step < 0)) return RG_OK;
    return fail_without_map(r, o);
}

static bool is_over_picture(const rg_record *r, size_t map)
{
    const rg_labels *l = &r->labels[r->map[map].col_labels];
    return l->picture && l->boxes && !rg_labels_are_strips(l);
}

static rg_status print_terminal(const rg_record *r, size_t map, const show_options *o)
{
    struct winsize      size = { 0 };
    rg_terminal_options t;
    char               *text = NULL;
    bool                tty = isatty(STDOUT_FILENO) == 1;

    if (tty) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    rg_terminal_detect(&t, tty, o->width > 0 ? (int)o->width : size.ws_col);
    t.links = (int)(o->links > 1000 ? 1000 : o->links);
    t.palette = palette_of(o->palette);
    if (o->light) t.light = true;
    if (size.ws_row > 4) t.height = size.ws_row;
    if (!strcmp(o->colour, "never")) t.colour = RG_COLOUR_NONE;
    if (!strcmp(o->colour, "256")) t.colour = RG_COLOUR_256;
    if (!strcmp(o->colour, "24bit")) t.colour = RG_COLOUR_24BIT;
    if (!strcmp(o->style, "beam") || (!strcmp(o->style, "auto") && !strcmp(r->kind, "beam"))) {
        RG_TRY(rg_terminal_tree(&text, r, map, &t));
        fputs(text, stdout);
        rg_free(text);
        return RG_OK;
    }
    size_t shown[3] = { map, r->maps, r->maps }; /* of a comparison the two that differ come first */
    if (map >= 2 && map < r->maps && strncmp(r->map[map].name, "difference: ", 12) == 0) {
        const bool pictures =
            t.colour != RG_COLOUR_NONE && t.unicode && is_over_picture(r, map - 2) && is_over_picture(r, map - 1);
        shown[0] = map - 2, shown[1] = map - 1, shown[2] = pictures ? r->maps : map; /* they stand without it */
        if (pictures && t.height < 60) t.height = t.height / 2;
    }
    for (size_t i = 0; i < 3; i++) {
        if (shown[i] >= r->maps || (r->curve_sets && strcmp(o->style, "curves") == 0)) continue;
        t.bare = i > 0;
        RG_TRY(rg_terminal_draw(&text, r, shown[i], &t));
        fputs(text, stdout);
        rg_free(text);
    }
    for (size_t i = 0; i < r->curve_sets && !*o->by && !*o->name; i++) {
        RG_TRY(rg_terminal_curves(&text, &r->curves[i], &t));
        fputs(text, stdout);
        rg_free(text);
    }
    return RG_OK;
}

static rg_status save_figure(const rg_record *r, size_t map, const show_options *o, const char *path)
{
    rg_figure_options f = RG_FIGURE_OPTIONS_DEFAULT;
    rg_figure_result  result = { 0 };
    rg_figure_format  format;

    if (!*path) return RG_OK;
    for (int s = 0; s < RG_FIGURE_STYLES; s++)
        if (!strcmp(o->style, rg_figure_style_name((rg_figure_style)s))) f.style = (rg_figure_style)s;
    const bool every = f.style == RG_FIGURE_GRID && !*o->name && o->layer < 0 && o->head < 0 && o->step < 0;
    f.map = every ? SIZE_MAX : map;
    f.dark = o->dark;
    f.numbers = o->numbers;
    f.palette = palette_of(o->palette);
    f.threshold = (float)o->threshold;
    f.scale = o->scale;
    f.font = *o->font ? o->font : NULL;
    format = path == o->svg ? RG_FIGURE_SVG : path == o->pdf ? RG_FIGURE_PDF : RG_FIGURE_PNG;
    RG_TRY(rg_figure_save(path, format, &result, r, &f));
    if (result.missing_glyphs)
        fprintf(stderr, "regard show: no installed font has %u of the characters; they are drawn as boxes\n",
                result.missing_glyphs);
    return RG_OK;
}

rg_status rg_cli_show_files(const rg_record *r, const void *options)
{
    const show_options *o = options;
    rg_page_options     page = { .live = false, .dark = o->dark };
    size_t              map;

    RG_TRY(choose(&map, r, o));
    if (*o->json) RG_TRY(rg_record_save(r, o->json));
    if (*o->html) RG_TRY(rg_page_save(o->html, r, &page));
    RG_TRY(save_figure(r, map, o, o->png));
    RG_TRY(save_figure(r, map, o, o->svg));
    return save_figure(r, map, o, o->pdf);
}

/* Everything that can be shown of a record: shared with `show -m MODEL`, which makes the record first. */
rg_status rg_cli_show_record(const rg_record *r, const void *options)
{
    const show_options *o = options;
    size_t              map;

    if (o->list) return list_maps(r);
    RG_TRY(rg_cli_show_files(r, options));
    if (*o->json || *o->html || *o->png || *o->svg || *o->pdf) return RG_OK;
    RG_TRY(choose(&map, r, o));
    return print_terminal(r, map, o);
}

static const rg_option *row_named(const char *name)
{
    const rg_option *row = rows;
    while (row->name && strcmp(row->name, name) != 0) row++;
    return row;
}

rg_status rg_cli_draw_record(const rg_record *r, const char *png)
{
    show_options o = { 0 };
    rg_status    status = rg_options_init(rows, &o);
    if (status == RG_OK && png) status = rg_option_set(row_named("png"), &o, 1, &png);
    if (status == RG_OK) status = rg_cli_show_record(r, &o);
    rg_options_fini(rows, &o);
    return status;
}

static rg_status draw(void *context, const rg_record *r) { return rg_cli_show_record(r, context); }

/* A copy, for later. */
static rg_status keep(void *context, const rg_record *r)
{
    rg_record **out = context;
    char       *json;
    size_t      bytes;
    RG_TRY(rg_record_to_json(&json, &bytes, r, RG_WEIGHTS_F32));
    const rg_status status = *out ? RG_OK : rg_record_from_json(out, json, bytes);
    rg_free(json);
    return status;
}

/* The model answers, and what it looked at is shown. */
static rg_status show_model(rg_call *call, const show_options *o, const char *path, const rg_list *words,
                            rg_record **out)
{
    rg_answer_printer  printer = { .quiet = true, .draw = out ? keep : draw, .draw_context = out ? (void *)out : (void *)o };
    rg_explain_options explain = RG_EXPLAIN_OPTIONS_DEFAULT;
    rg_model         *model;
    explain.by = o->by;
    explain.against = o->against;
    explain.steps = (size_t)o->steps;
    explain.faithful = true;
    RG_TRY(rg_explain_check(&explain));
    RG_TRY(rg_model_load(&model, path, NULL));
    const rg_task    *task = model->system->task;
    const rg_question q = { .options = task->asking ? rg_call_values(call, task->asking) : NULL,
                            .words = words,
                            .input = NULL,
                            .threads = 1,
                            .explain = *o->by ? &explain : NULL,
                            .sink = rg_answer_printer_sink(&printer) };
    rg_status         status = task->answer
                                   ? task->answer(model, &q)
                                   : rg_fail(RG_EMATCH, "%s: nothing can be shown of a model for '%s'", path, task->name);
    rg_answer_printer_fini(&printer);
    rg_model_free(model);
    return status;
}

/* Models in the order of their -m. */
static size_t models_of(const char *out[2], const rg_call *call)
{
    size_t n = 0;
    for (int i = 0; i < call->argc; i++) {
        const char *word = call->argv[i], *path = NULL;
        if (strcmp(word, "--") == 0) break;
        if ((strcmp(word, "-m") == 0 || strcmp(word, "--model") == 0) && i + 1 < call->argc) path = call->argv[++i];
        else if (strncmp(word, "--model=", 8) == 0) path = word + 8;
        if (path && n < 2) out[n] = path;
        n += path != NULL;
    }
    return n;
}

/* Two pictures, or two words of which one is a text: each is an input. */
static bool two_inputs(const rg_call *call)
{
    if (call->words.count != 2) return false;
    for (size_t i = 0; i < 2; i++)
        if (strpbrk(call->words.items[i], " \t")) return true;
    const char *dot = strrchr(call->words.items[0], '.'), *other = strrchr(call->words.items[1], '.');
    return dot && other && (!strcmp(dot, ".png") || !strncmp(dot, ".jp", 3)) && (!strcmp(other, ".png") || !strncmp(other, ".jp", 3));
}

/* Two models and one input, or one model and two inputs: both, and their difference. */
static rg_status show_both(rg_call *call, const show_options *o, const char *const models[2], bool inputs)
{
    rg_record *r[3] = { NULL, NULL, NULL };
    rg_status  status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < 2; i++) {
        rg_list one = { .items = &call->words.items[inputs ? i : 0], .count = 1 };
        status = show_model(call, o, models[inputs ? 0 : i], inputs ? &one : &call->words, &r[i]);
        if (status == RG_OK && !r[i]) status = rg_fail(RG_EMATCH, "%s shows nothing", models[inputs ? 0 : i]);
    }
    if (status == RG_OK) status = rg_record_beside(&r[2], r[0], r[1]);
    if (status == RG_OK) status = rg_cli_show_record(r[2], o);
    for (size_t i = 0; i < 3; i++) rg_record_free(r[i]);
    return status;
}

/* With a model, what can be asked of it. */
static rg_status extend(rg_call *call)
{
    const show_options *o = call->options;
    return *o->model ? rg_call_add_asking(call, o->model) : RG_OK;
}

static rg_status check_outputs(const show_options *o, const char *input)
{
    RG_TRY(rg_output_is_not("json", o->json, input));
    RG_TRY(rg_output_is_not("html", o->html, input));
    RG_TRY(rg_output_is_not("png", o->png, input));
    RG_TRY(rg_output_is_not("svg", o->svg, input));
    return rg_output_is_not("pdf", o->pdf, input);
}

static rg_status run(rg_call *call)
{
    rg_status           status;
    rg_record          *r = NULL;
    const show_options *o = call->options;

    if (!*o->model && (*o->by || *o->against)) /* a record has no model to ask */
        return rg_fail(RG_EINVAL, "--by needs the model: regard show -m MODEL --by %s TEXT", *o->by ? o->by : "occlusion");
    if (*o->model) RG_TRY(check_outputs(o, o->model));
    const char  *models[2] = { o->model, o->model };
    const size_t given = models_of(models, call);
    if (given > 2) return rg_fail(RG_EINVAL, "%zu models; two can be shown side by side", given);
    if (*o->model && (given == 2 || two_inputs(call))) return show_both(call, o, models, given < 2);
    if (*o->model) return show_model(call, o, o->model, &call->words, NULL);
    if (call->words.count != 1) return rg_fail(RG_EINVAL, "one RECORD is needed, %zu given", call->words.count);
    RG_TRY(check_outputs(o, call->words.items[0]));
    RG_TRY(rg_record_load(&r, call->words.items[0]));
    status = rg_cli_show_record(r, call->options);
    rg_record_free(r);
    return status;
}

const rg_command rg_command_show = {
    .name = "show",
    .summary = "show what was attended to: in the terminal, as a figure, as a page",
    .arguments = "RECORD | -m MODEL [-m MODEL] [TEXT...]",
    .details =
        "RECORD is a file written by --attention FILE of `regard translate` or `regard predict` (docs/record.md). With "
        "-m the "
        "model answers, and what it looked at in every layer and head is shown: of the TEXT it translates, of a graph "
        "(--graph FOLDER), of a new puzzle. Two models (-m A -m B), or two texts in quotes, are shown side by side with "
        "the difference of their maps. --by says by which method the answer is explained (docs/explaining.md). regard show -m MODEL --help lists the options of that model. Without "
        "--json, "
        "--html, --png, --svg or --pdf the map is drawn in the terminal. NO_COLOR, COLORTERM, TERM and the locale are "
        "honoured.",
    .options = rows,
    .size = sizeof(show_options),
    .extend = extend,
    .run = run,
};
