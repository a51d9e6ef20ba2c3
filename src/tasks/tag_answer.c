/* tag_answer.c - a tagger answers sentences: one row each, a tag for every word with blanks between. The record is of the first sentence. */
#include <math.h>
#include <string.h>

#include "regard/record.h"
#include "tasks/tag.h"

static const char blanks[] = " \t\n\r", unread[] = "?"; /* the tag of a word that did not fit the model */

typedef struct {
    const rg_tagger   *its;
    const rg_question *question;
    rg_ids             ids;
    rg_text            tags;
    bool               recorded;
} answering;

/* How many rows a word has: its pieces, one at least. */
static rg_status rows_of(size_t *out, answering *x, const char *word, size_t bytes)
{
    x->ids.count = 0;
    RG_TRY(rg_vocab_encode(&x->ids, NULL, x->its->vocab, word, bytes));
    *out = x->ids.count ? x->ids.count : 1;
    return RG_OK;
}

static rg_status tag_words(answering *x, const rg_asked *asked)
{
    const rg_layout *l = asked->batch ? &asked->batch->field[RG_INPUT].layout : NULL;
    size_t           row = l ? (size_t)l->start[asked->example] : 0, rows;
    const size_t     end = l ? (size_t)l->start[asked->example + 1] : 0;
    rg_text_clear(&x->tags);
    for (const char *at = asked->text; *(at += strspn(at, blanks)); row += rows) {
        const size_t bytes = strcspn(at, blanks);
        if (row < end && !isfinite((double)rg_tensor_at(asked->answers, row, 0)))
            return rg_fail(RG_ENUMBER, "input %llu: a score is not finite; the model's weights give infinite numbers", (unsigned long long)asked->number);
        const char *tag = row < end ? rg_names_get(x->its->tags, rg_tag_best(asked->answers, row)) : unread;
        RG_TRY(rg_text_print(&x->tags, "%s%s", x->tags.length ? " " : "", tag));
        RG_TRY(rows_of(&rows, x, at, bytes));
        at += bytes;
    }
    return RG_OK;
}

/* The words between blanks as labels. */
static rg_status add_labels(rg_record *r, const char *name, const char *text)
{
    char        *copy = rg_strdup(text);
    const char **word = copy ? rg_alloc_array(strlen(text) + 1, sizeof *word) : NULL;
    size_t       n = 0;
    for (char *at = copy; word && *(at += strspn(at, blanks)); n++) {
        word[n] = at;
        at += strcspn(at, blanks);
        if (*at) *at++ = '\0';
    }
    const rg_status status = word ? rg_record_add_labels(NULL, r, name, RG_LABEL_TOKEN, word, n) : RG_ENOMEM;
    rg_free(word);
    rg_free(copy);
    return status;
}

static rg_status record(answering *x, const rg_asked *asked)
{
    rg_record *r = NULL;
    rg_status  status = rg_record_new(&r, asked->text, "tags");
    if (status == RG_OK) status = add_labels(r, "words", asked->text);
    if (status == RG_OK) status = add_labels(r, "tags", rg_text_c(&x->tags));
    if (status == RG_OK) status = rg_record_add_text(r, "source", asked->text, 0, false);
    if (status == RG_OK) status = rg_record_add_text(r, "output", rg_text_c(&x->tags), 0, true);
    if (status == RG_OK) status = x->question->sink->record(x->question->sink->context, r);
    x->recorded = true;
    rg_record_free(r);
    return status;
}

static rg_status answer_one(void *context, const rg_asked *asked)
{
    answering     *x = context;
    const rg_sink *sink = x->question->sink;
    RG_TRY(tag_words(x, asked));
    RG_TRY(sink->row(sink->context, &(rg_value){ .text = rg_text_c(&x->tags) }));
    return sink->record && !x->recorded ? record(x, asked) : RG_OK;
}

rg_status rg_tag_answer(const rg_model *m, const rg_question *q)
{
    static const char *const names[] = { "tags" };
    const rg_tagger         *its = m->assets;
    const rg_field_spec      spec = { .name = "word", .kind = RG_FIELD_IDS, .vocab = its->vocab, .words = true, .max_rows = m->longest, .crop = true };
    answering                x = { .its = its, .question = q };
    rg_status                status = q->sink->columns(q->sink->context, names, 1);
    if (status == RG_OK) status = rg_supervised_answer(m, q, &spec, answer_one, &x);
    rg_ids_free(&x.ids);
    rg_text_free(&x.tags);
    return status;
}
