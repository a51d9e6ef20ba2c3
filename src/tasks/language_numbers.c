/* language_numbers.c - what is asked of a model of running numbers.
 *
 *   predict     a row per line; behind each the row that is expected next. The state is kept from line to line
 *   score       the same, with the square error of what was expected; the last remark has the means of all lines
 *   generate    a prompt of rows, apart by semicolons (by any gaps where a row is one number); the rows that follow,
 *               each expected from those before it. It is a forecast, the mean of what may come: nothing is drawn */
#include <math.h>
#include <string.h>

#include "tasks/batches.h"
#include "tasks/language.h"
#include "tasks/series.h"

enum { DIGITS = 6, MOST_CELLS = 4096 };

bool rg_language_counts(const rg_model *m) { return rg_model_size(m, "numbers") > 0; }

typedef struct {
    const rg_question  *question;
    size_t              width, prompt;
    rg_series_reading *reading;
    rg_real            *row, *next; /* (width) */
    rg_value           *cells;
    double              square, as_now, compared;
    uint64_t            lines;
} asking;

static rg_status read_row(asking *x, const char *line, uint64_t number)
{
    size_t          n;
    const rg_status status = rg_series_parse(x->row, &n, line, x->width, x->width);
    return status == RG_OK ? RG_OK : rg_fail_in(status, "line %llu: ", (unsigned long long)number);
}

/* ---------------------------------------------------------------------------------------------------- line by line */

static rg_status answer_line(void *context, const char *line, size_t bytes, uint64_t number)
{
    asking *x = context;
    (void)bytes;
    RG_TRY(read_row(x, line, number));
    RG_TRY(rg_series_feed(x->next, x->reading, x->row, 1));
    for (size_t k = 0; k < x->width; k++)
        x->cells[k] = (rg_value){ .number = (double)x->next[k], .digits = DIGITS };
    return x->question->sink->row(x->question->sink->context, x->cells);
}

/* The first line has nothing before it that it could be expected from. */
static rg_status score_line(void *context, const char *line, size_t bytes, uint64_t number)
{
    asking  *x = context;
    rg_real *last = x->next + x->width; /* the row before, behind what was expected */
    double   square = 0;
    (void)bytes;
    RG_TRY(read_row(x, line, number));
    for (size_t k = 0; x->lines && k < x->width; k++) {
        const double error = (double)x->next[k] - (double)x->row[k], now = (double)last[k] - (double)x->row[k];
        square += error * error;
        x->as_now += now * now;
        x->compared++;
    }
    x->square += square;
    x->cells[0] = (rg_value){ .number = (double)number };
    x->cells[1] = (rg_value){ .number = square / (double)x->width, .digits = DIGITS };
    if (x->lines++) RG_TRY(x->question->sink->row(x->question->sink->context, x->cells));
    memcpy(last, x->row, x->width * sizeof *last);
    return rg_series_feed(x->next, x->reading, x->row, 1);
}

/* -------------------------------------------------------------------------------------------------------- forecasts */

/* The rows of a prompt go in one by one. */
static rg_status read_prompt(asking *x, const char *text)
{
    const char *gaps = x->width == 1 ? " \t,;\r" : ";";
    size_t      rows = 0;
    rg_series_reading_begin(x->reading);
    for (const char *at = text + strspn(text, gaps); *at; at += strspn(at, gaps)) {
        const size_t bytes = strcspn(at, gaps);
        char        *row = rg_format("%.*s", (int)bytes, at);
        size_t       n;
        rg_status    status = row ? rg_series_parse(x->row, &n, row, x->width, x->width) : RG_ENOMEM;
        rg_free(row);
        if (status != RG_OK) return rg_fail_in(status, "prompt %zu, row %zu: ", x->prompt, rows + 1);
        RG_TRY(rg_series_feed(x->next, x->reading, x->row, 1));
        rows++;
        at += bytes;
    }
    return rows ? RG_OK
                : rg_fail(RG_EINVAL, "prompt %zu has no numbers: give the rows so far, '12.5; 13.1; 13.0'", x->prompt);
}

static rg_status forecast(void *context, const char *text, size_t bytes, uint64_t number)
{
    asking                    *x = context;
    const rg_language_drawing *a = x->question->options;
    (void)bytes;
    x->prompt = (size_t)number;
    RG_TRY(read_prompt(x, text));
    for (int64_t i = 0; i < a->length; i++) {
        x->cells[0] = (rg_value){ .number = (double)number };
        x->cells[1] = (rg_value){ .number = (double)(i + 1) };
        for (size_t k = 0; k < x->width; k++)
            x->cells[2 + k] = (rg_value){ .number = (double)x->next[k], .digits = DIGITS };
        RG_TRY(x->question->sink->row(x->question->sink->context, x->cells));
        memcpy(x->row, x->next, x->width * sizeof *x->row);
        if (i + 1 < a->length) RG_TRY(rg_series_feed(x->next, x->reading, x->row, 1));
    }
    return RG_OK;
}

