/* puzzles.c - copy, repeat copy and associative recall, drawn at random. */
#include "regard/puzzles.h"

#include <math.h>
#include <string.h>

enum { ITEM = 3 }; /* vectors of an item of recall */

typedef enum { COPY, REPEAT, RECALL, KINDS } kind;

static kind find(const char *name)
{
    static const char *const names[] = { "copy", "repeat-copy", "recall" };
    int                      k = 0;
    while (k < KINDS && strcmp(names[k], name) != 0) k++;
    return (kind)k;
}

/* Steps of the answer, and of a whole sequence. */
static size_t answers_of(kind k, size_t length, size_t repeats)
{
    return k == RECALL ? ITEM : length * repeats + (k == REPEAT ? 1 : 0);
}
static size_t steps_of(kind k, size_t length, size_t repeats)
{
    return (k == RECALL ? (length + 1) * (ITEM + 1) + 1 : length + 1) + answers_of(k, length, repeats);
}

static rg_status check_ranges(const rg_puzzle_config *c)
{
    const struct {
        const char *what;
        size_t      value, least, most;
    } rows[] = {
        { "bits of a vector", c->bits, 1, RG_PUZZLE_MOST_BITS },
        { "longest sequence (max-length)", c->max_length, 1, RG_PUZZLE_MOST_LENGTH },
        { "shortest sequence (min-length)", c->min_length, 1, c->max_length },
        { "most repeats (max-repeats)", c->max_repeats, 1, RG_PUZZLE_MOST_REPEATS },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return rg_fail(RG_EINVAL, "puzzle %s: the %s is %zu; it must be %zu .. %zu", c->kind, rows[i].what,
                           rows[i].value, rows[i].least, rows[i].most);
    if (c->zero_run && find(c->kind) == RECALL) return rg_fail(RG_EINVAL, "puzzle recall has no run of zero vectors");
    if (!(c->zero_vectors >= 0 && c->zero_vectors < 1))
        return rg_fail(RG_EINVAL, "puzzle %s: the share of zero vectors is %g; it must be at least 0 and below 1",
                       c->kind, c->zero_vectors);
    return RG_OK;
}

rg_status rg_puzzle_check(const rg_puzzle_config *c)
{
    const kind k = find(c->kind);
    if (k == KINDS) return rg_fail(RG_EINVAL, "there is no puzzle '%s': copy, repeat-copy, recall", c->kind);
    RG_TRY(check_ranges(c));
    if (k == RECALL && c->min_length < 2)
        return rg_fail(RG_EINVAL, "recall needs two items: the one asked for and the one after it");
    const size_t repeats = k == REPEAT ? c->max_repeats : 1, steps = steps_of(k, c->max_length, repeats);
    const size_t numbers = steps * rg_puzzle_in(c) + answers_of(k, c->max_length, repeats) * rg_puzzle_out(c);
    if (steps > RG_PUZZLE_MOST_STEPS || numbers > RG_PUZZLE_MOST_NUMBERS)
        return rg_fail(RG_ELIMIT,
                       "puzzle %s of length %zu, %zu times, vectors of %zu bits: a sequence has %zu steps and %zu "
                       "numbers, the limits are %d and %d",
                       c->kind, c->max_length, repeats, c->bits, steps, numbers, RG_PUZZLE_MOST_STEPS,
                       RG_PUZZLE_MOST_NUMBERS);
    return RG_OK;
}

size_t rg_puzzle_in(const rg_puzzle_config *c) { return c->bits + 2; }
size_t rg_puzzle_out(const rg_puzzle_config *c) { return c->bits + (find(c->kind) == REPEAT ? 1 : 0); }

void rg_puzzle_free(rg_puzzle_batch *b)
{
    rg_free(b->input);
    rg_free(b->start);
    *b = (rg_puzzle_batch){ 0 };
}

/* One block holds inputs and targets. */
static rg_status make_room(rg_puzzle_batch *b)
{
    const size_t inputs = b->sequences * b->steps * b->in, targets = b->sequences * b->answers * b->out;
    if (inputs + targets > b->room || !b->input) {
        rg_real *block = rg_alloc_array(2 * (inputs + targets), sizeof *block);
        if (!block) return RG_ENOMEM;
        rg_free(b->input);
        b->input = block;
        b->room = 2 * (inputs + targets);
    }
    int32_t *start = rg_realloc(b->start, (b->sequences + 1) * sizeof *start);
    if (!start) return RG_ENOMEM;
    b->start = start;
    b->target = b->input + inputs;
    memset(b->input, 0, (inputs + targets) * sizeof *b->input);
    for (size_t s = 0; s <= b->sequences; s++) start[s] = (int32_t)(s * b->steps);
    b->layout = (rg_layout){ .groups = b->sequences, .start = start };
    return RG_OK;
}

/* Random bits; some vectors are cleared again. */
static void draw_vectors(rg_real *x, size_t ld, size_t rows, const rg_puzzle_config *c, rg_random *random)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < c->bits; j++) x[i * ld + j] = (rg_real)(rg_random_u32(random) >> 31);
        if (c->zero_vectors > 0 && rg_random_uniform(random) < c->zero_vectors)
            memset(x + i * ld, 0, c->bits * sizeof *x);
    }
}

