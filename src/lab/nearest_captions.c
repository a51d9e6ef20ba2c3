/* nearest_captions.c - see nearest_captions.h. */
#include "lab/nearest_captions.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "regard/metrics.h"
#include "tasks/pictured.h"

enum { GRAMS = 4, MOST_BYTES = 64 << 20 };

/* -------------------------------------------------------------------------------------------------------- consensus */

/* Hashes of all 1- to 4-grams of a caption, in ascending order. */
typedef struct {
    uint64_t *gram;
    size_t    count;
} grams;

static int ascending(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* Words are parted by blanks; case does not count. */
static size_t hash_words(uint64_t *out, const char *text)
{
    size_t n = 0;
    while (*(text += strspn(text, " \t"))) {
        const size_t bytes = strcspn(text, " \t");
        rg_hash64    h;
        rg_hash64_begin(&h);
        for (size_t i = 0; i < bytes; i++) {
            const char c = (char)tolower((unsigned char)text[i]);
            rg_hash64_add(&h, &c, 1);
        }
        out[n++] = rg_hash64_end(&h);
        text += bytes;
    }
    return n;
}

static rg_status grams_of(grams *out, const char *text)
{
    const size_t most = strlen(text) / 2 + 1; /* a word and a blank at least */
    uint64_t    *word = rg_alloc_array(most, sizeof *word), *gram = rg_alloc_array(GRAMS * most, sizeof *gram);
    if (!word || !gram) {
        rg_free(word);
        rg_free(gram);
        return RG_ENOMEM;
    }
    const size_t words = hash_words(word, text);
    *out = (grams){ .gram = gram };
    for (size_t n = 1; n <= GRAMS; n++)
        for (size_t i = 0; i + n <= words; i++) gram[out->count++] = rg_hash64_of(word + i, n * sizeof *word);
    qsort(gram, out->count, sizeof *gram, ascending);
    rg_free(word);
    return RG_OK;
}

/* Shared grams over those of the longer: the smaller of precision and recall. */
static double agreement(const grams *a, const grams *b)
{
    const size_t longer = a->count > b->count ? a->count : b->count;
    size_t       shared = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->gram[i] == b->gram[k]) shared++, i++, k++;
        else if (a->gram[i] < b->gram[k]) i++;
        else k++;
    }
    return longer ? (double)shared / (double)longer : 0;
}

rg_status rg_consensus(size_t *out, const char *const *caption, size_t n)
{
    grams    *g = rg_alloc_zero((n + 1) * sizeof *g);
    rg_status status = g ? RG_OK : RG_ENOMEM;
    double    most = -1;
    for (size_t i = 0; status == RG_OK && i < n; i++) status = grams_of(&g[i], caption[i]);
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            if (k != i) sum += agreement(&g[i], &g[k]);
        if (sum > most) most = sum, *out = i;
    }
    for (size_t i = 0; g && i < n; i++) rg_free(g[i].gram);
    rg_free(g);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- vectors */

/* Pictures of an archive that the table knows, each as a vector of length 1. */
typedef struct {
    float  *vector;
    size_t *picture; /* number in the table */
    size_t  count, width;
} vectors;

static void vectors_free(vectors *v)
{
    rg_free(v->vector);
    rg_free(v->picture);
}

static rg_status add_vector(vectors *v, rg_features *f, const rg_text *bytes, const char *name)
{
    const size_t cells = rg_features_down(f) * rg_features_across(f);
    float       *to = v->vector + v->count * v->width;
    rg_picture   p = { 0 };
    double       square = 0;
    rg_status    status = rg_picture_decode(&p, bytes->data, bytes->length, 3);
    const float *row = status == RG_OK ? rg_features_of(&status, f, &p) : NULL;
    rg_picture_free(&p);
    if (!row) return rg_fail_in(status, "%s: ", name);
    memset(to, 0, v->width * sizeof *to);
    for (size_t i = 0; i < cells; i++)
        for (size_t d = 0; d < v->width; d++) to[d] += row[i * v->width + d];
    for (size_t d = 0; d < v->width; d++) square += (double)to[d] * (double)to[d];
    const float scale = square > 0 ? (float)(1 / sqrt(square)) : 0;
    for (size_t d = 0; d < v->width; d++) to[d] *= scale;
    return RG_OK;
}

