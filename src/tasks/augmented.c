/* augmented.c - see augmented.h. */
#include "tasks/augmented.h"

#include <string.h>

#include "regard/made.h"
#include "regard/picture.h"

enum { PIXELS = RG_MADE_DIGIT * RG_MADE_DIGIT };

struct rg_augmented {
    rg_augment          plain;
    uint64_t            seed;
    const rg_generator *generator; /* NULL: plain */
    void               *options;
    unsigned char      *digits[2]; /* of training and validation */
    rg_maker           *maker[2];
    bool                ready;
};

/* ---------------------------------------------------------------------------------------------------------- reading */

/* "clutter:8" as an option of the generator. */
static rg_status set_option(rg_augmented *a, const char *word, size_t bytes)
{
    const rg_option_group group = { a->generator->name, a->generator->options, a->options };
    const char           *colon = memchr(word, ':', bytes);
    char                  name[64], value[64];
    const char *const     words[] = { value };
    if (!colon || colon == word || (size_t)(colon - word) >= sizeof name ||
        bytes - (size_t)(colon - word) > sizeof value)
        return rg_fail(RG_EINVAL, "'%.*s': options of %s are written name:value", (int)bytes, word, a->generator->name);
    snprintf(name, sizeof name, "%.*s", (int)(colon - word), word);
    snprintf(value, sizeof value, "%.*s", (int)(bytes - (size_t)(colon - word) - 1), colon + 1);
    return rg_options_set(&group, 1, name, 1, words);
}

static rg_status use_generator(rg_augmented *a, const rg_generator *g, const char *rest)
{
    char              seed[24];
    const char *const words[] = { seed };
    if (!(a->options = rg_alloc_zero(g->options_bytes))) return RG_ENOMEM;
    a->generator = g;
    const rg_option_group group = { g->name, g->options, a->options };
    RG_TRY(rg_options_init(g->options, a->options));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)(a->seed & INT64_MAX));
    RG_TRY(rg_options_set(&group, 1, "seed", 1, words));
    while (*(rest += strspn(rest, " ,"))) {
        const size_t bytes = strcspn(rest, " ,");
        RG_TRY(set_option(a, rest, bytes));
        rest += bytes;
    }
    return RG_OK;
}

rg_status rg_augmented_new(rg_augmented **out, const char *text, uint64_t seed)
{
    rg_augmented *a = rg_alloc_zero(sizeof *a);
    const size_t  bytes = strcspn(text, " ,");
    char          name[32] = "";
    if (!a) return RG_ENOMEM;
    a->seed = seed;
    if (bytes < sizeof name) snprintf(name, sizeof name, "%.*s", (int)bytes, text);
    const rg_generator *g = rg_generator_find(name);
    const rg_status     status = g && g->draw ? use_generator(a, g, text + bytes) : rg_augment_parse(&a->plain, text);
    if (status != RG_OK) {
        rg_augmented_free(a);
        return rg_fail_in(status, "--augment: ");
    }
    *out = a;
    return RG_OK;
}

void rg_augmented_free(rg_augmented *a)
{
    if (!a) return;
    for (int i = 0; i < 2; i++) {
        rg_maker_free(a->maker[i]);
        rg_free(a->digits[i]);
    }
    if (a->options) rg_options_fini(a->generator->options, a->options);
    rg_free(a->options);
    rg_free(a);
}

/* --------------------------------------------------------------------------------------------------------- changing */

static rg_status as_it_is(rg_text *out, size_t *height, size_t *width, const rg_base_picture *b)
{
    *height = b->height, *width = b->width;
    return rg_text_add(out, b->pixels, b->height * b->width * b->channels);
}

static rg_status give(rg_text *out, size_t *height, size_t *width, const rg_picture *p)
{
    *height = p->height, *width = p->width;
    return rg_text_add(out, p->pixels, p->height * p->width * p->channels);
}

static void first_box(int32_t out[4], const rg_made *made)
{
    const rg_made_box *b = &made->box[0];
    if (!made->boxes) return;
    out[0] = (int32_t)b->x, out[1] = (int32_t)b->y, out[2] = (int32_t)b->width, out[3] = (int32_t)b->height;
}

static rg_status change(rg_text *out, size_t *height, size_t *width, int32_t box[4], const rg_base_picture *base,
                        uint64_t epoch, uint64_t line, bool training, void *context)
{
    const rg_augmented *a = context;
    rg_status           status;
    if (a->generator) {
        rg_made made = { 0 };
        if (!a->ready) return as_it_is(out, height, width, base);
        status = rg_maker_change(&made, a->maker[training ? 0 : 1], base->pixels, epoch, line);
        if (status == RG_OK) status = give(out, height, width, &made.picture);
        if (status == RG_OK) first_box(box, &made);
        rg_made_free(&made);
        return status;
    }
    if (!training) return as_it_is(out, height, width, base);
    const rg_picture p = { base->height, base->width, base->channels, (unsigned char *)(uintptr_t)base->pixels }; /* only read. NOLINT(performance-no-int-to-ptr) */
    rg_picture       changed = { 0 };
    status = rg_picture_augment(&changed, &p, &a->plain, a->seed, epoch, line);
    if (status == RG_OK) status = give(out, height, width, &changed);
    rg_picture_free(&changed);
    return status;
}

void rg_augmented_on(rg_field_spec *spec, rg_augmented *a)
{
    spec->change = change;
    spec->changing = a;
}

static rg_status take(unsigned char **out, rg_examples *store, size_t field)
{
    const size_t count = (size_t)rg_examples_count(store);
    if (!(*out = rg_alloc_array(count, PIXELS))) return RG_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        rg_batch one;
        RG_TRY(rg_examples_one(&one, store, i));
        const rg_field *f = &one.field[field];
        if (f->layout.height != RG_MADE_DIGIT || f->layout.width != RG_MADE_DIGIT || f->width != 1)
            return rg_fail(RG_EFORMAT,
                           "picture %llu has %zu x %zu pixels and %zu channels; generators place grey ones of 28 x 28: "
                           "give --size 28",
                           (unsigned long long)one.lines[0], f->layout.width, f->layout.height, f->width);
        for (size_t k = 0; k < PIXELS; k++) (*out)[i * PIXELS + k] = (unsigned char)((double)f->values[k] * 255 + 0.5);
    }
    return RG_OK;
}

rg_status rg_augmented_fill(rg_augmented *a, rg_examples *train, rg_examples *valid, size_t field)
{
    rg_examples *const stores[2] = { train, valid };
    if (!a || !a->generator) return RG_OK;
    for (int i = 0; i < 2; i++) {
        if (!stores[i]) continue;
        RG_TRY(take(&a->digits[i], stores[i], field));
        RG_TRY(
            rg_maker_over(&a->maker[i], a->generator, a->options, a->digits[i], (size_t)rg_examples_count(stores[i])));
    }
    a->ready = true;
    return RG_OK;
}

bool rg_augmented_alike(const rg_augmented *a) { return a->generator != NULL; }
