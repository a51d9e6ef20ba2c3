/* longrange.c - `regard reproduce longrange`: words that depend on a cue many words before them (`regard make
 * longrange`).
 *
 * Language models learn sentences with 5 to 80 filler words between the cue and the last word, one row per distance;
 * judged is how often the last word of a new sentence is the likeliest of all words. Of the four endings of a frame one
 * is right: chance is 25 %. For systems of Transformer blocks also where the blank looks: attention rollout (Abnar,
 * Zuidema 2020), the product over the layers of (A + I) / 2 with A the mean of the heads, and in which share of the
 * sentences its largest weight before the blank lies on a word of the cue; and in which share the cue has the word
 * whose values the blank needs most (value zeroing, Mohebbi et al. 2023). */
#include "lab/longrange.h"
#include "lab/rows.h"

#define TEXT "--vocab-kind tokens --dim-vocabs 0 --valid-samples 0 --early-stopping 0 --lr-schedule cosine "
#define GPT                                                                                                           \
    TEXT "--type gpt --dim-emb 64 --layers 2 --transformer-heads 4 --transformer-positions sinusoidal --context 128 " \
         "--mini-batch 16 "                                                                                           \
         "--learn-rate 0.005 --lr-warmup 50 --after-batches 1000 --valid-freq 500"
#define LM(cell)                                                                                                \
    TEXT "--type lm --cell " cell                                                                               \
         " --layers 1 --dim-emb 64 --dim-rnn 128 --chunk 128 --mini-batch 16 --learn-rate 0.002 --clip-norm 1 " \
         "--after-batches 1600 --valid-freq 800"

/* about: filler words */
static const rg_row rows[] = {
    { "gpt-40", GPT, 3, 0, "40", NULL },
    { "lstm-40", LM("lstm"), 3, 0, "40", NULL },
    { "rnn-40", LM("rnn"), 3, 0, "40", NULL },
    { "gpt-5", GPT, 1, 0, "5", NULL },
    { "lstm-5", LM("lstm"), 1, 0, "5", NULL },
    { "rnn-5", LM("rnn"), 1, 0, "5", NULL },
    { "gpt-10", GPT, 1, 0, "10", NULL },
    { "lstm-10", LM("lstm"), 1, 0, "10", NULL },
    { "rnn-10", LM("rnn"), 1, 0, "10", NULL },
    { "gpt-20", GPT, 1, 0, "20", NULL },
    { "lstm-20", LM("lstm"), 1, 0, "20", NULL },
    { "rnn-20", LM("rnn"), 1, 0, "20", NULL },
    { "gpt-80", GPT " --context 224", 1, 0, "80", NULL },
    { "lstm-80", LM("lstm") " --chunk 224", 1, 0, "80", NULL },
    { "rnn-80", LM("rnn") " --chunk 224", 1, 0, "80", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "cloze", "right %", 1, 100 },
    { "cue", "rollout %", 1, 100 },
    { "cue_zeroing", "zeroing %", 1, 100 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "gpt-40", NULL, 0.95, "cloze", "the gpt predicts the last word at distance 40", 0 },
    { RG_CLAIM_MOST, "rnn-40", NULL, 0.35, "cloze", "the plain network is within 10 points of chance", 0 },
    { RG_CLAIM_LEAST, "gpt-40", NULL, 0.9, "cue", "at the blank the largest rollout weight lies on the cue", 0 },
    { RG_CLAIM_LEAST, "gpt-40", NULL, 0.9, "cue_zeroing", "the blank needs the values of the cue most", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    char *folder = rg_format("%s/data-%s", job->out, row->about);
    if (!folder) return RG_ENOMEM;
    rg_status status = longrange_data(job->out, folder, row->about);
    if (status == RG_OK) status = rg_row_words_add(out, rg_strdup("--train-sets"));
    if (status == RG_OK) status = rg_row_words_add(out, rg_format("%s/train.txt", folder));
    if (status == RG_OK) status = rg_row_words_add(out, rg_strdup("--valid-sets"));
    if (status == RG_OK) status = rg_row_words_add(out, rg_format("%s/valid.txt", folder));
    rg_free(folder);
    return status;
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    longrange_figures f = { 0 };
    char             *path = rg_format("%s/model.safetensors", run->folder),
         *test = rg_format("%s/data-%s/test.tsv", run->job->out, run->row->about);
    rg_status status = path && test ? longrange_judge(&f, path, test) : RG_ENOMEM;
    if (status == RG_OK) status = rg_results_set(out, "cloze", f.right);
    if (status == RG_OK) status = rg_results_set(out, "parameters", f.parameters);
    if (status == RG_OK && f.attends) status = rg_results_set(out, "cue", f.by_rollout);
    if (status == RG_OK && f.attends) status = rg_results_set(out, "cue_zeroing", f.by_zeroing);
    rg_free(path);
    rg_free(test);
    return status;
}

static const rg_grid grid = {
    .name = "longrange",
    .heading = "last words that depend on a cue so many filler words before: how often they are the likeliest (chance "
               "25 %), and where the blank looks",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 10 --valid-freq 10",
    .data = data,
    .judge = judge,
};

const rg_experiment rg_experiment_longrange = {
    .name = "longrange",
    .summary = "words that depend on a cue 5 to 80 words before: gpt, LSTM, RNN",
    .source = "Bengio, Simard, Frasconi 1994; Vaswani et al. 2017, section 4; Abnar, Zuidema 2020 (rollout)",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