static rg_status read_vectors(vectors *v, rg_features *f, const rg_pictured_table *table, const char *archive,
                              size_t most)
{
    rg_files    *files = NULL;
    rg_text      bytes = { 0 };
    const size_t all = table->names.count;
    v->width = rg_features_width(f);
    v->vector = rg_alloc_array(all + 1, v->width * sizeof *v->vector);
    v->picture = rg_alloc_array(all + 1, sizeof *v->picture);
    rg_status status = v->vector && v->picture ? rg_files_open(&files, archive) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < all && !(most && v->count == most); i++) {
        bool there = false;
        rg_text_clear(&bytes);
        status = rg_files_read(&there, &bytes, files, rg_words_get(&table->names, i), MOST_BYTES);
        if (status != RG_OK || !there) continue;
        status = add_vector(v, f, &bytes, rg_words_get(&table->names, i));
        v->picture[v->count++] = i;
    }
    rg_files_close(files);
    rg_text_free(&bytes);
    if (status == RG_OK && !v->count)
        status = rg_fail(RG_EFORMAT, "%s: none of the %zu pictures that the table names is here", archive, all);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- answering */

typedef struct {
    const rg_pictured_table *table;
    const vectors           *train;
    size_t                   neighbours, room;
    size_t                  *nearest; /* (neighbours) */
    double                  *cosine;
    rg_text                  text;
    const char             **caption;
} answering;

/* The nearest training pictures, the nearest first; of equals those that come first. */
static void find_nearest(answering *a, const float *x)
{
    size_t found = 0;
    for (size_t i = 0; i < a->train->count; i++) {
        const float *y = a->train->vector + i * a->train->width;
        double       cosine = 0;
        for (size_t d = 0; d < a->train->width; d++) cosine += (double)(x[d] * y[d]);
        if (found == a->neighbours && cosine <= a->cosine[found - 1]) continue;
        size_t at = found < a->neighbours ? found++ : found - 1;
        for (; at > 0 && cosine > a->cosine[at - 1]; at--)
            a->cosine[at] = a->cosine[at - 1], a->nearest[at] = a->nearest[at - 1];
        a->cosine[at] = cosine, a->nearest[at] = a->train->picture[i];
    }
    a->neighbours = found;
}

/* The captions of a picture, NUL behind each, behind what is in `text`. */
static rg_status add_captions(rg_text *text, size_t *count, const rg_pictured_table *table, size_t picture)
{
    const char *at = rg_text_c(&table->cell[0][picture]), *line;
    size_t      bytes;
    while (rg_pictured_line(&line, &bytes, &at)) {
        RG_TRY(rg_text_add(text, line, bytes));
        RG_TRY(rg_text_add(text, "", 1));
        ++*count;
    }
    return RG_OK;
}

/* `all` pointers to the `count` strings of the text, the last of which is there again. */
static rg_status point(answering *a, size_t count, size_t all)
{
    const char *at = rg_text_c(&a->text);
    if (all > a->room) {
        const char **caption = rg_realloc(a->caption, all * sizeof *caption);
        if (!caption) return RG_ENOMEM;
        a->caption = caption, a->room = all;
    }
    for (size_t i = 0; i < all; i++) {
        a->caption[i] = at;
        if (i + 1 < count) at += strlen(at) + 1;
    }
    return RG_OK;
}

