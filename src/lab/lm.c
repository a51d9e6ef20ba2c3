/* lm.c - `regard reproduce lm`: language models of words on the Penn Treebank and WikiText-2, of letters on
 * tiny-shakespeare; 3-grams with back-off beside them.
 *
 * Rows that are compared learn with the same schedule and have about as many parameters (printed, within 2 %); the test
 * text is read once, at the end of a run. Published: Zaremba et al. 2014 (small, 114.5 in the paper, 115.91 by
 * TensorFlow's code), Cheng et al. 2016, nanoGPT's readme.
 *
 * On validation text: of the weights of a look back, the share on the last five words; with truncated gradients
 * (--bptt), their cosine with those over 140 words. */
#include <string.h>

#include "lab/lm_judge.h"
#include "lab/mnist_parts.h"
#include "lab/ngram.h"
#include "lab/rows.h"
#include "tasks/language.h"

#define WORDS                                                                                                          \
    "--vocab-kind tokens --dim-vocabs 0 --mini-batch 20 --chunk 20 --loss-per stream --valid-freq 0 --valid-epochs 1 " \
    "--early-stopping 0 "                                                                                              \
    "--optimizer sgd --learn-rate 1 --lr-schedule epochs --lr-decay-start 4 --lr-decay 0.5 --clip-norm 5 "             \
    "--init-uniform 0.1 --forget-bias 0 "
#define PTB                                                                                            \
    "--train-sets {data}/ptb/ptb.train.txt.gz --valid-sets {data}/ptb/ptb.valid.txt.gz --test-sets " \
    "{data}/ptb/ptb.test.txt.gz " WORDS
#define WIKITEXT                                                                                       \
    "--train-sets {data}/wikitext2/train.txt.gz --valid-sets {data}/wikitext2/valid.txt.gz "         \
    "--test-sets {data}/wikitext2/test.txt.gz " WORDS
#define SMALL "--type lm --layers 2 --dim-emb 200 --dim-rnn 200 --after-epochs 13 "
#define SEVEN PTB "--dim-emb 200 --after-epochs 7 "

#define LETTERS                                                                                                  \
    "--train-sets {data}/tinyshakespeare/input.txt.gz --valid-share 0.1 --vocab-kind characters --dim-vocabs 0 " \
    "--normalization exact --early-stopping 0 "
#define GPT                                                                                                           \
    LETTERS "--type gpt --optimizer adamw --learn-rate 0.001 --lr-warmup 100 --lr-schedule cosine --lr-least 0.0001 " \
            "--beta1 0.9 --beta2 0.99 "                                                                               \
            "--weight-decay 0.1 --clip-norm 1 "

