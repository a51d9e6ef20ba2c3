/* Language models: text cut into streams and windows, state carried through a text, likelihoods that do not depend on
 * how the text is handed over, texts drawn from models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/lm_judge.h"
#include "regard/running.h"
#include "support/faults.h"
#include "tasks/language.h"
#include "tasks/language_cut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) ok(call, #call)
static void ok(rg_status status, const char *call)
{
    if (status != RG_OK) fail_msg("%s: %s", call, rg_message());
}

static void write_file(const char *path, const char *text) { OK(rg_file_replace(path, text, strlen(text))); }

/* ------------------------------------------------------------------------------------------------------------- text */

static const char *const letters[] = { "a", "b", "c", "d" };

static rg_running *open_letters(rg_vocab **vocab, const char *path, size_t memory)
{
    rg_running_config c = RG_RUNNING_CONFIG_DEFAULT;
    rg_running       *r;
    c.memory = memory;
    OK(rg_vocab_from_pieces(vocab, RG_VOCAB_CHARACTERS, letters, 4));
    OK(rg_running_open(&r, &c, *vocab, &path, 1));
    return r;
}

static void text_in_memory_and_in_a_file_is_the_same(void **state)
{
    (void)state;
    rg_vocab *v, *w;
    int32_t   a[64], b[64];
    write_file("abc.txt", "abcd\n\nbad\nface"); /* f and e are unknown; the last line has no end */
    rg_running  *kept = open_letters(&v, "abc.txt", (size_t)1 << 20), *spilled = open_letters(&w, "abc.txt", 0);
    const size_t n = (size_t)rg_running_tokens(kept);
    assert_int_equal(n, 5 + 1 + 4 + 5);
    assert_int_equal(rg_running_counts(kept)->unknown, 2);
    assert_int_equal(rg_running_tokens(spilled), n);
    assert_true(rg_running_checksum(kept) == rg_running_checksum(spilled));
    OK(rg_running_read(a, kept, 0, n));
    OK(rg_running_read(b, spilled, 0, n));
    assert_memory_equal(a, b, n * sizeof *a);
    assert_int_equal(a[4], rg_vocab_eos(v));
    OK(rg_running_read(b, spilled, 3, 4));
    assert_memory_equal(a + 3, b, 4 * sizeof *a);
    assert_int_equal(rg_running_read(b, kept, n - 1, 2), RG_EINVAL);
    rg_running_free(kept);
    rg_running_free(spilled);
    rg_vocab_free(v);
    rg_vocab_free(w);
}

static void tokens_stay_as_they_are_and_exact_text_keeps_its_blanks(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *form, *line, *same;
        size_t      pieces;
    } rows[] = { { "tokens", "nfc", "do n't l'homme o'clock dogs'", "do n't l'homme o'clock dogs'", 5 },
                 { "words", "nfc", "do n't l'homme", "do n't l'homme", 5 },
                 { "characters", "exact", "  if (x)  ", "  if (x)  ", 10 },
                 { "characters", "nfc", "  if (x)  ", "if (x)", 6 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const rg_text_side side = { "line.txt", -1 };
        rg_vocab_config    c = RG_VOCAB_CONFIG_DEFAULT;
        rg_vocab          *v, *again;
        rg_ids             ids = { 0 };
        rg_text            text = { 0 }, bytes = { 0 };
        write_file("line.txt", rows[i].line);
        OK(rg_vocab_kind_find(&c.kind, rows[i].kind));
        OK(rg_text_form_find(&c.form, rows[i].form));
        OK(rg_vocab_train_files(&v, &c, &side, 1));
        OK(rg_vocab_to_bytes(&bytes, v));
        OK(rg_vocab_from_bytes(&again, bytes.data, bytes.length));
        OK(rg_vocab_encode(&ids, NULL, again, rows[i].line, strlen(rows[i].line)));
        OK(rg_vocab_decode(&text, again, ids.data, ids.count));
        assert_int_equal(ids.count, rows[i].pieces);
        assert_string_equal(rg_text_c(&text), rows[i].same);
        rg_ids_free(&ids);
        rg_text_free(&text);
        rg_text_free(&bytes);
        rg_vocab_free(v);
        rg_vocab_free(again);
    }
}

