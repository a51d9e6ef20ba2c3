/* attack.c - the errors of a model on inputs that were changed to make it err (regard/probe.h), with what random
 * changes of the same size do beside them. What is written is read back by any command: pictures in a folder per
 * class, numbers as a table. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "regard/ops.h"
#include "regard/picture.h"
#include "tasks/probe.h"

enum { SHEET_ROWS = 8, SHEET_GAP = 2 };

typedef struct {
    const rg_attack_config *config;
    rg_probe                probe;
    rg_attack_row          *rows;
    const rg_names         *names;
    uint64_t                done;
    bool                    pixels, unlabelled;
    rg_picture              sheet;
    size_t                  sheet_rows;
} attack;

/* ---------------------------------------------------------------------------------------------------------- writing */

static rg_status make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? RG_OK
               : rg_fail(RG_EIO, "%s: cannot make the folder: %s", path, strerror(errno));
}

/* OUT, or OUT/EPSILON-STEPS where there are several. A new string. */
static char *place_of(const rg_attack_config *c, double epsilon, int64_t steps)
{
    return c->epsilons * c->step_counts == 1 ? rg_strdup(c->out)
                                             : rg_format("%s/%.6g-%lld", c->out, epsilon, (long long)steps);
}

static rg_status to_picture(rg_picture *out, const rg_batch *b, const rg_tensor *x, size_t example)
{
    const rg_field *f = &b->field[RG_INPUT];
    const size_t    first = (size_t)f->layout.start[example], C = f->width;
    RG_TRY(rg_picture_new(out, (size_t)f->size[2 * example], (size_t)f->size[2 * example + 1], C));
    for (size_t i = 0; i < out->height * out->width * C; i++) {
        const double v = (double)rg_tensor_at(x, first + i / C, i % C);
        out->pixels[i] = (unsigned char)(255 * fmin(1, fmax(0, v)) + 0.5);
    }
    return RG_OK;
}

static rg_status write_picture(const attack *a, const rg_batch *b, const rg_tensor *x, size_t example,
                               const char *place)
{
    const int32_t label = rg_probe__label(b, b->examples, example);
    const char   *name = label >= 0 && a->names ? rg_names_get(a->names, label) : "unlabelled";
    char         *folder = rg_format("%s/%s", place, strchr(name, '/') ? "class" : name);
    char         *path = folder ? rg_format("%s/%06llu.png", folder, (unsigned long long)b->lines[example]) : NULL;
    rg_picture    p = { 0 };
    rg_status     status = path ? make_folder(folder) : RG_ENOMEM;
    if (status == RG_OK) status = to_picture(&p, b, x, example);
    if (status == RG_OK) status = rg_picture_save(path, &p);
    rg_picture_free(&p);
    rg_free(folder);
    rg_free(path);
    return status;
}

static rg_status write_numbers(const attack *a, const rg_batch *b, const rg_tensor *x, const char *place)
{
    char     *path = rg_format("%s.tsv", place);
    rg_text   text = { 0 };
    rg_file  *file = NULL;
    rg_status status = path ? rg_file_open(&file, path, "ab") : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < b->examples; i++) {
        const int32_t label = rg_probe__label(b, b->examples, i);
        status = rg_text_add_string(&text, label >= 0 && a->names ? rg_names_get(a->names, label) : "");
        for (int32_t r = b->field[RG_INPUT].layout.start[i];
             status == RG_OK && r < b->field[RG_INPUT].layout.start[i + 1]; r++)
            for (size_t j = 0; status == RG_OK && j < rg_tensor_cols(x); j++)
                status = rg_text_print(&text, "\t%.9g", (double)rg_tensor_at(x, (size_t)r, j));
        if (status == RG_OK) status = rg_text_print(&text, "\n");
    }
    if (status == RG_OK) status = rg_file_write(file, text.data, text.length);
    if (file) {
        const rg_status closed = rg_file_close(file);
        if (status == RG_OK) status = closed;
    }
    rg_text_free(&text);
    rg_free(path);
    return status;
}

