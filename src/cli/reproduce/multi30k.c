/* multi30k.c - `regard reproduce multi30k`: plain seq2seq, RNNsearch, Luong and the Transformer on one corpus; every score of the
 * attention; what each part of a system is worth, by taking it away.
 *
 * Each row is a training with ordinary options of `regard train` into a folder of its own; what is finished is read back, what was
 * stopped goes on. So the table can be made in pieces, by several processes with different --only. */
#include "cli/reproduce/multi30k.h"
#include "cli/reproduce/experiment.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------------- the rows */

#define LEARN "--vocab-kind bpe --joint-vocab --exponential-smoothing 0.001 " \
              "--valid-freq 1000 --valid-metrics bleu --beam-size 4 --normalize 1 --valid-samples 0 "

/* Transformer-Tiny of Wu et al. 2021: 4+4 layers, d 128, 4 heads, joint BPE of 10,000 pieces, 2.6 M parameters. */
#define TINY LEARN "--type transformer --preset tiny --dim-vocabs 10000 --mini-batch-words 1500 --maxi-batch 2 " \
                   "--learn-rate 0.003 --lr-warmup 1000 --lr-decay-inv-sqrt 0 --beta2 0.98 --average 3 "

#define RNN LEARN "--dim-vocabs 5000 --dim-emb 128 --dim-rnn 256 --tied-embeddings --dropout-rnn 0.2 --mini-batch-words 1000 " \
                  "--learn-rate 0.003 --lr-warmup 400 --lr-decay-inv-sqrt 0 --lr-cooldown 4600 --after-batches 5000 --average 3 "

/* Rows that only compare parts learn for less long. */
#define RNN_PART RNN "--lr-cooldown 2300 --after-batches 2500 --valid-freq 500 "
#define TINY_PART TINY "--transformer-dropout 0.2 --lr-cooldown 2000 --after-batches 3000 --valid-freq 500 "

