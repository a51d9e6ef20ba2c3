/* acting_record.c - an episode as a picture: every frame with the finest patch of the retina framed and numbered, and below
 * it what the retina saw, coarse patches first and finer ones over their middle. The map "screen" is the same from
 * above: steps down, columns of the screen across; 1 the ball, 0.5 the paddle, 0.2 where the finest patch is.
 *
 *     walk.I.frame (pixels, 1)   walk.I.action (1, actions)   and those of classify_walk.h */
#include "tasks/acting.h"

#include <string.h>

#include "data/made/examples_made.h"
#include "tasks/classify_walk.h"

enum { ZOOM = 5, GAP = 6, ACROSS = 8 };

typedef struct {
    const rg_world *world;
    rg_walk         walk;
    float          *frame[RG_WALK_MOST];
    size_t          action[RG_WALK_MOST];
} episode;

static bool wants(void *context, const char *name)
{
    (void)context;
    return strncmp(name, "walk.", 5) == 0;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    episode     *e = context;
    unsigned     i = RG_WALK_MOST;
    const char  *last = strrchr(name, '.');
    const size_t pixels = e->world->height * e->world->width;
    if (sscanf(name, "walk.%2u.", &i) != 1 || i >= e->walk.count || !last) return;
    if (strcmp(last, ".action") == 0) {
        for (size_t a = 1; a < rg_tensor_cols(x); a++)
            if (rg_tensor_at(x, 0, a) > rg_tensor_at(x, 0, e->action[i])) e->action[i] = a;
    } else if (strcmp(last, ".frame") == 0 && rg_tensor_rows(x) == pixels) {
        rg_free(e->frame[i]);
        e->frame[i] = rg_alloc_array(pixels, sizeof(float));
        for (size_t k = 0; e->frame[i] && k < pixels; k++) e->frame[i][k] = (float)rg_tensor_at(x, k, 0);
    } else rg_walk_see(&e->walk, name, x, reach);
}

