/* lexicon.c - a dictionary learned from parallel text. */
#include "regard/lexicon.h"
#include "data/text/ibm1.h"

#include <stdlib.h>
#include <string.h>

struct rg_lexicon {
    rg_vocab *source;
    char    **word; /* by the id of the source word; NULL: never linked */
    size_t    count;
};

/* One side: its vocabulary, and its lines as numbers. */
typedef struct {
    rg_vocab *vocab;
    rg_ids    ids;
    size_t   *start, lines;
} side;

static void free_side(side *s)
{
    rg_vocab_free(s->vocab);
    rg_ids_free(&s->ids);
    rg_free(s->start);
}

static rg_status read_side(side *s, const char *path)
{
    rg_vocab_config    config = RG_VOCAB_CONFIG_DEFAULT;
    const rg_text_side file = { .path = path, .column = -1 };
    rg_line_list       lines = { 0 };
    config.kind = RG_VOCAB_WORDS;
    config.size = 0;
    rg_status status = rg_vocab_train_files(&s->vocab, &config, &file, 1);
    if (status == RG_OK) status = rg_line_list_read(&lines, path, -1);
    s->lines = lines.count;
    if (status == RG_OK && !(s->start = rg_alloc_array(lines.count + 1, sizeof *s->start))) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < lines.count; i++) {
        s->start[i] = s->ids.count;
        status = rg_vocab_encode(&s->ids, NULL, s->vocab, lines.line[i], strlen(lines.line[i]));
    }
    if (status == RG_OK) s->start[s->lines] = s->ids.count;
    rg_line_list_free(&lines);
    return status;
}

typedef struct {
    int32_t source, target;
} link;

static int by_words(const void *a, const void *b)
{
    const link *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

static size_t collect(link *out, const side *from, const side *to, const int32_t *links)
{
    size_t count = 0;
    for (size_t i = 0; i < to->lines; i++)
        for (size_t j = to->start[i]; j < to->start[i + 1]; j++)
            if (links[j] >= 0)
                out[count++] = (link){ from->ids.data[from->start[i] + (size_t)links[j]], to->ids.data[j] };
    qsort(out, count, sizeof *out, by_words);
    return count;
}

static rg_status name(char **out, const rg_vocab *vocab, int32_t id)
{
    rg_text   text = { 0 };
    rg_status status = rg_vocab_decode(&text, vocab, &id, 1);
    if (status == RG_OK && !(*out = rg_strdup(rg_text_c(&text)))) status = RG_ENOMEM;
    rg_text_free(&text);
    return status;
}

/* Of the targets of each source word the most frequent; of equals the first. Links are sorted. */
static rg_status choose(rg_lexicon *lex, const rg_vocab *target, const link *links, size_t count)
{
    for (size_t i = 0, most = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && by_words(&links[i], &links[i + run]) == 0;) run++;
        if (i == 0 || links[i].source != links[i - 1].source) most = 0;
        if (run <= most) continue;
        most = run;
        rg_free(lex->word[links[i].source]);
        lex->word[links[i].source] = NULL;
        RG_TRY(name(&lex->word[links[i].source], target, links[i].target));
    }
    return RG_OK;
}

static rg_status align(rg_lexicon *lex, side *from, side *to, int iterations)
{
    const rg_bitext text = { .pairs = from->lines,
                             .source = from->ids.data,
                             .target = to->ids.data,
                             .source_start = from->start,
                             .target_start = to->start };
    int32_t  *best = rg_alloc_array(to->ids.count + 1, sizeof *best);
    link     *links = rg_alloc_array(to->ids.count + 1, sizeof *links);
    rg_status status = best && links ? rg_ibm1_align(best, &text, iterations) : RG_ENOMEM;
    lex->count = rg_vocab_size(from->vocab);
    if (status == RG_OK && !(lex->word = rg_alloc_zero(lex->count * sizeof *lex->word))) status = RG_ENOMEM;
    if (status == RG_OK) status = choose(lex, to->vocab, links, collect(links, from, to, best));
    rg_free(best);
    rg_free(links);
    return status;
}

rg_status rg_lexicon_learn(rg_lexicon **out, const char *source, const char *target, int iterations)
{
    side        from = { 0 }, to = { 0 };
    rg_lexicon *lex = rg_alloc_zero(sizeof *lex);
    rg_status   status = lex ? read_side(&from, source) : RG_ENOMEM;
    if (status == RG_OK) status = read_side(&to, target);
    if (status == RG_OK && from.lines != to.lines)
        status = rg_fail(RG_EMATCH, "%s has %zu lines, %s has %zu; each line translates the one beside it", source,
                         from.lines, target, to.lines);
    if (status == RG_OK) status = align(lex, &from, &to, iterations);
    if (status == RG_OK) {
        lex->source = from.vocab;
        from.vocab = NULL;
    }
    free_side(&from);
    free_side(&to);
    *out = status == RG_OK ? lex : NULL;
    if (status != RG_OK) rg_lexicon_free(lex);
    return status;
}

void rg_lexicon_free(rg_lexicon *lex)
{
    for (size_t i = 0; lex && lex->word && i < lex->count; i++) rg_free(lex->word[i]);
    if (lex) rg_free(lex->word);
    if (lex) rg_vocab_free(lex->source);
    rg_free(lex);
}

const char *rg_lexicon_find(const rg_lexicon *lex, const char *word)
{
    rg_ids      ids = { 0 };
    const char *found = NULL;
    if (rg_vocab_encode(&ids, NULL, lex->source, word, strlen(word)) == RG_OK && ids.count == 1)
        found = lex->word[ids.data[0]];
    rg_ids_free(&ids);
    return found;
}
