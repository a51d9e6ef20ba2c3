/* classify_attack.c - see classify_attack.h. The change is made to leave the answer that the model gives; colours of
 * its picture are signed: red raises a pixel, blue lowers it, white leaves it, full colour is the largest change. */
#include <math.h>
#include <string.h>

#include "regard/ops.h"
#include "tasks/classify_attack.h"
#include "tasks/probe.h"

/* One picture or text, before and after. */
typedef struct {
    const rg_model        *model;
    const rg_shown_attack *how;
    rg_tape               *tape;
    rg_batch               batch;
    rg_pass                clean;
    rg_tensor             *r, *moved, *logits;
    rg_seen_maps           seen[2]; /* where the evidence was */
} attacked;

/* ---------------------------------------------------------------------------------------------------------- passing */

static rg_status run(attacked *a)
{
    rg_tape          *t = a->tape;
    const rg_watcher  before = rg_seen_maps_watcher(&a->seen[0]), after = rg_seen_maps_watcher(&a->seen[1]);
    rg_perturb_config c = { .ball = a->how->ball, .epsilon = a->how->epsilon, .steps = a->how->steps,
                            .towards = RG_TOWARDS_ANSWER };
    rg_tape_reset(t, 0);
    rg_tape_set_watcher(t, &before);
    a->clean = rg_pass_run(t, a->model, &a->batch, false);
    rg_tape_set_watcher(t, NULL);
    RG_TRY(rg_tape_status(t));
    rg_perturb_range(&c.low, &c.high, &a->clean);
    a->r = rg_perturb(t, &a->clean, &c);
    a->moved = rg_with_layout(t, rg_add(t, a->clean.rows, a->r), rg_tensor_layout(a->clean.rows));
    rg_tape_set_watcher(t, &after);
    a->logits = rg_pass_again(t, &a->clean, a->moved);
    rg_tape_set_watcher(t, NULL);
    return rg_tape_status(t);
}

/* "zebra 0.931"; a new string. */
static char *answer_of(const attacked *a, const rg_tensor *logits)
{
    const rg_classifier *its = a->model->assets;
    double               p = 0;
    const int32_t        best = rg_probe__best(&p, logits, 0);
    const char          *name = its->names ? rg_names_get(its->names, best) : "";
    return rg_format("%.*s %.3f", (int)strcspn(name, ","), name, p); /* the first of several names */
}

/* --------------------------------------------------------------------------------------------------------- pictures */

static rg_status pixels_of(rg_picture *out, const attacked *a, const rg_tensor *x)
{
    const rg_layout *l = &a->batch.field[RG_INPUT].layout;
    const size_t     C = rg_tensor_cols(x);
    RG_TRY(rg_picture_new(out, l->height, l->width, C == 3 ? 3 : 1));
    for (size_t i = 0; i < out->height * out->width * out->channels; i++) {
        const double v = (double)rg_tensor_at(x, i / out->channels, i % out->channels);
        out->pixels[i] = (unsigned char)(255 * fmin(1, fmax(0, v)) + 0.5);
    }
    return RG_OK;
}

/* The mean of a pixel's channels: white at 0, red above, blue below, full at `largest`. */
static rg_status signed_colours(rg_picture *out, const attacked *a, double largest)
{
    const rg_layout *l = &a->batch.field[RG_INPUT].layout;
    const size_t     C = rg_tensor_cols(a->r);
    RG_TRY(rg_picture_new(out, l->height, l->width, 3));
    for (size_t i = 0; i < out->height * out->width; i++) {
        double mean = 0;
        for (size_t c = 0; c < C; c++) mean += (double)rg_tensor_at(a->r, i, c) / (double)C;
        const double        v = largest > 0 ? fmax(-1, fmin(1, mean / largest)) : 0;
        const unsigned char less = (unsigned char)(255 * (1 - fabs(v)) + 0.5);
        unsigned char      *to = out->pixels + 3 * i;
        to[0] = v < 0 ? less : 255;
        to[1] = less;
        to[2] = v > 0 ? less : 255;
    }
    return RG_OK;
}

static double largest_of(const attacked *a)
{
    double most = 0;
    for (size_t i = 0; i < rg_tensor_rows(a->r); i++)
        for (size_t c = 0; c < rg_tensor_cols(a->r); c++) most = fmax(most, fabs((double)rg_tensor_at(a->r, i, c)));
    return most;
}

/* A list of regions with its picture: the cells of maps, or the whole. */
static rg_status add_panel(size_t *out, rg_record *r, const char *name, rg_picture *p, size_t down, size_t across)
{
    rg_text   png = { 0 };
    rg_status status = rg_picture_encode(&png, p);
    if (status == RG_OK) status = rg_record_add_grid(out, r, name, down ? down : 1, across ? across : 1);
    if (status == RG_OK) status = rg_record_set_picture(r, *out, png.data, png.length);
    rg_text_free(&png);
    rg_picture_free(p);
    return status;
}

