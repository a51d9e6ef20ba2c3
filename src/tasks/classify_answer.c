/* classify_answer.c - a classifier answers inputs, one row each, in order: the most likely classes and their
 * probabilities, or a number. The record is of the first input: its words, the answer, and what the answer attended
 * to where the system attends. */
#include <math.h>
#include <string.h>

#include "regard/view.h"
#include "regard/probe.h"
#include "tasks/classify_attack.h"
#include "tasks/classify_walk.h"

enum { SHOWN_WORDS = 5, MOST_ROWS = 20000 }; /* of --words; of one batch of shortened texts */

const rg_option rg_classify_asking_rows[] = {
    { RG_OPTION_INT, "top", offsetof(rg_classify_asking, top), "1", "so many classes per input, the most likely first",
      0, "[1,100]", NULL },
    { RG_OPTION_BOOL, "probabilities", offsetof(rg_classify_asking, probabilities), "false",
      "also the probability of every class", 0, NULL, NULL },
    { RG_OPTION_BOOL, "logits", offsetof(rg_classify_asking, logits), "false", "also the logit of every class", 0, NULL,
      NULL },
    { RG_OPTION_BOOL, "words", offsetof(rg_classify_asking, words), "false",
      "also the five words with the largest weights; where the class attends to nothing, those without which it is "
      "least likely",
      0, NULL, NULL },
    { RG_OPTION_BOOL, "box", offsetof(rg_classify_asking, box), "false",
      "pictures: also the box around the evidence and its peak, in pixels (x y width height x y)", 0, NULL, NULL },
    { RG_OPTION_REAL, "box-share", offsetof(rg_classify_asking, box_share), "0.2",
      "of --box: it stands around what is above this share of the largest evidence (0.2: Zhou et al. 2016)", 0, "(0,1)",
      NULL },
    { RG_OPTION_STRING, "class", offsetof(rg_classify_asking, of), "",
      "pictures: show the evidence for this class; empty: for the likeliest", 0, NULL, NULL },
    { RG_OPTION_STRING, "attack", offsetof(rg_classify_asking, attack), "",
      "show: what a change of this size (1/256) that is made to fool the model does to the input", 0, NULL, NULL },
    { RG_OPTION_STRING, "norm", offsetof(rg_classify_asking, norm), "auto",
      "of --attack; auto: linf for pictures, l2 for texts", 0, "auto|linf|l2", NULL },
    { RG_OPTION_INT, "steps", offsetof(rg_classify_asking, steps), "1", "of --attack: gradient steps", 0, "[1,1000]",
      NULL },
    RG_OPTION_END
};

enum { BOX_CELLS = 6 };

typedef struct {
    const rg_model           *model;
    const rg_question        *question;
    const rg_classifier      *its;
    const rg_classify_asking *asking;
    const rg_sink            *sink;
    double                   *p;     /* probability of each class, or the number */
    const rg_real            *logit; /* NULL: the input is empty                 */
    rg_value                 *cells;
    rg_text                   words;
    size_t                    classes, top;
    bool                      named, many, recorded, ends; /* many: rows of numbers; ends: texts stand between <s> and </s> */
    int32_t                   of; /* the class whose evidence is asked for; -1: the likeliest */
    rg_seen_maps              maps;
    size_t                    columns;
    rg_shown_attack           attack; /* given NULL: none is shown */
} answering;

/* ---------------------------------------------------------------------------------------------------- probabilities */

static rg_status softmax(double *p, const rg_real *x, size_t C)
{
    double most = (double)x[0], sum = 0;
    for (size_t c = 0; c < C; c++) {
        if (!isfinite((double)x[c]))
            return rg_fail(RG_ENUMBER,
                           "the score of class %zu is not finite; the model's weights give infinite numbers", c);
        most = fmax(most, (double)x[c]);
    }
    for (size_t c = 0; c < C; c++) sum += p[c] = exp((double)x[c] - most);
    for (size_t c = 0; c < C; c++) p[c] /= sum;
    return RG_OK;
}