/* Every piece of the streams is predicted once per epoch, whatever k1 and k2; its input is the piece before it. */
static void streams_predict_every_piece_once(void **state)
{
    (void)state;
    enum { PIECES = 47, B = 3 };
    static const size_t ways[][2] = { { 4, 4 }, { 4, 7 }, { 1, 5 }, { 15, 15 }, { 20, 20 }, { 4, 100 } };
    char                text[PIECES + 1];
    rg_vocab           *v;
    int32_t             all[PIECES];
    for (size_t i = 0; i + 1 < PIECES; i++) text[i] = (char)('a' + (i * i + i / 3) % 4);
    text[PIECES - 1] = 0;
    write_file("streams.txt", text);
    rg_running *r = open_letters(&v, "streams.txt", (size_t)1 << 20);
    assert_int_equal(rg_running_tokens(r), PIECES);
    OK(rg_running_read(all, r, 0, PIECES));
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        const rg_cut_config c = {
            .text = { r, 0, PIECES }, .first = rg_vocab_eos(v), .batch = B, .chunk = ways[w][0], .bptt = ways[w][1]
        };
        const size_t L = PIECES / B;
        size_t       seen[B] = { 0 };
        rg_cut      *cut;
        rg_batch     b;
        bool         more;
        OK(rg_cut_new(&cut, &c));
        assert_int_equal(rg_cut_left_out(cut), PIECES - B * L);
        for (size_t batch = 0;; batch++) {
            OK(rg_cut_next(&more, &b, cut));
            if (!more) break;
            assert_int_equal(b.examples, B);
            const rg_field *f = &b.field[RG_TARGET];
            for (size_t s = 0; s < B; s++)
                for (int32_t i = f->layout.start[s]; i < f->layout.start[s + 1]; i++) {
                    const size_t at = s * L + batch * ways[w][0] + (size_t)(i - f->layout.start[s]);
                    assert_int_equal(f->previous[i], at ? all[at - 1] : rg_vocab_eos(v));
                    if (f->ids[i] < 0) continue;
                    assert_int_equal(at, s * L + seen[s]);
                    assert_int_equal(f->ids[i], all[at]);
                    seen[s]++;
                }
        }
        for (size_t s = 0; s < B; s++) assert_int_equal(seen[s], L);
        rg_cut_free(cut);
    }
    rg_running_free(r);
    rg_vocab_free(v);
}

static void windows_cover_the_text_or_are_drawn_from_it(void **state)
{
    (void)state;
    rg_vocab *v;
    int32_t   all[32];
    rg_batch  b;
    bool      more;
    rg_cut   *cut;
    write_file("windows.txt", "abcdabcdabcddcbaabab\n");
    rg_running *r = open_letters(&v, "windows.txt", (size_t)1 << 20);
    OK(rg_running_read(all, r, 0, 21));
    for (int random = 0; random < 2; random++) {
        const rg_cut_config c = {
            .text = { r, 0, 21 }, .first = rg_vocab_eos(v), .batch = 2, .context = 5, .random = random, .seed = 3
        };
        size_t rows = 0;
        OK(rg_cut_new(&cut, &c));
        for (OK(rg_cut_next(&more, &b, cut)); more; OK(rg_cut_next(&more, &b, cut))) {
            const rg_field *f = &b.field[RG_TARGET];
            for (size_t g = 0; g < b.examples; g++)
                for (int32_t i = f->layout.start[g]; i < f->layout.start[g + 1]; i++, rows++) {
                    const size_t at = (size_t)b.lines[g] - 1 + (size_t)(i - f->layout.start[g]);
                    if (!random) assert_int_equal(at, rows);
                    assert_int_equal(f->ids[i], all[at]);
                    assert_int_equal(f->previous[i], at ? all[at - 1] : rg_vocab_eos(v));
                }
        }
        assert_int_equal(rows, random ? 20 : 21);
        rg_cut_free(cut);
    }
    const rg_cut_config too_long = { .text = { r, 0, 21 }, .batch = 2, .context = 50, .random = true };
    assert_int_equal(rg_cut_new(&cut, &too_long), RG_EINVAL);
    const rg_cut_config too_many = { .text = { r, 0, 21 }, .batch = 30, .chunk = 2, .bptt = 2 };
    assert_int_equal(rg_cut_new(&cut, &too_many), RG_EINVAL);
    rg_running_free(r);
    rg_vocab_free(v);
}

