/* cmd_attend.c - attention on numbers: the calculator. Queries, keys and values are rows of text files; any score,
 * any reach. */
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/score_files.h"

#include <stdlib.h>
#include <string.h>

#include "regard/between.h"
#include "regard/view.h"

typedef struct attend_options {
    char   *queries, *keys, *values, *score, *reach, *print, *choose, *activation, *record;
    char   *w, *u, *v, *b, *join;
    int64_t heads, hidden, seed, digits;
    double  bandwidth, sharpness;
    bool    json;
} attend_options;

static const rg_option rows[] = {
    { RG_OPTION_STRING, "queries", offsetof(attend_options, queries), "", "file of queries, one row per line", 'q',
      NULL },
    { RG_OPTION_STRING, "keys", offsetof(attend_options, keys), "",
      "file of keys; without it the queries look at themselves", 'k', NULL },
    { RG_OPTION_STRING, "values", offsetof(attend_options, values), "",
      "file of values; without it the weights alone are printed", 'v', NULL },
    { RG_OPTION_STRING, "score", offsetof(attend_options, score), "scaled_dot",
      "how well a query fits a key (`regard scores`)", 's', NULL },
    { RG_OPTION_STRING, "reach", offsetof(attend_options, reach), "groups",
      "who looks at whom: groups, causal, window:R, ... (`regard list reaches`), or edges:FILE", 'r', NULL },
    { RG_OPTION_INT, "heads", offsetof(attend_options, heads), "1", "heads: the columns are cut into so many blocks", 0,
      "[1,inf)" },
    { RG_OPTION_INT, "hidden", offsetof(attend_options, hidden), "8",
      "additive, concat, neural, vector: width of the hidden layer", 0, "[1,inf)" },
    { RG_OPTION_STRING, "score-activation", offsetof(attend_options, activation), "own",
      "function inside linear, additive, concat: tanh, relu ...; own: identity in linear, else tanh", 0, NULL,
      "activation" },
    { RG_OPTION_REAL, "bandwidth", offsetof(attend_options, bandwidth), "1", "distance: h", 0, "(0,inf)" },
    { RG_OPTION_REAL, "sharpness", offsetof(attend_options, sharpness), "1", "cosine: beta", 0, NULL },
    { RG_OPTION_STRING, "w", offsetof(attend_options, w), "",
      "file of the score's W (M, w_q), as in its formula: one line per row of the matrix", 0, NULL },
    { RG_OPTION_STRING, "u", offsetof(attend_options, u), "", "file of the score's U (w_k)", 0, NULL },
    { RG_OPTION_STRING, "v", offsetof(attend_options, v), "",
      "file of the score's v, one line per head; says how wide the hidden layer is", 0, NULL },
    { RG_OPTION_STRING, "b", offsetof(attend_options, b), "", "file of the score's b", 0, NULL },
    { RG_OPTION_INT, "seed", offsetof(attend_options, seed), "1",
      "random seed of what a score would learn and no file gives", 0, "[0,inf)" },
    { RG_OPTION_STRING, "join", offsetof(attend_options, join), "",
      "file of W^O: the heads side by side times this matrix are the output; one line per column of the heads", 0, NULL },
    { RG_OPTION_STRING, "choose", offsetof(attend_options, choose), "soft",
      "what is read: soft, all values by their weights; hard, the one with the largest; sample, one drawn by them", 0,
      "soft|hard|sample" },
    { RG_OPTION_STRING, "print", offsetof(attend_options, print), "both",
      "what to print; scores: before the softmax; steps: scores, weights, output; score: what the score learns, as --w "
      "... take it; all: everything", 0, "both|scores|weights|output|steps|score|all|nothing" },
    { RG_OPTION_INT, "digits", offsetof(attend_options, digits), "6", "significant digits", 0, "[1,17]" },
    { RG_OPTION_BOOL, "json", offsetof(attend_options, json), "false", "print JSON", 0, NULL },
    { RG_OPTION_STRING, "attention", offsetof(attend_options, record), "",
      "write the weights as a record for regard show", 'a', NULL },
    RG_OPTION_END,
};

typedef struct {
    const attend_options *o;
    rg_numbers            q, k, v, edges, join;
    rg_layout             queries, keys;
    rg_params            *params;
    rg_attention          att;
    rg_reach             *lists; /* edges:FILE */
    rg_tape              *tape;
    const rg_reach       *reach;
    rg_tensor            *e, *a, *out;
} work;

/* What of the steps is printed. */
typedef struct {
    bool learned, scores, weights, output;
} shown;

/* ------------------------------------------------------------------------------------------------------- reach */