/* name, from, to, published, at least, seeds, options of `regard train` (tied embeddings of Luong and seq2seq are as wide as the states) */
const multi30k_row multi30k_rows[] = {
    { "ende-transformer", "en", "de", 41.0, 40, 1, TINY "--transformer-dropout 0.3 --lr-cooldown 16000 --after-batches 17000" },
    { "ende-rnnsearch", "en", "de", 38.1, 37, 1, RNN "--type rnnsearch" },
    { "ende-luong", "en", "de", 38.1, 37, 1, RNN "--type luong --enc-bidirectional --dim-emb 256" },
    { "ende-seq2seq", "en", "de", 0, 0, 1, RNN "--type seq2seq --reverse --dim-emb 256" },
    { "enfr-transformer", "en", "fr", 61.8, 60, 1, TINY "--transformer-dropout 0.25 --lr-cooldown 15000 --after-batches 16000" },
    { "enfr-rnnsearch", "en", "fr", 52.5, 52, 1, RNN "--type rnnsearch" },
    { "enfr-luong", "en", "fr", 52.5, 52, 1, RNN "--type luong --enc-bidirectional --dim-emb 256" },
    { "enfr-seq2seq", "en", "fr", 0, 0, 1, RNN "--type seq2seq --reverse --dim-emb 256" },
    { "score-dot", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score dot" }, /* additive is ende-rnnsearch */
    { "score-scaled_dot", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score scaled_dot" },
    { "score-general", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score general" },
    { "score-cosine", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score cosine" },
    { "score-distance", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score distance" },
    { "score-linear", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score linear" },
    { "score-concat", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score concat" },
    { "score-location", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score location" },
    { "score-neural", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score neural" },
    { "score-vector", "en", "de", 0, 0, 1, RNN "--type rnnsearch --score vector" },

    /* RNNsearch: how the source is read, and what stands before the words */
    { "part-rnnsearch", "en", "de", 0, 0, 1, RNN_PART "--type rnnsearch" },
    { "part-one-direction", "en", "de", 0, 0, 1, RNN_PART "--type rnnsearch --enc-bidirectional false" },
    { "part-add", "en", "de", 0, 0, 1, RNN_PART "--type rnnsearch --enc-combine add" },
    { "part-multiply", "en", "de", 0, 0, 1, RNN_PART "--type rnnsearch --enc-combine multiply" },
    { "part-tanh", "en", "de", 0, 0, 1, RNN_PART "--type rnnsearch --output-layer tanh" },
    { "part-words", "en", "de", 0, 0, 1, RNN_PART "--type rnnsearch --vocab-kind words --dim-vocabs 2000 --joint-vocab false" },

    /* the ladder of Luong et al. 2015, table 1: each row adds one thing */
    { "ladder-plain", "en", "de", 0, 0, 1, RNN_PART "--type seq2seq --dim-emb 256 --dropout-rnn 0" },
    { "ladder-reverse", "en", "de", 0, 0, 1, RNN_PART "--type seq2seq --dim-emb 256 --dropout-rnn 0 --reverse" },
    { "ladder-dropout", "en", "de", 0, 0, 1, RNN_PART "--type seq2seq --dim-emb 256 --reverse" },
    { "ladder-location", "en", "de", 0, 0, 1, RNN_PART "--type luong --dim-emb 256 --reverse --score location --input-feeding false" },
    { "ladder-feed", "en", "de", 0, 0, 1, RNN_PART "--type luong --dim-emb 256 --reverse --score location" },
    { "ladder-local-p", "en", "de", 0, 0, 1, RNN_PART "--type luong --dim-emb 256 --reverse --attention-kind local-p" },

    /* the Transformer without one thing. What dropout is worth shows only when there is time to learn by heart, so its row is as long as
     * ende-transformer; "average" has neither cooldown nor running mean, for which the mean of checkpoints stands in */
    { "part-no-dropout", "en", "de", 0, 0, 1, TINY "--transformer-dropout 0 --lr-cooldown 16000 --after-batches 17000" },
    { "part-transformer", "en", "de", 0, 0, 1, TINY_PART "--transformer-norm pre" },
    { "part-no-positions", "en", "de", 0, 0, 1, TINY_PART "--transformer-positions none" },
    { "part-no-smoothing", "en", "de", 0, 0, 1, TINY_PART "--label-smoothing 0" },
    { "part-untied", "en", "de", 0, 0, 1, TINY_PART "--tied-embeddings-all false" },
    { "part-average", "en", "de", 0, 0, 1, TINY_PART "--lr-cooldown 0 --exponential-smoothing 0 --average 5 --valid-freq 200 --save-freq 200" },
    { "part-cold-pre", "en", "de", 0, 0, 1, TINY_PART "--after-batches 1500 --lr-cooldown 500 --lr-warmup 0" },
    { "part-cold-post", "en", "de", 0, 0, 1, TINY_PART "--after-batches 1500 --lr-cooldown 500 --lr-warmup 0 --transformer-norm post" },
    { NULL, NULL, NULL, 0, 0, 0, NULL },
};

/* --------------------------------------------------------------------------------------------------------- command */

typedef struct {
    char   *data, *out, *extra;
    rg_list only;
    int64_t epochs, seed, seeds, threads;
    bool    quick, overwrite, judge, report, list;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "data", offsetof(settings, data), "", "folder with train, val and test_2016_flickr (.en, .de, .fr; .gz allowed), or its parent", 0, NULL },
    { RG_OPTION_STRING, "out", offsetof(settings, out), "multi30k-runs", "folder for the runs and the table", 'o', NULL },
    { RG_OPTION_LIST, "only", offsetof(settings, only), "", "train these rows only: names or their beginnings, separated by blanks or commas", 0, NULL },
    { RG_OPTION_INT, "epochs", offsetof(settings, epochs), "0", "most passes over the corpus; 0: the row's own", 'e', "[0,inf)" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "first seed", 0, "[0,inf)" },
    { RG_OPTION_INT, "seeds", offsetof(settings, seeds), "0", "runs of each row; 0: the row's own number", 0, "[0,inf)" },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0", "threads; 0: one a core", 0, "[0,1024]" },
    { RG_OPTION_STRING, "options", offsetof(settings, extra), "", "words of `regard train` appended to every row: --options='--dim-emb 64'", 0, NULL },
    { RG_OPTION_BOOL, "quick", offsetof(settings, quick), "false", "60 updates a row, to see it work; no claim is judged", 0, NULL },
    { RG_OPTION_BOOL, "overwrite", offsetof(settings, overwrite), "false", "train again what was trained with other options", 0, NULL },
    { RG_OPTION_BOOL, "judge", offsetof(settings, judge), "false", "judge rows that are still in training by their weights so far; the same command without it goes on", 0, NULL },
    { RG_OPTION_BOOL, "report", offsetof(settings, report), "false", "train nothing: the table of what is finished", 0, NULL },
    { RG_OPTION_BOOL, "list", offsetof(settings, list), "false", "print the rows as commands of `regard train`", 0, NULL },
    RG_OPTION_END
};

/* Is the row's name, or a beginning of it, among "a,b c"? */
static bool chosen(const rg_list *only, const char *name)
{
    for (size_t i = 0; i < only->count; i++)
        for (const char *at = only->items[i]; *at;) {
            const size_t n = strcspn(at, ",");
            if (n && strncmp(name, at, n) == 0) return true;
            at += n + (at[n] == ',');
        }
    return only->count == 0;
}

static rg_status some_row(const settings *s)
{
    for (const multi30k_row *r = multi30k_rows; r->name; r++)
        if (chosen(&s->only, r->name)) return RG_OK;
    return rg_fail(RG_EINVAL, "--only %s: no row begins so; --list prints them", s->only.items[0]);
}

static void list_rows(const settings *s)
{
    for (const multi30k_row *r = multi30k_rows; r->name; r++)
        if (chosen(&s->only, r->name))
            printf("# %s\nregard train --train-sets train.%s train.%s --valid-sets val.%s val.%s %s\n", r->name, r->source, r->target,
                   r->source, r->target, r->options);
}

static int64_t seeds_of(const settings *s, const multi30k_row *row) { return s->seeds ? s->seeds : row->seeds; }

static rg_status train(multi30k_line *line, const settings *s, const multi30k_job *job)
{
    const int64_t end = s->seed + seeds_of(s, line->row);
    for (int64_t seed = s->seed; seed < end; seed++) {
        bool begun = true;
        if (job->judge) RG_TRY(multi30k_begun(&begun, job, line->row, seed));
        if (!begun) continue;
        RG_TRY(multi30k_run(&line->result[line->runs], job, line->row, seed));
        line->seed[line->runs++] = seed;
    }
    return RG_OK;
}

/* Seeds first .. end - 1 that are finished and not in the line yet. */
static rg_status read_finished(multi30k_line *line, const multi30k_job *job, int64_t first, int64_t end)
{
    for (int64_t seed = first; seed < end && line->runs < MULTI30K_SEEDS; seed++) {
        bool   found = false;
        size_t known = 0;
        while (known < line->runs && line->seed[known] != seed) known++;
        if (known == line->runs) RG_TRY(multi30k_read(&found, &line->result[known], job, line->row, seed));
        if (found) line->seed[line->runs++] = seed;
    }
    return RG_OK;
}

/* Train what is chosen, then read whatever else is finished: other processes may have worked on other rows and seeds meanwhile. */
static rg_status fill(multi30k_line *lines, size_t *out_count, const settings *s, const multi30k_job *job)
{
    size_t    count = 0;
    rg_status status = RG_OK;
    for (const multi30k_row *r = multi30k_rows; r->name; r++) lines[count++].row = r;
    for (size_t i = 0; status == RG_OK && i < count; i++)
        if (!s->report && chosen(&s->only, lines[i].row->name)) status = train(&lines[i], s, job);
    if (status != RG_OK && status != RG_ESTOP) return status;
    for (size_t i = 0; i < count; i++) {
        const int64_t end = s->seed + seeds_of(s, lines[i].row), usual = MULTI30K_SEEDS + 1;
        RG_TRY(read_finished(&lines[i], job, s->seed, end));
        RG_TRY(read_finished(&lines[i], job, 1, s->seed < usual ? s->seed : usual));
        RG_TRY(read_finished(&lines[i], job, end, usual));
    }
    *out_count = count;
    return status;
}

static rg_status run_all(rg_call *call, const settings *s, multi30k_line *lines)
{
    const multi30k_job job = { .data = s->data,
                               .out = s->out,
                               .extra = s->extra,
                               .epochs = s->epochs,
                               .threads = s->threads,
                               .quick = s->quick,
                               .overwrite = s->overwrite,
                               .judge = s->judge };
    size_t             count = 0;
    const rg_status    status = fill(lines, &count, s, &job);
    const bool         stopped = status == RG_ESTOP;
    if (stopped) fprintf(stderr, "stopped as asked; everything is saved, and the same command goes on from here\n");
    else RG_TRY(status);
    bool holds = true;
    RG_TRY(multi30k_table(&holds, &job, lines, count));
    if (!holds && !s->quick && !stopped) call->exit_code = 1;
    return RG_OK;
}

static rg_status run(rg_call *call, const void *values)
{
    const settings *s = values;
    RG_TRY(some_row(s));
    if (s->list) {
        list_rows(s);
        return RG_OK;
    }
    if (!s->data[0] && !s->report) return rg_fail(RG_EINVAL, "--data names the folder of Multi30k");
    if (s->seeds > MULTI30K_SEEDS) return rg_fail(RG_EINVAL, "--seeds is %lld; the most is %d", (long long)s->seeds, MULTI30K_SEEDS);
    multi30k_line *lines = rg_alloc_zero(MULTI30K_ROWS * sizeof *lines);
    rg_status      status = lines ? run_all(call, s, lines) : RG_ENOMEM;
    rg_free(lines);
    return status;
}

const rg_experiment rg_experiment_multi30k = {
    .name = "multi30k",
    .summary = "translation of picture captions: seq2seq, RNNsearch, Luong, Transformer and every score, BLEU and cost side by side",
    .source = "Vaswani et al. 2017, table 2; Bahdanau et al. 2015, figure 2; Caglayan et al. 2017 and Wu et al. 2021 on Multi30k",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
