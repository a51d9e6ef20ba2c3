/* captions.c - `regard reproduce captions`: captions of scenes and photographs.
 *
 * flickr-neighbours learns nothing: of the captions of the 20 training pictures that the same features hold most
 * similar, the one on which they agree best. Of scenes also: for which share of the nouns ("square" of "a red square")
 * the attention is largest inside the object. */
#include <string.h>

#include "lab/nearest_captions.h"
#include "lab/pictured.h"

#define SCENES "--type caption --layers c3x32s2,c3x64,p2,c3x64 --dim-emb 64 --dim-rnn 128 --dropout-rnn 0 --mini-batch 32 --learn-rate 0.002 --lr-schedule cosine --lr-least 0.0001 --after-batches 6000 --valid-freq 1500 --early-stopping 0 "
#define FLICKR                                                                                                     \
    "--type caption --train-sets {data}/flickr8k/captions.tsv.gz --pictures {data}/flickr8k/images-train.tar --valid-sets "  \
    "{data}/flickr8k/captions.tsv.gz "                                                                             \
    "--valid-pictures {data}/flickr8k/images-dev.tar --test-sets {data}/flickr8k/captions.tsv.gz --test-pictures " \
    "{data}/flickr8k/images-test.tar "                                                                             \
    "--vocab-min-count 5 --dim-emb 256 --dim-rnn 512 --dropout-rnn 0.5 --mini-batch 32 --learn-rate 0.0005 "       \
    "--after-epochs 15 --early-stopping 3 --beam-size 3 "
#define FEATURES FLICKR "--features {data}/mobilenet_v2/mobilenet_v2_1.0_224.safetensors "

static const rg_row rows[] = {
    { "scenes-soft", SCENES, 1, 0, "scenes count=30000", NULL },
    { "scenes-hard", SCENES "--attention hard", 1, 0, "scenes count=30000", NULL },
    { "scenes-gumbel", SCENES "--attention gumbel", 1, 0, "scenes count=30000", NULL },
    { "flickr-none", FEATURES "--attention none", 1, 0, NULL, NULL },
    { "flickr-mean", FEATURES "--attention mean", 1, 0, NULL, NULL },
    { "flickr-soft", FEATURES "--attention soft", 1, 19.5, NULL, NULL },
    { "flickr-hard", FEATURES "--attention hard", 1, 21.3, NULL, NULL },
    { "flickr-neighbours", "", 1, 0, "neighbours", "" },
    { "flickr-scratch", FLICKR "--layers c3x32s2,c3x64,p2,c3x128,p2,c3x128", 1, 0, NULL, NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-bleu", "BLEU-4", 2, 0 },
    { "test-bleu-no-brevity", "no b.p.", 2, 0 },
    { "test-bleu-1", "BLEU-1", 2, 0 },
    { "test-exact", "exact %", 2, 0 },
    { "pointing", "nouns %", 1, 100 },
    { "bleu", "valid", 2, 0 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "scenes-soft", NULL, 90, "test-exact", "scenes, soft attention", 0 },
    { RG_CLAIM_LEAST, "scenes-hard", NULL, 90, "test-exact", "scenes, hard attention", 0 },
    { RG_CLAIM_LEAST, "scenes-soft", NULL, 0.8, "pointing", "nouns look at what they name, soft attention", 0 },
    { RG_CLAIM_LEAST, "scenes-hard", NULL, 0.8, "pointing", "nouns look at what they name, hard attention", 0 },
    { RG_CLAIM_LEAST, "flickr-soft", NULL, 15, "test-bleu", "Flickr8k, soft attention", 0 },
    { RG_CLAIM_LEAST, "flickr-soft", NULL, 58, "test-bleu-1", "Flickr8k, single words", 0 },
    { RG_CLAIM_ABOVE, "flickr-soft", "flickr-mean", 0, "test-bleu", "attention against the mean", 0 },
    { RG_CLAIM_ABOVE, "flickr-soft", "flickr-none", 5, "test-bleu", "a picture against none", 0 },
    { RG_CLAIM_ABOVE, "flickr-soft", "flickr-neighbours", 0, "test-bleu", "learned against the captions of neighbours",
      0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    return row->about && strcmp(row->about, "neighbours") == 0 ? RG_OK : rg_pictured_data(out, job, row);
}

static rg_status judge_neighbours(rg_results *out, const rg_row_run *run)
{
    enum { NEIGHBOURS = 20 };
    const rg_grid_settings *s = run->job->settings;
    rg_nearest_score        score;
    char *text[] = { rg_format("%s/flickr8k/captions.tsv.gz", s->data),
                     rg_format("%s/flickr8k/images-train.tar", s->data),
                     rg_format("%s/flickr8k/images-test.tar", s->data),
                     rg_format("%s/mobilenet_v2/mobilenet_v2_1.0_224.safetensors", s->data) };
    const rg_nearest_captions what = { .table = text[0],
                                       .train = text[1],
                                       .test = text[2],
                                       .features = text[3],
                                       .neighbours = NEIGHBOURS,
                                       .most = s->quick ? 50 : 0,
                                       .threads = s->threads > 0 ? (int)s->threads : 1 };
    rg_status status = text[0] && text[1] && text[2] && text[3] ? rg_nearest_captions_judge(&score, &what) : RG_ENOMEM;
    if (status == RG_OK) status = rg_results_set(out, "test-bleu", score.bleu);
    if (status == RG_OK) status = rg_results_set(out, "test-bleu-1", score.bleu_1);
    if (status == RG_OK) status = rg_results_set(out, "test-bleu-no-brevity", score.no_brevity);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) rg_free(text[i]);
    return status;
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    return run->row->about && strcmp(run->row->about, "neighbours") == 0 ? judge_neighbours(out, run)
                                                                             : rg_pictured_looks(out, run);
}

static const rg_grid grid = {
    .name = "captions",
    .heading = "captions: exact sentences of scenes, BLEU of Flickr8k",
    .needs = "the folder with flickr8k/ and mobilenet_v2/",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 10 --valid-freq 10 --early-stopping 0",
    .data = data,
    .judge = judge,
};

const rg_experiment rg_experiment_captions = {
    .name = "captions",
    .summary = "captions of generated scenes and of Flickr8k",
    .source = "Xu et al. 2015",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