/* Line i j: query i looks at key j, both counted from 1. */
static rg_status read_edges(work *w, const char *path)
{
    RG_TRY(rg_numbers_read(&w->edges, path));
    const size_t P = w->edges.rows, Nq = w->q.rows, Nk = w->k.rows;
    if (w->edges.cols != 2)
        return rg_fail(RG_EFORMAT, "%s: %zu numbers a line; an edge is a query and a key", path, w->edges.cols);
    size_t  *first = rg_alloc_zero((Nq + 2) * sizeof *first);
    int32_t *list = rg_alloc_array(P, sizeof *list);
    rg_status status = first && list ? RG_OK : RG_ENOMEM;
    for (size_t p = 0; status == RG_OK && p < P; p++) {
        const double i = (double)w->edges.data[2 * p], j = (double)w->edges.data[2 * p + 1];
        if (!(i >= 1 && i <= (double)Nq && j >= 1 && j <= (double)Nk) || i != (double)(size_t)i ||
            j != (double)(size_t)j)
            status = rg_fail(RG_EFORMAT, "%s, line %llu: there is no pair %g %g; queries are 1 .. %zu, keys 1 .. %zu",
                             path, (unsigned long long)w->edges.line[p], i, j, Nq, Nk);
        else first[(size_t)i + 1]++;
    }
    for (size_t i = 0; status == RG_OK && i < Nq; i++) first[i + 2] += first[i + 1]; /* first[i + 1]: where query i begins */
    for (size_t p = 0; status == RG_OK && p < P; p++)
        list[first[(size_t)w->edges.data[2 * p]]++] = (int32_t)w->edges.data[2 * p + 1] - 1;
    if (status == RG_OK) status = rg_reach_new_lists(&w->lists, Nq, Nk, first, list); /* filling moved each start to its end */
    rg_free(first);
    rg_free(list);
    return status;
}

static rg_status make_reach(work *w)
{
    const char     *text = w->o->reach;
    rg_reach_choice c;
    if (!strncmp(text, "edges", 5)) {
        if (text[5] != ':' || !text[6]) return rg_fail(RG_EINVAL, "--reach edges needs a file: edges:FILE");
        RG_TRY(read_edges(w, text + 6));
        w->reach = w->lists;
        return RG_OK;
    }
    RG_TRY(rg_reach_choose(&c, text));
    if (!c.kind->across && w->q.rows != w->k.rows)
        return rg_fail(RG_EINVAL, "%zu queries and %zu keys; %s looks from rows at themselves", w->q.rows, w->k.rows,
                       c.kind->name);
    if (c.kind->across && w->q.groups != w->k.groups)
        return rg_fail(RG_EINVAL, "%zu groups of queries in %s, %zu of keys in %s; an empty line starts a group",
                       w->q.groups, w->q.path, w->k.groups, w->k.path);
    w->reach = c.kind->make(w->tape, &w->queries, &w->keys, c.size);
    return rg_tape_status(w->tape);
}

/* ------------------------------------------------------------------------------------------------------ attend */

static rg_status read_files(work *w)
{
    const attend_options *o = w->o;
    if (!*o->queries) return rg_fail(RG_EINVAL, "--queries is needed: a file of numbers, one row per line");
    RG_TRY(rg_output_is_not("attention", o->record, o->queries));
    RG_TRY(rg_output_is_not("attention", o->record, o->keys));
    RG_TRY(rg_output_is_not("attention", o->record, o->values));
    RG_TRY(rg_numbers_read(&w->q, o->queries));
    RG_TRY(rg_numbers_read(&w->k, *o->keys ? o->keys : o->queries));
    if (*o->values) RG_TRY(rg_numbers_read(&w->v, o->values));
    if (w->v.rows && w->v.rows != w->k.rows)
        return rg_fail(RG_EINVAL, "%zu keys in %s, %zu values in %s; each key has a value", w->k.rows, w->k.path,
                       w->v.rows, w->v.path);
    if (*o->join) RG_TRY(rg_numbers_read(&w->join, o->join));
    if (*o->join && (!w->v.rows || w->join.rows != w->v.cols))
        return rg_fail(RG_EINVAL, "%s: %zu lines; --join has a line for each of the %zu columns of --values", o->join,
                       w->join.rows, w->v.rows ? w->v.cols : 0);
    w->queries = (rg_layout){ .groups = w->q.groups, .start = w->q.start };
    w->keys = (rg_layout){ .groups = w->k.groups, .start = w->k.start };
    return RG_OK;
}

