/* net.h - layers of a convolutional network from a short text: "c5x32 p2 c5x48 p2 f100".
 *
 *   c5x32      convolution of 5 x 5 pixels, 32 maps, relu; as large as its input      s2   it moves by 2 pixels
 *   p2, a2     the largest, the mean of 2 x 2 pixels; moves by as many                v    no border: 28 x 28 becomes 24 x 24 (5 x 5)
 *   f100       100 dense units, relu                                                  n    batch norm before the activation (c, f, i)
 *   d0.5       dropout                                                                g8   8 groups of channels; as many as there are: depthwise
 *   i6x24      inverted residual: 1 x 1 to 6 times as many maps, 3 x 3 depthwise,     t    border as TensorFlow's SAME (c, i)
 *              1 x 1 to 24, plus its input where shapes agree                         r, l relu6, no activation instead of relu (c)
 *   q16x64     fire: 1 x 1 to 16 maps, then 1 x 1 and 3 x 3 to 64 each, side by side  u    a last window that is not whole counts (p, a)
 *
 * Letters on the right stand behind a layer: "c3x64s2n", "c3x64g8", "p3s2u". i (Sandler et al. 2018; relu6 inside,
 * nothing after its end) and q (Iandola et al. 2016) are short for the convolutions they consist of. Layers of maps
 * come first, then those of units; how maps become units (mean, maximum, side by side, attention) is for the system
 * between them. */
#ifndef REGARD_NET_H
#define REGARD_NET_H

#include "regard/conv.h"

RG_API_BEGIN

typedef enum rg_net_kind { RG_NET_CONV, RG_NET_POOL, RG_NET_AVERAGE, RG_NET_DENSE, RG_NET_DROPOUT } rg_net_kind;

typedef enum rg_net_end { RG_NET_RELU, RG_NET_RELU6, RG_NET_LINEAR } rg_net_end; /* what follows a convolution */

enum { RG_NET_LAYERS = 96, RG_NET_NAME = 24 };

typedef struct rg_net_layer {
    char          text[RG_NET_NAME]; /* as it was written */
    rg_net_kind   kind;
    rg_window     window;
    rg_net_end    end;
    size_t        in, out, groups; /* channels or units; dense layers behind maps: `in` is set by rg_net_init */
    size_t        from, beside, plus; /* numbers of layers from 1: whose maps it reads (0: the picture), has to its left, are added (0: none) */
    size_t        wide;            /* channels with those to its left */
    size_t        height, width;   /* of the result; 0: units */
    bool          norm;
    double        dropout;
    rg_param     *w, *b, *gain, *bias, *mean, *variance; /* NULL where there is none */
} rg_net_layer;

typedef struct rg_net {
    size_t         channels, height, width; /* of the pictures that go in */
    size_t         count, maps;             /* layers; those of them that give maps, which come first */
    rg_net_layer   layer[RG_NET_LAYERS];
} rg_net;

/* Read the text and work out all shapes. RG_EINVAL, RG_ESHAPE: "layer 3 'p2': a map of 1 x 1 cannot be pooled". ""
 * has no layers. */
rg_status rg_net_parse(rg_net *out, const char *text, size_t channels, size_t height, size_t width);
/* Shapes, one line per layer: "c5x32  28 x 28 x 32". A new string for rg_free; NULL: no memory. */
char *rg_net_describe(const rg_net *net);
/* Channels, height and width of the last map. */
size_t rg_net_channels(const rg_net *net);
size_t rg_net_height(const rg_net *net);
size_t rg_net_width(const rg_net *net);
/* Declare parameters "NAME.0.w", ...; `units` is what the first dense layer reads: channels, or all numbers of a
 * map. */
void rg_net_init(rg_net *net, rg_params *params, const char *name, size_t units);
size_t rg_net_units(const rg_net *net, size_t units); /* of the last dense layer; `units` without one */

rg_tensor *rg_net_maps(rg_tape *t, const rg_net *net, rg_tensor *pictures); /* (G * H * W, D) -> (G * H' * W', E) */
rg_tensor *rg_net_dense(rg_tape *t, const rg_net *net, rg_tensor *units);   /* (G, units) -> (G, units of the last) */

/* What a network was trained to see, from pixels of 0 .. 1 (rows of red, green, blue): a map of the three channels.
 *
 *   unit       as they are, whatever the channels        signed   (255 x - 128) / 128
 *   imagenet   mean 0, deviation 1 over ImageNet         caffe    blue, green, red; 255 x minus ImageNet's means */
#define RG_PIXEL_RULES "unit|signed|imagenet|caffe"
rg_tensor *rg_pixels_as(rg_tape *t, const char *rule, rg_tensor *x);

RG_API_END
#endif
