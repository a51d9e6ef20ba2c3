/* attacked.h - what `regard reproduce adversarial` attacks beside digits: photographs and texts; and the bound that a
 * linear model has. */
#ifndef RG_LAB_ATTACKED_H
#define RG_LAB_ATTACKED_H

#include "lab/results.h"
#include "regard/model.h"

/* One judged run; rows.h is not known here, whose rows are not those of files. */
typedef struct rg_attacked {
    const char *data, *folder; /* of --data; of the run */
    bool        quick;
    int         threads;
} rg_attacked;

/* The imported MobileNet v2 on the photographs of BSDS500, nothing is trained. changed_N: share of answers that a
 * change of N/256 changes; noise_N: that random signs of this size change; read_back_N: that are still changed when the
 * 8-bit PNG files of the attack are read again. */
rg_status rg_attacked_photographs(rg_results *out, const rg_attacked *run);
/* The run's text classifier on the test sentences of SST-2: clean_error, l2_error_SIZE of changed embeddings. */
rg_status rg_attacked_texts(rg_results *out, const rg_attacked *run);
/* Softmax regression: weight_bound = eps |w_a - w_b|_1, the mean over pairs of classes: how far a change of size eps
 * (linf) can move the margin of two logits. Nothing for a model with hidden layers. */
rg_status rg_attacked_bound(rg_results *out, const rg_model *model, double epsilon);

#endif