/* name, words of `regard train`, seeds, published */
static const rg_row rows[] = {
    { "ptb-small", PTB SMALL, 1, 115.91, NULL, NULL },
    { "ptb-3-gram", "", 1, 0, "ptb/ptb.train.txt.gz ptb/ptb.test.txt.gz", "" },
    { "wikitext-small", WIKITEXT SMALL, 1, 0, NULL, NULL },
    { "wikitext-3-gram", "", 1, 0, "wikitext2/train.txt.gz wikitext2/test.txt.gz", "" },
    { "ptb-rnn", SEVEN "--type lm --cell rnn --layers 2 --dim-rnn 200", 1, 0, NULL, NULL },
    { "ptb-gru", SEVEN "--type lm --cell gru --layers 2 --dim-rnn 200", 1, 0, NULL, NULL },
    { "ptb-one-layer", SEVEN "--type lm --layers 1 --dim-rnn 200", 1, 0, NULL, NULL },

    /* attention over the last outputs; widths for equal numbers of parameters */
    { "ptb-lstm", SEVEN "--type lm --layers 2 --dim-rnn 200", 2, 0, NULL, NULL },
    { "ptb-attention", SEVEN "--type lm --layers 2 --dim-rnn 192 --look attention --window 5", 2, 0, NULL, NULL },
    { "ptb-key-value", SEVEN "--type lm --layers 2 --dim-rnn 280 --look key-value --window 5", 2, 0, NULL, NULL },
    { "ptb-key-value-1", SEVEN "--type lm --layers 2 --dim-rnn 280 --look key-value --window 1", 1, 0, NULL, NULL },
    { "ptb-key-value-15", SEVEN "--type lm --layers 2 --dim-rnn 280 --look key-value --window 15", 1, 0, NULL, NULL },
    { "ptb-key-value-predict", SEVEN "--type lm --layers 2 --dim-rnn 327 --look key-value-predict --window 5", 2, 0,
      NULL, NULL },
    { "ptb-4-gram", SEVEN "--type lm --layers 2 --dim-rnn 327 --look n-gram --window 3", 2, 0, NULL, NULL },

    /* the LSTM with a tape beside one without */
    { "ptb-lstmn", SEVEN "--type lstmn --layers 1 --dim-emb 300 --dim-rnn 300 --window 35", 1, 108, NULL, NULL },
    { "ptb-lstm-300", SEVEN "--type lm --layers 1 --dim-emb 300 --dim-rnn 300", 1, 115, NULL, NULL },

    /* truncation against error: five new words per update, gradients over the last 5, 20 and 35 */
    { "ptb-bptt-5", PTB "--type lm --layers 2 --dim-emb 200 --dim-rnn 200 --after-epochs 2 --chunk 5 --bptt 5", 1, 0,
      NULL, NULL },
    { "ptb-bptt-20", PTB "--type lm --layers 2 --dim-emb 200 --dim-rnn 200 --after-epochs 2 --chunk 5 --bptt 20", 1, 0,
      NULL, NULL },
    { "ptb-bptt-35", PTB "--type lm --layers 2 --dim-emb 200 --dim-rnn 200 --after-epochs 2 --chunk 5 --bptt 35", 1, 0,
      NULL, NULL },

    /* letters */
    { "gpt-4x128", GPT "--preset tiny --context 64 --mini-batch 12 --after-batches 2000 --valid-freq 500", 1, 1.88,
      NULL, NULL },
    { "gpt-6x256",
      GPT "--preset small --context 128 --mini-batch 16 --after-batches 6900 --valid-freq 690 --restore-best", 1, 1.47,
      NULL, NULL },
    { "lstm-1x256",
      LETTERS
      "--type lm --layers 1 --dim-emb 64 --dim-rnn 256 --dropout-rnn 0.1 --mini-batch 32 --chunk 64 --learn-rate 0.002 "
      "--lr-schedule cosine --lr-least 0.0001 --clip-norm 1 --after-batches 9800 --valid-freq 980 --restore-best",
      1, 0, NULL, NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-perplexity", "test ppl", 2, 0 },
    { "valid-perplexity", "valid ppl", 2, 0 },
    { "valid-nats-per-character", "nats/char", 4, 0 },
    { "near-5", "last 5 %", 1, 100 },
    { "cosine", "cosine", 3, 0 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "units_second", "pieces/s", 0, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

#define MOST(row, by, result, text)                   \
    {                                                 \
        RG_CLAIM_MOST, row, NULL, by, result, text, 0 \
    }
/* a is not above `times` b: less is better, so b times `times` lies above a. */
#define NOT_WORSE(a, b, text)                                      \
    {                                                              \
        RG_CLAIM_ABOVE, b, a, 0, "test-perplexity", text, 1 / 1.01 \
    }

static const rg_claim claims[] = {
    MOST("ptb-small", 116, "test-perplexity", "Zaremba's small LSTM"),
    { RG_CLAIM_ABOVE, "wikitext-3-gram", "wikitext-small", 0, "test-perplexity", "an LSTM at least 20 % below 3-grams",
      1 / 0.8 },
    MOST("gpt-4x128", 1.88, "valid-nats-per-character", "a minutes' gpt"),
    MOST("gpt-6x256", 1.60, "valid-nats-per-character", "an hour's gpt"),
    MOST("lstm-1x256", 1.60, "valid-nats-per-character", "an LSTM of letters"),
    { RG_CLAIM_ABOVE, "ptb-one-layer", "ptb-lstm", 0, "test-perplexity", "two layers against one", 0 },
    { RG_CLAIM_ABOVE, "ptb-rnn", "ptb-lstm", 0, "test-perplexity", "LSTM against RNN", 0 },
    { RG_CLAIM_ABOVE, "ptb-bptt-5", "ptb-bptt-35", 0, "test-perplexity", "gradients over 35 words against 5", 0 },
    { RG_CLAIM_ABOVE, "ptb-bptt-35", "ptb-bptt-5", 0, "cosine", "gradients over 35 words are closer to the whole ones",
      0 },
    { RG_CLAIM_LEAST, "ptb-key-value-15", NULL, 0.6, "near-5", "of 15 words looked at, the last five have the weight",
      0 },
    NOT_WORSE("ptb-key-value", "ptb-lstm", "keys and values at most 1 % worse"),
    NOT_WORSE("ptb-key-value-predict", "ptb-lstm", "keys, values and predictions at most 1 % worse"),
    NOT_WORSE("ptb-lstmn", "ptb-lstm-300", "the tape at most 1 % worse"),
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

/* about: the text to count and the text to judge by, below the folder of the data. */
static rg_status judge_ngram(rg_results *out, const rg_row_run *run)
{
    const char *about = run->row->about, *data = run->job->settings->data;
    double      perplexity = 0;
    size_t      entries = 0;
    char     *train = rg_format("%s/%.*s", data, (int)strcspn(about, " "), about),
             *test = rg_format("%s/%s", data, about + strcspn(about, " ") + 1);
    rg_status status = train && test ? rg_ngram_perplexity(&perplexity, &entries, train, test) : RG_ENOMEM;
    rg_free(train);
    rg_free(test);
    if (status == RG_OK) status = rg_results_set(out, "test-perplexity", perplexity);
    return status == RG_OK ? rg_results_set(out, "parameters", (double)entries) : status;
}

enum { NEAR = 5, LOOKED_AT = 2000, WHOLE = 140, PLACES = 20 }; /* words; places where gradients are compared */

static rg_status judge_text(rg_results *out, const rg_model *m, const rg_language_options *o, const int32_t *ids,
                            size_t count)
{
    const size_t whole = count - 1 < WHOLE ? count - 1 : WHOLE;
    size_t       looks = 0;
    double       near = 0, cosine = 0;
    RG_TRY(rg_lm_near(&near, &looks, m, ids, count < LOOKED_AT ? count : LOOKED_AT, NEAR));
    if (looks) RG_TRY(rg_results_set(out, "near-5", near));
    if (!o->bptt || (size_t)o->bptt > whole) return RG_OK;
    RG_TRY(rg_lm_truncation(&cosine, m, ids, count, whole, (size_t)o->bptt, (size_t)o->chunk, PLACES));
    return rg_results_set(out, "cosine", cosine);
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    if (run->row->about) return judge_ngram(out, run);
    const rg_language_options *o = run->training->task_options;
    rg_model                  *m = NULL;
    int32_t                   *ids = NULL;
    size_t                     count = 0;
    if (!run->training->system->carries || !o->valid_sets.count) return RG_OK;
    rg_status status = rg_lab_model(&m, run->folder);
    if (status == RG_OK)
        status = rg_lab_tokens(&ids, &count, ((const rg_language_model *)m->assets)->vocab, o->valid_sets.items[0],
                               (WHOLE + 1) * PLACES);
    if (status == RG_OK) status = judge_text(out, m, o, ids, count);
    rg_free(ids);
    rg_model_free(m);
    return status;
}

static const rg_grid grid = {
    .name = "lm",
    .heading = "language models: test and validation perplexity, nats per character; state carried through the text",
    .needs =
        "the folder with ptb/ (ptb.train.txt.gz, ptb.valid.txt.gz, ptb.test.txt.gz), wikitext2/ (train.txt.gz, "
        "valid.txt.gz, test.txt.gz) and tinyshakespeare/input.txt.gz",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 20 --valid-freq 20",
    .judge = judge,
};

const rg_experiment rg_experiment_lm = {
    .name = "lm",
    .summary = "language models of words (PTB, WikiText-2) and letters (tiny-shakespeare), 3-grams",
    .source = "Zaremba et al. 2014; Daniluk et al. 2017; Cheng et al. 2016; nanoGPT's small model",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