/* ----------------------------------------------------------------------------------------------------------- models */

enum { V = 9 };

/* Settings walked by the tests below, of every system of the task. */
static const struct {
    const char *system, *yaml;
    size_t      context; /* 0: state is carried */
} kinds[] = {
    { "lm", "cell: rnn\nlayers: 1\n", 0 },
    { "lm", "cell: gru\n", 0 },
    { "lm", "look: attention\nwindow: 3\n", 0 },
    { "lm", "look: key-value\nwindow: 2\ncell: gru-reset-after\n", 0 },
    { "lm", "look: key-value-predict\nwindow: 5\n", 0 },
    { "lm", "look: n-gram\nwindow: 3\n", 0 },
    { "lm", "tied-embeddings: true\n", 7 },
    { "lstmn", "window: 4\nlayers: 2\n", 0 },
    { "gpt", "layers: 2\ntransformer-heads: 2\n", 7 },
    { "gpt", "layers: 1\ntransformer-heads: 3\ntransformer-positions: sinusoidal\ntransformer-norm: post\n", 5 },
    { "lm", "cell: lstm\nlayers: 2\n", 0 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static rg_model *make(size_t kind)
{
    static const char small[] = "dim-emb: 6\ndim-rnn: 6\ndropout-rnn: 0.3\ntransformer-dropout: 0.3\n";
    const rg_system  *system = rg_system_find(kinds[kind].system);
    void             *options = rg_alloc_zero(system->options_bytes);
    const rg_sizes    sizes = {
           { { "target-vocabulary", V }, { "bos", 2 }, { "eos", 2 }, { "lines", 1 }, { "context", kinds[kind].context } }
    };
    const rg_option_group group = { .rows = system->options, .values = options };
    rg_model             *m;
    OK(rg_options_init(system->options, options));
    OK(rg_options_read_yaml(&group, 1, small, strlen(small), "test", true));
    OK(rg_options_read_yaml(&group, 1, kinds[kind].yaml, strlen(kinds[kind].yaml), "test", false));
    OK(rg_model_new(&m, system, options, &sizes, 7));
    for (size_t i = 0; i < rg_params_count(m->params); i++) { /* far from uniform, so that differences show */
        rg_param *p = rg_params_at(m->params, i);
        for (size_t k = 0; k < rg_param_rows(p) * rg_param_cols(p); k++)
            rg_param_data(p)[k] *= (rg_real)(1 + (k * 7 + i) % 3);
    }
    OK(rg_params_repack(m->params, NULL));
    rg_options_fini(system->options, options);
    rg_free(options);
    return m;
}

static void fill(int32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) ids[i] = (int32_t)((i * i * 5 + i * 3 + i / 4) % V);
}

/* log p and perplexity as PyTorch has them (tests/reference/make_lm.py), with the same numbers in every parameter. */
static void an_lstm_reads_as_pytorch_does(void **state)
{
    (void)state;
    enum { LENGTH = 40 };
    rg_model        *m = make(KINDS - 1);
    rg_text_reading *r;
    int32_t          ids[LENGTH];
    double           log_p[LENGTH], expected, sum = 0;
    for (size_t i = 0; i < rg_params_count(m->params); i++) {
        const rg_param *p = rg_params_at(m->params, i);
        double          seed = 0;
        for (const char *c = rg_param_name(p); *c; c++) seed += 0.1 * (double)*c;
        for (size_t k = 0; k < rg_param_rows(p) * rg_param_cols(p); k++)
            rg_param_data(p)[k] = (rg_real)(0.8 * sin(seed + 0.7 * (double)k));
    }
    OK(rg_params_repack(m->params, NULL));
    fill(ids, LENGTH);
    OK(rg_text_reading_new(&r, m, NULL));
    OK(rg_text_reading_feed(log_p, r, ids, LENGTH));
    FILE *f = fopen(SOURCE_DIR "/tests/reference/lm.txt", "r");
    assert_non_null(f);
    for (size_t i = 0; i < LENGTH; i++) {
        assert_int_equal(fscanf(f, "%lf", &expected), 1);
        assert_true(fabs(log_p[i] - expected) < 1e-4);
        sum -= log_p[i];
    }
    assert_int_equal(fscanf(f, "%lf", &expected), 1);
    assert_true(fabs(exp(sum / LENGTH) / expected - 1) < 1e-4);
    fclose(f);
    rg_text_reading_free(r);
    rg_model_free(m);
}

/* However the text is handed over, and with any team, the likelihoods have the same bits. */
static void reading_in_any_pieces_gives_the_same_bits(void **state)
{
    (void)state;
    enum { N = 600 }; /* longer than a pass */
    static int32_t ids[N];
    static double  whole[N], parts[N];
    fill(ids, N);
    for (size_t kind = 0; kind < KINDS; kind++) {
        rg_model        *m = make(kind);
        rg_text_reading *r;
        rg_team         *team;
        OK(rg_text_reading_new(&r, m, NULL));
        OK(rg_text_reading_feed(whole, r, ids, N));
        rg_text_reading_begin(r);
        for (size_t at = 0, step = 1; at < N; at += step, step = step % 17 + 3) {
            if (step > N - at) step = N - at;
            OK(rg_text_reading_feed(parts + at, r, ids + at, step));
        }
        if (memcmp(whole, parts, sizeof whole) != 0)
            fail_msg("%s %s: other bits in tokens", kinds[kind].system, kinds[kind].yaml);
        rg_text_reading_free(r);
        OK(rg_team_new(&team, 3));
        OK(rg_text_reading_new(&r, m, team));
        OK(rg_text_reading_feed(parts, r, ids, N));
        if (memcmp(whole, parts, sizeof whole) != 0)
            fail_msg("%s %s: other bits with a team", kinds[kind].system, kinds[kind].yaml);
        rg_text_reading_free(r);
        rg_team_free(team);
        rg_model_free(m);
    }
}

/* A later word never changes what was said before it. */
static void the_future_changes_nothing(void **state)
{
    (void)state;
    enum { N = 30, CHANGED = 11 };
    int32_t ids[N];
    double  before[N], after[N];
    for (size_t kind = 0; kind < KINDS; kind++) {
        rg_model        *m = make(kind);
        rg_text_reading *r;
        fill(ids, N);
        OK(rg_text_reading_new(&r, m, NULL));
        OK(rg_text_reading_feed(before, r, ids, N));
        rg_text_reading_begin(r);
        ids[CHANGED] = (ids[CHANGED] + 1) % V;
        OK(rg_text_reading_feed(after, r, ids, N));
        assert_memory_equal(before, after, CHANGED * sizeof *before);
        if (memcmp(before + CHANGED, after + CHANGED, (N - CHANGED) * sizeof *before) == 0)
            fail_msg("%s: nothing follows from the past", kinds[kind].system);
        rg_text_reading_free(r);
        rg_model_free(m);
    }
}

/* Steps with a cache give the numbers of the whole pass; a gpt past its context begins its window anew. */
static void stepping_gives_the_likelihoods_of_reading(void **state)
{
    (void)state;
    enum { N = 40 };
    int32_t ids[N];
    double  read[N];
    fill(ids, N);
    for (size_t kind = 0; kind < KINDS; kind++) {
        rg_model        *m = make(kind);
        const size_t     n = kinds[kind].context ? kinds[kind].context : N;
        rg_text_reading *r;
        rg_decoding     *d;
        const rg_field   source = { .layout.groups = 2 };
        OK(rg_text_reading_new(&r, m, NULL));
        OK(rg_text_reading_feed(read, r, ids, n));
        OK(rg_decoding_new(&d, m, NULL));
        OK(rg_decoding_start(d, &source));
        for (size_t i = 0; i < N; i++) {
            const int32_t  same[] = { 1, 0 }, both[] = { i ? ids[i - 1] : 2, i ? ids[i - 1] : 2 };
            const rg_real *logits;
            size_t         ld;
            double         sum = 0;
            if (i) OK(rg_decoding_keep(d, same, 2));
            OK(rg_decoding_step(&logits, &ld, d, both));
            assert_memory_equal(logits, logits + ld, V * sizeof *logits);
            if (i >= n) continue; /* past the context: it must go on, with numbers of its own */
            for (size_t k = 0; k < V; k++) sum += exp((double)logits[k]);
            if (fabs((double)logits[ids[i]] - log(sum) - read[i]) > 1e-5)
                fail_msg("%s %s, token %zu: %.8f by a step, %.8f by reading", kinds[kind].system, kinds[kind].yaml, i,
                         (double)logits[ids[i]] - log(sum), read[i]);
        }
        rg_decoding_free(d);
        rg_text_reading_free(r);
        rg_model_free(m);
    }
}

/* Streams in chunks, with overlap, give the loss of one long pass: state is carried after k1 rows. */
static void chunks_with_carried_state_give_the_losses_of_one_long_sequence(void **state)
{
    (void)state;
    enum { LONG = 24, STREAMS = 3, K1 = 4 };
    static const size_t overlaps[] = { 0, 3 };
    char                text[STREAMS * LONG + 1];
    rg_vocab           *v;
    for (size_t i = 0; i < STREAMS * LONG; i++) text[i] = (char)('a' + (i * i + i / 3) % 4);
    text[STREAMS * LONG - 1] = 0;
    write_file("long.txt", text);
    rg_running          *r = open_letters(&v, "long.txt", (size_t)1 << 20);
    const rg_tape_config config = { .record = false };
    for (size_t kind = 0; kind < KINDS; kind++) {
        rg_model *m = make(kind);
        double    once = 0;
        for (size_t way = 0; m->system->carries && way < 3; way++) { /* 0: all at once */
            const size_t k1 = way ? K1 : LONG, k2 = way ? K1 + overlaps[way - 1] : LONG;
            double       sum = 0;
            rg_carry    *carry;
            rg_cut      *cut;
            rg_tape     *t;
            rg_batch     b;
            bool         more;
            OK(rg_language_carry(&carry, m, STREAMS));
            const rg_cut_config c = {
                .text = { r, 0, STREAMS * LONG }, .first = 2, .batch = STREAMS, .chunk = k1, .bptt = k2, .carry = carry
            };
            OK(rg_cut_new(&cut, &c));
            OK(rg_tape_new(&t, &config));
            for (OK(rg_cut_next(&more, &b, cut)); more; OK(rg_cut_next(&more, &b, cut))) {
                rg_tape_reset(t, 0);
                const rg_loss loss = m->system->loss(t, m, &b);
                OK(rg_tape_status(t));
                sum += (double)rg_tensor_at(loss.sum, 0, 0);
            }
            if (!way) once = sum;
            else if (fabs(sum - once) > 1e-4)
                fail_msg("%s %s: %.6f in chunks of %zu of %zu, %.6f at once", kinds[kind].system, kinds[kind].yaml, sum,
                         k1, k2, once);
            rg_tape_free(t);
            rg_cut_free(cut);
            rg_carry_free(carry);
        }
        rg_model_free(m);
    }
    rg_running_free(r);
    rg_vocab_free(v);
}

/* The longer gradients go back, the closer they come to the whole one; over all rows they are it. */
static void truncated_gradients_approach_the_whole_one(void **state)
{
    (void)state;
    enum { N = 24 };
    static const size_t lengths[] = { 1, 3, 8, N };
    int32_t             ids[N + 1];
    fill(ids, N + 1);
    for (size_t kind = 0; kind < 2; kind++) { /* rnn and gru without a look */
        rg_model *m = make(kind);
        rg_grads *whole, *part;
        double    before = -1, mean = 0;
        OK(rg_grads_new(&whole, m->params));
        OK(rg_grads_new(&part, m->params));
        OK(rg_lm_truncated(whole, m, ids, N, N, 1));
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            OK(rg_lm_truncated(part, m, ids, N, lengths[i], 1));
            const double cosine = rg_grads_cosine(m->params, whole, part);
            OK(rg_lm_truncation(&mean, m, ids, N + 1, N, lengths[i], 1, 5)); /* one place: the same */
            assert_true(fabs(mean - cosine) < 1e-12);
            if (cosine < before - 1e-9)
                fail_msg("kind %zu: cosine %.6f over %zu rows, %.6f over fewer", kind, cosine, lengths[i], before);
            before = cosine;
        }
        assert_true(fabs(before - 1) < 1e-9);
        assert_int_equal(rg_lm_truncated(part, m, ids, N, 2, 3), RG_EINVAL);
        assert_int_equal(rg_lm_truncation(&mean, m, ids, N, N, 2, 1, 5), RG_EINVAL);
        rg_grads_free(whole);
        rg_grads_free(part);
        rg_model_free(m);
    }
}

