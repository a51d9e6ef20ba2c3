/* multi30k.c - `regard reproduce multi30k`: plain seq2seq, RNNsearch, Luong and the Transformer on one corpus; every
 * score of the attention; what each part of a system is worth, by taking it away. Rows that are compared have three
 * seeds, long ones two. */
#include "lab/multi30k.h"

/* -------------------------------------------------------------------------------------------------------- the rows */

#define LEARN "--vocab-kind bpe --joint-vocab --exponential-smoothing 0.001 " \
              "--valid-freq 1000 --valid-metrics bleu --beam-size 4 --normalize 1 --valid-samples 0 "

/* Transformer-Tiny of Wu et al. 2021: 4+4 layers, d 128, 4 heads, joint BPE of 10,000 subwords, 2.6 M parameters. */
#define TINY LEARN "--type transformer --preset tiny --dim-vocabs 10000 --mini-batch-words 1500 --maxi-batch 2 " \
                   "--learn-rate 0.003 --lr-warmup 1000 --lr-decay-inv-sqrt 0 --beta2 0.98 --average 3 "

#define RNN                                                                                                            \
    LEARN "--dim-vocabs 5000 --dim-emb 128 --dim-rnn 256 --tied-embeddings --dropout-rnn 0.2 --mini-batch-words 1000 " \
          "--learn-rate 0.003 --lr-warmup 400 --lr-decay-inv-sqrt 0 --lr-cooldown 4600 --after-batches 5000 "          \
          "--average 3 "

/* Rows that only compare parts learn for less long. */
#define RNN_PART RNN "--lr-cooldown 2300 --after-batches 2500 --valid-freq 500 "
#define TINY_PART TINY "--transformer-dropout 0.2 --lr-cooldown 2000 --after-batches 3000 --valid-freq 500 "

#define LUONG_PART RNN_PART "--type luong --dim-emb 256 --reverse"

/* name, options of `regard train`, seeds, published, languages (tied embeddings of Luong and seq2seq are as wide as
 * the states) */
