/* pictures.h - judging classifiers of made pictures: what `regard reproduce digits|ram|stn` share.
 *
 * A row's `about` is a generator and how many of its test pictures are looked at, "t60 10000": digits of MNIST's
 * test file that no training has seen, placed by the generator's seed. They are read once, by the weights at the end
 * of training. */
#ifndef RG_LAB_PICTURES_H
#define RG_LAB_PICTURES_H

#include "lab/rows.h"

/* error and accuracy (per cent), parameters; with maps: pointing and iou-half (per cent), mean-iou. */
rg_status rg_pictures_judge(rg_results *out, const rg_row_run *run);

#define RG_MNIST_TRAIN "--train-sets {data}/mnist/train-images-idx3-ubyte.gz {data}/mnist/train-labels-idx1-ubyte.gz "

#endif
