/* spans.c - named spans of tagged words, as the CoNLL shared tasks count them: B-PER I-PER is one span, O is
 * outside. */
#include "regard/examples.h"
#include "regard/metrics.h"

#include <string.h>

bool rg_tags_are_bio(const rg_names *tags)
{
    bool begins = false;
    for (size_t i = 0; i < rg_names_count(tags); i++) {
        const char *tag = rg_names_get(tags, (int32_t)i);
        if (strcmp(tag, "O") != 0 && strncmp(tag, "B-", 2) != 0 && strncmp(tag, "I-", 2) != 0) return false;
        begins = begins || tag[0] == 'B';
    }
    return begins;
}

static const char *tag_at(const int32_t *tags, size_t i, const rg_names *names) { return rg_names_get(names, tags[i]); }

/* Is word i the first of a span? */
static bool begins(const int32_t *tags, size_t i, const rg_names *names)
{
    const char *tag = tag_at(tags, i, names);
    if (tag[0] != 'B' && tag[0] != 'I') return false;
    if (tag[0] == 'B' || !i) return true;
    const char *before = tag_at(tags, i - 1, names);
    return before[0] == 'O' || strcmp(before + 1, tag + 1) != 0;
}

/* One past the last word of the span that begins at i. */
static size_t end_of(const int32_t *tags, size_t i, size_t n, const rg_names *names)
{
    size_t end = i + 1;
    while (end < n && tag_at(tags, end, names)[0] == 'I' && !begins(tags, end, names)) end++;
    return end;
}

void rg_spans_compare(rg_set_counts *sums, const int32_t *gold, const int32_t *predicted, size_t n,
                      const rg_names *names)
{
    for (size_t i = 0; i < n; i++) {
        const bool there = begins(gold, i, names), answered = begins(predicted, i, names);
        const bool same = there && answered &&
                          strcmp(tag_at(gold, i, names) + 1, tag_at(predicted, i, names) + 1) == 0 &&
                          end_of(gold, i, n, names) == end_of(predicted, i, n, names);
        sums->hit += same;
        sums->missed += there && !same;
        sums->extra += answered && !same;
    }
}