static rg_status watch(episode *e, double *out_reward, const rg_model *m, const rg_episodes *one)
{
    const rg_watcher     watcher = { e, wants, see };
    const rg_tape_config config = { .record = false };
    rg_tape             *t;
    RG_TRY(rg_tape_new(&t, &config));
    rg_tape_set_watcher(t, &watcher);
    const rg_tensor *y = m->system->predict(t, m, one);
    const rg_status  status = rg_tape_status(t);
    if (status == RG_OK) *out_reward = (double)rg_tensor_at(y, 0, 0);
    rg_tape_free(t);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- drawing */

typedef struct {
    size_t wide, high, seen; /* of a tile; side of what was seen */
} tile;

static rg_status draw_step(rg_picture *to, const episode *e, const tile *z, size_t i)
{
    const size_t top = i / ACROSS * (z->high + GAP), left = i % ACROSS * (z->wide + GAP), h = e->world->height * ZOOM;
    rg_picture   one = { 0 };
    RG_TRY(rg_picture_new(&one, h, z->wide, 3));
    for (size_t y = 0; y < h && e->frame[i]; y++)
        for (size_t x = 0; x < z->wide; x++) {
            const float value = e->frame[i][y / ZOOM * e->world->width + x / ZOOM];
            memset(one.pixels + (y * z->wide + x) * 3, (int)(25 + 230 * (value < 0 ? 0 : value > 1 ? 1 : value)), 3);
        }
    rg_walk_draw_glimpse(&one, &e->walk, i, ZOOM);
    for (size_t y = 0; y < h; y++)
        memcpy(to->pixels + ((top + y) * to->width + left) * 3, one.pixels + y * z->wide * 3, z->wide * 3);
    rg_walk_draw_seen(to, top + h + GAP, left + (z->wide - z->seen) / 2, z->seen, &e->walk, i);
    rg_picture_free(&one);
    return RG_OK;
}

static rg_status draw(rg_picture *out, const episode *e, const tile *z)
{
    const size_t lines = (e->walk.count + ACROSS - 1) / ACROSS;
    RG_TRY(rg_picture_new(out, lines * (z->high + GAP), ACROSS * (z->wide + GAP), 3));
    memset(out->pixels, 90, out->height * out->width * 3);
    for (size_t i = 0; i < e->walk.count; i++) RG_TRY(draw_step(out, e, z, i));
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- record */

static rg_status add_picture(rg_record *r, const episode *e)
{
    static const char *const whole[] = { "episode" };
    static const float       box[4] = { 0, 0, 1, 1 };
    const tile  z = { e->world->width * ZOOM, e->world->height * ZOOM + GAP + e->world->width * ZOOM / 2,
                      e->world->width * ZOOM / 2 };
    rg_picture  drawn = { 0 };
    rg_text     png = { 0 };
    size_t      regions = 0;
    rg_status   status = draw(&drawn, e, &z);
    if (status == RG_OK) status = rg_picture_encode(&png, &drawn);
    if (status == RG_OK) status = rg_record_add_labels(&regions, r, "frames", RG_LABEL_REGION, whole, 1);
    if (status == RG_OK) status = rg_record_set_boxes(r, regions, box);
    if (status == RG_OK) status = rg_record_set_picture(r, regions, png.data, png.length);
    rg_picture_free(&drawn);
    rg_text_free(&png);
    return status;
}

static const char *const three[] = { "left", "-", "right" };

static rg_status add_names(size_t *out, rg_record *r, const char *name, size_t count, const episode *e)
{
    char    **text = rg_alloc_zero((count + 1) * sizeof *text);
    rg_status status = text ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++)
        if (!(text[i] =
                  e && e->world->actions == 3 ? rg_format("%zu %s", i + 1, three[e->action[i]]) : rg_format("%zu", i)))
            status = RG_ENOMEM;
    if (status == RG_OK) status = rg_record_add_labels(out, r, name, RG_LABEL_TOKEN, (const char *const *)text, count);
    for (size_t i = 0; text && i < count; i++) rg_free(text[i]);
    rg_free(text);
    return status;
}

static rg_status add_screen(rg_record *r, const episode *e)
{
    const rg_map_place place = { "screen", -1, -1, -1, -1 };
    const size_t       n = e->walk.count, W = e->world->width, H = e->world->height;
    rg_real           *w = rg_alloc_zero((n * W + 1) * sizeof *w);
    size_t             steps = 0, columns = 0;
    rg_status          status = w ? add_names(&steps, r, "steps", n, e) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++)
        for (size_t x = 0; x < W && e->frame[i]; x++) {
            bool above = false;
            for (size_t y = 0; y + 1 < H; y++) above = above || e->frame[i][y * W + x] > 0;
            const double from = e->walk.x[i] - (double)x;
            w[i * W + x] = above                                                         ? 1
                           : e->frame[i][(H - 1) * W + x] > 0                            ? (rg_real)0.5
                           : from < (double)e->walk.patch / 2 && from > -(double)e->walk.patch / 2 ? (rg_real)0.2
                                                                                         : 0;
        }
    if (status == RG_OK) status = add_names(&columns, r, "columns", W, NULL);
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, steps, columns, w, W);
    rg_free(w);
    return status;
}

/* "left left - right": what was done. */
static rg_status add_actions(rg_record *r, const episode *e)
{
    rg_text   text = { 0 };
    rg_status status = rg_text_add_string(&text, "actions:");
    for (size_t i = 0; status == RG_OK && i < e->walk.count; i++)
        status = e->world->actions == 3 ? rg_text_print(&text, " %s", three[e->action[i]])
                                        : rg_text_print(&text, " %zu", e->action[i]);
    if (status == RG_OK) status = rg_record_add_text(r, "note", rg_text_c(&text), 0, false);
    rg_text_free(&text);
    return status;
}

rg_status rg_world_record(rg_record **out, const rg_model *m, const rg_episodes *one)
{
    episode e = { .world = one->world,
                  .walk = { .count = one->world->steps,
                            .patch = rg_model_size(m, "patch"),
                            .scales = rg_model_size(m, "scales"),
                            .channels = 1 } };
    double  reward = 0;
    char    title[120];
    *out = NULL;
    if (!e.walk.patch || !e.walk.scales || e.walk.scales > 16 || e.walk.count > RG_WALK_MOST)
        return rg_fail(RG_EMATCH, "the model has no retina");
    rg_status status = watch(&e, &reward, m, one);
    snprintf(title, sizeof title, "%s: %s", one->world->name, reward > 0 ? "caught" : "missed");
    if (status == RG_OK) status = rg_record_new(out, title, "world");
    if (status == RG_OK) status = add_picture(*out, &e);
    if (status == RG_OK) status = add_screen(*out, &e);
    if (status == RG_OK) status = add_actions(*out, &e);
    for (size_t i = 0; i < e.walk.count; i++) rg_free(e.frame[i]);
    rg_walk_fini(&e.walk);
    if (status == RG_OK) return RG_OK;
    rg_record_free(*out);
    *out = NULL;
    return status;
}
