/* multi30k_data.c - the files of Multi30k: sides, pairs, test sets. */
#include "lab/multi30k.h"

#include <stdio.h>
#include <string.h>

const multi30k_set multi30k_sets[] = {
    { "test_2016_flickr", "bleu", "bleu_cased" },
    { "test_2017_flickr", "bleu_2017", "bleu_2017_cased" },
    { "test_2017_mscoco", "bleu_coco", "bleu_coco_cased" },
    { "test_2018_flickr", "bleu_2018", "bleu_2018_cased" },
    { NULL, NULL, NULL },
};

void multi30k_language(char out[3], const rg_row *row, int side)
{
    memcpy(out, row->about + 3 * side, 2);
    out[2] = '\0';
}

rg_status multi30k_find(char **out, const rg_grid_job *job, const char *set, const char *language)
{
    static const char *const folders[] = { "", "/multi30k" }, *const endings[] = { ".gz", "" };
    for (size_t i = 0; i < 4; i++) {
        bool  there = false;
        char *path = *out =
            rg_format("%s%s/%s.%s%s", job->settings->data, folders[i / 2], set, language, endings[i % 2]);
        if (!path) return RG_ENOMEM;
        if (rg_file_exists(&there, path) == RG_OK && there) return RG_OK;
        rg_free(path);
    }
    *out = NULL;
    return RG_OK;
}

rg_status multi30k_file(char **out, const rg_grid_job *job, const char *set, const char *language)
{
    RG_TRY(multi30k_find(out, job, set, language));
    if (*out) return RG_OK;
    return rg_fail(
        RG_EIO, "%s has no %s.%s.gz (nor without .gz, nor in a folder multi30k): --data names the folder of Multi30k",
        job->settings->data, set, language);
}

static rg_status read_side(rg_line_list *out, const rg_grid_job *job, const rg_row *row, const char *set, int side)
{
    char *path, language[3];
    multi30k_language(language, row, side);
    RG_TRY(multi30k_file(&path, job, set, language));
    rg_status status = rg_line_list_read(out, path, -1);
    rg_free(path);
    return status;
}

rg_status multi30k_pairs_read(multi30k_pairs *p, const rg_grid_job *job, const rg_row *row, const char *set)
{
    *p = (multi30k_pairs){ 0 };
    RG_TRY(read_side(&p->source, job, row, set, 0));
    RG_TRY(read_side(&p->reference, job, row, set, 1));
    if (p->source.count == p->reference.count && p->source.count) return RG_OK;
    return rg_fail(RG_EMATCH, "%s has %zu lines of the source and %zu of the target (%s)", set, p->source.count,
                   p->reference.count, row->about);
}

void multi30k_pairs_free(multi30k_pairs *p)
{
    rg_line_list_free(&p->source);
    rg_line_list_free(&p->reference);
}

uint32_t multi30k_words(const char *line)
{
    uint32_t count = 0;
    for (; *line; line++) count += *line != ' ' && (line[1] == ' ' || line[1] == '\0');
    return count;
}

rg_status multi30k_score(rg_scorer **out, const char *metric, bool lowercase, const multi30k_pairs *p,
                         const char *const *lines)
{
    rg_scorer_config c = RG_SCORER_CONFIG_DEFAULT;
    c.lowercase = lowercase;
    RG_TRY(rg_scorer_new(out, metric, &c));
    for (size_t i = 0; i < p->source.count; i++) {
        const char *reference = p->reference.line[i];
        RG_TRY(rg_scorer_add(*out, lines[i], &reference, 1));
    }
    return RG_OK;
}