/* Scores of zero weigh the words of a window alike: so many of them have that share of the weight. A score that grows
 * with the place would not. */
static void the_weight_of_the_last_words_is_their_share_of_a_window(void **state)
{
    (void)state;
    enum { N = 40, WINDOW = 5, KIND = 4 };
    int32_t ids[N];
    size_t  looks;
    double  share, last = 0;
    fill(ids, N);
    rg_model *m = make(KIND);
    OK(rg_lm_near(&share, &looks, m, ids, N, 2));
    if (fabs(share - 0.4) < 1e-3) fail_msg("weights that differ: %.6f", share);
    for (size_t i = 0; i < rg_params_count(m->params); i++) {
        rg_param *p = rg_params_at(m->params, i);
        if (strncmp(rg_param_name(p), "look.", 5) == 0)
            memset(rg_param_data(p), 0, rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real));
    }
    OK(rg_params_repack(m->params, NULL));
    for (size_t near = 1; near <= WINDOW + 1; near++) {
        OK(rg_lm_near(&share, &looks, m, ids, N, near));
        assert_int_equal(looks, N - WINDOW);
        assert_true(fabs(share - (near < WINDOW ? (double)near / WINDOW : 1)) < 1e-6 && share >= last);
        last = share;
    }
    rg_model_free(m);
    m = make(1); /* no look */
    OK(rg_lm_near(&share, &looks, m, ids, N, 2));
    assert_int_equal(looks, 0);
    rg_model_free(m);
}

