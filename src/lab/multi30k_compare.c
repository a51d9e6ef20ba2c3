/* multi30k_compare.c - rows against each other: test sentences resampled in pairs, BLEU by source length as a table and
 * as curves.
 *
 * Paired bootstrap (Koehn 2004; as sacreBLEU's): each resample draws as many sentences as there are, with replacement,
 * the same ones for both rows; BLEU of several seeds is their mean. For the fall from short to long sentences each
 * class is resampled by itself. */
#include "lab/multi30k.h"

#include <math.h>
#include <string.h>

#include "regard/view.h"

enum { RESAMPLES = 1000 };

/* --------------------------------------------------------------------------------------------------- short and long */

rg_status multi30k_split(size_t **out, size_t *few, size_t *many, const multi30k_pairs *p)
{
    size_t *place = *out = rg_alloc_array(p->source.count, sizeof *place);
    if (!place) return RG_ENOMEM;
    *few = *many = 0;
    for (size_t i = 0; i < p->source.count; i++)
        if (multi30k_words(p->source.line[i]) <= MULTI30K_SHORT) place[(*few)++] = i;
    for (size_t i = 0; i < p->source.count; i++)
        if (multi30k_words(p->source.line[i]) >= MULTI30K_LONG) place[*few + (*many)++] = i;
    return RG_OK;
}

double multi30k_fall(const rg_scorer *scorer, const size_t *few, size_t few_count, const size_t *many,
                     size_t many_count, bool share)
{
    const double begin = rg_scorer_part(scorer, few, few_count), end = rg_scorer_part(scorer, many, many_count);
    return share ? (begin - end) / begin : begin - end; /* NAN without sentences */
}

/* -------------------------------------------------------------------------------------------------------- resampling
 */

typedef struct {
    multi30k_pairs pairs;
    rg_scorer     *scorer[2][RG_GRID_SEEDS];
    size_t         runs[2];
    size_t        *place, few, many; /* short sentences, then long ones */
    size_t        *drawn;
} sample;

static void free_sample(sample *s)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < RG_GRID_SEEDS; i++) rg_scorer_free(s->scorer[side][i]);
    multi30k_pairs_free(&s->pairs);
    rg_free(s->place);
    rg_free(s->drawn);
}

/* The translations that were judged; *there is false when a file is gone. */
static rg_status open_line(sample *s, bool *there, int side, const rg_grid_job *job, const rg_outcome *l)
{
    char language[3];
    multi30k_language(language, l->row, 1);
    for (size_t i = 0; i < l->runs && *there; i++) {
        rg_line_list lines = { 0 };
        char        *folder = rg_row_folder(job, l->row, l->seed[i]);
        char        *path = folder ? rg_format("%s/%s.%s", folder, multi30k_sets[0].name, language) : NULL;
        rg_status    status = path ? rg_file_exists(there, path) : RG_ENOMEM;
        if (status == RG_OK && *there) status = rg_line_list_read(&lines, path, -1);
        if (status == RG_OK && *there && lines.count != s->pairs.source.count) *there = false;
        if (status == RG_OK && *there)
            status = multi30k_score(&s->scorer[side][s->runs[side]++], "bleu", true, &s->pairs,
                                    (const char *const *)lines.line);
        rg_line_list_free(&lines);
        rg_free(path);
        rg_free(folder);
        RG_TRY(status);
    }
    return RG_OK;
}

static void draw(size_t *out, const size_t *from, size_t count, rg_random *random)
{
    for (size_t i = 0; i < count; i++) {
        const size_t k = rg_random_below(random, count);
        out[i] = from ? from[k] : k;
    }
}

/* The difference in one resample. */
static double difference(sample *s, const rg_claim *c, rg_random *random)
{
    const bool lengths = c->result && strncmp(c->result, "fall", 4) == 0, share = lengths && c->result[4];
    double     mean[2] = { 0, 0 };
    if (lengths) {
        draw(s->drawn, s->place, s->few, random);
        draw(s->drawn + s->few, s->place + s->few, s->many, random);
    } else draw(s->drawn, NULL, s->pairs.source.count, random);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < s->runs[side]; i++) {
            const rg_scorer *scorer = s->scorer[side][i];
            mean[side] += (lengths ? multi30k_fall(scorer, s->drawn, s->few, s->drawn + s->few, s->many, share)
                                   : rg_scorer_part(scorer, s->drawn, s->pairs.source.count)) /
                          (double)s->runs[side];
        }
    return mean[0] - (c->times > 0 ? c->times : 1) * mean[1];
}

static void resample(rg_resampled *out, sample *s, const rg_claim *c)
{
    double    sum = 0, squares = 0, above = 0;
    rg_random random = rg_random_new(12345, 0);
    for (size_t i = 0; i < RESAMPLES; i++) {
        const double d = difference(s, c, &random);
        sum += d, squares += d * d, above += d >= c->by;
    }
    const double mean = sum / RESAMPLES;
    out->error = sqrt(fmax(0, squares / RESAMPLES - mean * mean));
    out->share = above / RESAMPLES;
    out->known = isfinite(out->error);
}

