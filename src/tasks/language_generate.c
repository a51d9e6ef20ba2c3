/* language_generate.c - texts drawn from a language model, through start / step / keep alone.
 *
 * Prompts of any length share a batch. What is drawn depends on the seed and the number of the prompt, not on batch
 * mates or threads. */
#include <string.h>

#include "regard/decode.h"
#include "regard/view.h"
#include "tasks/batches.h"
#include "tasks/language.h"

#define AT(field) offsetof(rg_language_drawing, field)

const rg_option rg_language_drawing_rows[] = {
    { RG_OPTION_LIST, "prompt", AT(prompts), "", "texts to continue; none: one per line of --input", 0, NULL },
    { RG_OPTION_INT, "samples", AT(n), "1", "texts per prompt", 'n', "[1,1000]" },
    { RG_OPTION_INT, "length", AT(length), "100", "most tokens behind the prompt", 0, "[1,100000]" },
    { RG_OPTION_REAL, "temperature", AT(temperature), "1",
      "below 1 likely tokens become likelier; 0: always the likeliest", 0, "[0,100]" },
    { RG_OPTION_INT, "top", AT(top), "0", "draw among so many likeliest tokens; 0: all", 0, "[0,10000000]" },
    { RG_OPTION_REAL, "top-p", AT(top_p), "1", "and of those among the fewest that have this probability together", 0,
      "(0,1]" },
    { RG_OPTION_BOOL, "one-line", AT(one_line), "false", "stop where the line ends", 0, NULL },
    { RG_OPTION_BOOL, "allow-unk", AT(unknown), "false", "the unknown token may be drawn", 0, NULL },
    { RG_OPTION_INT, "mini-batch", AT(batch), "16", "prompts continued together", 0, "[1,10000]" },
    { RG_OPTION_INT, "seed", AT(seed), "1", "of what is drawn", 0, "[0,inf)" },
    RG_OPTION_END
};

typedef struct {
    const rg_model            *model;
    const rg_vocab            *vocab;
    const rg_language_drawing *asked;
    const rg_sink             *sink;
    rg_search                 *search;
    rg_search_config           config;
    rg_beam_tree              *tree; /* how texts grew; NULL: nobody asks */
    char                     **prompt; /* of the batch */
    rg_ids                    *prefix;
    uint64_t                  *number;
    size_t                     count;
} drawing;

/* ------------------------------------------------------------------------------------------------------------- text */

/* Bytes of a character whose rest was not drawn are left out, other bytes that are no UTF-8 become U+FFFD. */
static rg_status whole_characters(rg_text *out, const char *text, size_t bytes)
{
    static const struct {
        unsigned char mask, lead;
        size_t        length;
    } leads[] = { { 0xE0, 0xC0, 2 }, { 0xF0, 0xE0, 3 }, { 0xF8, 0xF0, 4 } };
    for (size_t back = 1; back <= 3 && back <= bytes; back++) {
        const unsigned char c = (unsigned char)text[bytes - back];
        bool                cut = false;
        for (size_t i = 0; i < 3; i++) cut = cut || ((c & leads[i].mask) == leads[i].lead && back < leads[i].length);
        if (cut) bytes -= back;
        if (cut || (c & 0xC0) != 0x80) break;
    }
    return rg_text_clean(out, text, bytes, RG_TEXT_AS_IS, NULL);
}