/* -------------------------------------------------------------------------------------------------------- the whole */

typedef struct {
    rg_text text;
    double  perplexity;
} seen;

static rg_status columns(void *context, const char *const *names, size_t count)
{
    (void)context;
    (void)names;
    assert_true(count >= 4);
    return RG_OK;
}

static rg_status draw_row(void *context, const rg_value *cells)
{
    return rg_text_print(&((seen *)context)->text, "%s|%.6f|", cells[2].text, cells[3].number);
}

static rg_status score_row(void *context, const rg_value *cells)
{
    return rg_text_print(&((seen *)context)->text, "%.0f ", cells[0].number);
}

static void note(void *context, const char *line)
{
    const char *at = strstr(line, "perplexity ");
    assert_non_null(at);
    ((seen *)context)->perplexity = strtod(at + 11, NULL);
}

static rg_model *learn(rg_learned *learned, const char *type, const char *more)
{
    rg_recipe *recipe;
    rg_model  *m;
    rg_text    yaml = { 0 };
    char      *first = rg_format("type: %s\n", type);
    OK(rg_recipe_new(&recipe, first));
    OK(rg_language_small(&yaml, ".", RG_SMALL_TEST));
    OK(rg_recipe_read(recipe, rg_text_c(&yaml), false));
    OK(rg_recipe_read(recipe, "dim-emb: 8\ndim-rnn: 8\nlayers: 1\ntransformer-heads: 2\nmodel: ''\ncpu-threads: 2\n",
                      true));
    OK(rg_recipe_read(recipe, more, false));
    const rg_training t = rg_recipe_training(recipe, NULL);
    OK(rg_learn(&m, learned, &t));
    rg_recipe_free(recipe);
    rg_text_free(&yaml);
    rg_free(first);
    return m;
}