static void clear_run(rg_real *x, size_t ld, size_t rows, const rg_puzzle_config *c, rg_random *random)
{
    const size_t run = c->zero_run < rows ? c->zero_run : rows, first = (size_t)rg_random_below(random, rows - run + 1);
    for (size_t i = first; i < first + run; i++) memset(x + i * ld, 0, c->bits * sizeof *x);
}

static void copy_vectors(rg_real *to, size_t ld_to, const rg_real *from, size_t ld_from, size_t rows, size_t bits)
{
    for (size_t i = 0; i < rows; i++) memcpy(to + i * ld_to, from + i * ld_from, bits * sizeof *to);
}

static void draw_copy(const rg_puzzle_batch *b, rg_real *x, rg_real *y, const rg_puzzle_config *c, size_t length,
                      size_t repeats, bool repeat, rg_random *random)
{
    const size_t bits = c->bits, most = c->max_repeats;
    draw_vectors(x, b->in, length, c, random);
    if (c->zero_run) clear_run(x, b->in, length, c, random);
    /* how often, as a number of mean 0 and deviation 1 over 1 .. most */
    const double mean = (1 + (double)most) / 2, deviation = sqrt(((double)most * (double)most - 1) / 12);
    x[length * b->in + bits] = 1;
    if (repeat) x[length * b->in + bits + 1] = (rg_real)(deviation > 0 ? ((double)repeats - mean) / deviation : 0);
    for (size_t r = 0; r < repeats; r++) copy_vectors(y + r * length * b->out, b->out, x, b->in, length, bits);
    if (repeat) y[repeats * length * b->out + bits] = 1;
}

static void draw_recall(const rg_puzzle_batch *b, rg_real *x, rg_real *y, const rg_puzzle_config *c, size_t items,
                        rg_random *random)
{
    const size_t bits = c->bits, ld = b->in, asked = (size_t)rg_random_below(random, items - 1);
    for (size_t i = 0; i < items; i++) {
        rg_real *item = x + i * (ITEM + 1) * ld;
        item[bits] = 1;
        draw_vectors(item + ld, ld, ITEM, c, random);
    }
    rg_real *query = x + items * (ITEM + 1) * ld;
    query[bits + 1] = query[(ITEM + 1) * ld + bits + 1] = 1;
    copy_vectors(query + ld, ld, x + (asked * (ITEM + 1) + 1) * ld, ld, ITEM, bits);
    copy_vectors(y, b->out, x + ((asked + 1) * (ITEM + 1) + 1) * ld, ld, ITEM, bits);
}

/* Columns as in the table of puzzles.h. */
static void mark_answers(const rg_puzzle_batch *b, rg_real *x, size_t bits, bool recall)
{
    for (size_t i = b->steps - b->answers; i < b->steps; i++) {
        x[i * b->in + bits] = recall;
        x[i * b->in + bits + 1] = 1;
    }
}

rg_status rg_puzzle_draw(rg_puzzle_batch *b, const rg_puzzle_config *c, uint64_t seed, uint64_t number, size_t first,
                         size_t sequences)
{
    const kind   k = find(c->kind);
    rg_random    sizes = rg_random_new(seed, 2 * number);
    const size_t length = c->min_length + (size_t)rg_random_below(&sizes, c->max_length - c->min_length + 1);
    const size_t repeats = k == REPEAT ? 1 + (size_t)rg_random_below(&sizes, c->max_repeats) : 1;
    b->sequences = sequences;
    b->in = rg_puzzle_in(c);
    b->out = rg_puzzle_out(c);
    b->answers = answers_of(k, length, repeats);
    b->steps = steps_of(k, length, repeats);
    if (sequences * b->steps >= INT32_MAX)
        return rg_fail(RG_ELIMIT, "%zu sequences of %zu steps in a batch: at most %d steps together", sequences,
                       b->steps, INT32_MAX - 1);
    RG_TRY(make_room(b));
    for (size_t s = 0; s < sequences; s++) {
        rg_random random = rg_random_new(seed + 1 + (first + s) * 0x9E3779B97F4A7C15u, 2 * number + 1);
        rg_real  *x = b->input + s * b->steps * b->in, *y = b->target + s * b->answers * b->out;
        if (k == RECALL) draw_recall(b, x, y, c, length, &random);
        else draw_copy(b, x, y, c, length, repeats, k == REPEAT, &random);
        if (c->answer_mark) mark_answers(b, x, c->bits, k == RECALL);
    }
    return RG_OK;
}