/* Pieces between two ends of a line are joined by the vocabulary, the lines by line ends. */
static rg_status join(rg_text *out, const drawing *x, const int32_t *ids, size_t count)
{
    const int32_t eos = rg_vocab_eos(x->vocab);
    rg_text       line = { 0 };
    rg_status     status = RG_OK;
    for (size_t from = 0, i = 0; status == RG_OK && i <= count; i++) {
        if (i < count && ids[i] != eos) continue;
        rg_text_clear(&line);
        status = rg_vocab_decode(&line, x->vocab, ids + from, i - from);
        if (status == RG_OK && from) status = rg_text_add(out, "\n", 1);
        if (status == RG_OK) status = whole_characters(out, rg_text_c(&line), line.length);
        from = i + 1;
    }
    rg_text_free(&line);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- drawing */

static rg_status give(const drawing *x, size_t prompt, const rg_answers *answers)
{
    rg_text   text = { 0 };
    rg_status status = RG_OK;
    for (size_t k = 0; status == RG_OK && k < answers->count; k++) {
        const rg_answer *a = &answers->answer[k];
        rg_text_clear(&text);
        status = join(&text, x, a->tokens, a->length);
        const rg_value cells[] = { { .number = (double)(x->number[prompt] + 1) },
                                   { .number = (double)(k + 1) },
                                   { .text = rg_text_c(&text) },
                                   { .number = a->log_p, .digits = 4 },
                                   { .number = (double)a->length } };
        if (status == RG_OK) status = x->sink->row(x->sink->context, cells);
    }
    rg_text_free(&text);
    return status;
}

static const char *piece_of(const void *vocab, int32_t token) { return rg_vocab_piece(vocab, token); }

/* The record of a prompt: the first text, and the tokens of all with what else was likely. */
static rg_status give_tree(const drawing *x, size_t prompt, const rg_answers *answers)
{
    rg_record *r = NULL;
    rg_text    title = { 0 };
    if (!x->tree) return RG_OK;
    rg_status status = answers->count ? join(&title, x, answers->answer[0].tokens, answers->answer[0].length) : RG_OK;
    if (status == RG_OK)
        status = rg_beam_tree_record(&r, x->tree, x->number[prompt], rg_text_c(&title), piece_of, x->vocab);
    if (status == RG_OK) status = x->sink->record(x->sink->context, r);
    rg_record_free(r);
    rg_text_free(&title);
    return status;
}

static rg_status flush(drawing *x)
{
    const rg_field    source = { .layout.groups = x->count };
    const rg_answers *answers;
    if (!x->count) return RG_OK;
    for (size_t i = 0; i < x->count; i++) {
        x->prefix[i].count = 0;
        RG_TRY(rg_vocab_encode(&x->prefix[i], NULL, x->vocab, x->prompt[i], strlen(x->prompt[i])));
    }
    if (x->tree) rg_beam_tree_clear(x->tree);
    rg_status status = rg_search_run(&answers, x->search, &x->config, &source, x->number, x->prefix);
    for (size_t i = 0; status == RG_OK && i < x->count; i++) {
        status = give(x, i, &answers[i]);
        if (status == RG_OK) status = give_tree(x, i, &answers[i]);
    }
    for (size_t i = 0; i < x->count; i++) {
        rg_free(x->prompt[i]);
        x->prompt[i] = NULL;
    }
    x->count = 0;
    return status;
}

static rg_status add_prompt(void *context, const char *text, size_t bytes, uint64_t number)
{
    drawing *x = context;
    (void)bytes;
    if (!(x->prompt[x->count] = rg_strdup(text))) return RG_ENOMEM;
    x->number[x->count++] = number - 1;
    return x->count == (size_t)x->asked->batch ? flush(x) : RG_OK;
}

static rg_search_config search_of(const drawing *x)
{
    const rg_language_drawing *a = x->asked;
    rg_search_config           c = RG_SEARCH_CONFIG_DEFAULT;
    c.sample = a->temperature > 0;
    c.temperature = c.sample ? a->temperature : 1;
    c.beam = c.n_best = (size_t)a->n;
    c.normalize = 0;
    c.length_factor = 0;
    c.length_extra = (size_t)a->length;
    c.top = (size_t)a->top;
    c.top_p = a->top_p;
    c.seed = (uint64_t)a->seed;
    c.no_unknown = !a->unknown;
    c.unknown = rg_vocab_unk(x->vocab);
    c.endless = rg_model_size(x->model, "lines") && !a->one_line;
    return c;
}

static rg_status draw(drawing *x, const rg_question *q)
{
    static const char *const names[] = { "prompt", "sample", "text", "log_p", "pieces" };
    const rg_list           *prompts = &x->asked->prompts;
    RG_TRY(x->sink->columns(x->sink->context, names, sizeof names / sizeof *names));
    for (size_t i = 0; i < prompts->count; i++)
        RG_TRY(add_prompt(x, prompts->items[i], strlen(prompts->items[i]), i + 1));
    if (!prompts->count) RG_TRY(rg_question_texts(q, add_prompt, x));
    return flush(x);
}

rg_status rg_language_generate(const rg_model *m, const rg_question *q)
{
    if (rg_language_counts(m)) return rg_numbers_generate(m, q);
    drawing x = {
        .model = m, .vocab = ((const rg_language_model *)m->assets)->vocab, .asked = q->options, .sink = q->sink
    };
    const size_t batch = (size_t)x.asked->batch;
    rg_team     *team = NULL;
    if (x.asked->temperature <= 0 && x.asked->n > 1)
        return rg_fail(RG_EINVAL, "--temperature 0 has one answer: %lld samples of it would be the same",
                       (long long)x.asked->n);
    x.config = search_of(&x);
    x.prompt = rg_alloc_zero(batch * sizeof *x.prompt);
    x.prefix = rg_alloc_zero(batch * sizeof *x.prefix);
    x.number = rg_alloc_zero(batch * sizeof *x.number);
    const int threads = x.sink->record ? 1 /* one tree, one writer */ : q->threads > 0 ? q->threads : 1;
    rg_status status = x.prompt && x.prefix && x.number ? rg_team_new(&team, threads) : RG_ENOMEM;
    if (status == RG_OK && x.sink->record) status = rg_beam_tree_new(&x.tree);
    x.config.trace = x.tree ? rg_beam_tree_note : NULL;
    x.config.trace_context = x.tree;
    if (status == RG_OK) status = rg_search_new(&x.search, &m, 1, team);
    if (status == RG_OK) status = draw(&x, q);
    rg_search_free(x.search);
    rg_beam_tree_free(x.tree);
    rg_team_free(team);
    for (size_t i = 0; i < batch; i++) {
        if (x.prompt) rg_free(x.prompt[i]);
        if (x.prefix) rg_ids_free(&x.prefix[i]);
    }
    rg_free(x.prompt);
    rg_free(x.prefix);
    rg_free(x.number);
    return status;
}