/* `regard score` and the validation of a training say the same of the same text. */
static void the_perplexity_of_score_is_that_of_validation(void **state)
{
    (void)state;
    static const char *const types[] = { "lm", "lstmn", "gpt" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        rg_learned        learned;
        rg_model         *m = learn(&learned, types[i], "");
        const rg_list     none = { 0 };
        seen              s = { 0 };
        const rg_sink     sink = { .context = &s, .columns = columns, .row = score_row, .note = note };
        const rg_question q = { .words = &none, .input = "valid.txt", .threads = 1, .sink = &sink };
        OK(rg_language_score(m, &q));
        assert_string_equal(learned.final.metric[1].name, "valid-perplexity");
        if (fabs(s.perplexity - learned.final.metric[1].value) > 1e-4)
            fail_msg("%s: %.6f, not %.6f", types[i], s.perplexity, learned.final.metric[1].value);
        rg_text_free(&s.text);
        rg_model_free(m);
    }
}

/* The same seed gives the same texts with any number of threads, alone or among other prompts. */
static void texts_depend_on_neither_threads_nor_batch_mates(void **state)
{
    (void)state;
    static const char *const types[] = { "lm", "lstmn", "gpt" };
    char                    *prompts[] = { (char *)"the", (char *)"a small dog sees the", (char *)"" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        rg_model *m = learn(NULL, types[i], "");
        seen      first = { 0 };
        for (int way = 0; way < 5; way++) {
            static const int          threads[] = { 1, 2, 8, 1, 1 };
            static const int64_t      batch[] = { 16, 16, 16, 1, 2 };
            const rg_language_drawing asked = { .prompts = { 3, prompts },
                                                .n = 2,
                                                .length = 24,
                                                .temperature = 0.9,
                                                .top = 8,
                                                .top_p = 0.95,
                                                .seed = 7,
                                                .batch = batch[way] };
            seen                      s = { 0 };
            const rg_sink             sink = { .context = &s, .columns = columns, .row = draw_row };
            const rg_question         q = { .options = &asked, .threads = threads[way], .sink = &sink };
            OK(rg_language_generate(m, &q));
            assert_true(rg_utf8_check(rg_text_c(&s.text), s.text.length, NULL));
            if (!way) first = s;
            else {
                assert_string_equal(rg_text_c(&first.text), rg_text_c(&s.text));
                rg_text_free(&s.text);
            }
        }
        rg_text_free(&first.text);
        rg_model_free(m);
    }
}