/* The shares of the classes in the training data. */
static void prior(answering *x)
{
    double sum = 0;
    for (size_t c = 0; c < x->classes; c++) sum += (double)x->its->counts[c];
    for (size_t c = 0; c < x->classes; c++)
        x->p[c] = sum > 0 ? (double)x->its->counts[c] / sum : 1 / (double)x->classes;
}

/* The most likely class that is less likely than the last; of equals the one that comes first. */
static size_t next_best(const answering *x, size_t last)
{
    size_t best = x->classes;
    for (size_t c = 0; c < x->classes; c++) {
        const bool after = last == x->classes || x->p[c] < x->p[last] || (x->p[c] == x->p[last] && c > last);
        if (after && (best == x->classes || x->p[c] > x->p[best])) best = c;
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------------------ words */

/* The first n pieces of the text, as they stand in it. */
static rg_status pieces(char ***out, const answering *x, const rg_asked *asked, size_t n)
{
    rg_ids    ids = { 0 };
    rg_spans  spans = { 0 };
    rg_text   form = { 0 };
    char    **piece = rg_alloc_zero((n + 1) * sizeof *piece);
    rg_status status = piece ? rg_vocab_normalize(&form, x->its->vocab, asked->text, asked->bytes) : RG_ENOMEM;
    if (status == RG_OK && x->ends && rg_vocab_begin(x->its->vocab) < 0)
        status = rg_ids_add(&ids, rg_vocab_bos(x->its->vocab));
    const size_t shift = ids.count;
    if (status == RG_OK) status = rg_vocab_encode(&ids, &spans, x->its->vocab, asked->text, asked->bytes);
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        const bool    last = x->ends && i + 1 == n;
        const int32_t id = last ? rg_vocab_eos(x->its->vocab) : ids.data[i];
        size_t        begin = i >= shift && !last ? spans.data[i - shift].begin : 0,
               end = i >= shift && !last ? spans.data[i - shift].end : 0;
        if (begin == end) { /* a sign, which stands nowhere in the text */
            if (!(piece[i] = rg_strdup(rg_vocab_piece(x->its->vocab, id)))) status = RG_ENOMEM;
            continue;
        }
        while (begin + 1 < end && form.data[begin] == ' ') begin++; /* the blank before a word is not part of it */
        if (!(piece[i] = rg_format("%.*s", (int)(end - begin), form.data + begin))) status = RG_ENOMEM;
    }
    rg_ids_free(&ids);
    rg_spans_free(&spans);
    rg_text_free(&form);
    *out = piece;
    return status;
}

static void free_pieces(char **piece, size_t n)
{
    for (size_t i = 0; piece && i < n; i++) rg_free(piece[i]);
    rg_free(piece);
}

/* log p of a class for texts from .. until-1, text i without piece i. */
static rg_status without(double *out, const answering *x, rg_tape *t, const int32_t *ids, size_t n, size_t from,
                         size_t until, size_t class_number)
{
    const size_t count = until - from;
    int32_t     *all = rg_alloc_array(count * (n - 1) + count + 1, sizeof *all),
            *start = all ? all + count * (n - 1) : NULL;
    double      *p = rg_alloc_array(x->classes, sizeof *p);
    rg_status    status = all && p ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        int32_t *to = all + i * (n - 1);
        memcpy(to, ids, (from + i) * sizeof *ids);
        memcpy(to + from + i, ids + from + i + 1, (n - 1 - from - i) * sizeof *ids);
    }
    for (size_t i = 0; status == RG_OK && i <= count; i++) start[i] = (int32_t)(i * (n - 1));
    if (status == RG_OK) {
        const rg_field text = { .kind = RG_FIELD_IDS, .layout = { .groups = count, .start = start }, .ids = all };
        const rg_batch batch = { .examples = count, .fields = 1, .field = { [RG_INPUT] = text } };
        rg_tape_reset(t, 0);
        const rg_tensor *y = x->model->system->predict(t, x->model, &batch);
        status = rg_tape_status(t);
        for (size_t i = 0; status == RG_OK && i < count; i++) {
            status = softmax(p, rg_tensor_row(y, i), x->classes);
            out[from + i] = log(fmax(1e-300, p[class_number]));
        }
    }
    rg_free(all);
    rg_free(p);
    return status;
}