static rg_status make_attention(work *w)
{
    const attend_options *o = w->o;
    const rg_score_files  files = { o->w, o->u, o->v, o->b };
    size_t                drawn;
    rg_attention_config   c = RG_ATTENTION_CONFIG_DEFAULT;
    c.score = o->score;
    c.heads = (size_t)o->heads;
    c.q_width = w->q.cols;
    c.k_width = w->k.cols;
    RG_TRY(rg_score_files_hidden(&c.hidden, &files, (size_t)o->hidden));
    c.bandwidth = o->bandwidth;
    c.sharpness = o->sharpness;
    c.positions = w->k.rows;
    if (w->q.cols % c.heads || (w->v.rows && w->v.cols % c.heads))
        return rg_fail(RG_EINVAL, "%zu columns of queries and %zu of values do not make %zu heads", w->q.cols,
                       w->v.cols, c.heads);
    RG_TRY(rg_params_new(&w->params));
    RG_TRY(rg_attention_init(&w->att, &c, w->params));
    RG_TRY(rg_attention_activate(&w->att, o->activation));
    RG_TRY(rg_params_build(w->params, (uint64_t)o->seed));
    RG_TRY(rg_score_files_read(&drawn, w->params, &files, o->score));
    if (drawn)
        rg_log(RG_LOG_INFO,
               "the %s score learns %zu numbers; here %zu are drawn from seed %lld (--print all shows them)", o->score,
               rg_params_numbers(w->params), drawn, (long long)o->seed);
    return RG_OK;
}

static rg_status attend(work *w)
{
    rg_tape *t = w->tape;
    rg_tape_push(t, "cross");
    rg_tensor *k = rg_attention_prepare(t, &w->att, rg_input(t, w->k.data, w->k.rows, w->k.cols, &w->keys));
    rg_tensor *q = rg_input(t, w->q.data, w->q.rows, w->q.cols, &w->queries);
    w->a = rg_weigh(t, &w->att, q, k, w->reach);
    if (!strcmp(w->o->choose, "hard")) w->a = rg_hard_argmax(t, w->a, w->reach);
    if (!strcmp(w->o->choose, "sample")) w->a = rg_hard_sample(t, w->a, w->reach);
    if (w->v.rows) w->out = rg_mix(t, w->a, rg_input(t, w->v.data, w->v.rows, w->v.cols, &w->keys), w->reach);
    if (w->join.rows) w->out = rg_matmul(t, w->out, rg_input(t, w->join.data, w->join.rows, w->join.cols, NULL));
    rg_tape_pop(t);
    w->e = rg_scores(t, &w->att, q, k, w->reach);
    return rg_tape_status(t);
}

/* ---------------------------------------------------------------------------------------------------- printing */

/* The pair of query i and key j, or P: closed. */
static size_t pair_of(const rg_reach *r, size_t i, size_t j)
{
    for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
        if ((r->key ? (size_t)r->key[p] : (size_t)r->begin[i] + (p - r->first[i])) == j) return p;
    return r->P;
}

static void print_pairs(const work *w, const rg_tensor *of, size_t head, const char *closed, const char *between, const char *open,
                          const char *close)
{
    for (size_t i = 0; i < w->reach->Nq; i++) {
        fputs(open, stdout);
        for (size_t j = 0; j < w->reach->Nk; j++) {
            const size_t p = pair_of(w->reach, i, j);
            if (j) fputs(between, stdout);
            if (p == w->reach->P) fputs(closed, stdout);
            else printf("%.*g", (int)w->o->digits, (double)rg_tensor_at(of, p, head));
        }
        fputs(i + 1 < w->reach->Nq ? close : *open ? "]" : "\n", stdout);
    }
}

static void print_output(const work *w, const char *between, const char *open, const char *close)
{
    for (size_t i = 0; i < rg_tensor_rows(w->out); i++) {
        fputs(open, stdout);
        for (size_t j = 0; j < rg_tensor_cols(w->out); j++)
            printf("%s%.*g", j ? between : "", (int)w->o->digits, (double)rg_tensor_at(w->out, i, j));
        fputs(i + 1 < rg_tensor_rows(w->out) ? close : *open ? "]" : "\n", stdout);
    }
}

static void print_heads(const work *w, const char *what, const rg_tensor *of, bool named)
{
    const size_t H = (size_t)w->o->heads;
    for (size_t h = 0; h < H; h++) {
        if (H > 1) printf("# %s of head %zu\n", what, h + 1);
        else if (named) printf("# %s\n", what);
        print_pairs(w, of, h, ".", "\t", "", "\n");
    }
}

static void print_text(const work *w, shown s)
{
    const bool several = s.learned + s.scores + s.weights + s.output > 1;
    if (s.learned) rg_score_print(stdout, w->params, (int)w->o->digits, false);
    if (s.scores) print_heads(w, "scores", w->e, several);
    if (s.weights) print_heads(w, "weights", w->a, several);
    if (s.output && several) printf("# output\n");
    if (s.output) print_output(w, "\t", "", "\n");
}

