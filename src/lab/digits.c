/* digits.c - `regard reproduce digits`: one digit among 16 cells by soft and hard attention, and where a small network
 * looks on a canvas of 60 x 60.
 *
 * Pictures are placed anew in every epoch (--augment), from the digits of MNIST's training file; those judged come
 * from its test file. The grid has one row of maps per cell of 28 x 28 pixels, so that attention chooses one of 16.
 * Maps of t60: Zhou et al. 2016.
 *
 * Of the grid, every 60th digit is held back: 1,000 pictures are validated every 100 updates, which says after how many
 * updates each kind of attention reads 95 % of them. */
#include <string.h>
#include <sys/stat.h>

#include "lab/mnist_parts.h"
#include "lab/pictures.h"

#define LEARNING(valid)                                                                    \
    "--mini-batch 64 --learn-rate 0.003 --lr-schedule cosine " valid " --early-stopping 0 " \
    "--restore-best false --save-freq 200 "
#define GRID                                                                                            \
    "--type cnn --train-sets {out}/learned-images {out}/learned-labels --valid-sets {out}/held-images " \
    "{out}/held-labels --augment grid16 --layers c5x12s2n,p2,c3x24n,c3x32n,p7 "                         \
    LEARNING("--valid-freq 100 --valid-epochs 0")
#define T60                                                                             \
    "--type cnn " RG_MNIST_TRAIN "--augment t60 --layers c3x32n,p2,c3x64n,p2,c3x64n " \
    LEARNING("--valid-freq 0")
#define BOXES "t60 10000 0.4" /* around what is above 0.4 of the largest evidence: chosen on validation data among 0.2 to 0.6 */

static const rg_row rows[] = {
    { "grid-soft", GRID "--pool soft --after-epochs 3", 1, 0, "grid16 10000", NULL },
    { "grid-hard", GRID "--pool hard --after-epochs 6", 1, 0, "grid16 10000", NULL },
    { "grid-hard-no-baseline", GRID "--pool hard --baseline none --after-epochs 6", 1, 0, "grid16 10000", NULL },
    { "grid-gumbel", GRID "--pool gumbel --after-epochs 6", 1, 0, "grid16 10000", NULL },
    { "grid-mean", GRID "--pool gap --after-epochs 3", 1, 0, "grid16 10000", NULL },
    { "t60-gap", T60 "--pool gap --after-epochs 5", 1, 0, BOXES, NULL },
    { "t60-max", T60 "--pool max --after-epochs 5", 1, 0, BOXES, NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "accuracy", "accuracy", 2, 0 },     { "updates-95", "upd. to 95 %", 0, 0 },
    { "pointing", "pointing", 2, 0 },
    { "iou-half", "IoU>=0.5", 2, 0 },     { "mean-iou", "mean IoU", 3, 0 },
    { "parameters", "param.k", 1, 1e-3 }, { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "grid-soft", NULL, 97, "accuracy", "soft attention finds the digit", 0 },
    { RG_CLAIM_LEAST, "grid-hard", NULL, 95, "accuracy", "hard attention finds the digit", 0 },
    { RG_CLAIM_ABOVE, "grid-hard", "grid-soft", 0, "updates-95-least",
      "hard attention takes more updates to 95 % than soft", 0 },
    { RG_CLAIM_ABOVE, "grid-hard-no-baseline", "grid-hard", 0, "updates-95-least",
      "hard attention takes more updates to 95 % without a baseline", 0 },
    { RG_CLAIM_ABOVE, "grid-gumbel", "grid-soft", 0, "updates-95-least",
      "the Gumbel softmax takes more updates to 95 % than soft attention", 0 },
    { RG_CLAIM_LEAST, "t60-gap", NULL, 98, "accuracy", "the digit is read", 0 },
    { RG_CLAIM_LEAST, "t60-gap", NULL, 95, "pointing", "the peak of the map is on the digit", 0 },
    { RG_CLAIM_LEAST, "t60-gap", NULL, 60, "iou-half", "its box overlaps by half", 0 },
    { RG_CLAIM_ABOVE, "t60-gap", "t60-max", 0, "iou-half", "the mean localises better than the maximum", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

enum { HELD = 60 }; /* every so manieth digit of the training file */

/* The digits of the grid that are learned from, and those held back. */
static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    static const char *const names[] = { "learned", "held" };
    const char              *from = job->settings->data;
    rg_status                status = RG_OK;
    (void)out;
    if (strncmp(row->about, "grid16", 6) != 0 || job->settings->list) return RG_OK;
    (void)mkdir(job->out, 0777);
    for (size_t i = 0; status == RG_OK && i < 2; i++) {
        const rg_digits_part part = { .every = HELD, .others = i == 0 };
        char *to = rg_format("%s/%s", job->out, names[i]),
             *images = rg_format("%s/mnist/train-images-idx3-ubyte.gz", from),
             *labels = rg_format("%s/mnist/train-labels-idx1-ubyte.gz", from);
        status = to && images && labels ? rg_lab_digits(to, images, labels, &part) : RG_ENOMEM;
        rg_free(to);
        rg_free(images);
        rg_free(labels);
    }
    return status;
}

/* updates-95 where it was reached; for comparisons updates-95-least, which is all updates where it was not: a bound. */
static rg_status judge(rg_results *out, const rg_row_run *run)
{
    bool       reached = false;
    double     updates = 0, units;
    rg_results log = { 0 };
    RG_TRY(rg_pictures_judge(out, run));
    if (strncmp(run->row->about, "grid16", 6) != 0) return RG_OK;
    RG_TRY(rg_row_reached(&reached, &updates, run->folder, "accuracy", 0.95));
    if (reached) RG_TRY(rg_results_set(out, "updates-95", updates));
    if (reached) return rg_results_set(out, "updates-95-least", updates);
    rg_status status = rg_row_log(&log, &units, run->folder);
    if (status == RG_OK) status = rg_results_set(out, "updates-95-least", rg_results_get(&log, "updates"));
    rg_results_free(&log);
    return status;
}

static const rg_grid grid = {
    .name = "digits",
    .heading = "digits by attention over cells (grid16), and by a class activation map (t60); per cent of 10,000 test "
               "pictures",
    .needs = "the folder with mnist/ (MNIST's four files)",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 5 --save-freq 0 --valid-freq 5",
    .data = data,
    .judge = judge,
};

const rg_experiment rg_experiment_digits = {
    .name = "digits",
    .summary = "soft and hard attention over 16 cells; class activation maps on a canvas",
    .source = "Xu et al. 2015 (soft and hard); Zhou et al. 2016 (class activation maps)",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
