/* chrf.c - chrF (Popovic 2015) and chrF++ (2017) as sacreBLEU has them.
 *
 *   F_beta of precision and recall, each averaged over orders: character n-grams 1-6 without blanks, and for ++ word n-grams 1-2
 *
 * beta = 2. Orders that hypothesis or reference are too short for are left out of the average. Of several references
 * the best counts. Stats: hypothesis, reference and matching n-grams of each order. */
#include "metrics/metric.h"

#include <string.h>

enum { CHARACTERS = 6, CHARACTER = 0, WORD = 1 };

static double f_score(const double *stats, size_t orders)
{
    double   precision = 0, recall = 0;
    unsigned used = 0;
    for (size_t i = 0; i < orders; i++) {
        double hyp = stats[3 * i], ref = stats[3 * i + 1], match = stats[3 * i + 2];
        if (hyp <= 0 || ref <= 0) continue;
        precision += match / hyp;
        recall += match / ref;
        used++;
    }
    if (!used) return 0;
    precision /= used;
    recall /= used;
    return precision + recall > 0 ? 100 * (5 * precision * recall) / (4 * precision + recall) : 0;
}

/* ASCII punctuation at the end of a word, or else at its start, is a word of its own. */
static bool is_mark(char c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

static rg_status add_word(rg_text *out, const char *word, size_t bytes)
{
    uint32_t c;
    bool     single = rg_utf8_next(&c, word, bytes) == bytes;
    size_t   head = !single && !is_mark(word[bytes - 1]) && is_mark(word[0]) ? 1 : 0;
    size_t   tail = !single && is_mark(word[bytes - 1]) ? 1 : 0;
    if (head) RG_TRY(rg_text_print(out, "%c ", word[0]));
    RG_TRY(rg_text_add(out, word + head, bytes - head - tail));
    if (tail) RG_TRY(rg_text_print(out, " %c", word[bytes - 1]));
    return rg_text_add(out, " ", 1);
}

/* Split the line: characters without blanks, and words with punctuation apart. */
static rg_status cut(rg_ids *characters, rg_ids *words, rg_scorer *s, const char *line)
{
    rg_text_clear(&s->text);
    rg_text_clear(&s->token);
    if (s->config.lowercase) {
        RG_TRY(rg_text_lower(&s->text, line, strlen(line)));
        line = rg_text_c(&s->text);
    }
    size_t bytes = strlen(line), begin = 0;
    characters->count = words->count = 0;
    for (size_t i = 0, step; i <= bytes; i += step) {
        uint32_t c = ' ';
        step = i < bytes ? rg_utf8_next(&c, line + i, bytes - i) : 1;
        if (!rg_is_space(c)) {
            RG_TRY(rg_ids_add(characters, (int32_t)c));
            continue;
        }
        if (i > begin && s->metric->order) RG_TRY(add_word(&s->token, line + begin, i - begin));
        begin = i + step;
    }
    return s->metric->order ? rg_word_ids(words, &s->words, rg_text_c(&s->token), s->token.length) : RG_OK;
}

static rg_status count_hypothesis(rg_grams *grams, const rg_ids *ids, uint32_t orders, uint32_t kind)
{
    for (uint32_t n = 1; n <= orders; n++) {
        for (size_t i = 0; i + n <= ids->count; i++) {
            rg_gram *gram;
            RG_TRY(rg_grams_get(&gram, grams, ids->data + i, n, kind));
            gram->hypothesis++;
        }
    }
    return RG_OK;
}

static double grams_in(const rg_ids *ids, uint32_t n)
{
    return ids->count >= n ? (double)(ids->count - n + 1) : 0;
}

/* Stats of one reference for the orders of one kind. */
static void compare(double *stats, rg_grams *grams, const rg_ids *hyp, const rg_ids *ref, uint32_t orders,
                    uint32_t kind)
{
    for (uint32_t n = 1; n <= orders; n++, stats += 3) {
        stats[1] = grams_in(ref, n);
        stats[0] = stats[1] > 0 ? grams_in(hyp, n) : 0;
        stats[2] = 0;
        for (size_t i = 0; i + n <= ref->count; i++) {
            rg_gram *gram = rg_grams_find(grams, ref->data + i, n, kind);
            if (!gram) continue;
            if (gram->current < gram->hypothesis) stats[2]++;
            gram->current++;
        }
    }
}

static rg_status chrf_segment(double *stats, rg_scorer *s, const char *hypothesis, const char *const *references,
                              size_t count)
{
    size_t orders = CHARACTERS + s->metric->order;
    double best = -1;
    RG_TRY(cut(&s->hypothesis, &s->hypothesis_words, s, hypothesis));
    rg_grams_clear(&s->grams);
    RG_TRY(count_hypothesis(&s->grams, &s->hypothesis, CHARACTERS, CHARACTER));
    RG_TRY(count_hypothesis(&s->grams, &s->hypothesis_words, s->metric->order, WORD));
    for (size_t r = 0; r < count; r++) {
        double now[RG_METRIC_STATS] = { 0 };
        RG_TRY(cut(&s->reference, &s->reference_words, s, references[r]));
        for (size_t i = 0; i < s->grams.count; i++) s->grams.grams[i].current = 0;
        compare(now, &s->grams, &s->hypothesis, &s->reference, CHARACTERS, CHARACTER);
        compare(now + 3 * CHARACTERS, &s->grams, &s->hypothesis_words, &s->reference_words, s->metric->order, WORD);
        double score = f_score(now, orders);
        if (score <= best) continue;
        best = score;
        memcpy(stats, now, 3 * orders * sizeof *stats);
    }
    return RG_OK;
}

static double chrf_score(const rg_scorer *s, const double *sums, bool sentence)
{
    (void)sentence;
    return f_score(sums, CHARACTERS + s->metric->order);
}

static rg_status chrf_signature(rg_text *out, const rg_scorer *s)
{
    return rg_text_print(out, "nrefs:%zu|case:%s|eff:yes|nc:6|nw:%u|space:no|version:2.6.0", s->references,
                         s->config.lowercase ? "lc" : "mixed", s->metric->order);
}

const rg_metric rg_metric_chrf = { .name = "chrf",
                                   .reward = "chrf",
                                   .title = "chrF2",
                                   .stats = 3 * CHARACTERS,
                                   .order = 0,
                                   .segment = chrf_segment,
                                   .score = chrf_score,
                                   .signature = chrf_signature };
const rg_metric rg_metric_chrfpp = { .name = "chrf++", .title = "chrF2++", .stats = 3 * (CHARACTERS + 2), .order = 2,
                                     .segment = chrf_segment, .score = chrf_score, .signature = chrf_signature };
