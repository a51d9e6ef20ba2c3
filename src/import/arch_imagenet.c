/* arch_imagenet.c - networks trained on ImageNet (layers/pretrained.h) as a cnn with the classes of --classes, or with
 * features alone.
 *
 * Classes are kept sorted here, so that columns of the classifier are put into that order; a name that is there
 * twice gets its number behind it. */
#include <string.h>

#include "autograd/params.h"
#include "import/foreign.h"
#include "layers/pretrained.h"
#include "regard/import.h"
#include "tasks/classify.h"

/* ---------------------------------------------------------------------------------------------------------- tensors */

static bool shape(void *context, const char *name, size_t dims[4], size_t *ndim)
{
    rg_array *a = rg_arrays_find(context, name);
    if (!a) return false;
    *ndim = a->ndim;
    for (size_t i = 0; i < a->ndim && i < 4; i++) dims[i] = a->dims[i];
    return true;
}

static rg_status read(void *context, const char *name, float *out, size_t count)
{
    rg_array *a = rg_arrays_find(context, name);
    if (a->count != count) return rg_fail(RG_EMATCH, "tensor \"%s\" has %zu numbers, not %zu", name, a->count, count);
    a->used = true;
    return rg_array_floats(out, context, a);
}

/* Arrays are found and marked in a struct that is only read otherwise. */
static rg_tensors_of tensors_of(const rg_foreign *f) { return (rg_tensors_of){ (void *)(uintptr_t)&f->arrays, shape, read }; } /* NOLINT(performance-no-int-to-ptr) */

static bool fits(const rg_foreign *f)
{
    const rg_tensors_of tensors = tensors_of(f);
    rg_pretrained       network;
    return rg_pretrained_recognise(&network, &tensors);
}

/* ---------------------------------------------------------------------------------------------------------- classes */

typedef struct {
    char  **name;
    size_t  count;
} labels;

static void free_labels(labels *l)
{
    for (size_t i = 0; i < l->count; i++) rg_free(l->name[i]);
    rg_free(l->name);
}

static rg_status read_labels(labels *l, const char *path, size_t classes)
{
    rg_lines *lines = NULL;
    rg_status status = path && *path ? rg_lines_open(&lines, path, NULL) : RG_OK;
    for (bool more = lines != NULL; status == RG_OK && more;) {
        rg_line line;
        status = rg_lines_next(&more, &line, lines);
        if (status != RG_OK || !more) break;
        if (l->count == classes)
            status = rg_fail(RG_EMATCH, "%s: more than %zu lines, one for each class of the network", path, classes);
        else if (!line.bytes)
            status = rg_fail(RG_EFORMAT, "%s: line %zu is empty: every class needs a name", path, l->count + 1);
        else if (!(l->name[l->count++] = rg_format("%.*s", (int)line.bytes, line.text))) status = RG_ENOMEM;
    }
    rg_lines_close(lines);
    if (status == RG_OK && lines && l->count < classes)
        status = rg_fail(RG_EMATCH, "%s: %zu lines; the network has %zu classes", path, l->count, classes);
    for (; status == RG_OK && l->count < classes; l->count++)
        if (!(l->name[l->count] = rg_format("%zu", l->count))) status = RG_ENOMEM;
    return status;
}

/* Names that occur before get their number: "crane (517)". */
static rg_status tell_twins_apart(labels *l)
{
    for (size_t i = 1; i < l->count; i++)
        for (size_t k = 0; k < i; k++) {
            if (strcmp(l->name[i], l->name[k]) != 0) continue;
            char *other = rg_format("%s (%zu)", l->name[i], i);
            if (!other) return RG_ENOMEM;
            rg_free(l->name[i]);
            l->name[i] = other;
            break;
        }
    return RG_OK;
}

