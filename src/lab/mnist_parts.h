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
    size_t   every;     /* of these every so manieth, or with `others` all but those; 0: all    */
    bool     others;
    size_t   channels;  /* written with so many equal channels; 0: as they are                 */
    uint64_t seed;
    const unsigned char *stays; /* a byte for each of the first `count`: 1 for those that stay; NULL: the above says */
} rg_digits_part;

/* Write OUT-images and OUT-labels, unless they are there. */
rg_status rg_lab_digits(const char *out, const char *images, const char *labels, const rg_digits_part *part);
/* MNIST-M by `regard make` below `out`, unless it is there; with photographs where DATA/bsds500_train is there. */
rg_status rg_lab_mnist_m(const char *out, const char *data, size_t count);
/* Points around eight places of a ring, below `out`. */
rg_status rg_lab_ring(const char *out);
/* Pictures first .. first + count - 1 of an idx file as rows of `width` numbers in 0 .. 1. */
rg_status rg_lab_pictures(rg_real *to, const char *path, size_t first, size_t count, size_t width);
/* Which of `count` pictures a model is least sure of: sets `more` further bytes of `stays` to 1, among those that are
 * 0. By the margin of the two likeliest classes, or by the smallest change that changes the answer. */
rg_status rg_lab_uncertain(unsigned char *stays, size_t count, size_t more, const rg_model *model, const char *images,
                           bool adversarial, int threads);

/* Texts with labels ("label text") into few(label TAB text): `count` of them, chosen by the seed, as many of each of
 * the two classes; and the texts of the others, one per line, into `rest`. Unless they are there. */
rg_status rg_lab_few_texts(const char *few, const char *rest, const char *path, size_t count, uint64_t seed);
/* The words of all texts of such a file, labelled or not, as a vocabulary for --vocabs. Unless it is there. */
rg_status rg_lab_words(const char *out, const char *path);
/* Emoji of two styles from FROM/png64-STYLE.tar below OUT/STYLE, and lists of group TAB file by number modulo 4, so
 * that no emoji is in two of them: OUT/source.tsv (0 and 1, google), target.tsv (2, twitter), test.tsv (3, twitter),
 * source-test.tsv (3, google). Unless they are there. */
rg_status rg_lab_emoji(const char *out, const char *from);

/* FOLDER/model.safetensors of a run. */
rg_status rg_lab_model(rg_model **out, const char *folder);
/* Share of wrong answers on a pair of files. */
rg_status rg_lab_error(double *out, const rg_model *model, const char *images, const char *labels);
/* How often each class is the answer to n pictures x, rows of numbers in 0 .. 1 as large as the model reads. `counts`
 * has room for all its classes. */
rg_status rg_lab_classes(size_t *counts, const rg_model *model, const rg_real *x, size_t n);
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