/* Weights of a text's pieces, if the class attends to them: summed over rows of attention. */
typedef struct {
    const char *watch;
    double     *left; /* the larger the weight, the smaller */
    size_t      n;
    bool        seen;
} weighing;

static bool wants(void *context, const char *name) { return rg_name_matches(((const weighing *)context)->watch, name); }

static void see(void *context, const char *name, const rg_tensor *a, const void *reach)
{
    weighing *w = context;
    (void)name, (void)reach;
    if (rg_tensor_rows(a) != w->n) return;
    w->seen = true;
    for (size_t i = 0; i < w->n; i++)
        for (size_t h = 0; h < rg_tensor_cols(a); h++) w->left[i] -= (double)rg_tensor_at(a, i, h);
}

static rg_status weigh_pieces(bool *out_seen, double *left, const answering *x, rg_tape *t, const int32_t *ids,
                              size_t n)
{
    const rg_attention_use *use = x->model->system->uses;
    const int32_t           start[] = { 0, (int32_t)n };
    const rg_field          text = { .kind = RG_FIELD_IDS, .layout = { .groups = 1, .start = start }, .ids = ids };
    const rg_batch          batch = { .examples = 1, .fields = 1, .field = { [RG_INPUT] = text } };
    *out_seen = false;
    while (use && use->where && !(use->watch && use->rows && strcmp(use->rows, "class") == 0)) use++;
    if (!use || !use->where) return RG_OK;
    weighing         w = { .watch = use->watch, .left = left, .n = n };
    const rg_watcher watcher = { .context = &w, .wants = wants, .see = see };
    rg_tape_reset(t, 0);
    rg_tape_set_watcher(t, &watcher);
    x->model->system->predict(t, x->model, &batch);
    rg_tape_set_watcher(t, NULL);
    *out_seen = w.seen;
    return rg_tape_status(t);
}

static rg_status list_words(answering *x, char *const *piece, double *left, size_t n)
{
    for (size_t k = 0; k < SHOWN_WORDS && k < n; k++) {
        size_t least = 0;
        for (size_t i = 1; i < n; i++)
            if (left[i] < left[least]) least = i;
        if (left[least] == INFINITY) break; /* signs are no words */
        RG_TRY(rg_text_print(&x->words, "%s%s", k ? " " : "", piece[least]));
        left[least] = INFINITY;
    }
    return RG_OK;
}

