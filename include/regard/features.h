/* features.h - pictures through a frozen network that was trained elsewhere: rows of a grid instead of pixels, computed
 * once per picture.
 *
 *   picture file --decode, fit--> pixels --frozen network--> rows of a grid --kept in memory and in a file--> batches
 *
 * To a system they are a picture of few, wide pixels: a field of kind RG_FIELD_PIXELS whose `width` is the network's
 * last maps (1280 of MobileNet v2, 512 of SqueezeNet), its layout's height and width the grid (7 x 7 for 224 x 224
 * pixels). Nothing else in a system changes: cnn with no layers and
 * --pool gap is a linear classifier on them, whose class activation maps are drawn as ever.
 *
 *     task options   rg_features_options features;           RG_FEATURES_ROWS(options, features)
 *     open           RG_TRY(rg_features_start(&its->features, &o->features, &pixels, run->threads));
 *                    spec = rg_features_spec(its->features, "picture");     sizes: rg_features_sizes()
 *                    ... stores are read ...                 RG_TRY(rg_features_save(its->features));
 *     model file     { RG_ASSET_FEATURES, "features", offsetof(assets, features), NULL, 0, true }
 *     answering      spec = rg_features_spec(its->features, "picture") again: the network is in the model file
 *
 * Examples of one picture (captions, questions) share its rows: a record holds a number, and rows are copied when a
 * batch is made. */
#ifndef REGARD_FEATURES_H
#define REGARD_FEATURES_H

#include "regard/model.h"
#include "regard/picture.h"

RG_API_BEGIN

typedef struct rg_features rg_features;

typedef struct rg_features_options {
    char *file, *cache;
} rg_features_options;
#define RG_FEATURES_ROWS(type, features)                                                                                                              \
    { RG_OPTION_STRING, "features", offsetof(type, features.file), "",                                                                                \
      "frozen network that pictures go through first: a model of `regard import`, or the file itself", 0, NULL, NULL, NULL },                               \
    { RG_OPTION_STRING, "features-cache", offsetof(type, features.cache), "",                                                                         \
      "file that keeps what it computed, for other trainings; empty: none", 0, NULL, NULL, NULL }

/* Open the network of --features. pixels: the size pictures are brought to (0: what the network was trained on) and
 * how; the same numbers, whatever the threads. With a cache, what is in that file is taken, unless it is of other
 * weights, sizes or fits. RG_EMATCH: not a network that can be used, with the tensor that is missing, too many or
 * misshapen. */
rg_status rg_features_start(rg_features **out, const rg_features_options *options, const rg_pixels_config *pixels,
                            int threads);
void      rg_features_free(rg_features *features);
/* Write the cache, if there is one and something was added. */
rg_status rg_features_save(rg_features *features);

size_t rg_features_width(const rg_features *features);  /* numbers per cell                   */
size_t rg_features_down(const rg_features *features);   /* cells                              */
size_t rg_features_across(const rg_features *features);
const rg_pixels_config *rg_features_pixels(const rg_features *features); /* the size pictures are brought to */
uint64_t rg_features_computed(const rg_features *features); /* pictures that went through the network, not counting those of the cache */
/* "channels", "height", "width" and "encoded" (1) of what a system sees. */
rg_status rg_features_sizes(rg_sizes *out, const rg_features *features);

/* The field of picture files through the network; borrowed, must outlive the store. */
rg_field_spec rg_features_spec(rg_features *features, const char *name);

/* One picture of 3 channels and any size: rows (down * across, width). Borrowed until the next call, or NULL with
 * *status. */
const float *rg_features_of(rg_status *status, rg_features *features, const rg_picture *picture);

/* For a model file: the network with its weights, and back. */
rg_status rg_features_to_bytes(rg_text *out, const rg_features *features);
rg_status rg_features_from_bytes(rg_features **out, const void *bytes, size_t count);

RG_API_END
#endif