/* Summed over steps, averaged over streams: with one chunk length the gradient is that many times larger, and so is a
 * step of plain SGD. */
static void loss_per_stream_multiplies_the_step(void **state)
{
    (void)state;
    rg_model *start = learn(NULL, "lm", "learn-rate: 1e-30\noptimizer: sgd\nafter-batches: 1\nbptt: 4\nclip-norm: 0\n");
    rg_model *token = learn(NULL, "lm", "learn-rate: 0.4\noptimizer: sgd\nafter-batches: 1\nbptt: 4\nclip-norm: 0\n");
    rg_model *stream = learn(
        NULL, "lm",
        "learn-rate: 0.1\noptimizer: sgd\nafter-batches: 1\nbptt: 4\nclip-norm: 0\nloss-per: stream\n"); /* chunk: 4 */
    for (size_t i = 0; i < rg_params_count(start->params); i++) {
        const rg_param *a = rg_params_at(start->params, i), *b = rg_params_at(token->params, i),
                       *c = rg_params_at(stream->params, i);
        for (size_t k = 0; k < rg_param_rows(a) * rg_param_cols(a); k++) {
            const double by_token = (double)(rg_param_data(b)[k] - rg_param_data(a)[k]),
                         by_stream = (double)(rg_param_data(c)[k] - rg_param_data(a)[k]);
            if (fabs(by_token - by_stream) > 1e-6)
                fail_msg("%s: moved by %g and %g", rg_param_name(a), by_token, by_stream);
        }
    }
    rg_model_free(start);
    rg_model_free(token);
    rg_model_free(stream);
}

