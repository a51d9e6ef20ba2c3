/* made_vqa.c - pictures with questions and answers (after "Sort-of-CLEVR": Santoro et al. 2017, section 4.2): six
 * shapes of six colours.
 *
 *   about one shape   what shape is the red object ?      is the red object on the left ?      is the red object at the top ?
 *   about several     what shape is closest to the red object ?    ... farthest from the red object ?    how many have the shape of the red object ?
 *
 * Ten questions per picture: five of each kind; --questions shape, plain or relational: of that kind alone. --objects
 * 3: the first three colours. Boxes are named by colour; the column `about` says which one a
 * question asks for. */
#include "data/made/examples_made.h"

#include <string.h>

#include "base/hash.h"

typedef struct settings {
    rg_made_settings base;
    int64_t          objects;
    char            *questions;
} settings;

enum { SIDE = 75, OBJECTS = 6, QUESTIONS = 10, SIZE = 5, APART = 13 };

static const struct {
    const char *name;
    rg_ink      ink;
} colours[OBJECTS] = { { "red", { { 220, 40, 40 } } },    { "green", { { 40, 180, 60 } } },
                       { "blue", { { 50, 90, 230 } } },   { "orange", { { 245, 150, 30 } } },
                       { "grey", { { 130, 130, 130 } } }, { "yellow", { { 235, 220, 50 } } } };

typedef struct object {
    int x, y, shape; /* of its middle; RG_SHAPE_CIRCLE or RG_SHAPE_SQUARE */
} object;

static int square(int a) { return a * a; }
static int distance2(const object *a, const object *b) { return square(a->x - b->x) + square(a->y - b->y); }

/* No two touch, and no distance of two pairs is equal, so that "closest" has one answer. */
static bool fits(const object *o, int n)
{
    for (int i = 0; i < n; i++)
        if (distance2(&o[i], &o[n]) < square(APART)) return false;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++)
            for (int k = 0; k < j; k++)
                if (i != j && i != k && distance2(&o[i], &o[j]) == distance2(&o[i], &o[k])) return false;
    return true;
}

static void place(object *o, int count, rg_random *random)
{
    for (int n = 0; n < count; n++)
        do {
            o[n].x = (int)rg_made__between(random, SIZE + 1, SIDE - SIZE - 2);
            o[n].y = (int)rg_made__between(random, SIZE + 1, SIDE - SIZE - 2);
            o[n].shape = rg_random_below(random, 2) ? RG_SHAPE_SQUARE : RG_SHAPE_CIRCLE;
        } while (!fits(o, n));
}

static const object *extreme(const object *o, int count, int of, bool farthest)
{
    const object *best = NULL;
    for (int i = 0; i < count; i++)
        if (i != of && (!best || (distance2(&o[i], &o[of]) < distance2(best, &o[of])) != farthest)) best = &o[i];
    return best;
}

/* 0 .. 5, in the order of the words below. */
static int kind_of(const settings *s, size_t question, rg_random *random)
{
    const int which = (int)rg_random_below(random, 3);
    switch (s->questions[0]) {
    case 's': return 0;
    case 'p': return which;
    case 'r': return 3 + which;
    default: return (int)(question % 2 * 3) + which;
    }
}

static rg_status ask(rg_made *out, const settings *s, const object *o, size_t question, rg_random *random)
{
    static const char *const words[] = { "what shape is the %s object ?",
                                         "is the %s object on the left ?",
                                         "is the %s object at the top ?",
                                         "what shape is closest to the %s object ?",
                                         "what shape is farthest from the %s object ?",
                                         "how many have the shape of the %s object ?" };
    const int  objects = (int)s->objects, kind = kind_of(s, question, random);
    const int  of = (int)rg_random_below(random, (uint64_t)objects), middle = SIDE / 2;
    int        same = 0;
    char       count[12];
    for (int i = 0; i < objects; i++) same += o[i].shape == o[of].shape;
    (void)snprintf(count, sizeof count, "%d", same);
    const char *const answers[] = { rg_draw__shapes[o[of].shape],
                                    o[of].x < middle ? "yes" : "no",
                                    o[of].y < middle ? "yes" : "no",
                                    rg_draw__shapes[extreme(o, objects, of, false)->shape],
                                    rg_draw__shapes[extreme(o, objects, of, true)->shape],
                                    count };
    const char *before = strstr(words[kind], "%s");
    RG_TRY(rg_text_print(&out->cell[0], "%.*s%s%s", (int)(before - words[kind]), words[kind], colours[of].name,
                         before + 2));
    RG_TRY(rg_text_add_string(&out->cell[1], answers[kind]));
    RG_TRY(rg_text_add_string(&out->cell[2], kind < 3 ? "plain" : "relational"));
    return rg_text_add_string(&out->cell[3], colours[of].name);
}

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const settings *s = m->options;
    object          o[OBJECTS];
    (void)split;
    memset(o, 0, sizeof o);
    place(o, (int)s->objects, random);
    out->identity = rg_hash64_of(o, sizeof o) | 1u << 31;
    RG_TRY(rg_picture_new(&out->picture, SIDE, SIDE, 3));
    memset(out->picture.pixels, 250, (size_t)SIDE * SIDE * 3);
    for (int i = 0; i < (int)s->objects; i++) {
        rg_draw__shape(&out->picture, o[i].shape, o[i].x, o[i].y, SIZE, colours[i].ink);
        RG_TRY(rg_made__add_box(out, colours[i].name, o[i].x - SIZE, o[i].y - SIZE, 2 * SIZE + 1, 2 * SIZE + 1));
    }
    rg_random questions = rg_random_new(random->seed ^ 0x71756573u, number);
    return ask(out, s, o, (size_t)(number % QUESTIONS), &questions);
}

static const rg_option options[] = {
    RG_MADE_ROWS(settings, "100000"),
    { RG_OPTION_INT, "objects", offsetof(settings, objects), "6", "shapes of a picture", 0, "[2,6]", NULL },
    { RG_OPTION_STRING, "questions", offsetof(settings, questions), "all",
      "shape: what shape a colour has; plain: and where it is; relational: about several; all: plain and relational", 0,
      "all|plain|relational|shape", NULL },
    RG_OPTION_END
};

static rg_status write_questions(const char *out, const void *o) { return rg_made__write(&rg_generator_vqa, out, o); }

const rg_generator rg_generator_vqa = { "vqa",
                                        "six shapes and questions about them, ten per picture (75 x 75 pixels)",
                                        RG_MADE_WRITES_TAR,
                                        options,
                                        sizeof(settings),
                                        write_questions,
                                        "question answer kind about",
                                        QUESTIONS,
                                        draw };