static rg_status each_prompt(asking *x)
{
    const rg_list *prompts = &((const rg_language_drawing *)x->question->options)->prompts;
    for (size_t i = 0; i < prompts->count; i++)
        RG_TRY(forecast(x, prompts->items[i], strlen(prompts->items[i]), i + 1));
    return prompts->count ? RG_OK : rg_question_texts(x->question, forecast, x);
}

/* ----------------------------------------------------------------------------------------------------------- asking */

/* `first` names, then a column per number: next, or next-1, next-2, ... */
static rg_status name_columns(const asking *x, const char *const *first, size_t count, bool numbers)
{
    const size_t all = count + (numbers ? x->width : 0);
    char(*text)[24] = rg_alloc_array(x->width + 1, sizeof *text);
    const char **name = rg_alloc_array(all + 1, sizeof *name);
    rg_status    status = text && name ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < all; i++) {
        if (i >= count) snprintf(text[i - count], sizeof *text, x->width == 1 ? "next" : "next-%zu", i - count + 1);
        name[i] = i < count ? first[i] : text[i - count];
    }
    if (status == RG_OK) status = x->question->sink->columns(x->question->sink->context, name, all);
    rg_free(text);
    rg_free(name);
    return status;
}

static rg_status begin(asking *x, const rg_model *m, const rg_question *q, rg_team **team)
{
    *x = (asking){ .question = q, .width = rg_model_size(m, "numbers") };
    if (x->width > MOST_CELLS) return rg_fail(RG_ELIMIT, "rows of %zu numbers cannot be printed", x->width);
    x->row = rg_alloc_array(x->width + 1, sizeof *x->row);
    x->next = rg_alloc_array(2 * x->width + 1, sizeof *x->next);
    x->cells = rg_alloc_zero((x->width + 2) * sizeof *x->cells);
    if (!x->row || !x->next || !x->cells) return RG_ENOMEM;
    RG_TRY(rg_team_new(team, q->threads > 0 ? q->threads : 1));
    return rg_series_reading_new(&x->reading, m, *team);
}

static void end(asking *x, rg_team *team)
{
    rg_series_reading_free(x->reading);
    rg_team_free(team);
    rg_free(x->row);
    rg_free(x->next);
    rg_free(x->cells);
}

rg_status rg_numbers_answer(const rg_model *m, const rg_question *q)
{
    asking    x;
    rg_team  *team = NULL;
    rg_status status = begin(&x, m, q, &team);
    if (status == RG_OK && q->sink->record)
        status = rg_fail(RG_EINVAL,
                         "a model of numbers has no words to draw: `regard predict` and `regard generate` ask it");
    if (status == RG_OK) status = name_columns(&x, NULL, 0, true);
    if (status == RG_OK) status = rg_question_texts(q, answer_line, &x);
    end(&x, team);
    return status;
}

rg_status rg_numbers_score(const rg_model *m, const rg_question *q)
{
    static const char *const names[] = { "line", "square_error" };
    asking                   x;
    rg_team                 *team = NULL;
    char                     note[200];
    rg_status                status = begin(&x, m, q, &team);
    if (status == RG_OK) status = name_columns(&x, names, 2, false);
    if (status == RG_OK) status = rg_question_texts(q, score_line, &x);
    if (status == RG_OK && x.compared > 0 && q->sink->note) {
        snprintf(note, sizeof note, "%llu lines, mse %.6g, as-now %.6g", (unsigned long long)x.lines,
                 x.square / x.compared, x.as_now / x.compared);
        q->sink->note(q->sink->context, note);
    }
    end(&x, team);
    return status;
}

rg_status rg_numbers_generate(const rg_model *m, const rg_question *q)
{
    static const char *const   names[] = { "prompt", "step" };
    const rg_language_drawing *a = q->options;
    asking                     x;
    rg_team                   *team = NULL;
    if (a->n > 1)
        return rg_fail(RG_EINVAL, "numbers are forecast, not drawn: %lld samples would be the same", (long long)a->n);
    rg_status status = begin(&x, m, q, &team);
    if (status == RG_OK) status = name_columns(&x, names, 2, true);
    if (status == RG_OK) status = each_prompt(&x);
    end(&x, team);
    return status;
}