static rg_status write_batch(const attack *a, const rg_batch *b, const rg_tensor *x, double epsilon, int64_t steps)
{
    const rg_field_kind kind = b->field[RG_INPUT].kind;
    if (!a->config->out) return RG_OK;
    if (kind != RG_FIELD_PIXELS && kind != RG_FIELD_NUMBERS)
        return rg_fail(RG_EINVAL,
                       "--output %s: the change is one of embeddings, which is no text that could be written",
                       a->config->out);
    char     *place = place_of(a->config, epsilon, steps);
    rg_status status = place ? make_folder(a->config->out) : RG_ENOMEM;
    if (status == RG_OK && kind == RG_FIELD_NUMBERS) status = write_numbers(a, b, x, place);
    else if (status == RG_OK) status = make_folder(place);
    for (size_t i = 0; status == RG_OK && kind == RG_FIELD_PIXELS && i < b->examples; i++)
        status = write_picture(a, b, x, i, place);
    rg_free(place);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ sheet */

static void paste(rg_picture *sheet, const rg_picture *p, size_t row, size_t column)
{
    const size_t top = row * (p->height + SHEET_GAP), left = column * (p->width + SHEET_GAP);
    for (size_t y = 0; y < p->height && top + y < sheet->height; y++)
        for (size_t x = 0; x < p->width * p->channels && left * p->channels + x < sheet->width * sheet->channels; x++)
            sheet->pixels[((top + y) * sheet->width + left) * sheet->channels + x] =
                p->pixels[y * p->width * p->channels + x];
}

/* A row of the sheet: the picture, the change (grey: none; scaled so that the largest is black or white), the
 * picture with it. */
static rg_status add_to_sheet(attack *a, rg_tape *t, const rg_batch *b, rg_tensor *clean, rg_tensor *r,
                              rg_tensor *attacked, double largest)
{
    rg_tensor *change = rg_shift(t, rg_scale(t, r, 0.5 / largest), 0.5), *three[] = { clean, change, attacked };
    for (size_t i = 0; a->config->sheet && a->pixels && i < b->examples && a->sheet_rows < SHEET_ROWS;
         i++, a->sheet_rows++)
        for (size_t k = 0; k < 3; k++) {
            rg_picture p = { 0 };
            RG_TRY(to_picture(&p, b, three[k], i));
            if (!a->sheet.pixels) {
                RG_TRY(rg_picture_new(&a->sheet, SHEET_ROWS * (p.height + SHEET_GAP), 3 * (p.width + SHEET_GAP),
                                      p.channels));
                memset(a->sheet.pixels, 255, a->sheet.height * a->sheet.width * a->sheet.channels);
            }
            if (p.channels == a->sheet.channels) paste(&a->sheet, &p, a->sheet_rows, k);
            rg_picture_free(&p);
        }
    return RG_OK;
}

static void tell_answers(const attack *a, const rg_batch *b, const rg_tensor *before, const rg_tensor *after,
                         size_t rows)
{
    for (size_t i = 0;
         a->config->note && a->config->sheet && i < b->examples && i + a->sheet_rows - rows < SHEET_ROWS && i < rows;
         i++) {
        double        p, q;
        const int32_t was = rg_probe__best(&p, before, i), is = rg_probe__best(&q, after, i);
        char          line[300];
        snprintf(line, sizeof line, "row %zu of the sheet: %.80s (%.3f) -> %.80s (%.3f)", i + 1,
                 a->names ? rg_names_get(a->names, was) : "", p, a->names ? rg_names_get(a->names, is) : "", q);
        a->config->note(a->config->context, line);
    }
}

/* --------------------------------------------------------------------------------------------------------- counting */

static double margin_of(const rg_tensor *y, size_t row, int32_t label)
{
    const rg_real *x = rg_tensor_row(y, row);
    double         other = -INFINITY;
    for (size_t c = 0; c < rg_tensor_cols(y); c++)
        if ((int32_t)c != label) other = fmax(other, (double)x[c]);
    return (double)x[label] - other;
}

/* Sums; rg_attack divides them. confidence counts wrong answers alone. */
static void count(attack *a, rg_attack_row *to, const rg_batch *b, const rg_tensor *clean, const rg_tensor *attacked,
                  const rg_tensor *noisy, const rg_tensor *rounded)
{
    const size_t N = rg_tensor_rows(clean);
    for (size_t i = 0; i < N; i++) {
        double        p, q;
        const int32_t was = rg_probe__best(&p, clean, i), is = rg_probe__best(&q, attacked, i);
        int32_t       label = rg_probe__label(b, N, i);
        if (label < 0 && N != b->examples) continue; /* a word that continues another */
        if (label < 0) label = was, a->unlabelled = true;
        to->examples++;
        to->clean_error += was != label;
        to->error += is != label;
        to->clean_confidence += p;
        if (is != label) to->confidence += q;
        to->noise += rg_probe__best(NULL, noisy, i) != was;
        if (rounded) to->written += rg_probe__best(NULL, rounded, i) != label;
        to->margin += margin_of(clean, i, label);
        to->attacked_margin += margin_of(attacked, i, label);
    }
}

/* ---------------------------------------------------------------------------------------------------------- passing */

static rg_tensor *random_change(rg_tape *t, const rg_pass *p, const rg_perturb_config *c)
{
    const size_t     N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows);
    const rg_tensor *random = rg_normal(t, N, D, rg_tensor_layout(p->rows));
    rg_real         *r = rg_tape_memory(t, (N * D + 1) * sizeof *r);
    if (!random || !r) return NULL;
    for (size_t k = 0; k < N * D; k++) r[k] = rg_tensor_at(random, k / D, k % D);
    rg_perturb_scale(r, p, c->ball, c->epsilon, NULL);
    rg_tensor *x = rg_add(t, p->rows, rg_constant(t, r, N, D, NULL));
    return rg_with_layout(t, c->low < c->high ? rg_clamp(t, x, c->low, c->high) : x, rg_tensor_layout(p->rows));
}

