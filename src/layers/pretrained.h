/* pretrained.h - networks that others trained on ImageNet, told by the names of their tensors (torchvision's), as
 * layers of net.h.
 *
 * A network is a table of rows in pretrained.c: kinds and strides of its layers and the names of their tensors. Widths
 * come from the shapes in the file. What a file does not say is a setting with a default per form of the file:
 *
 *   form                                    pixels     padding   pooling
 *   mobilenet_v2, biases (folded norms)     signed     same      -
 *   mobilenet_v2, batch norms               imagenet   even      -
 *   squeezenet1_1 without classifier        caffe      -         down
 *   squeezenet1_1 with classifier           imagenet   -         up */
#ifndef RG_LAYERS_PRETRAINED_H
#define RG_LAYERS_PRETRAINED_H

#include "regard/net.h"

/* Tensors by name, wherever they lie. */
typedef struct rg_tensors_of {
    void *context;
    bool (*shape)(void *context, const char *name, size_t dims[4], size_t *ndim); /* false: it is not there; ndim above 4: dims are not filled */
    rg_status (*read)(void *context, const char *name, float *out, size_t count); /* all of its numbers */
} rg_tensors_of;

enum { RG_PRETRAINED_TEXT = 2048 };

typedef struct rg_pretrained {
    const char *name, *summary;
    const void *table;
    bool        norms;                      /* batch norms of their own instead of biases          */
    const char *pixels, *padding, *pooling; /* a rule of rg_pixels_as; "same", "even"; "up", "down" */
    size_t      side;                       /* of the pictures it was trained on                   */
    size_t      classes;                    /* 0: there is no classifier                           */
    bool        maps;                       /* a class is a map of its last layer, averaged        */
} rg_pretrained;

/* Fills *out with the defaults of the form. false: of no known network. */
bool rg_pretrained_recognise(rg_pretrained *out, const rg_tensors_of *tensors);
/* The text of its layers, by the shapes of the tensors; where classes are maps and `head` is asked for, with their
 * layer. RG_EMATCH names a tensor that is not there or has another shape. */
rg_status rg_pretrained_layers(char out[RG_PRETRAINED_TEXT], const rg_pretrained *network, const rg_tensors_of *tensors,
                               bool head);
/* Fill the parameters of `net`, which was made of that text; place[c]: the column of class c, NULL: as they come. */
rg_status rg_pretrained_fill(const rg_net *net, const rg_pretrained *network, const rg_tensors_of *tensors,
                             const int32_t *place);
/* The classifier behind the mean of the maps, w (D, classes) and b (1, classes); not for classes that are maps. */
rg_status rg_pretrained_classifier(const rg_param *w, const rg_param *b, const rg_tensors_of *tensors,
                                   const int32_t *place);

#endif