/* The evidence of one pass; where there is none the whole picture. */
static rg_status add_evidence(rg_record *r, const attacked *a, size_t which, size_t cells, const char *answer)
{
    static const rg_real one[] = { 1 };
    const rg_seen_maps  *s = &a->seen[which];
    rg_map_place         place = RG_MAP_PLACE_DEFAULT;
    size_t               rows = 0;
    place.name = which ? "evidence.after" : "evidence.before";
    RG_TRY(rg_record_add_labels(&rows, r, which ? "after" : "before", RG_LABEL_TOKEN, &answer, 1));
    if (!s->numbers) return rg_record_add_map(NULL, r, place, rows, cells, one, 1);
    rg_real *w = rg_alloc_array(s->numbers, sizeof *w);
    if (!w) return RG_ENOMEM;
    for (size_t i = 0; i < s->numbers; i++) w[i] = (rg_real)s->map[i];
    const rg_status status = rg_record_add_map(NULL, r, place, rows, cells, w, s->numbers);
    rg_free(w);
    return status;
}

static char *scale_of(const attacked *a)
{
    const double most = largest_of(a);
    return a->how->ball == RG_BALL_LINF
               ? rg_format("change: blue -%s, red +%s", a->how->given, a->how->given)
               : rg_format("change of length %s: blue -%.3g, red +%.3g", a->how->given, most, most);
}

static rg_status add_pictures(rg_record *r, attacked *a, const char *before, const char *after)
{
    const size_t down = rg_model_size(a->model, "cells-down"), across = rg_model_size(a->model, "cells-across");
    const bool   maps = down && a->seen[0].numbers == down * across && a->seen[1].numbers == down * across;
    char        *scale = scale_of(a), *first = rg_format("picture: %s", before),
         *last = rg_format("attacked: %s", after);
    rg_picture p = { 0 };
    size_t     cells[2] = { 0, 0 }, unused = 0;
    if (!maps) a->seen[0].numbers = a->seen[1].numbers = 0;
    rg_status status = scale && first && last ? pixels_of(&p, a, a->clean.rows) : RG_ENOMEM;
    if (status == RG_OK) status = add_panel(&cells[0], r, first, &p, maps ? down : 1, maps ? across : 1);
    if (status == RG_OK)
        status = signed_colours(&p, a, a->how->ball == RG_BALL_LINF ? a->how->epsilon : largest_of(a));
    if (status == RG_OK) status = add_panel(&unused, r, scale, &p, 1, 1);
    if (status == RG_OK) status = pixels_of(&p, a, a->moved);
    if (status == RG_OK) status = add_panel(&cells[1], r, last, &p, maps ? down : 1, maps ? across : 1);
    if (status == RG_OK) status = add_evidence(r, a, 0, cells[0], before);
    if (status == RG_OK) status = add_evidence(r, a, 1, cells[1], after);
    rg_picture_free(&p);
    rg_free(scale);
    rg_free(first);
    rg_free(last);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ texts */

static rg_status add_words(rg_record *r, const attacked *a, const char *const *piece, size_t n)
{
    static const char *const row[] = { "length of r" };
    const size_t             N = rg_tensor_rows(a->r), D = rg_tensor_cols(a->r);
    rg_map_place             place = RG_MAP_PLACE_DEFAULT;
    size_t                   words = 0, rows = 0;
    place.name = "change";
    if (N != n) return rg_fail(RG_EMATCH, "%zu rows go in for %zu words: the change has no place at a word", N, n);
    rg_real *w = rg_alloc_array(n + 1, sizeof *w);
    if (!w) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        double squares = 0;
        for (size_t j = 0; j < D; j++) squares += (double)rg_tensor_at(a->r, i, j) * (double)rg_tensor_at(a->r, i, j);
        w[i] = (rg_real)sqrt(squares);
    }
    rg_status status = rg_record_add_labels(&words, r, "words", RG_LABEL_TOKEN, piece, n);
    if (status == RG_OK) status = rg_record_add_labels(&rows, r, "change", RG_LABEL_TOKEN, row, 1);
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, rows, words, w, n);
    rg_free(w);
    return status;
}

rg_status rg_attack_show(rg_record *r, const rg_model *m, const rg_asked *asked, const rg_shown_attack *how,
                         const char *const *piece, size_t pieces)
{
    const rg_classifier *its = m->assets;
    const rg_tape_config config = { .record = true, .seed = 1 };
    attacked             a = { .model = m, .how = how, .batch = *asked->batch };
    const rg_field_kind  kind = a.batch.field[RG_INPUT].kind;
    if (its->features)
        return rg_fail(RG_EMATCH, "--attack: its pictures go through a frozen network first (--features), which is not "
                                  "attacked");
    if (kind != RG_FIELD_PIXELS && kind != RG_FIELD_IDS)
        return rg_fail(RG_EMATCH, "--attack shows changes of pictures and of texts; use regard attack for numbers");
    rg_status status = rg_tape_new(&a.tape, &config);
    if (status == RG_OK) status = run(&a);
    char *before = status == RG_OK ? answer_of(&a, a.clean.logits) : NULL,
         *after = status == RG_OK ? answer_of(&a, a.logits) : NULL;
    if (status == RG_OK && (!before || !after)) status = RG_ENOMEM;
    if (status == RG_OK) status = rg_record_add_text(r, "before", before, 0, false);
    if (status == RG_OK) status = rg_record_add_text(r, "after", after, 0, false);
    if (status == RG_OK)
        status = kind == RG_FIELD_PIXELS ? add_pictures(r, &a, before, after) : add_words(r, &a, piece, pieces);
    rg_free(before);
    rg_free(after);
    rg_free(a.seen[0].map);
    rg_free(a.seen[1].map);
    rg_tape_free(a.tape);
    return status;
}
