/* rouge.c - ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) of sentences, averaged over segments.
 *
 *   N: recall = matching n-grams / n-grams of the reference, precision over those of the output, F1 their harmonic mean
 *   L: the same with the longest common subsequence over words
 *
 * A word is a run of letters, digits and their marks in lower case; the signs . , ' & / - (and the typographic
 * apostrophe) between two of them belong to it: U.S.-Japan, 4.5, 7,000 and A&P are words, the point that ends a
 * sentence is none. With split_words every sign cuts, as in Google's rouge_score. No stemming. Of several references
 * the one with the best F1 counts (with max_bytes, the one with the best recall). Stats: sums of precision, recall,
 * F1; number of segments. */
#include "metrics/metric.h"

#include <string.h>
#include <utf8proc.h>

typedef struct triple {
    double precision, recall, f1;
} triple;

static bool is_word(uint32_t c)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

/* The first bytes of a line, not cutting a character. */
static size_t crop(const char *line, size_t bytes, size_t most)
{
    if (!most || bytes <= most) return bytes;
    while (most && ((unsigned char)line[most] & 0xC0) == 0x80) most--;
    return most;
}

static bool is_inside(uint32_t c)
{
    return c == 0x2019 || (c && c < 128 && strchr(".,'&/-", (int)c));
}

/* Signs that may belong to a word wait for what follows: a letter or digit right behind them joins them to it. */
static rg_status words_of(rg_ids *out, rg_scorer *s, const char *line, size_t bytes)
{
    rg_text_clear(&s->text);
    rg_text_clear(&s->token);
    RG_TRY(rg_text_lower(&s->text, line, bytes));
    size_t held = 0;     /* bytes of such signs right before i */
    bool   open = false; /* right before i stands a letter or digit, or such signs behind one */
    for (size_t i = 0, step; i < s->text.length; i += step) {
        const char *at = s->text.data + i;
        uint32_t    c;
        step = rg_utf8_next(&c, at, s->text.length - i);
        if (is_word(c)) {
            RG_TRY(rg_text_add(&s->token, at - held, held + step));
            open = true;
            held = 0;
        } else if (open && !s->config.split_words && is_inside(c)) held += step;
        else {
            RG_TRY(rg_text_add(&s->token, " ", 1));
            open = false;
            held = 0;
        }
    }
    return rg_word_ids(out, &s->words, rg_text_c(&s->token), s->token.length);
}

static triple scores(double match, double hyp, double ref)
{
    triple t = { hyp > 0 ? match / hyp : 0, ref > 0 ? match / ref : 0, 0 };
    if (t.precision + t.recall > 0) t.f1 = 2 * t.precision * t.recall / (t.precision + t.recall);
    return t;
}

static rg_status compare_grams(triple *out, rg_scorer *s, uint32_t n)
{
    double match = 0;
    rg_grams_clear(&s->grams);
    for (size_t i = 0; i + n <= s->hypothesis.count; i++) {
        rg_gram *gram;
        RG_TRY(rg_grams_get(&gram, &s->grams, s->hypothesis.data + i, n, 0));
        gram->hypothesis++;
    }
    for (size_t i = 0; i + n <= s->reference.count; i++) {
        rg_gram *gram = rg_grams_find(&s->grams, s->reference.data + i, n, 0);
        if (gram && gram->reference++ < gram->hypothesis) match++;
    }
    size_t hyp = s->hypothesis.count, ref = s->reference.count;
    *out = scores(match, hyp >= n ? (double)(hyp - n + 1) : 0, ref >= n ? (double)(ref - n + 1) : 0);
    return RG_OK;
}

static rg_status compare_subsequence(triple *out, rg_scorer *s)
{
    size_t    columns = s->reference.count + 1;
    uint32_t *row = rg_alloc_zero(columns * sizeof *row);
    if (!row) return RG_ENOMEM;
    for (size_t i = 0; i < s->hypothesis.count; i++) {
        uint32_t diagonal = 0; /* row above, one to the left */
        for (size_t j = 1; j < columns; j++) {
            uint32_t above = row[j];
            if (s->hypothesis.data[i] == s->reference.data[j - 1]) row[j] = diagonal + 1;
            else if (row[j - 1] > row[j]) row[j] = row[j - 1];
            diagonal = above;
        }
    }
    *out = scores(row[columns - 1], (double)s->hypothesis.count, (double)s->reference.count);
    rg_free(row);
    return RG_OK;
}

static rg_status rouge_segment(double *stats, rg_scorer *s, const char *hypothesis, const char *const *references,
                               size_t count)
{
    triple best = { 0, 0, -1 };
    bool   by_recall = s->config.max_bytes > 0;
    RG_TRY(words_of(&s->hypothesis, s, hypothesis, crop(hypothesis, strlen(hypothesis), s->config.max_bytes)));
    for (size_t r = 0; r < count; r++) {
        triple now;
        RG_TRY(words_of(&s->reference, s, references[r], strlen(references[r])));
        RG_TRY(s->metric->order ? compare_grams(&now, s, s->metric->order) : compare_subsequence(&now, s));
        if (r == 0 || (by_recall ? now.recall > best.recall : now.f1 > best.f1)) best = now;
    }
    stats[0] = best.precision;
    stats[1] = best.recall;
    stats[2] = best.f1;
    stats[3] = 1;
    return RG_OK;
}

static double rouge_score(const rg_scorer *s, const double *sums, bool sentence)
{
    (void)sentence;
    return sums[3] > 0 ? 100 * sums[s->config.max_bytes ? 1 : 2] / sums[3] : 0;
}

static rg_status rouge_signature(rg_text *out, const rg_scorer *s)
{
    RG_TRY(rg_text_print(out, "nrefs:%zu|case:lc|words:%s|stem:no|value:%s", s->references,
                         s->config.split_words ? "split" : "whole", s->config.max_bytes ? "recall" : "f1"));
    return s->config.max_bytes ? rg_text_print(out, "|bytes:%zu", s->config.max_bytes) : RG_OK;
}

#define ROUGE(n, shown, grams, name_as_reward)                           \
    const rg_metric rg_metric_rouge##n = { .name = "rouge" #n,           \
                                           .title = shown,               \
                                           .stats = 4,                   \
                                           .order = grams,               \
                                           .segment = rouge_segment,     \
                                           .score = rouge_score,         \
                                           .signature = rouge_signature, \
                                           .reward = name_as_reward }
ROUGE(1, "ROUGE-1", 1, NULL);
ROUGE(2, "ROUGE-2", 2, NULL);
ROUGE(L, "ROUGE-L", 0, "rouge-l");

rg_status rg_scorer_rouge(double *out_precision, double *out_recall, double *out_f1, const rg_scorer *s)
{
    double sums[3] = { 0 }, n = s->segments ? (double)s->segments : 1;
    if (s->metric->segment != rouge_segment) return rg_fail(RG_EINVAL, "%s is not a ROUGE metric", s->metric->title);
    for (size_t i = 0; i < s->segments; i++)
        for (size_t j = 0; j < 3; j++) sums[j] += s->stats[4 * i + j];
    *out_precision = 100 * sums[0] / n;
    *out_recall = 100 * sums[1] / n;
    *out_f1 = 100 * sums[2] / n;
    return RG_OK;
}