static void settings_that_make_no_sense_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *words;
    } wrong[] = { { "bptt: 2\nchunk: 5\n", "--bptt 2" },
                  { "valid-share: 0.1\n", "--valid-share" },
                  { "mini-batch: 100000\n", "streams" },
                  { "train-sets: [nowhere.txt]\n", "nowhere.txt" },
                  { "train-sets: [empty.txt]\n", "empty.txt" },
                  { "look: key-value\ndim-rnn: 7\n", "--dim-rnn 7" },
                  { "lr-schedule: epochs\nlr-warmup: 10\n", "warm-up" } };
    write_file("empty.txt", "");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rg_recipe *recipe;
        rg_text    yaml = { 0 };
        OK(rg_recipe_new(&recipe, "type: lm\n"));
        OK(rg_language_small(&yaml, ".", RG_SMALL_TEST));
        OK(rg_recipe_read(recipe, rg_text_c(&yaml), false));
        OK(rg_recipe_read(recipe, "model: ''\n", false));
        OK(rg_recipe_read(recipe, wrong[i].yaml, false));
        const rg_training t = rg_recipe_training(recipe, NULL);
        assert_int_not_equal(rg_learn(NULL, NULL, &t), RG_OK);
        if (!strstr(rg_message(), wrong[i].words)) fail_msg("%s: %s", wrong[i].yaml, rg_message());
        rg_recipe_free(recipe);
        rg_text_free(&yaml);
    }
}

int main(void)
{
    faults_no_sync();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_in_memory_and_in_a_file_is_the_same),
        cmocka_unit_test(tokens_stay_as_they_are_and_exact_text_keeps_its_blanks),
        cmocka_unit_test(streams_predict_every_piece_once),
        cmocka_unit_test(windows_cover_the_text_or_are_drawn_from_it),
        cmocka_unit_test(an_lstm_reads_as_pytorch_does),
        cmocka_unit_test(reading_in_any_pieces_gives_the_same_bits),
        cmocka_unit_test(the_future_changes_nothing),
        cmocka_unit_test(stepping_gives_the_likelihoods_of_reading),
        cmocka_unit_test(chunks_with_carried_state_give_the_losses_of_one_long_sequence),
        cmocka_unit_test(truncated_gradients_approach_the_whole_one),
        cmocka_unit_test(the_weight_of_the_last_words_is_their_share_of_a_window),
        cmocka_unit_test(the_perplexity_of_score_is_that_of_validation),
        cmocka_unit_test(texts_depend_on_neither_threads_nor_batch_mates),
        cmocka_unit_test(loss_per_stream_multiplies_the_step),
        cmocka_unit_test(settings_that_make_no_sense_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