static const rg_row rows[] = {
    { "ende-transformer", TINY "--transformer-dropout 0.3 --lr-cooldown 16000 --after-batches 17000", 2, 41.0, "en de",
      NULL },
    { "ende-rnnsearch", RNN "--type rnnsearch", 3, 38.1, "en de", NULL },
    { "ende-luong", RNN "--type luong --enc-bidirectional --dim-emb 256", 3, 38.1, "en de", NULL },
    { "ende-seq2seq", RNN "--type seq2seq --reverse --dim-emb 256", 1, 0, "en de", NULL },
    { "enfr-transformer", TINY "--transformer-dropout 0.25 --lr-cooldown 15000 --after-batches 16000", 2, 61.8, "en fr",
      NULL },
    { "enfr-rnnsearch", RNN "--type rnnsearch", 3, 52.5, "en fr", NULL },
    { "enfr-luong", RNN "--type luong --enc-bidirectional --dim-emb 256", 3, 52.5, "en fr", NULL },
    { "enfr-seq2seq", RNN "--type seq2seq --reverse --dim-emb 256", 1, 0, "en fr", NULL },
    { "ende-ensemble", "", 1, 0, "en de", "ende-rnnsearch" },

    /* the other systems of Table 2; convolutions and deep stacks learn with the same data, words and length of
     * training as the rows above */
    { "table2-convs2s",
      LEARN
      "--type convs2s --dim-vocabs 5000 --dim-emb 256 --enc-depth 4 --dec-depth 4 --kernel 3 --mini-batch-words 1500 "
      "--learn-rate 0.001 --lr-warmup 500 --lr-decay-inv-sqrt 0 --lr-cooldown 7000 --after-batches 8000 --average 3",
      1, 0, "en de", NULL },
    { "table2-bytenet",
      LEARN "--vocab-kind characters --dim-vocabs 0 --max-length 300 --type bytenet --width 128 --sets 2 "
            "--mini-batch-words 6000 "
            "--learn-rate 0.001 --lr-warmup 500 --lr-decay-inv-sqrt 0 --lr-cooldown 3500 --after-batches 4000",
      1, 0, "en de", NULL },
    { "table2-deep-att", RNN "--type deep-att --layers 5,3 --dim-emb 256", 1, 0, "en de", NULL },
    { "table2-deep-att-plain", RNN "--type deep-att --layers 5,3 --dim-emb 256 --fast-forward false", 1, 0, "en de",
      NULL },
    { "table2-gnmt", RNN "--type gnmt --enc-depth 4 --dec-depth 4 --dim-emb 256 --valid-metrics bleu gleu", 1, 0, "en de",
      NULL },
    /* learned from the metric itself, after likelihood; it validates as the row before it does, by GLEU first */
    { "table2-gnmt-reward",
      RNN "--type gnmt --enc-depth 4 --dec-depth 4 --dim-emb 256 --init-from {table2-gnmt}/model.safetensors --vocabs "
          "{table2-gnmt}/model.safetensors --objective reward --reward gleu --samples 8 "
          "--likelihood 0.02 --learn-rate 0.0001 --lr-warmup 100 --lr-cooldown 0 --after-batches 1500 --valid-freq 150 "
          "--valid-metrics gleu bleu --dropout-rnn 0 --average 0",
      2, 0, "en de", NULL },
    { "table2-experts",
      TINY
      "--transformer-dropout 0.3 --lr-cooldown 16000 --after-batches 17000 --experts 8 --top-experts 2 --balance 0.05 "
      "--valid-metrics bleu load-cv load-most",
      1, 0, "en de", NULL },
    { "table2-experts-free",
      TINY
      "--transformer-dropout 0.3 --lr-cooldown 16000 --after-batches 17000 --experts 8 --top-experts 2 --balance 0 "
      "--valid-metrics bleu load-cv load-most",
      1, 0, "en de", NULL },

    /* scores; additive is ende-rnnsearch. The parameter-free dot needs states and words of one width: directions are
     * added */
    { "score-dot", RNN "--type rnnsearch --score dot --enc-combine add", 3, 0, "en de", NULL },
    { "score-scaled_dot", RNN "--type rnnsearch --score scaled_dot", 3, 0, "en de", NULL },
    { "score-general", RNN "--type rnnsearch --score general", 3, 0, "en de", NULL },
    { "score-cosine", RNN "--type rnnsearch --score cosine", 3, 0, "en de", NULL },
    { "score-distance", RNN "--type rnnsearch --score distance", 1, 0, "en de", NULL },
    { "score-linear", RNN "--type rnnsearch --score linear", 1, 0, "en de", NULL },
    { "score-concat", RNN "--type rnnsearch --score concat", 1, 0, "en de", NULL },
    { "score-location", RNN "--type rnnsearch --score location", 1, 0, "en de", NULL },
    { "score-neural", RNN "--type rnnsearch --score neural", 1, 0, "en de", NULL },
    { "score-vector", RNN "--type rnnsearch --score vector", 1, 0, "en de", NULL },

    /* RNNsearch: how the source is read, and what stands before the words */
    { "part-rnnsearch", RNN_PART "--type rnnsearch", 3, 0, "en de", NULL },
    { "part-one-direction", RNN_PART "--type rnnsearch --enc-bidirectional false", 3, 0, "en de", NULL },
    { "part-depth-2", RNN_PART "--type rnnsearch --enc-depth 2", 3, 0, "en de", NULL },
    { "part-depth-3", RNN_PART "--type rnnsearch --enc-depth 3", 3, 0, "en de", NULL },
    { "part-add", RNN_PART "--type rnnsearch --enc-combine add", 1, 0, "en de", NULL },
    { "part-multiply", RNN_PART "--type rnnsearch --enc-combine multiply", 1, 0, "en de", NULL },
    { "part-tanh", RNN_PART "--type rnnsearch --output-layer tanh", 1, 0, "en de", NULL },
    { "part-words", RNN_PART "--type rnnsearch --vocab-kind words --dim-vocabs 2000 --joint-vocab false", 1, 0, "en de",
      NULL },

    /* the ladder of Luong et al. 2015, table 1: each row adds one thing; then global attention and what is changed
     * in it */
    { "ladder-plain", RNN_PART "--type seq2seq --dim-emb 256 --dropout-rnn 0", 3, 0, "en de", NULL },
    { "ladder-reverse", RNN_PART "--type seq2seq --dim-emb 256 --dropout-rnn 0 --reverse", 3, 0, "en de", NULL },
    { "ladder-dropout", RNN_PART "--type seq2seq --dim-emb 256 --reverse", 1, 0, "en de", NULL },
    { "ladder-location", LUONG_PART " --score location --input-feeding false", 1, 0, "en de", NULL },
    { "ladder-feed", LUONG_PART " --score location", 1, 0, "en de", NULL },
    { "ladder-global", LUONG_PART, 3, 0, "en de", NULL },
    { "ladder-no-feed", LUONG_PART " --input-feeding false", 3, 0, "en de", NULL },
    { "ladder-local-p", LUONG_PART " --attention-kind local-p", 3, 0, "en de", NULL },

    /* the Transformer without one thing. What dropout is worth shows only when there is time to learn by heart, so
     * its row is as long as ende-transformer; "average" has neither cooldown nor running mean, for which the mean of
     * checkpoints stands in */
    { "part-no-dropout", TINY "--transformer-dropout 0 --lr-cooldown 16000 --after-batches 17000", 1, 0, "en de",
      NULL },
    { "part-transformer", TINY_PART "--transformer-norm pre", 3, 0, "en de", NULL },
    { "part-one-head", TINY_PART "--transformer-heads 1", 3, 0, "en de", NULL },
    { "part-no-positions", TINY_PART "--transformer-positions none", 3, 0, "en de", NULL },
    { "part-learned", TINY_PART "--transformer-positions learned", 3, 0, "en de", NULL },
    { "part-no-smoothing", TINY_PART "--label-smoothing 0", 3, 0, "en de", NULL },
    { "part-untied", TINY_PART "--tied-embeddings-all false", 1, 0, "en de", NULL },
    { "part-average",
      TINY_PART "--lr-cooldown 0 --exponential-smoothing 0 --average 5 --valid-freq 200 --save-freq 200", 1, 0, "en de",
      NULL },
    { "part-cold-pre", TINY_PART "--after-batches 1500 --lr-cooldown 500 --lr-warmup 0", 1, 0, "en de", NULL },
    { "part-cold-post", TINY_PART "--after-batches 1500 --lr-cooldown 500 --lr-warmup 0 --transformer-norm post", 1, 0,
      "en de", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "bleu", "BLEU", 2, 0 },          { "bleu_2017", "2017", 2, 0 },         { "bleu_coco", "coco", 2, 0 },
    { "bleu_cased", "cased", 2, 0 },   { "chrf", "chrF", 2, 0 },              { "valid_bleu", "valid", 2, 0 },
    { "normalize", "norm.", 1, 0 },    { "perplexity", "ppl", 2, 0 },         { "parameters", "param.M", 2, 1e-6 },
    { "load_cv", "load CV", 2, 0 },
    { "flops_word", "MFLOP/w", 1, 1e-6 }, { "flops_training", "PFLOP", 3, 1e-15 }, { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 }, { "cpu_seconds", "CPU h", 2, 1.0 / 3600 }, { NULL, NULL, 0, 0 },
};

