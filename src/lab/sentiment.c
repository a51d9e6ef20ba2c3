/* sentiment.c - `regard reproduce sentiment`: classes of sentences with embeddings that start at random, and what
 * learning from text without labels first is worth.
 *
 *   mr-*       film reviews (Pang, Lee 2005), ten-fold: seed n of a row is fold n, tested on once; the fold behind it is for validation
 *   sst2, sst5 the sentences of the Stanford treebank, without its labelled phrases (Socher et al. 2013)
 *   trec       kinds of questions (Li, Roth 2002); every tenth of the training questions is for validation
 *   bert       a masked language model of the Penn Treebank, the training reviews of fold 1 and the TREC questions, without labels
 *   tuned-*    classifiers that start from it, beside the same network from random weights, tested on fold 1
 *
 * The files of reviews are windows-1252. Published: Kim 2014, CNN-rand. */
#include "lab/rows.h"
#include "lab/sentiment.h"

#define MR                                                                                                                       \
    "--type classifier --header no --train-sets {out}/data/mr.{seed}.train.tsv --valid-sets {out}/data/mr.{seed}.valid.tsv "     \
    "--test-sets {out}/data/mr.{seed}.test.tsv --after-epochs 12 --early-stopping 4 "
#define SST(which)                                                                                                               \
    "--type classifier --format label --train-sets {data}/sentiment/stsa." which ".train.gz --valid-sets "                       \
    "{data}/sentiment/stsa." which ".dev.gz --test-sets {data}/sentiment/stsa." which ".test.gz "
#define FIRST "--header no --valid-sets {out}/data/mr.1.valid.tsv --test-sets {out}/data/mr.1.test.tsv --after-epochs 12 --early-stopping 4 "
#define FEW_LABELS "--train-sets {out}/data/mr.1.few.tsv "
#define ALL_LABELS "--train-sets {out}/data/mr.1.train.tsv "
#define TUNED "--type classifier --encoder transformer --init-from {bert}/model.safetensors --learn-rate 0.0005 --pool mean "
/* The same network, vocabulary and settings; nothing is taken but the table of words to read by. */
#define SCRATCH                                                                                                                  \
    "--type classifier --encoder transformer --vocabs {bert}/model.safetensors --dim-emb 128 --layers 4 "                 \
    "--transformer-heads 4 --transformer-norm post --transformer-positions learned --places 64 --max-length 63 --ends true "     \
    "--embedding-norm true --segments 2 --dropout-emb 0 --dropout-words 0 --learn-rate 0.0005 --pool mean "

/* name, words of `regard train`, seeds, published */
static const rg_row rows[] = {
    { "mr-attention", MR "--pool attention", SENTIMENT_FOLDS, 76.1, "mr", NULL },
    { "mr-last", MR "--pool last", SENTIMENT_FOLDS, 0, "mr", NULL },
    { "mr-mean", MR "--pool mean", SENTIMENT_FOLDS, 0, "mr", NULL },
    { "mr-max", MR "--pool max", SENTIMENT_FOLDS, 0, "mr", NULL },
    { "sst2", SST("binary") "--pool attention", 3, 82.7, NULL, NULL },
    { "sst5", SST("fine") "--pool attention", 3, 45.0, NULL, NULL },
    { "trec",
      "--type classifier --header no --train-sets {out}/data/trec.train.tsv --valid-sets {out}/data/trec.valid.tsv "
      "--test-sets "
      "{out}/data/trec.test.tsv --encoder cnn --pool max --dim-emb 200 --dropout-words 0 --dropout-emb 0.3 "
      "--after-epochs 20",
      3, 91.2, "trec", NULL },
    { "bert",
      "--type bert --train-sets {out}/data/text.train.txt --valid-sets {out}/data/text.valid.txt --vocab-kind tokens "
      "--normalization lower --dim-vocabs 20000 --vocab-min-count 2 --context 64 --mini-batch 16 --learn-rate 0.001 "
      "--lr-warmup "
      "500 --lr-schedule cosine --after-batches 12000 --valid-freq 2000 --early-stopping 0",
      1, 0, "text", NULL },
    { "tuned-few", TUNED FEW_LABELS FIRST, 3, 0, "text", NULL },
    { "scratch-few", SCRATCH FEW_LABELS FIRST, 3, 0, "text", NULL },
    { "tuned-all", TUNED ALL_LABELS FIRST, 3, 0, "text", NULL },
    { "scratch-all", SCRATCH ALL_LABELS FIRST, 3, 0, "text", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-accuracy", "test %", 2, 100 },
    { "valid-accuracy", "valid %", 2, 100 },
    { "valid-most-frequent", "freq. %", 2, 100 },
    { "times-frequent", "times", 2, 0 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

#define LEAST(row, by, text) { RG_CLAIM_LEAST, row, NULL, by, "test-accuracy", text, 0 }
#define ABOVE(a, b, by, text) { RG_CLAIM_ABOVE, a, b, by, "test-accuracy", text, 0 }

static const rg_claim claims[] = {
    LEAST("mr-attention", 0.76, "MR, ten folds"),
    ABOVE("mr-attention", "mr-last", 0, "attention is not below the last state"),
    LEAST("sst2", 0.80, "SST-2, sentences alone"),
    LEAST("sst5", 0.40, "SST-5, sentences alone"),
    LEAST("trec", 0.89, "TREC"),
    { RG_CLAIM_LEAST, "bert", NULL, 0.2, "valid-accuracy", "masked words of unseen text", 0 },
    { RG_CLAIM_LEAST, "bert", NULL, 4, "times-frequent", "against always saying the most frequent word", 0 },
    ABOVE("tuned-few", "scratch-few", 0.02, "1,000 labels, after learning from text alone"),
    ABOVE("tuned-all", "scratch-all", 0, "all labels"),
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    (void)out;
    return row->about ? sentiment_data(job->out, job->settings->data) : RG_OK;
}

/* Masked words: how many times as often right as the most frequent of them. */
static rg_status judge(rg_results *out, const rg_row_run *run)
{
    const double right = rg_results_get(out, "valid-accuracy"), frequent = rg_results_get(out, "valid-most-frequent");
    (void)run;
    return frequent > 0 ? rg_results_set(out, "times-frequent", right / frequent) : RG_OK;
}

static const rg_grid grid = {
    .name = "sentiment",
    .heading = "classes of sentences: accuracy on test data, which are read once",
    .needs = "the folder with sentiment/ (rt-polarity, stsa, TREC) and ptb/",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 20 --after-epochs 1",
    .data = data,
    .judge = judge,
};

const rg_experiment rg_experiment_sentiment = {
    .name = "sentiment",
    .summary = "classes of reviews and questions; poolings; learning from text without labels first",
    .source = "Kim 2014; Lin et al. 2017; Devlin et al. 2019",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
