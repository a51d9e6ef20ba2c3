/* cmd_explain.c - what a system, a score or a reach is, from the tables. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/scratch.h"
#include "cli/show.h"
#include "regard/model.h"
#include "regard/view.h"

enum { MOST_NAMES = 128, DRAWN = 6 };

typedef struct {
    int64_t places, width, vocabulary;
    char   *preset;
    bool    parts;
} explain_options;

static const rg_option rows[] = {
    { RG_OPTION_INT, "places", offsetof(explain_options, places), "50", "positions: places of words", 0, "[2,1024]" },
    { RG_OPTION_INT, "dim", offsetof(explain_options, width), "128", "positions: columns of a code, an even number", 0,
      "[2,1024]" },
    { RG_OPTION_BOOL, "parts", offsetof(explain_options, parts), "false",
      "of a system: its blocks with shapes and parameters, as a table; --png and --svg draw the network", 0, NULL },
    { RG_OPTION_STRING, "preset", offsetof(explain_options, preset), "",
      "parts: sizes under a name (transformer: tiny, small, base, big)", 0, NULL },
    { RG_OPTION_INT, "vocabulary", offsetof(explain_options, vocabulary), "0",
      "parts: tokens of the vocabulary; 0: those of the small data that are sent through it", 0, "[0,10000000]" },
    RG_OPTION_END,
};

extern const rg_command rg_command_show;

/* The rows of show, but for its -m: positions and parts are drawn; and the settings of the system whose parts they are. */
static rg_status extend(rg_call *call)
{
    const explain_options *o = call->options;
    const rg_system       *system = o->parts && call->words.count ? rg_system_find(call->words.items[0]) : NULL;
    RG_TRY(rg_call_add(call, "Showing positions and parts", rg_command_show.options + 1, rg_command_show.size));
    return system ? rg_call_add(call, system->name, system->options, system->options_bytes) : RG_OK;
}

static void line(const char *what, const char *text)
{
    if (text && *text) printf("  %-9s %s\n", what, text);
}

/* Every system whose attention names this score or reach. */
static void print_users(const char *name, bool reach)
{
    for (const rg_system *const *s = rg_system_all(); *s; s++)
        for (const rg_attention_use *u = (*s)->uses; u && u->where; u++)
            if (!strcmp(reach ? u->reach : u->score, name)) printf("  %-9s %s, %s\n", "used by", (*s)->name, u->where);
}

static void explain_score(const rg_score *s)
{
    printf("%s: a score, how well a query q fits a key k\n", s->name);
    line("e(q, k)", s->formula);
    line("paper", s->paper);
    line("cost", s->cost);
    line("note", s->note);
    line("learns", s->init ? "yes, or when asked to" : "nothing");
    line("keys", s->prepare ? "prepared once for all queries" : "taken as they are");
    line("one pass", s->fused ? "yes: the weights are made only when somebody watches"
                              : "no: the weights of all open pairs are made");
    print_users(s->name, false);
}

/* The reach itself draws what it lets through: two sentences of 2 and 4 rows. */
static rg_status explain_reach(const rg_reach_kind *k)
{
    static const int32_t   start[] = { 0, 2, DRAWN };
    static const rg_layout two = { .groups = 2, .start = start };
    rg_tape_config         config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape               *t = NULL;
    RG_TRY(rg_tape_new(&t, &config));
    const rg_reach *r = k->make(t, &two, &two, 3);
    printf("%s: a reach, which keys a query may look at\n", k->name);
    line("a query", k->summary);
    line("paper", k->paper);
    line("decoders", k->past && strcmp(k->past, k->name) != 0 ? k->past : NULL);
    printf("  %-9s two sentences of 2 and 4 words; rows are queries, columns keys%s\n", "drawn",
           k->sized ? "; r = 3" : "");
    for (size_t i = 0; r && i < DRAWN; i++) {
        printf("  %-9s", "");
        for (size_t j = 0; j < DRAWN; j++) {
            bool open = false;
            for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
                open = open || (r->key ? (size_t)r->key[p] : (size_t)r->begin[i] + (p - r->first[i])) == j;
            printf(" %c", open ? 'x' : '.');
        }
        printf("\n");
    }
    print_users(k->name, true);
    const rg_status status = rg_tape_status(t);
    rg_tape_free(t);
    return status;
}