rg_status multi30k_resample(rg_resampled *out, const rg_grid_job *job, const rg_claim *c, const rg_outcome *a,
                            const rg_outcome *b)
{
    sample s = { 0 };
    bool   there = true;
    *out = (rg_resampled){ 0 };
    if (!job->settings->data[0] || (c->result && strcmp(c->result, "bleu") != 0 && strncmp(c->result, "fall", 4) != 0))
        return RG_OK;
    rg_status status = multi30k_pairs_read(&s.pairs, job, a->row, multi30k_sets[0].name);
    if (status == RG_OK) status = open_line(&s, &there, 0, job, a);
    if (status == RG_OK) status = open_line(&s, &there, 1, job, b);
    if (status == RG_OK) status = multi30k_split(&s.place, &s.few, &s.many, &s.pairs);
    if (status == RG_OK && !(s.drawn = rg_alloc_array(s.pairs.source.count, sizeof *s.drawn))) status = RG_ENOMEM;
    if (status == RG_OK && there) resample(out, &s, c);
    free_sample(&s);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- by length */

static double class_mean(const rg_outcome *l, const char *prefix, size_t b)
{
    char name[40];
    multi30k_class(name, sizeof name, prefix, b);
    return rg_outcome_summary(l, name).mean;
}

static void print_lengths(const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    FILE *out = job->lab->out;
    bool  first = true;
    fprintf(out, "\nBLEU by words of the source; fall: from at most %d words to at least %d\n%-18s", MULTI30K_SHORT,
            MULTI30K_LONG, "row");
    for (size_t b = 0; b < MULTI30K_CLASSES; b++) {
        char name[24];
        multi30k_class(name, sizeof name, "", b);
        fprintf(out, " %7s", name);
    }
    fprintf(out, " %7s %7s\n", "fall", "share");
    for (size_t i = 0; i < count; i++) {
        if (!lines[i].runs) continue;
        if (first) {
            fprintf(out, "%-18s", "(sentences)");
            for (size_t b = 0; b < MULTI30K_CLASSES; b++) fprintf(out, " %7.0f", class_mean(&lines[i], "lines_", b));
            fprintf(out, "\n");
            first = false;
        }
        fprintf(out, "%-18s", lines[i].row->name);
        for (size_t b = 0; b < MULTI30K_CLASSES; b++) fprintf(out, " %7.2f", class_mean(&lines[i], "bleu_", b));
        fprintf(out, " %7.2f %6.1f%%\n", rg_outcome_summary(&lines[i], "fall").mean,
                100 * rg_outcome_summary(&lines[i], "fall_share").mean);
    }
}

/* Systems of one pair of languages; rows that only change the score stay out. */
static rg_status curves_of(rg_record *r, size_t *series, const rg_outcome *lines, size_t count, const char *prefix,
                           const char *title)
{
    size_t set;
    RG_TRY(rg_record_add_curves(&set, r, title, "words of the source", "BLEU", false, false));
    *series = 0;
    for (size_t i = 0; i < count; i++) {
        const rg_outcome *l = &lines[i];
        if (!l->runs || strncmp(l->row->name, prefix, strlen(prefix)) != 0) continue;
        double x[MULTI30K_CLASSES], y[MULTI30K_CLASSES];
        size_t points = 0;
        for (size_t b = 0; b < MULTI30K_CLASSES; b++) {
            const double low = b ? multi30k_edges[b - 1] : 4,
                         high = b + 1 < MULTI30K_CLASSES ? multi30k_edges[b] : low + 6;
            x[points] = (low + high + 1) / 2;
            y[points] = class_mean(l, "bleu_", b);
            points += isfinite(y[points]) != 0;
        }
        RG_TRY(rg_record_add_series(r, set, l->row->name + strlen(prefix), x, y, points));
        ++*series;
    }
    return RG_OK;
}

static rg_status draw_lengths(const rg_grid_job *job, const rg_outcome *lines, size_t count, const char *prefix,
                              const char *title, const char *name)
{
    rg_record *r = NULL;
    size_t     series = 0;
    RG_TRY(rg_record_new(&r, title, "evaluation"));
    rg_status status = curves_of(r, &series, lines, count, prefix, title);
    for (int svg = 0; status == RG_OK && series && svg < 2; svg++) {
        rg_figure_options f = RG_FIGURE_OPTIONS_DEFAULT;
        f.style = RG_FIGURE_CURVES;
        char *path = rg_format("%s/%s.%s", job->out, name, svg ? "svg" : "png");
        status = path ? rg_figure_save(path, svg ? RG_FIGURE_SVG : RG_FIGURE_PNG, NULL, r, &f) : RG_ENOMEM;
        rg_free(path);
    }
    rg_record_free(r);
    return status;
}

rg_status multi30k_after(const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    print_lengths(job, lines, count);
    if (draw_lengths(job, lines, count, "ende-", "English-German: BLEU by source length", "bleu-by-length-ende") !=
            RG_OK ||
        draw_lengths(job, lines, count, "enfr-", "English-French: BLEU by source length", "bleu-by-length-enfr") !=
            RG_OK)
        fprintf(job->lab->notes, "no figure: %s\n", rg_message()); /* the table has the numbers */
    else fprintf(job->lab->out, "\n%s/bleu-by-length-*.png and .svg\n", job->out);
    RG_TRY(multi30k_draw_cost(job, lines, count));
    return job->settings->quick ? RG_OK : multi30k_table2(job, lines, count);
}
