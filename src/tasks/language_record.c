/* language_record.c - what a language model did with a text, as a record: what each token attended to and how that
 * falls with distance, or what the gates
 * of its recurrent layers did. */
#include <string.h>

#include "regard/explain.h"
#include "regard/view.h"
#include "tasks/gates.h"
#include "tasks/language.h"

enum { MOST_SHOWN = 256 }; /* tokens of a record: its maps have so many rows and columns */

/* Labels are the tokens that go in; the pass predicts the one behind each. */
static rg_status add_labels(size_t *out, rg_record *r, const rg_vocab *vocab, const int32_t *ids, size_t n)
{
    const char **word = rg_alloc_array(n, sizeof *word);
    if (!word) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++) word[i] = rg_vocab_piece(vocab, ids[i]);
    const rg_status status = rg_record_add_labels(out, r, "words", RG_LABEL_TOKEN, word, n);
    rg_free(word);
    return status;
}

/* One pass over ids[0 .. n-1], watched. */
static rg_status pass(const rg_model *m, const int32_t *previous, size_t n, const rg_watcher *watcher)
{
    const rg_tape_config config = { .record = false };
    const int32_t        start[] = { 0, (int32_t)n }, none[] = { 0, 0 };
    rg_tape             *tape = NULL;
    int32_t             *ids = rg_alloc_array(n, sizeof *ids);
    if (!ids) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++) ids[i] = i + 1 < n ? previous[i + 1] : -1; /* nobody knows what is behind the last */
    const rg_field text = { .layout = { .groups = 1, .start = start }, .ids = ids, .previous = previous };
    const rg_batch batch = { .examples = 1,
                             .fields = 2,
                             .field = {
                                 [RG_SOURCE] = { .layout = { .groups = 1, .start = none } }, [RG_TARGET] = text } };
    rg_status      status = rg_tape_new(&tape, &config);
    if (status == RG_OK) {
        rg_tape_set_watcher(tape, watcher);
        m->system->loss(tape, m, &batch);
        rg_tape_set_watcher(tape, NULL);
        status = rg_tape_status(tape);
    }
    rg_tape_free(tape);
    rg_free(ids);
    return status;
}

static rg_status collect_attention(rg_record *r, const rg_model *m, const int32_t *ids, size_t n)
{
    rg_collector *c;
    RG_TRY(rg_collector_new(&c, r, m->system->uses, -1));
    rg_status       status = pass(m, ids, n, rg_collector_watcher(c));
    const rg_status finished = rg_collector_finish(c, NULL);
    if (status == RG_OK) status = finished;
    return status == RG_OK ? rg_record_add_distances(r) : status;
}

static rg_status collect_gates(rg_record *r, const rg_model *m, size_t words, const int32_t *ids, size_t n)
{
    rg_gate_collector *c;
    RG_TRY(rg_gate_collector_new(&c, r, words));
    return rg_gates_finish(c, r, m, pass(m, ids, n, rg_gate_collector_watcher(c)));
}

/* Why each token was expected, and the one behind the last. The rows of its maps are called by what is predicted. */
static rg_status explain(rg_record *r, const rg_model *m, const int32_t *previous, size_t n, int32_t answer,
                         size_t words, const rg_explain_options *o)
{
    const rg_vocab *vocab = ((const rg_language_model *)m->assets)->vocab;
    const int32_t   start[] = { 0, (int32_t)n }, none[] = { 0, 0 };
    int32_t        *ids = rg_alloc_array(2 * n + 2, sizeof *ids), *seat = ids ? ids + n : NULL;
    const char    **word = rg_alloc_array(n + 1, sizeof *word);
    rg_ids          other = { 0 };
    rg_status       status = ids && word ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        ids[i] = i + 1 < n ? previous[i + 1] : answer;
        seat[i] = (int32_t)i;
        word[i] = rg_vocab_piece(vocab, ids[i]);
    }
    const rg_field text = { .layout = { .groups = 1, .start = start }, .ids = ids, .previous = previous };
    const rg_batch batch = { .examples = 1,
                             .fields = 2,
                             .field = {
                                 [RG_SOURCE] = { .layout = { .groups = 1, .start = none } }, [RG_TARGET] = text } };
    rg_subject     s = { .model = m,
                         .batch = &batch,
                         .copies = true,
                         .input = RG_TARGET,
                         .rows = n,
                         .inputs = n,
                         .keys = "words",
                         .writes = true,
                         .target = RG_TARGET,
                         .answers = n,
                         .outputs = n,
                         .word = ids,
                         .against = -1,
                         .against_text = o->against,
                         .seat = seat,
                         .causal = true,
                         .col_labels = words,
                         .hypothesis = -1 };
    if (status == RG_OK && o->against && *o->against) {
        status = rg_vocab_encode(&other, NULL, vocab, o->against, strlen(o->against));
        if (status == RG_OK && (!other.count || other.data[0] == rg_vocab_unk(vocab)))
            status = rg_fail(RG_EINVAL, "--against %s: the model does not know this word", o->against);
        if (status == RG_OK) s.against = other.data[0];
    }
    if (status == RG_OK) status = rg_record_add_labels(&s.row_labels, r, "predicted", RG_LABEL_TOKEN, word, n);
    if (status == RG_OK) status = rg_explain(r, &s, o);
    rg_ids_free(&other);
    rg_free(ids);
    rg_free(word);
    return status;
}

rg_status rg_language_record(rg_record **out, const rg_model *m, const rg_ids *ids, const char *line,
                             int32_t next, bool gates, const rg_explain_options *o)
{
    const rg_vocab *vocab = ((const rg_language_model *)m->assets)->vocab;
    const size_t   context = rg_model_size(m, "context"), most = context && context < MOST_SHOWN ? context : MOST_SHOWN;
    const size_t   n = ids->count < most ? ids->count : most; /* of the last tokens, as many as the context holds */
    const int32_t *from = ids->data + ids->count - n;
    size_t         words = 0;
    rg_record     *r = NULL;
    rg_status      status = rg_record_new(&r, line, "what comes next");
    if (status == RG_OK) status = add_labels(&words, r, vocab, from, n);
    if (status == RG_OK) status = rg_record_add_text(r, "source", line, 0, false);
    if (status == RG_OK) status = rg_record_add_text(r, "output", rg_vocab_piece(vocab, next), 0, true);
    if (status == RG_OK && gates) status = collect_gates(r, m, words, from, n);
    else if (status == RG_OK && rg_explain_attends(o)) status = collect_attention(r, m, from, n);
    if (status == RG_OK && o && !gates) status = explain(r, m, from, n, next, words, o);
    if (status != RG_OK) rg_record_free(r);
    else *out = r;
    return status;
}
