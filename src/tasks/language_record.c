/* language_record.c - what a language model did with a text, as a record: what each token attended to and how that
 * falls with distance, or what the gates
 * of its recurrent layers did. */
#include "regard/view.h"
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
    rg_status       status = pass(m, ids, n, rg_gate_collector_watcher(c));
    const rg_status finished = rg_gate_collector_finish(c);
    if (status == RG_OK) status = finished;
    if (status == RG_OK && !r->maps)
        status =
            rg_fail(RG_EMATCH, "--gates: this %s has no gates (a plain recurrent network, or none)", m->system->name);
    return status;
}

rg_status rg_language_record(rg_record **out, const rg_model *m, const rg_ids *ids, const char *line,
                             const char *answer, bool gates)
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
    if (status == RG_OK) status = rg_record_add_text(r, "output", answer, 0, true);
    if (status == RG_OK) status = gates ? collect_gates(r, m, words, from, n) : collect_attention(r, m, from, n);
    if (status != RG_OK) rg_record_free(r);
    else *out = r;
    return status;
}