static rg_status add_classes(rg_classifier *its, int32_t **out_place, const rg_foreign *f, size_t classes)
{
    labels    l = { .name = rg_alloc_zero((classes + 1) * sizeof(char *)) };
    rg_status status = l.name ? read_labels(&l, f->options->classes, classes) : RG_ENOMEM;
    if (status == RG_OK) status = tell_twins_apart(&l);
    if (status == RG_OK) status = rg_names_new(&its->names, (const char *const *)l.name, l.count);
    if (status == RG_OK && rg_names_count(its->names) != classes)
        status = rg_fail(RG_EFORMAT, "%s: names of classes are there twice", f->options->classes);
    its->counts = rg_alloc_array(classes + 1, sizeof *its->counts);
    *out_place = rg_alloc_array(classes + 1, sizeof **out_place);
    if (status == RG_OK && (!its->counts || !*out_place)) status = RG_ENOMEM;
    for (size_t c = 0; status == RG_OK && c < classes; c++) {
        its->counts[c] = 1; /* nothing is known of the data */
        (*out_place)[c] = rg_names_find(its->names, l.name[c], strlen(l.name[c]));
    }
    free_labels(&l);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- plan */

typedef struct {
    rg_pretrained network;
    int32_t      *place;
    char          layers[RG_PRETRAINED_TEXT];
} own;

static void set_if(const char **to, const char *given)
{
    if (given && *given) *to = given;
}

/* A net whose layers are the parameters of the model. */
static rg_status net_of(rg_net *out, const rg_model *m, const char *layers)
{
    RG_TRY(rg_net_parse(out, layers, 3, rg_model_size(m, "height"), rg_model_size(m, "width")));
    for (size_t i = 0; i < out->count; i++) {
        rg_net_layer           *l = &out->layer[i];
        static const char *const names[6] = { "w", "b", "gain", "bias", "mean", "variance" };
        rg_param **const         to[6] = { &l->w, &l->b, &l->gain, &l->bias, &l->mean, &l->variance };
        for (size_t k = 0; k < 6; k++) {
            char name[40];
            snprintf(name, sizeof name, "net.%zu.%s", i, names[k]);
            *to[k] = rg_params_find(m->params, name);
        }
    }
    return RG_OK;
}

static rg_status fill(rg_model *m, const rg_import_plan *p, rg_foreign *f)
{
    const own          *o = p->context;
    const rg_tensors_of tensors = tensors_of(f);
    const rg_param     *w = rg_params_find(m->params, "output.w"), *b = rg_params_find(m->params, "output.b");
    rg_net             *net = rg_alloc_zero(sizeof *net);
    rg_status           status = net ? net_of(net, m, o->layers) : RG_ENOMEM;
    if (status == RG_OK) status = rg_pretrained_fill(net, &o->network, &tensors, o->place);
    if (status == RG_OK && w && b) status = rg_pretrained_classifier(w, b, &tensors, o->place);
    rg_free(net);
    return status;
}

static void drop_own(void *context)
{
    rg_free(((own *)context)->place);
    rg_free(context);
}

static rg_status plan(rg_import_plan *p, rg_foreign *f)
{
    static const char *const   unused[] = { "*.num_batches_tracked", NULL };
    const rg_tensors_of        tensors = tensors_of(f);
    const rg_import_options   *given = f->options;
    rg_classifier             *its = rg_alloc_zero(sizeof *its);
    own                       *o = rg_alloc_zero(sizeof *o);
    p->assets = its, p->drop = rg_classifier_drop, p->context = o, p->drop_context = drop_own;
    if (!its || !o) return RG_ENOMEM;
    (void)rg_pretrained_recognise(&o->network, &tensors);
    rg_pretrained *n = &o->network;
    set_if(&n->pixels, given->pixels);
    set_if(&n->padding, given->padding);
    set_if(&n->pooling, given->pooling);
    const size_t side = given->size ? given->size : n->side;
    RG_TRY(rg_pretrained_layers(o->layers, n, &tensors, true));
    if (!n->classes && given->classes && *given->classes)
        return rg_fail(RG_EMATCH, "has no classifier (classifier.1.*), so that --classes names nothing");
    if (n->classes) RG_TRY(add_classes(its, &o->place, f, n->classes));
    if (!(its->input = rg_strdup("pixels"))) return RG_ENOMEM;
    p->system = "cnn", p->fill = fill, p->unused = unused;
    p->sizes = (rg_sizes){ { { "channels", 3 },
                             { "fit", RG_FIT_STRETCH },
                             { "height", side },
                             { "width", side },
                             { "classes", n->classes } } };
    return rg_text_print(&p->settings, "layers: \"%s\"\npool: gap\npixels: %s\nhead: %s\n", o->layers, n->pixels,
                         n->maps ? "maps" : "dense");
}

const rg_architecture rg_architecture_imagenet = { "imagenet",
                                                   "MobileNet v2 or SqueezeNet 1.1 with torchvision's names", fits,
                                                   plan };