static void explain_system(const rg_system *s)
{
    printf("%s: a system, %s\n", s->name, s->summary);
    line("paper", s->paper);
    for (const rg_attention_use *u = s->uses; u && u->where; u++) {
        printf("\n  %s\n", u->where);
        const rg_score *score = rg_score_find(u->score);
        printf("    %-9s %s\n    %-9s %s\n    %-9s %s\n", "queries", u->queries, "keys", u->keys, "values", u->values);
        printf("    %-9s %s%s%s\n", "score", u->score, score ? ": " : "", score ? score->formula : "");
        const rg_reach_kind *kind = rg_reach_kind_find(u->reach);
        printf("    %-9s %s%s%s\n", "reach", u->reach, kind ? ": " : "", kind ? kind->summary : "");
        if (score) printf("    %-9s %s\n", "cost", score->cost);
        if (u->watch) printf("    %-9s %s: rows %s, columns %s\n", "maps", u->watch, u->rows, u->cols);
    }
    if (!s->uses || !s->uses->where) printf("\n  no attention: it stands beside the others for comparison\n");
    if (s->options && s->options->name) printf("\n  settings\n");
    for (const rg_option *row = s->options; row && row->name; row++)
        printf("    --%-30s %s%s%s%s\n", row->name, row->help, *row->value ? " (" : "", row->value,
               *row->value ? ")" : "");
}

