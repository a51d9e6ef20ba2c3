/* series.c - see series.h. */
#include "tasks/series.h"

#include <math.h>
#include <string.h>

#include "data/text/words.h"
#include "tasks/language.h"

enum { MOST_COLUMNS = 4096, AT_ONCE = 256 };

/* ------------------------------------------------------------------------------------------------------------ files */

static bool is_gap(char c) { return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r'; }

static const char *skip(const char *at)
{
    while (is_gap(*at)) at++;
    return at;
}

rg_status rg_series_parse(rg_real *row, size_t *out_count, const char *line, size_t width, size_t room)
{
    size_t n = 0;
    for (const char *at = skip(line); *at; at = skip(at)) {
        char        *end;
        const double x = rg_real_parse(at, &end);
        if (end == at || (*end && !is_gap(*end)) || !isfinite(x) || !isfinite((double)(rg_real)x))
            return rg_fail(RG_EFORMAT, "'%.*s' is not a number that can be read", (int)strcspn(at, " \t,;\r"), at);
        if (n == room || (width && n == width))
            return rg_fail(RG_EFORMAT, "more than %zu numbers", width ? width : room);
        row[n++] = (rg_real)x;
        at = end;
    }
    if (width && n != width) return rg_fail(RG_EFORMAT, "%zu numbers, and %zu are needed", n, width);
    *out_count = n;
    return RG_OK;
}

/* The first line may have names. */
static bool is_header(const char *line)
{
    char *end;
    line = skip(line);
    (void)rg_real_parse(line, &end);
    return end == line;
}

static rg_status add_row(rg_series *x, size_t *room, const rg_real *row)
{
    if (x->rows == *room) {
        size_t       bytes;
        const size_t larger = *room ? 2 * *room : 1024;
        if (!rg_size_mul(&bytes, larger, x->width * sizeof *x->value)) return RG_ENOMEM;
        rg_real *value = rg_realloc(x->value, bytes);
        if (!value) return RG_ENOMEM;
        x->value = value, *room = larger;
    }
    memcpy(x->value + x->rows++ * x->width, row, x->width * sizeof *row);
    return RG_OK;
}

static rg_status read_file(rg_series *x, size_t *room, const char *path)
{
    rg_line_list lines = { 0 };
    rg_real     *row = rg_alloc_array(MOST_COLUMNS, sizeof *row);
    rg_status    status = row ? rg_line_list_read(&lines, path, -1) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < lines.count; i++) {
        size_t n = 0;
        if (!*skip(lines.line[i]) || (!i && is_header(lines.line[i]))) continue;
        status = rg_series_parse(row, &n, lines.line[i], x->width, MOST_COLUMNS);
        if (status != RG_OK) status = rg_fail_in(status, "%s: line %zu: ", path, i + 1);
        if (status == RG_OK && !x->width) x->width = n;
        if (status == RG_OK) status = add_row(x, room, row);
    }
    rg_line_list_free(&lines);
    rg_free(row);
    return status;
}

rg_status rg_series_read(rg_series *out, const rg_list *files, size_t width)
{
    size_t    room = 0;
    rg_status status = RG_OK;
    *out = (rg_series){ .width = width };
    for (size_t i = 0; status == RG_OK && i < files->count; i++) status = read_file(out, &room, files->items[i]);
    if (status == RG_OK && out->rows < 2)
        status = rg_fail(RG_EFORMAT, "%s: %zu rows of numbers; what comes next is learned from two at least",
                         files->count ? files->items[0] : "no file", out->rows);
    if (status == RG_OK)
        out->checksum = rg_hash_bytes(RG_HASH_START, out->value, out->rows * out->width * sizeof *out->value);
    if (status != RG_OK) rg_series_free(out);
    return status;
}

void rg_series_free(rg_series *x)
{
    rg_free(x->value);
    *x = (rg_series){ 0 };
}

/* ---------------------------------------------------------------------------------------------------------- batches */

void rg_series_standardize(const rg_model *m, const rg_series *x, size_t rows)
{
    const rg_param *shift = rg_params_find(m->params, "input.shift"), *scale = rg_params_find(m->params, "input.scale");
    for (size_t k = 0; shift && scale && k < x->width; k++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < rows; i++) sum += (double)x->value[i * x->width + k];
        const double mean = sum / (double)rows;
        for (size_t i = 0; i < rows; i++) {
            const double d = (double)x->value[i * x->width + k] - mean;
            square += d * d;
        }
        double deviation = sqrt(square / (double)rows);
        if (!(deviation > 1e-12 * (1 + fabs(mean)))) deviation = 1; /* a constant column */
        rg_param_data(shift)[k] = (rg_real)-mean;
        rg_param_data(scale)[k] = (rg_real)(1 / deviation);
    }
}

static void put_mean(rg_real *row, const rg_model *m, size_t width)
{
    const rg_param *shift = rg_params_find(m->params, "input.shift");
    for (size_t k = 0; k < width; k++) row[k] = shift ? -rg_param_data(shift)[k] : 0;
}