static void print_heads_json(const work *w, const char *what, const rg_tensor *of)
{
    printf(", \"%s\": [", what);
    for (size_t h = 0; h < (size_t)w->o->heads; h++) {
        printf("%s[", h ? ", " : "");
        print_pairs(w, of, h, "null", ", ", "[", "], ");
        printf("]");
    }
    printf("]");
}

static void print_json(const work *w, shown s)
{
    printf("{\"score\": \"%s\", \"heads\": %lld", w->att.score->name, (long long)w->o->heads);
    if (s.learned) printf(", \"learned\": {");
    if (s.learned) rg_score_print(stdout, w->params, (int)w->o->digits, true);
    if (s.learned) printf("}");
    if (s.scores) print_heads_json(w, "scores", w->e);
    if (s.weights) print_heads_json(w, "weights", w->a);
    if (s.output) printf(", \"output\": [");
    if (s.output) print_output(w, ", ", "[", "], ");
    printf("%s}\n", s.output ? "]" : "");
}

/* ------------------------------------------------------------------------------------------------------ record */

static rg_status add_labels(size_t *out, rg_record *r, const char *name, char letter, size_t count)
{
    char    **text = rg_alloc_array(count, sizeof *text);
    rg_status status = text ? RG_OK : RG_ENOMEM;
    size_t    made = 0;
    for (; status == RG_OK && made < count; made++)
        if (!(text[made] = rg_format("%c%zu", letter, made + 1))) status = RG_ENOMEM;
    if (status == RG_OK) status = rg_record_add_labels(out, r, name, RG_LABEL_SLOT, (const char *const *)text, count);
    for (size_t i = 0; text && i < made; i++) rg_free(text[i]);
    rg_free(text);
    return status;
}

static rg_status attend_recorded(work *w)
{
    static const rg_attention_use uses[] = {
        { .where = "here", .watch = "*weights", .rows = "queries", .cols = "keys" }, { 0 }
    };
    rg_record    *r = NULL;
    rg_collector *c = NULL;
    rg_status     status = rg_record_new(&r, w->att.score->formula, "attention");
    if (status == RG_OK) status = add_labels(NULL, r, "queries", 'q', w->q.rows);
    if (status == RG_OK) status = add_labels(NULL, r, "keys", 'k', w->k.rows);
    if (status == RG_OK) status = rg_collector_new(&c, r, uses, -1);
    if (status == RG_OK) {
        rg_tape_set_watcher(w->tape, rg_collector_watcher(c));
        const rg_status attended = attend(w);
        rg_tape_set_watcher(w->tape, NULL);
        status = rg_collector_finish(c, NULL);
        if (attended != RG_OK) status = rg_tape_status(w->tape);
    }
    if (status == RG_OK) status = rg_record_save(r, w->o->record);
    rg_record_free(r);
    return status;
}

static rg_status calculate(work *w)
{
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    config.record = config.learn = false;
    config.seed = (uint64_t)w->o->seed;
    RG_TRY(read_files(w));
    RG_TRY(make_attention(w));
    RG_TRY(rg_tape_new(&w->tape, &config));
    RG_TRY(make_reach(w));
    RG_TRY(*w->o->record ? attend_recorded(w) : attend(w));
    const char *print = w->o->print;
    const bool  all = !strcmp(print, "all"), steps = all || !strcmp(print, "steps"), both = steps || !strcmp(print, "both");
    const shown s = { .learned = all || !strcmp(print, "score"),
                      .scores = steps || !strcmp(print, "scores"),
                      .weights = both || !strcmp(print, "weights"),
                      .output = w->out && (both || !strcmp(print, "output")) };
    if (w->o->json) print_json(w, s);
    else print_text(w, s);
    return RG_OK;
}

static rg_status run(rg_call *call)
{
    work      w = { .o = call->options };
    rg_status status = calculate(&w);
    rg_tape_free(w.tape);
    rg_reach_free(w.lists);
    rg_params_free(w.params);
    rg_numbers_free(&w.q);
    rg_numbers_free(&w.k);
    rg_numbers_free(&w.v);
    rg_numbers_free(&w.edges);
    rg_numbers_free(&w.join);
    return status;
}

const rg_command rg_command_attend = {
    .name = "attend",
    .summary = "attention on numbers from files: any score, any reach, weights and output",
    .details = "Files hold one row per line, numbers separated by tabs or blanks; # begins a remark, an empty line "
               "starts a new "
               "group (a sentence).\n"
               "Prints a line of weights a query (a point where the pair is closed), then a line of output a query.\n"
               "edges:FILE has lines `query key`, counted from 1.",
    .options = rows,
    .size = sizeof(attend_options),
    .run = run,
};