static rg_status explain_positions(rg_call *call)
{
    const explain_options *o = call->options;
    rg_record             *r = NULL;
    RG_TRY(rg_positions_record(&r, (size_t)o->places, (size_t)o->width));
    printf("positions: how a Transformer is told where a word stands\n");
    line("PE(p, 2i)", "sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos(p / 10000^(2i/d))");
    line("added to", "the embedding of the word at place p; without them attention sees a bag of words");
    line("PE . PE", "sum_i cos(k / 10000^(2i/d)) for two places at distance k, whatever p is");
    line("paper", "Vaswani et al. 2017, Attention Is All You Need, section 3.5");
    line("used by", "transformer, --transformer-positions sinusoidal|halves|spread|learned|none");
    const rg_status status = rg_cli_show_record(r, rg_call_values(call, rg_command_show.options + 1));
    rg_record_free(r);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- parts */

static void print_parts(const rg_network *p)
{
    bool back = false;
    printf("\n   #  %-28s %12s %12s %10s  %s\n", "part", "makes", "parameters", "MFLOP", "from");
    for (size_t i = 0; i < p->count; i++) {
        const rg_network_part *x = &p->part[i];
        const char            *gap = "";
        char                   makes[48];
        snprintf(makes, sizeof makes, "%zu x %zu", x->rows, x->cols);
        printf("  %2zu  %-28s %12s %12zu %10.2f  ", i + 1, x->name, makes, x->parameters, 1e-6 * x->flops);
        for (size_t e = 0; e < p->edges; e++) {
            if (p->to[e] != i) continue;
            printf("%s%u%s", gap, p->from[e] + 1, p->from[e] >= i ? "*" : "");
            gap = " ";
            back = back || p->from[e] >= i;
        }
        printf("\n");
    }
    printf("      %-28s %12s %12zu %10.2f\n", "all", "", p->parameters, 1e-6 * p->flops);
    if (back) printf("\n  * of a part further down: in the next step, or where a part comes twice\n");
}

/* The batch is of the task's small data: rows of what is made are its words, nodes or pixels. */
static rg_status explain_parts(rg_call *call, const rg_system *system)
{
    const explain_options *o = call->options;
    rg_scratch             scratch;
    rg_sizes               sizes;
    rg_network              *parts = NULL;
    rg_record             *r = NULL;
    rg_text                line = { 0 };
    size_t                 total = 0;
    rg_status              status = rg_scratch_open(&scratch, call, system, o->preset, RG_SMALL_TEST);
    if (status == RG_OK) status = rg_scratch_sizes(&sizes, o->vocabulary);
    if (status == RG_OK) {
        const rg_training t = rg_recipe_training(scratch.recipe, NULL);
        status = rg_network_new(&parts, &t, &sizes);
    }
    if (status == RG_OK) status = rg_network_sublayers(&line, &total, parts);
    if (status == RG_OK) status = rg_network_record(&r, parts);
    if (status == RG_OK) {
        printf("%s%s%s: %zu parameters\n", system->name, *o->preset ? ", preset " : "", o->preset, parts->parameters);
        print_parts(parts);
        if (total) printf("\n  %s\n", rg_text_c(&line));
        printf("\n  A batch of the task's small data on shapes alone; MFLOP are of its forward pass.\n");
        status = rg_cli_show_files(r, rg_call_values(call, rg_command_show.options + 1));
    }
    rg_record_free(r);
    rg_network_free(parts);
    rg_text_free(&line);
    rg_scratch_close(&scratch);
    return status;
}

static rg_status unknown(const char *name)
{
    const char *names[MOST_NAMES + 2];
    size_t      n = 0;
    for (const rg_system *const *s = rg_system_all(); *s && n < MOST_NAMES; s++) names[n++] = (*s)->name;
    for (const rg_score *const *s = rg_score_all(); *s && n < MOST_NAMES; s++) names[n++] = (*s)->name;
    for (const rg_reach_kind *const *k = rg_reach_kinds(); *k && n < MOST_NAMES; k++) names[n++] = (*k)->name;
    names[n++] = "positions";
    names[n] = NULL;
    const char *near = rg_nearest(name, names);
    if (near) return rg_fail(RG_EINVAL, "there is no system, score or reach '%s'; did you mean %s?", name, near);
    return rg_fail(RG_EINVAL, "there is no system, score or reach '%s'; regard systems and regard scores list them",
                   name);
}

static rg_status run(rg_call *call)
{
    const explain_options *o = call->options;
    if (call->words.count == 0) return rg_fail(RG_EINVAL, "the NAME of a system, a score or a reach is needed");
    if (o->parts && (call->words.count > 1 || !rg_system_find(call->words.items[0])))
        return rg_fail(RG_EINVAL, "--parts takes the NAME of one system; regard systems lists them");
    for (size_t i = 0; i < call->words.count; i++) {
        const char          *name = call->words.items[i];
        const rg_system     *system = rg_system_find(name);
        const rg_score      *score = rg_score_find(name);
        const rg_reach_kind *kind = rg_reach_kind_find(name);
        const bool           positions = !strcmp(name, "positions");
        if (!system && !score && !kind && !positions) return unknown(name);
        if (i) printf("\n");
        if (positions) RG_TRY(explain_positions(call));
        if (system && o->parts && i == 0) RG_TRY(explain_parts(call, system));
        else if (system) explain_system(system);
        if (score) explain_score(score);
        if (kind) RG_TRY(explain_reach(kind));
    }
    return RG_OK;
}

const rg_command rg_command_explain = {
    .name = "explain",
    .summary = "explain a system, a score, a reach or positions by name",
    .details =
        "`regard explain positions` draws the code of each place; --png and the other flags of show write it as a "
        "figure, --style curves the dot product of two codes against their distance. `regard explain transformer "
        "--preset base --parts` counts the blocks of a network; settings of the system change it.",
    .arguments = "NAME...",
    .options = rows,
    .size = sizeof(explain_options),
    .extend = extend,
    .run = run,
};
