/* mnist_parts.h - what the experiments on MNIST share: parts of it as files of their own, errors and samples of
 * trained models. It knows no table of trainings (rows.h), whose rows are not those of files. */
#ifndef RG_LAB_MNIST_PARTS_H
#define RG_LAB_MNIST_PARTS_H

#include "regard/task.h"

/* Which examples of a pair of idx files. */
typedef struct rg_digits_part {
    size_t   count;     /* the first so many; 0: all                                          */
    size_t   per_class; /* of these so many of each class, chosen by `seed`; 0: all            */
    size_t   classes;   /* of these the classes below this number; 0: all                      */
    size_t   channels;  /* written with so many equal channels; 0: as they are                 */
    uint64_t seed;
} rg_digits_part;

/* Write OUT-images and OUT-labels, unless they are there. */
rg_status rg_lab_digits(const char *out, const char *images, const char *labels, const rg_digits_part *part);
/* MNIST-M by `regard make` below `out`, unless it is there; with photographs where DATA/bsds500_train is there. */
rg_status rg_lab_mnist_m(const char *out, const char *data, size_t count);
/* Points around eight places of a ring, below `out`. */
rg_status rg_lab_ring(const char *out);
/* Pictures first .. first + count - 1 of an idx file as rows of `width` numbers in 0 .. 1. */
rg_status rg_lab_pictures(rg_real *to, const char *path, size_t first, size_t count, size_t width);

/* FOLDER/model.safetensors of a run. */
rg_status rg_lab_model(rg_model **out, const char *folder);
/* Share of wrong answers on a pair of files. */
rg_status rg_lab_error(double *out, const rg_model *model, const char *images, const char *labels);
/* Samples of a generator, rows of numbers. */
rg_status rg_lab_samples(rg_real *out, const rg_model *model, uint64_t seed, size_t count);

/* An attack of one size (linf) and number of steps on a pair of files. */
typedef struct rg_lab_attacked {
    double  epsilon;
    int64_t steps;
    double  clean_error, error, confidence, noise, margin_shift; /* see regard/probe.h */
} rg_lab_attacked;
/* epsilon and steps of n attacks are given, sizes rising; most 0: all pictures. */
rg_status rg_lab_attack(rg_lab_attacked *attacks, size_t n, const rg_model *model, const char *images,
                        const char *labels, size_t most, int threads);

#endif
