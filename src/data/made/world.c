/* world.c - worlds to act in: see world.h. */
#include "regard/world.h"

#include <math.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- catch */

enum { SIDE = 24, PADDLE = 5 };

typedef struct ball {
    double x, dx; /* of the ball's middle, in pixels; per step */
    int    row, paddle; /* from the top; leftmost pixel         */
} ball;

static void catch_start(void *state, rg_random *r)
{
    ball *b = state;
    b->x = rg_random_uniform(r) * (SIDE - 1);
    b->dx = 2 * rg_random_uniform(r) - 1;
    b->row = 0;
    b->paddle = (SIDE - PADDLE) / 2;
}

static int column(const ball *b) { return (int)floor(b->x + 0.5); }

static double catch_step(void *state, size_t action)
{
    ball *b = state;
    b->paddle += action == 0 ? -1 : action == 2 ? 1 : 0;
    if (b->paddle < 0) b->paddle = 0;
    if (b->paddle > SIDE - PADDLE) b->paddle = SIDE - PADDLE;
    b->x += b->dx;
    if (b->x < 0 || b->x > SIDE - 1) { /* off the side */
        b->x = b->x < 0 ? -b->x : 2 * (SIDE - 1) - b->x;
        b->dx = -b->dx;
    }
    b->row++;
    return b->row == SIDE - 1 && column(b) >= b->paddle && column(b) < b->paddle + PADDLE ? 1 : 0;
}

static void catch_draw(rg_real *pixels, const void *state)
{
    const ball *b = state;
    memset(pixels, 0, (size_t)SIDE * SIDE * sizeof *pixels);
    for (int i = 0; i < PADDLE; i++) pixels[(SIDE - 1) * SIDE + b->paddle + i] = 1;
    pixels[b->row * SIDE + column(b)] = 1;
}

static const rg_world catch_world = { .name = "catch",
                                      .summary = "a falling ball is caught with a paddle",
                                      .height = SIDE,
                                      .width = SIDE,
                                      .actions = 3,
                                      .steps = SIDE - 1,
                                      .state_bytes = sizeof(ball),
                                      .start = catch_start,
                                      .step = catch_step,
                                      .draw = catch_draw };

/* ----------------------------------------------------------------------------------------------------------- worlds */

static const rg_world *const table[] = { &catch_world, NULL };

const rg_world *const *rg_world_all(void) { return table; }

const rg_world *rg_world_find(const char *name)
{
    for (const rg_world *const *w = table; *w; w++)
        if (strcmp((*w)->name, name) == 0) return *w;
    return NULL;
}

void rg_episode_start(void *state, const rg_episodes *e, size_t i)
{
    rg_random random = rg_random_new(e->seed, 0x776f726c64u + e->first + i);
    e->world->start(state, &random);
}

rg_status rg_world_random(double *out, const rg_episodes *e)
{
    void  *state = rg_alloc_zero(e->world->state_bytes);
    double sum = 0;
    if (!state) return RG_ENOMEM;
    for (size_t i = 0; i < e->count; i++) {
        rg_random random = rg_random_new(e->seed, 0x72616e646f6du + e->first + i);
        rg_episode_start(state, e, i);
        for (size_t k = 0; k < e->world->steps; k++)
            sum += e->world->step(state, (size_t)rg_random_below(&random, e->world->actions));
    }
    rg_free(state);
    *out = sum / (double)(e->count ? e->count : 1);
    return RG_OK;
}
