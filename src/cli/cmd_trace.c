/* cmd_trace.c - a recurrent network step by step: what it reads, its state, what it expects next, the loss as it adds up. */
#include "cli/command.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "regard/unrolled.h"

typedef struct trace_options {
    char   *type, *text;
    int64_t units, updates, top, seed;
    double  rate;
    bool    json;
} trace_options;

#define AT(field) offsetof(trace_options, field)
static const rg_option rows[] = {
    { RG_OPTION_STRING, "type", AT(type), "rnn", "the cell", 0, "rnn|lstm|gru|gru-reset-after" },
    { RG_OPTION_STRING, "text", AT(text), "I am Bond , James Bond", "what is read, words between blanks", 0, NULL },
    { RG_OPTION_INT, "units", AT(units), "3", "numbers of a state", 0, "[1,64]" },
    { RG_OPTION_INT, "updates", AT(updates), "0", "steps of gradient descent on this text before", 0, "[0,100000]" },
    { RG_OPTION_REAL, "learn-rate", AT(rate), "0.1", "of them", 0, "(0,inf)" },
    { RG_OPTION_INT, "top", AT(top), "3", "words expected next that are printed", 0, "[1,200]" },
    { RG_OPTION_INT, "seed", AT(seed), "1", "of the weights", 0, "[0,inf)" },
    { RG_OPTION_BOOL, "json", AT(json), "false", "print every number as JSON", 0, NULL },
    RG_OPTION_END,
};

static const char *const formulas[RG_RECURRENCES] = {
    [RG_RNN] = "h_t = tanh(W x_t + U h_{t-1})",
    [RG_LSTM] = "c_t = f c_{t-1} + i n,  h_t = o tanh(c_t);  i f o = sigmoid, n = tanh of W x_t + U h_{t-1}",
    [RG_GRU] = "h_t = (1-z) h_{t-1} + z tanh(W x_t + U (r h_{t-1}));  z r = sigmoid(W x_t + U h_{t-1})",
    [RG_GRU_RESET_AFTER] = "h_t = (1-z) tanh(W x_t + r (U h_{t-1})) + z h_{t-1};  z r = sigmoid(W x_t + U h_{t-1})",
};

static void print_row(const char *name, const double *x, size_t count)
{
    printf("     %-4s", name);
    for (size_t i = 0; i < count; i++) printf("%s%7.3f", i && i % 8 == 0 ? "\n         " : " ", x[i]);
    printf("\n");
}

/* The likeliest words, largest first; the one that comes is marked. */
static void print_expected(const rg_unrolled *u, const rg_unrolled_step *s, size_t top)
{
    double last = 2;
    size_t before = 0;
    printf("     %-4s", "y");
    for (size_t n = 0; n < top && n < u->words; n++) {
        size_t best = u->words;
        for (size_t i = 0; i < u->words; i++) /* of equal ones the first comes first */
            if ((s->y[i] < last || (s->y[i] == last && i > before)) && (best == u->words || s->y[i] > s->y[best])) best = i;
        if (best == u->words) break;
        printf("  %s%s %.3f", u->word[best], best == s->next ? " *" : "", s->y[best]);
        last = s->y[best], before = best;
    }
    printf("\n");
}

static void print_text(const rg_unrolled *u, const rg_unrolled_options *o, size_t top)
{
    printf("%s\ny_t = softmax(V h_t),  L_t = -log y_t[next word]        %zu words, %zu units, %zu updates\n",
           formulas[o->cell], u->words, u->units, o->updates);
    for (size_t k = 0; k < u->steps; k++) {
        const rg_unrolled_step *s = &u->step[k];
        printf("\nt=%-3zu reads %s, then comes %s\n", k + 1, u->word[s->word], u->word[s->next]);
        if (s->c) print_row("c", s->c, u->units);
        print_row("h", s->h, u->units);
        print_expected(u, s, top);
        printf("     %-4s %7.3f    so far %.3f\n", "L", s->loss, s->sum);
    }
    printf("\nL = %.4f, %.4f per word, perplexity %.2f\n", u->loss, u->loss / (double)u->steps,
           exp(u->loss / (double)u->steps));
}

static rg_status run(rg_call *call)
{
    const trace_options *o = call->options;
    rg_unrolled_options  options = { .units = (size_t)o->units, .updates = (size_t)o->updates, .rate = o->rate,
                                     .seed = (uint64_t)o->seed };
    rg_unrolled         *u = NULL;
    rg_status            status = RG_OK;
    char                *json = NULL;
    if (call->words.count) return rg_fail(RG_EINVAL, "no words are expected; --text \"...\" is what is read");
    RG_TRY(rg_recurrence_find(&options.cell, o->type));
    RG_TRY(rg_unrolled_new(&u, o->text, &options));
    if (o->json) status = rg_unrolled_to_json(&json, u);
    if (json) puts(json);
    if (!o->json) print_text(u, &options, (size_t)o->top);
    rg_free(json);
    rg_unrolled_free(u);
    return status;
}

const rg_command rg_command_trace = {
    .name = "trace",
    .summary = "a recurrent network step by step: state, expected words, the loss as it adds up",
    .details = "Reads a short text with a small network of drawn weights and prints every number of the forward pass: the "
               "state h, the words expected next (* marks the one that comes), the loss of the step and of all steps so "
               "far. --updates shows the same after some steps of gradient descent.",
    .options = rows,
    .size = sizeof(trace_options),
    .run = run,
};