/* Pixels as a file of 8 bits has them. */
static rg_tensor *rounded_to_bytes(rg_tape *t, const rg_tensor *x)
{
    const size_t N = rg_tensor_rows(x), D = rg_tensor_cols(x);
    rg_real     *y = rg_tape_memory(t, (N * D + 1) * sizeof *y);
    if (!y || !x) return NULL;
    for (size_t k = 0; k < N * D; k++)
        y[k] = (rg_real)(floor(255 * fmin(1, fmax(0, (double)rg_tensor_at(x, k / D, k % D))) + 0.5) / 255);
    return rg_constant(t, y, N, D, rg_tensor_layout(x));
}

static rg_status one_size(attack *a, rg_attack_row *to, const rg_batch *b, const rg_pass *p, bool labels)
{
    rg_tape          *t = a->probe.tape;
    const bool        last = to == &a->rows[a->config->epsilons * a->config->step_counts - 1];
    rg_perturb_config c = { .ball = a->config->ball, .epsilon = to->epsilon, .steps = (size_t)to->steps };
    c.towards = labels && !a->config->predicted ? RG_TOWARDS_LABEL : RG_TOWARDS_ANSWER;
    rg_perturb_range(&c.low, &c.high, p);
    rg_tensor *r = rg_perturb(t, p, &c);
    rg_tensor *x = rg_with_layout(t, rg_add(t, p->rows, r), rg_tensor_layout(p->rows));
    rg_tensor *y = rg_pass_again(t, p, x), *noisy = rg_pass_again(t, p, random_change(t, p, &c));
    rg_tensor *rounded = a->pixels ? rg_pass_again(t, p, rounded_to_bytes(t, x)) : NULL;
    RG_TRY(rg_tape_status(t));
    count(a, to, b, p->logits, y, noisy, rounded);
    const size_t before = a->sheet_rows;
    if (last) RG_TRY(add_to_sheet(a, t, b, p->rows, r, x, c.ball == RG_BALL_LINF ? c.epsilon : c.epsilon / 4));
    if (last && a->sheet_rows > before) tell_answers(a, b, p->logits, y, a->sheet_rows - before);
    return write_batch(a, b, x, to->epsilon, to->steps);
}

static rg_status one_batch(attack *a, const rg_batch *b)
{
    rg_tape   *t = a->probe.tape;
    const bool labels = b->fields > RG_LABEL && rg_field_rows(&b->field[RG_LABEL]) > 0;
    rg_tape_reset(t, a->done);
    a->pixels = b->field[RG_INPUT].kind == RG_FIELD_PIXELS;
    const rg_pass p = rg_pass_run(t, a->probe.model, b, labels);
    RG_TRY(rg_tape_status(t));
    for (size_t i = 0; i < a->config->epsilons * a->config->step_counts; i++) {
        rg_tape_point  *point = rg_tape_mark(t);
        const rg_status status = point ? one_size(a, &a->rows[i], b, &p, labels) : rg_tape_status(t);
        rg_tape_rewind(t, point);
        RG_TRY(status);
    }
    a->done += b->examples;
    return RG_OK;
}

/* Its first n examples. */
static void cut(rg_batch *b, size_t n)
{
    for (size_t i = 0; n < b->examples && i < b->fields; i++) b->field[i].layout.groups = n;
    if (n < b->examples) b->examples = n;
}

static void divide(rg_attack_row *r, bool pixels)
{
    const double n = r->examples ? (double)r->examples : 1, wrong = r->error > 0 ? r->error : 1;
    r->confidence /= wrong;
    r->clean_error /= n;
    r->error /= n;
    r->clean_confidence /= n;
    r->noise /= n;
    r->written = pixels ? r->written / n : -1;
    r->margin /= n;
    r->attacked_margin /= n;
}

rg_status rg_attack(rg_attack_row *rows, const rg_model *m, const rg_set_options *sets, const rg_attack_config *c)
{
    attack    a = { .config = c, .rows = rows };
    rg_status status = rg_probe__init(&a.probe, m, sets, c->threads, c->seed);
    bool      more = true;
    if (status == RG_OK) a.names = m->system->task->classes ? m->system->task->classes(m) : NULL;
    if (status == RG_OK && !a.names)
        status = rg_fail(RG_EMATCH, "a model that answers with numbers has no errors to count");
    for (size_t i = 0; i < c->epsilons * c->step_counts; i++)
        rows[i] = (rg_attack_row){ .epsilon = c->epsilon[i / c->step_counts], .steps = c->steps[i % c->step_counts] };
    while (status == RG_OK && more && !(c->most && a.done >= c->most)) {
        rg_batch b;
        status = rg_examples_next_in_epoch(&more, &b, a.probe.examples);
        if (status == RG_OK && more && c->most) cut(&b, c->most - a.done);
        if (status == RG_OK && more) status = one_batch(&a, &b);
    }
    for (size_t i = 0; i < c->epsilons * c->step_counts; i++) divide(&rows[i], a.pixels);
    if (status == RG_OK && a.unlabelled && c->note)
        c->note(c->context, "examples without a label: what the model says of them stands for it");
    if (status == RG_OK && c->sheet && a.sheet.pixels) status = rg_picture_save(c->sheet, &a.sheet);
    rg_picture_free(&a.sheet);
    rg_probe__fini(&a.probe);
    return status;
}