#define ABOVE(a, b, by, text)          { RG_CLAIM_ABOVE, a, b, by, "bleu", text, 0 }
#define FALLS(plain, attentive, result) { RG_CLAIM_ABOVE, plain, attentive, 0, result, "attention falls at most half as far", 2 }

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "ende-transformer", NULL, 40.5, "bleu", NULL, 0 },
    { RG_CLAIM_LEAST, "ende-rnnsearch", NULL, 37.5, "bleu", NULL, 0 },
    { RG_CLAIM_LEAST, "ende-luong", NULL, 38.5, "bleu", NULL, 0 },
    { RG_CLAIM_LEAST, "enfr-transformer", NULL, 60.5, "bleu", NULL, 0 },
    { RG_CLAIM_LEAST, "enfr-rnnsearch", NULL, 52, "bleu", NULL, 0 },
    { RG_CLAIM_LEAST, "enfr-luong", NULL, 52, "bleu", NULL, 0 },
    { RG_CLAIM_LEAST, "score-dot", NULL, 30, "bleu", "no parameters in the score", 0 },
    { RG_CLAIM_LEAST, "table2-convs2s", NULL, 35, "bleu", NULL, 0 },
    { RG_CLAIM_LEAST, "table2-bytenet", NULL, 15, "bleu", NULL, 0 },
    ABOVE("ende-rnnsearch", "table2-bytenet", 0, "attention against none over characters"),
    { RG_CLAIM_LEAST, "table2-deep-att", NULL, 35, "bleu", NULL, 0 },
    ABOVE("table2-deep-att", "table2-deep-att-plain", 1, "fast-forward connections"),
    { RG_CLAIM_LEAST, "table2-gnmt", NULL, 36, "bleu", NULL, 0 },
    { RG_CLAIM_ABOVE, "table2-gnmt-reward", "table2-gnmt", 0.3, "valid_gleu", "a reward after likelihood", 0 },
    { RG_CLAIM_ABOVE, "table2-gnmt-reward", "table2-gnmt", 0, "least_gleu", "which is never below its start", 0 },
    ABOVE("table2-experts", "ende-transformer", -0.5, "experts against one network"),
    { RG_CLAIM_MOST, "table2-experts", NULL, 0.3, "load_cv", "the losses of balance spread words over the experts", 0 },
    { RG_CLAIM_LEAST, "table2-experts-free", NULL, 1, "load_cv", "without them a few experts get nearly all", 0 },
    { RG_CLAIM_ABOVE, "ende-transformer", "table2-experts", 0, "flops_word", "experts cost at most 1.3 times as much",
      1 / 1.3 },
    ABOVE("ende-rnnsearch", "ende-seq2seq", 8, "attention"),
    ABOVE("ende-luong", "ende-seq2seq", 8, "attention"),
    ABOVE("enfr-rnnsearch", "enfr-seq2seq", 8, "attention"),
    ABOVE("enfr-luong", "enfr-seq2seq", 8, "attention"),
    FALLS("ende-seq2seq", "ende-rnnsearch", "fall"),
    FALLS("ende-seq2seq", "ende-rnnsearch", "fall_share"),
    FALLS("ende-seq2seq", "ende-luong", "fall"),
    FALLS("ende-seq2seq", "ende-luong", "fall_share"),
    FALLS("enfr-seq2seq", "enfr-rnnsearch", "fall"),
    FALLS("enfr-seq2seq", "enfr-rnnsearch", "fall_share"),
    FALLS("enfr-seq2seq", "enfr-luong", "fall"),
    FALLS("enfr-seq2seq", "enfr-luong", "fall_share"),
    { RG_CLAIM_SPREAD, "score-dot score-scaled_dot ende-rnnsearch score-general score-cosine", NULL, 2, "bleu",
      "dot, scaled, additive, general, cosine", 0 },
    ABOVE("ende-ensemble", "ende-rnnsearch", 0.5, "three seeds together"),
    ABOVE("part-rnnsearch", "part-one-direction", 0, "both directions"),
    ABOVE("part-depth-2", "part-rnnsearch", 0, "two layers against one"),
    ABOVE("part-depth-3", "part-depth-2", 0, "three layers against two"),
    ABOVE("ladder-reverse", "ladder-plain", 0, "the source backwards"),
    ABOVE("ladder-global", "ladder-no-feed", 0, "input feeding"),
    ABOVE("ladder-local-p", "ladder-global", -1, "local-p against global"),
    ABOVE("part-transformer", "part-no-positions", 5, "positions"),
    ABOVE("part-learned", "part-transformer", -1, "learned positions against sinusoids"),
    ABOVE("part-transformer", "part-one-head", 0, "four heads against one"),
    ABOVE("part-transformer", "part-no-smoothing", 0, "label smoothing"),
    { RG_CLAIM_ABOVE, "part-transformer", "part-no-smoothing", 0, "perplexity", "label smoothing costs perplexity", 0 },
    ABOVE("ende-transformer", "part-no-dropout", 2, "dropout"),
    ABOVE("part-cold-pre", "part-cold-post", 10, "norm before or after, no warm-up"),
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    static const char *const flags[] = { "--train-sets", "--valid-sets" }, *const sets[] = { "train", "val" };
    for (size_t i = 0; i < 2; i++) {
        RG_TRY(rg_words_split(out, flags[i]));
        for (int side = 0; side < 2; side++) {
            char *path, language[3];
            multi30k_language(language, row, side);
            RG_TRY(multi30k_file(&path, job, sets[i], language));
            RG_TRY(rg_row_words_add(out, path));
        }
    }
    return RG_OK;
}

static const rg_grid grid = {
    .name = "multi30k",
    .heading = "Multi30k test2016 (2017, coco: the other test sets), beam 5. BLEU: sacreBLEU 13a, lower-cased; valid "
               "and norm.: BLEU of validation and the\n"
               "exponent of the length it chose; ppl per subword; MFLOP/w: forward, per target word; PFLOP: forward "
               "and backward of the whole training",
    .needs = "the folder of Multi30k: train, val and test_2016_flickr (.en, .de, .fr; .gz allowed), or its parent",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 60 --valid-freq 60 --save-freq 30 --disp-freq 10 --lr-warmup 20 --exponential-smoothing "
             "0.05 --average 0",
    .data = data,
    .judge = multi30k_judge,
    .resample = multi30k_resample,
    .after = multi30k_after,
};

const rg_experiment rg_experiment_multi30k = {
    .name = "multi30k",
    .summary = "translation of picture captions: seq2seq, RNNsearch, Luong, Transformer and every score, BLEU and cost "
               "side by side",
    .source = "Vaswani et al. 2017, table 2; Bahdanau et al. 2015, figure 2; Caglayan et al. 2017 and Wu et al. 2021 "
              "on Multi30k",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