rg_status rg_series_fill(rg_batch *b, rg_series_room *room, const rg_series *x, const rg_model *m)
{
    rg_field    *to = &b->field[RG_TARGET];
    const size_t rows = rg_field_rows(to), W = x->width, bytes = W * sizeof(rg_real);
    if (rows > room->rows) {
        rg_series_room_free(room);
        room->in = rg_alloc_array(rows, bytes);
        room->to = rg_alloc_array(rows, bytes);
        if (!room->in || !room->to) return RG_ENOMEM;
        room->rows = rows;
    }
    for (size_t i = 0; i < rows; i++) {
        if (to->previous[i] < 0) put_mean(room->in + i * W, m, W);
        else memcpy(room->in + i * W, x->value + (size_t)to->previous[i] * W, bytes);
        if (to->ids[i] < 0) memset(room->to + i * W, 0, bytes);
        else memcpy(room->to + i * W, x->value + (size_t)to->ids[i] * W, bytes);
    }
    to->values = room->to;
    to->width = W;
    b->field[RG_SOURCE] = (rg_field){ .kind = RG_FIELD_NUMBERS, .layout = to->layout, .values = room->in, .width = W };
    return RG_OK;
}

void rg_series_room_free(rg_series_room *room)
{
    rg_free(room->in);
    rg_free(room->to);
    *room = (rg_series_room){ 0 };
}

/* ---------------------------------------------------------------------------------------------------------- reading */

struct rg_series_reading {
    const rg_model *model;
    rg_tape        *tape;
    rg_carry       *carry;
    size_t          width;
    rg_real        *out; /* of the pass at hand */
    int32_t         none[AT_ONCE];
    bool            seen;
};

static bool wants(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "numbers") == 0;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    rg_series_reading *r = context;
    (void)name, (void)reach;
    for (size_t i = 0; i < rg_tensor_rows(x); i++)
        for (size_t k = 0; k < r->width; k++) r->out[i * r->width + k] = rg_tensor_at(x, i, k);
    r->seen = true;
}

rg_status rg_series_reading_new(rg_series_reading **out, const rg_model *model, rg_team *team)
{
    const rg_tape_config config = { .record = false, .team = team };
    rg_series_reading  *r = rg_alloc_zero(sizeof *r);
    *out = NULL;
    if (!r) return RG_ENOMEM;
    *r = (rg_series_reading){ .model = model, .width = rg_model_size(model, "numbers") };
    for (size_t i = 0; i < AT_ONCE; i++) r->none[i] = -1;
    rg_status status = rg_tape_new(&r->tape, &config);
    if (status == RG_OK) status = rg_language_carry(&r->carry, model, 1);
    if (status == RG_OK) *out = r;
    else rg_series_reading_free(r);
    return status;
}

void rg_series_reading_free(rg_series_reading *r)
{
    if (!r) return;
    rg_tape_free(r->tape);
    rg_carry_free(r->carry);
    rg_free(r);
}

void rg_series_reading_begin(rg_series_reading *r) { rg_carry_zero(r->carry); }

/* Nothing is compared: all ids are -1. */
static rg_status pass(rg_series_reading *r, const rg_real *rows, size_t n)
{
    const int32_t    start[] = { 0, (int32_t)n };
    const rg_layout  layout = { .groups = 1, .start = start };
    const rg_watcher watcher = { .context = r, .wants = wants, .see = see };
    const rg_batch   batch = {
          .examples = 1,
          .fields = 2,
          .field = { [RG_SOURCE] = { .kind = RG_FIELD_NUMBERS, .layout = layout, .values = rows, .width = r->width },
                     [RG_TARGET] = { .layout = layout, .ids = r->none, .values = rows, .width = r->width } },
          .carry = r->carry
    };
    rg_carry_turn(r->carry);
    rg_tape_reset(r->tape, 0);
    rg_tape_set_watcher(r->tape, &watcher);
    r->seen = false;
    r->model->system->loss(r->tape, r->model, &batch);
    rg_tape_set_watcher(r->tape, NULL);
    RG_TRY(rg_tape_status(r->tape));
    return r->seen ? RG_OK : rg_fail(RG_EINVAL, "%s does not say which numbers it expects", r->model->system->name);
}

rg_status rg_series_feed(rg_real *out, rg_series_reading *r, const rg_real *rows, size_t n)
{
    for (size_t done = 0; done < n;) {
        const size_t m = n - done < AT_ONCE ? n - done : AT_ONCE;
        r->out = out + done * r->width;
        RG_TRY(pass(r, rows + done * r->width, m));
        for (size_t i = 0; i < m * r->width; i++)
            if (!isfinite((double)r->out[i]))
                return rg_fail(RG_ENUMBER, "the number expected behind row %zu is not finite; the weights give infinite "
                                           "numbers", done + i / r->width + 1);
        done += m;
    }
    return RG_OK;
}

rg_status rg_series_judge(rg_series_errors *out, rg_series_reading *r, const rg_series *x, size_t from,
                          size_t count)
{
    const size_t W = x->width;
    rg_real     *said = rg_alloc_array(AT_ONCE, W * sizeof *said);
    rg_status    status = said ? RG_OK : RG_ENOMEM;
    *out = (rg_series_errors){ 0 };
    rg_series_reading_begin(r);
    for (size_t at = from; status == RG_OK && at + 1 < from + count;) {
        const size_t left = from + count - 1 - at, n = left < AT_ONCE ? left : AT_ONCE;
        status = rg_series_feed(said, r, x->value + at * W, n);
        for (size_t i = 0; status == RG_OK && i < n * W; i++) {
            const double next = (double)x->value[(at + 1) * W + i], error = (double)said[i] - next,
                         now = (double)x->value[at * W + i] - next;
            out->mse += error * error, out->as_now += now * now;
        }
        at += n;
    }
    const double all = count > 1 ? (double)((count - 1) * W) : 1;
    out->mse /= all, out->as_now /= all;
    rg_free(said);
    return status;
}