/* The words that the class rests on: those it attends to most, or those without which it is least likely. */
static rg_status find_words(answering *x, const rg_asked *asked, size_t class_number)
{
    const rg_tape_config config = { .record = false };
    rg_text_clear(&x->words);
    if (!asked->batch || !x->its->vocab) return RG_OK;
    const rg_field *text = &asked->batch->field[RG_INPUT];
    const size_t    first = (size_t)text->layout.start[asked->example],
                 n = (size_t)text->layout.start[asked->example + 1] - first;
    char          **piece = NULL;
    rg_tape        *t = NULL;
    double         *left = rg_alloc_zero(n * sizeof *left);
    bool            seen = false;
    rg_status       status = left ? pieces(&piece, x, asked, n) : RG_ENOMEM;
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    if (status == RG_OK) status = weigh_pieces(&seen, left, x, t, text->ids + first, n);
    for (size_t i = 0, each = n > MOST_ROWS ? 1 : MOST_ROWS / n; status == RG_OK && !seen && n > 1 && i < n;
         i += each) {
        status = rg_asked_wanted(x->question);
        if (status == RG_OK)
            status = without(left, x, t, text->ids + first, n, i, i + each < n ? i + each : n, class_number);
    }
    if (x->ends && status == RG_OK) left[0] = left[n - 1] = INFINITY;
    if (status == RG_OK) status = list_words(x, piece, left, n);
    free_pieces(piece, n);
    rg_tape_free(t);
    rg_free(left);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- record */

/* What was attended to, or where the evidence for the class that is asked about was. */
static rg_status collect(rg_record *r, const answering *x, const rg_asked *asked)
{
    int32_t        ids[2], start[2];
    const rg_batch about = x->of < 0 ? *asked->batch : rg_batch_asked_about(asked->batch, x->of, ids, start);
    rg_asked       one = *asked;
    one.batch = &about;
    return rg_asked_collect(r, x->model, &one, "class");
}

static rg_status add_text(rg_record *r, const answering *x, const rg_asked *asked)
{
    const size_t n = asked->batch ? rg_field_rows(&asked->batch->field[RG_INPUT]) : 0;
    char       **piece = NULL;
    rg_status    status = pieces(&piece, x, asked, n);
    if (status == RG_OK) status = rg_record_add_labels(NULL, r, "words", RG_LABEL_TOKEN, (const char *const *)piece, n);
    free_pieces(piece, n);
    return status;
}

/* The picture as the model saw it: the pixels that went in, or that went through the frozen network first. */
static rg_status picture_of(rg_picture *out, const answering *x, const rg_asked *asked)
{
    const rg_field *f = &asked->batch->field[RG_INPUT];
    if (x->its->features) {
        const rg_pixels_config *as = rg_features_pixels(x->its->features);
        rg_picture              whole = { 0 };
        if (!asked->cell) return rg_fail(RG_EINVAL, "the picture is not at hand");
        RG_TRY(rg_picture_decode(&whole, asked->cell->bytes, asked->cell->count, 3));
        const rg_status status = rg_picture_fit(out, &whole, as->height, as->width, as->fit, as->resize);
        rg_picture_free(&whole);
        return status;
    }
    RG_TRY(rg_picture_new(out, f->layout.height, f->layout.width, f->width == 3 ? 3 : 1));
    for (size_t i = 0; i < out->height * out->width; i++)
        for (size_t c = 0; c < out->channels; c++)
            out->pixels[i * out->channels + c] = (unsigned char)((double)f->values[i * f->width + c] * 255 + 0.5);
    return RG_OK;
}

/* With the cells of its maps. */
static rg_status add_picture(rg_record *r, const answering *x, const rg_asked *asked)
{
    const size_t down = rg_model_size(x->model, "cells-down"), across = rg_model_size(x->model, "cells-across");
    rg_picture   p = { 0 };
    rg_text      png = { 0 };
    size_t       cells = 0;
    if (!down || !across) return RG_OK;
    RG_TRY(picture_of(&p, x, asked));
    rg_status status = rg_picture_encode(&png, &p);
    if (status == RG_OK) status = rg_record_add_grid(&cells, r, "cells", down, across);
    if (status == RG_OK) status = rg_record_set_picture(r, cells, png.data, png.length);
    rg_picture_free(&p);
    rg_text_free(&png);
    return status;
}

/* "positive 0.93, neutral 0.05": the likeliest classes. */
static rg_status add_probabilities(rg_record *r, const answering *x)
{
    rg_text   text = { 0 };
    rg_status status = RG_OK;
    size_t    best = x->classes;
    for (size_t k = 0; status == RG_OK && k < SHOWN_WORDS && k < x->classes; k++) {
        best = next_best(x, best);
        status =
            rg_text_print(&text, "%s%s %.3f", k ? ", " : "", rg_names_get(x->its->names, (int32_t)best), x->p[best]);
    }
    if (status == RG_OK) status = rg_record_add_text(r, "labels", rg_text_c(&text), 0, false);
    rg_text_free(&text);
    return status;
}

static rg_status record(answering *x, const rg_asked *asked, const char *label)
{
    const char *given = asked->text ? asked->text : asked->name;
    rg_record  *r = NULL;
    rg_text     title = { 0 };
    rg_status   status = x->its->vocab ? rg_vocab_normalize(&title, x->its->vocab, asked->text, asked->bytes)
                                       : rg_text_add_string(&title, given);
    if (status == RG_OK) status = rg_record_new(&r, rg_text_c(&title), "class");
    if (status == RG_OK && x->its->vocab) status = add_text(r, x, asked);
    if (status == RG_OK && x->many && asked->batch) status = rg_heard_add_rows(r, "words", &x->its->heard, asked);
    if (status == RG_OK && x->named && !x->many && asked->batch) status = add_picture(r, x, asked);
    if (status == RG_OK && x->named && !x->many && asked->batch) status = rg_walk_add(r, x->model, asked);
    if (status == RG_OK && x->named && !x->many && asked->batch) status = rg_front_add(r, x->model, asked);
    if (status == RG_OK) status = rg_record_add_labels(NULL, r, "class", RG_LABEL_TOKEN, &label, 1);
    if (status == RG_OK) status = rg_record_add_text(r, "source", given, 0, false);
    if (status == RG_OK) status = rg_record_add_text(r, "output", label, 0, true);
    if (status == RG_OK && x->its->names) status = add_probabilities(r, x);
    if (status == RG_OK && asked->batch && (x->its->vocab || x->named || x->many)) status = collect(r, x, asked);
    if (status == RG_OK) status = x->sink->record(x->sink->context, r);
    x->recorded = true;
    rg_record_free(r);
    rg_text_free(&title);
    return status;
}

/* The same input before and after a change. */
static rg_status record_attack(answering *x, const rg_asked *asked)
{
    const size_t n = x->its->vocab ? rg_field_rows(&asked->batch->field[RG_INPUT]) : 0;
    rg_record   *r = NULL;
    rg_text      title = { 0 };
    char       **piece = NULL;
    rg_status    status = x->its->vocab ? rg_vocab_normalize(&title, x->its->vocab, asked->text, asked->bytes)
                                        : rg_text_add_string(&title, asked->name ? asked->name : asked->text);
    if (status == RG_OK && n) status = pieces(&piece, x, asked, n);
    if (status == RG_OK) status = rg_record_new(&r, rg_text_c(&title), "attack");
    if (status == RG_OK)
        status = rg_attack_show(r, x->model, asked, &x->attack, (const char *const *)piece, n);
    if (status == RG_OK) status = x->sink->record(x->sink->context, r);
    x->recorded = true;
    free_pieces(piece, n);
    rg_record_free(r);
    rg_text_free(&title);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static rg_status give_box(rg_value *to, answering *x, const rg_asked *asked)
{
    rg_evidence e;
    if (!asked->example) RG_TRY(rg_seen_maps_see(&x->maps, x->model, asked->batch, x->of));
    RG_TRY(rg_seen_maps_evidence(&e, &x->maps, x->model, asked, x->asking->box_share));
    const double number[BOX_CELLS] = { e.box.x, e.box.y, e.box.width, e.box.height, e.x, e.y };
    for (size_t i = 0; i < BOX_CELLS; i++) to[i] = (rg_value){ .number = number[i], .digits = 1 };
    return RG_OK;
}

/* The cells of one input, as name_columns names them. */
static rg_status give_classes(const char **out_label, answering *x, const rg_asked *asked)
{
    rg_value *to = x->cells;
    size_t    best = x->classes, first = 0;
    if (x->named) *to++ = (rg_value){ .text = asked->name ? asked->name : "" };
    for (size_t k = 0; k < x->top; k++) {
        best = next_best(x, best);
        if (!k) first = best;
        *to++ = (rg_value){ .text = rg_names_get(x->its->names, (int32_t)best) };
        *to++ = (rg_value){ .number = x->p[best], .digits = 4 };
    }
    for (size_t c = 0; c < x->classes && x->asking->probabilities; c++)
        *to++ = (rg_value){ .number = x->p[c], .digits = 6 };
    for (size_t c = 0; c < x->classes && x->asking->logits; c++)
        *to++ = (rg_value){ .number = x->logit ? (double)x->logit[c] : log(fmax(1e-30, x->p[c])), .digits = 6 };
    if (x->asking->words) RG_TRY(find_words(x, asked, first));
    if (x->asking->words) *to++ = (rg_value){ .text = rg_text_c(&x->words) };
    if (x->asking->box) RG_TRY(give_box(to, x, asked));
    *out_label = rg_names_get(x->its->names, (int32_t)first);
    return x->sink->row(x->sink->context, x->cells);
}

static rg_status give_number(char *label, size_t room, answering *x, const rg_asked *asked)
{
    if (!asked->answers)
        return rg_fail(RG_EFORMAT, "input %llu is empty: no number follows from it", (unsigned long long)asked->number);
    const double number = (double)rg_tensor_at(asked->answers, asked->example, 0);
    if (!isfinite(number)) return rg_fail(RG_ENUMBER, "answer %llu is not finite", (unsigned long long)asked->number);
    if (x->named) x->cells[0] = (rg_value){ .text = asked->name };
    x->cells[x->named] = (rg_value){ .number = number, .digits = 6 };
    snprintf(label, room, "%.6f", number);
    return x->sink->row(x->sink->context, x->cells);
}

static rg_status answer_one(void *context, const rg_asked *asked)
{
    answering  *x = context;
    char        number[40];
    const char *label = number;
    if (asked->fault) return rg_asked_fault(x->question, asked, x->columns);
    x->logit = asked->answers && x->its->names ? rg_tensor_row(asked->answers, asked->example) : NULL;
    if (!x->its->names) RG_TRY(give_number(number, sizeof number, x, asked));
    else {
        if (x->logit) RG_TRY(softmax(x->p, x->logit, x->classes));
        else {
            rg_asked_note(x->question, asked, "is empty: answered with the most frequent class of the training data");
            prior(x);
        }
        RG_TRY(give_classes(&label, x, asked));
    }
    if (x->of >= 0) label = rg_names_get(x->its->names, x->of);
    if (!x->sink->record || x->recorded) return RG_OK;
    return x->attack.given && asked->batch ? record_attack(x, asked) : record(x, asked, label);
}

/* label, probability, label-2, probability-2, ...; p(CLASS) ...; logit(CLASS) ...; words */
static rg_status name_columns(answering *x, size_t most)
{
    static const char *const box[BOX_CELLS] = { "box-x", "box-y", "box-width", "box-height", "peak-x", "peak-y" };
    char    **names = rg_alloc_zero(most * sizeof *names);
    size_t    n = 0;
    rg_status status;
    if (names && x->named) names[n++] = rg_strdup("input");
    for (size_t k = 0; names && k < x->top; k++) {
        names[n++] = k ? rg_format("label-%zu", k + 1) : rg_strdup(x->its->names ? "label" : "number");
        if (x->its->names) names[n++] = k ? rg_format("probability-%zu", k + 1) : rg_strdup("probability");
    }
    for (size_t c = 0; names && c < x->classes && x->asking->probabilities; c++)
        names[n++] = rg_format("p(%s)", rg_names_get(x->its->names, (int32_t)c));
    for (size_t c = 0; names && c < x->classes && x->asking->logits; c++)
        names[n++] = rg_format("logit(%s)", rg_names_get(x->its->names, (int32_t)c));
    if (names && x->asking->words) names[n++] = rg_strdup("words");
    for (size_t i = 0; names && i < BOX_CELLS && x->asking->box; i++) names[n++] = rg_strdup(box[i]);
    x->columns = n;
    status = names ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!names[i]) status = RG_ENOMEM;
    if (status == RG_OK) status = x->sink->columns(x->sink->context, (const char *const *)names, n);
    free_pieces(names, n);
    return status;
}

static rg_status check_attack(answering *x, const rg_classify_input *in)
{
    const rg_classify_asking *a = x->asking;
    if (!a->attack || !*a->attack) return RG_OK;
    if (!x->its->names || !x->model->system->enter || !x->model->system->features)
        return rg_fail(RG_EMATCH, "--attack: a %s cannot be attacked", x->model->system->name);
    const rg_status status = rg_probe_number(&x->attack.epsilon, a->attack);
    if (status != RG_OK) return rg_fail_in(status, "--attack: ");
    if (strcmp(a->norm, "auto") != 0) RG_TRY(rg_ball_find(&x->attack.ball, a->norm));
    else x->attack.ball = in->kind == RG_FIELD_PIXELS ? RG_BALL_LINF : RG_BALL_L2;
    x->attack.steps = (size_t)a->steps;
    x->attack.given = a->attack;
    return RG_OK;
}

static rg_status check_asking(answering *x, const rg_classify_input *in)
{
    const char *of = x->asking->of ? x->asking->of : "";
    x->of = -1;
    if (!x->classes)
        return rg_fail(RG_EMATCH, "it has features only, no classes: train them with regard train --type cnn "
                                  "--features FILE --pool gap -t photos/ -m OUT");
    if (x->asking->words && !x->its->vocab)
        return rg_fail(RG_EINVAL, "--words is for classifiers of texts; this one reads %s", in->name);
    if ((x->asking->box || *of) && in->kind != RG_FIELD_PIXELS)
        return rg_fail(RG_EINVAL, "--box and --class are for pictures; this one reads %s", in->name);
    if (!*of) return RG_OK;
    x->of = rg_names_find(x->its->names, of, strlen(of));
    for (size_t c = 0; x->of < 0 && c < x->classes; c++) { /* one of its synonyms: "tabby, tabby cat" */
        const char *name = rg_names_get(x->its->names, (int32_t)c), *comma = strchr(name, ',');
        if (comma && (size_t)(comma - name) == strlen(of) && strncmp(name, of, strlen(of)) == 0) x->of = (int32_t)c;
    }
    return x->of >= 0 ? RG_OK : rg_fail(RG_EINVAL, "--class %s: the model has no such class", of);
}

rg_status rg_classify_answer(const rg_model *m, const rg_question *q)
{
    static const rg_classify_asking nothing = { .top = 1 };
    const rg_classifier            *its = m->assets;
    const rg_classify_input        *in = rg_classify_input_of(m);
    const rg_field_spec             spec = rg_classify_input_spec(in, m);
    answering x = { .model = m, .question = q, .its = its, .sink = q->sink, .named = rg_classify_input_is_file(in), .many = in->many };
    x.asking = its->names ? q->options : &nothing;
    x.classes = rg_model_size(m, "classes");
    x.ends = rg_model_size(m, "ends") > 0;
    x.top = (size_t)x.asking->top < x.classes ? (size_t)x.asking->top : x.classes;
    RG_TRY(check_asking(&x, in));
    RG_TRY(check_attack(&x, in));
    const size_t most = 4 * x.classes + 3 + BOX_CELLS;
    x.p = rg_alloc_array(x.classes, sizeof *x.p);
    x.cells = rg_alloc_array(most, sizeof *x.cells);
    rg_status status = x.p && x.cells ? name_columns(&x, most) : RG_ENOMEM;
    if (status == RG_OK) status = rg_supervised_answer(m, q, &spec, answer_one, &x);
    rg_seen_maps_fini(&x.maps);
    rg_text_free(&x.words);
    rg_free(x.p);
    rg_free(x.cells);
    return status;
}