/* The chosen caption, a new string. */
static rg_status answer(char **out, answering *a, const float *x)
{
    size_t count = 0, best = 0;
    rg_text_clear(&a->text);
    find_nearest(a, x);
    for (size_t k = 0; k < a->neighbours; k++) RG_TRY(add_captions(&a->text, &count, a->table, a->nearest[k]));
    RG_TRY(point(a, count, count));
    RG_TRY(rg_consensus(&best, a->caption, count));
    return (*out = rg_strdup(a->caption[best])) ? RG_OK : RG_ENOMEM;
}

static rg_status score_picture(rg_scorer *scorer, answering *a, const vectors *test, size_t i, size_t references)
{
    size_t    count = 0;
    char     *said = NULL;
    rg_status status = answer(&said, a, test->vector + i * test->width);
    rg_text_clear(&a->text);
    if (status == RG_OK) status = add_captions(&a->text, &count, a->table, test->picture[i]);
    if (status == RG_OK) status = point(a, count, references);
    if (status == RG_OK) status = rg_scorer_add(scorer, said, a->caption, references);
    rg_free(said);
    return status;
}

static rg_status score_all(rg_nearest_score *out, answering *a, const vectors *test)
{
    rg_scorer    *scorer = NULL;
    rg_bleu_parts bleu;
    size_t        references = 1;
    for (size_t i = 0; i < a->table->names.count; i++) {
        size_t n = 1;
        for (const char *c = rg_text_c(&a->table->cell[0][i]); *c; c++) n += *c == '\n';
        if (n > references) references = n;
    }
    RG_TRY(rg_scorer_new(&scorer, "bleu", NULL));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < test->count; i++)
        status = score_picture(scorer, a, test, i, references);
    if (status == RG_OK) status = rg_scorer_bleu(&bleu, scorer);
    if (status == RG_OK)
        *out = (rg_nearest_score){ .bleu = bleu.score,
                                   .bleu_1 = bleu.precisions[0] * bleu.brevity,
                                   .no_brevity = bleu.brevity > 0 ? bleu.score / bleu.brevity : 0,
                                   .pictures = test->count };
    rg_scorer_free(scorer);
    return status;
}

static rg_status judge_with(rg_nearest_score *out, const rg_nearest_captions *what, rg_features *f,
                            const rg_pictured_table *table)
{
    vectors   train = { 0 }, test = { 0 };
    answering a = { .table = table, .train = &train, .neighbours = what->neighbours };
    rg_status status = read_vectors(&train, f, table, what->train, what->most);
    if (status == RG_OK) status = read_vectors(&test, f, table, what->test, what->most);
    a.nearest = rg_alloc_array(what->neighbours + 1, sizeof *a.nearest);
    a.cosine = rg_alloc_array(what->neighbours + 1, sizeof *a.cosine);
    if (status == RG_OK && (!a.nearest || !a.cosine)) status = RG_ENOMEM;
    if (status == RG_OK) status = score_all(out, &a, &test);
    vectors_free(&train);
    vectors_free(&test);
    rg_free(a.nearest);
    rg_free(a.cosine);
    rg_free(a.caption);
    rg_text_free(&a.text);
    return status;
}

rg_status rg_nearest_captions_judge(rg_nearest_score *out, const rg_nearest_captions *what)
{
    static char                none[] = "", automatic[] = "auto";
    static const char *const   wanted[] = { "caption" };
    const rg_set_options       sets = { .format = none, .columns = none, .header = automatic, .pictures = none };
    const rg_pixels_config     pixels = { 0 };
    const rg_features_options  network = { .file = (char *)what->features, .cache = none };
    rg_pictured_table          table = { 0 };
    rg_features               *f = NULL;
    if (!what->neighbours) return rg_fail(RG_EINVAL, "0 neighbours have no captions: ask for 1 at least");
    rg_status status = rg_pictured_read(&table, &sets, what->table, what->train, "picture", wanted, 1);
    if (status == RG_OK) status = rg_features_start(&f, &network, &pixels, what->threads);
    if (status == RG_OK) status = judge_with(out, what, f, &table);
    rg_features_free(f);
    rg_pictured_table_free(&table);
    return status;
}
