/* corpus.c - train.en.gz and train.de.gz as batches: pairs sorted by target length, then source length, then line;
 * cut where target words would pass BENCH_CORPUS_WORDS; every BENCH_CORPUS_EVERYth batch is kept. peer_multi30k.py
 * makes the same ones. */
#include "corpus.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int32_t source, target; /* words with </s> */
    size_t  line;
} pair;

typedef struct { /* one side: ids of all lines, one after another, each closed by 2 */
    rg_ids  ids;
    size_t *first;
    size_t  lines, room;
} side;

const char *bench_corpus_folder(void)
{
    const char *folder = getenv("REGARD_MULTI30K");
    return folder && *folder ? folder : NULL;
}

/* FNV-1a; 0 .. 3 are pad, <s>, </s> and the unknown word. */
static int32_t word_id(const char *word, size_t bytes)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < bytes; i++) h = (h ^ (unsigned char)word[i]) * 16777619u;
    return (int32_t)(4 + h % (BENCH_CORPUS_V - 4));
}

static rg_status add_line(side *s, const char *text)
{
    if (s->lines + 1 >= s->room) {
        const size_t room = s->room ? 2 * s->room : 1 << 14;
        size_t      *first = rg_realloc(s->first, room * sizeof *first);
        if (!first) return RG_ENOMEM;
        s->first = first;
        s->room = room;
    }
    s->first[s->lines++] = s->ids.count;
    for (const char *at = text; *(at += strspn(at, " ")); at += strcspn(at, " "))
        RG_TRY(rg_ids_add(&s->ids, word_id(at, strcspn(at, " "))));
    RG_TRY(rg_ids_add(&s->ids, 2));
    s->first[s->lines] = s->ids.count;
    return RG_OK;
}

static rg_status read_side(side *s, const char *folder, const char *name)
{
    char      path[1024];
    rg_lines *lines = NULL;
    rg_line   line;
    bool      more = true;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    rg_status status = rg_lines_open(&lines, path, NULL);
    while (status == RG_OK && (status = rg_lines_next(&more, &line, lines)) == RG_OK && more)
        status = add_line(s, line.text);
    rg_lines_close(lines);
    return status;
}

static int by_length(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return x->line < y->line ? -1 : 1;
}

/* How many pairs from `from` on make a batch. */
static size_t cut(const pair *pairs, size_t from, size_t n, size_t *words)
{
    size_t count = 0;
    for (*words = 0; from + count < n && *words + (size_t)pairs[from + count].target <= BENCH_CORPUS_WORDS; count++)
        *words += (size_t)pairs[from + count].target;
    return count ? count : 1;
}

/* One batch in `numbers`; returns how many it took. */
static size_t fill(rg_batch *out, int32_t *numbers, uint64_t *lines, const pair *pairs, size_t count,
                   const side *source, const side *target)
{
    size_t ns = 0, nt = 0;
    for (size_t i = 0; i < count; i++) ns += (size_t)pairs[i].source, nt += (size_t)pairs[i].target;
    int32_t *s = numbers, *t = s + ns, *previous = t + nt, *source_start = previous + nt,
            *target_start = source_start + count + 1;
    source_start[0] = target_start[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const pair    *p = &pairs[i];
        const int32_t *from = target->ids.data + target->first[p->line];
        int32_t       *to = t + target_start[i], *before = previous + target_start[i];
        memcpy(s + source_start[i], source->ids.data + source->first[p->line], (size_t)p->source * sizeof *s);
        memcpy(to, from, (size_t)p->target * sizeof *t);
        before[0] = 1;
        memcpy(before + 1, from, (size_t)(p->target - 1) * sizeof *t);
        source_start[i + 1] = source_start[i] + p->source;
        target_start[i + 1] = target_start[i] + p->target;
        lines[i] = p->line + 1;
    }
    *out = (rg_batch){ .examples = count,
                       .fields = 2,
                       .field = { [RG_SOURCE] = { .layout = { .groups = count, .start = source_start }, .ids = s },
                                  [RG_TARGET] = { .layout = { .groups = count, .start = target_start },
                                                  .ids = t,
                                                  .previous = previous } },
                       .lines = lines };
    return ns + 2 * nt + 2 * (count + 1);
}

static rg_status make_batches(bench_corpus *out, const pair *pairs, size_t n, const side *source, const side *target)
{
    const size_t numbers = source->ids.count + 2 * target->ids.count + 4 * n;
    out->batch = rg_alloc_array(n, sizeof *out->batch);
    out->numbers = rg_alloc_array(numbers, sizeof *out->numbers);
    out->lines = rg_alloc_array(n, sizeof *out->lines);
    if (!out->batch || !out->numbers || !out->lines) return RG_ENOMEM;
    size_t used = 0, pairs_used = 0, words;
    for (size_t from = 0, number = 0; from < n; number++) {
        const size_t count = cut(pairs, from, n, &words);
        if (number % BENCH_CORPUS_EVERY == BENCH_CORPUS_EVERY / 2) {
            used += fill(&out->batch[out->batches++], out->numbers + used, out->lines + pairs_used, pairs + from, count,
                         source, target);
            pairs_used += count;
            out->words += words;
        }
        from += count;
    }
    return out->batches ? RG_OK : rg_fail(RG_EINVAL, "a corpus of %zu pairs is too small", n);
}

rg_status bench_corpus_open(bench_corpus *out, const char *folder)
{
    side  source = { 0 }, target = { 0 };
    pair *pairs = NULL;
    *out = (bench_corpus){ 0 };
    rg_status status = read_side(&source, folder, "train.en.gz");
    if (status == RG_OK) status = read_side(&target, folder, "train.de.gz");
    if (status == RG_OK && source.lines != target.lines)
        status = rg_fail(RG_EMATCH, "%zu lines and %zu", source.lines, target.lines);
    if (status == RG_OK && !(pairs = rg_alloc_array(source.lines + 1, sizeof *pairs))) status = RG_ENOMEM;
    if (status == RG_OK) {
        for (size_t i = 0; i < source.lines; i++)
            pairs[i] = (pair){ (int32_t)(source.first[i + 1] - source.first[i]),
                               (int32_t)(target.first[i + 1] - target.first[i]), i };
        qsort(pairs, source.lines, sizeof *pairs, by_length);
        status = make_batches(out, pairs, source.lines, &source, &target);
    }
    rg_free(pairs);
    rg_ids_free(&source.ids);
    rg_ids_free(&target.ids);
    rg_free(source.first);
    rg_free(target.first);
    if (status != RG_OK) bench_corpus_close(out);
    return status;
}

void bench_corpus_close(bench_corpus *c)
{
    rg_free(c->batch);
    rg_free(c->numbers);
    rg_free(c->lines);
    *c = (bench_corpus){ 0 };
}
