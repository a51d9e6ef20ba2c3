/* pictured.c - see pictured.h. */
#include "lab/pictured.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/caption_judge.h"
#include "lab/mnist_parts.h"
#include "lab/pictured_make.h"
#include "lab/pictured_tables.h"

static rg_status add_words(rg_words *out, const char *folder, bool valid)
{
    static const char *const names[] = { "train", "valid", "test" };
    for (size_t i = 0; i < 3; i++) {
        if (i == 1 && !valid) continue;
        RG_TRY(rg_row_words_add(out, rg_format("--%s-sets", names[i])));
        RG_TRY(rg_row_words_add(out, rg_format("%s/%s.tsv", folder, names[i])));
    }
    return RG_OK;
}

static rg_status add_idx(rg_words *out, const char *folder)
{
    RG_TRY(rg_row_words_add(out, rg_strdup("--train-sets")));
    RG_TRY(rg_row_words_add(out, rg_format("%s/train-images-idx3-ubyte", folder)));
    return rg_row_words_add(out, rg_format("%s/train-labels-idx1-ubyte", folder));
}

/* Where the rows of a table have their pictures. */
static rg_status add_archive(rg_words *out, const char *archive)
{
    RG_TRY(rg_row_words_add(out, rg_strdup("--pictures")));
    RG_TRY(rg_row_words_add(out, rg_strdup(archive)));
    RG_TRY(rg_row_words_add(out, rg_strdup("--test-pictures")));
    return rg_row_words_add(out, rg_strdup(archive));
}

static rg_status make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? RG_OK : rg_fail(RG_EIO, "%s: %s", path, strerror(errno));
}

char *rg_pictured_folder(const rg_grid_job *job, const char *about)
{
    char *folder = rg_format("%s/data-%s%s", job->out, job->settings->quick ? "quick-" : "", about);
    for (char *c = folder ? folder + strlen(job->out) + 1 : NULL; c && *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789", *c)) *c = '-';
    return folder;
}

/* With --quick a few pictures do; the caller's to free. */
static char *settings_of(const rg_grid_job *job, const char *about)
{
    static const char *const numbers[] = { "count=", "valid=", "test=" };
    rg_text                  text = { 0 };
    rg_status                status = RG_OK;
    if (!job->settings->quick) return rg_strdup(about);
    for (const char *at = about; status == RG_OK && *(at += strspn(at, " "));) {
        const size_t bytes = strcspn(at, " ");
        bool         number = false;
        for (size_t i = 0; i < 3; i++) number = number || strncmp(at, numbers[i], strlen(numbers[i])) == 0;
        if (!number) status = rg_text_print(&text, "%.*s ", (int)bytes, at);
        at += bytes;
    }
    if (status == RG_OK) status = rg_text_add_string(&text, "count=200 valid=50 test=50");
    char *out = status == RG_OK ? rg_strdup(rg_text_c(&text)) : NULL;
    rg_text_free(&text);
    return out;
}

static rg_status make(const char *folder, const rg_grid_job *job, const char *about)
{
    char           *settings = settings_of(job, about);
    const rg_status status = settings ? pictured_make(folder, settings, job->settings->data) : RG_ENOMEM;
    rg_free(settings);
    return status;
}

/* Real pictures, by the name of a row's `about`. */
static const struct {
    const char *about, *archive;
    rg_status (*write)(const char *folder, const char *archive_or_data);
    bool given_archive, valid;
} tables[] = { { "real-captchas", "captcha/images.tar", pictured_split, true, false },
               { "emoji", "emoji/png64-twitter.tar", pictured_emoji, false, true },
               { "recipes", "recipes/images.tar", pictured_recipes, false, true } };
enum { TABLES = sizeof tables / sizeof *tables };

/* TABLES: it is a generator. */
static size_t table_of(const char *about)
{
    size_t k = 0;
    while (k < TABLES && strcmp(about, tables[k].about) != 0) k++;
    return k;
}

rg_status rg_pictured_data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    struct stat about;
    if (!row->about) return RG_OK;
    const size_t k = table_of(row->about);
    const bool   real = k < TABLES, idx = !real && pictured_is_idx(row->about),
               listed = job->settings->list; /* only said, not done */
    const char *data = job->settings->data;
    char       *folder = rg_pictured_folder(job, row->about);
    char       *last = folder ? rg_format("%s/%s", folder, idx ? "train-labels-idx1-ubyte" : "test.tsv") : NULL;
    char       *archive = rg_format("%s/%s", data, real ? tables[k].archive : "");
    rg_status   status = last && archive ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && !listed) status = make_folder(job->out);
    if (status == RG_OK && !listed) status = make_folder(folder);
    if (status == RG_OK && !listed && stat(last, &about) != 0)
        status = real ? tables[k].write(folder, tables[k].given_archive ? archive : data)
                      : make(folder, job, row->about);
    if (status == RG_OK) status = idx ? add_idx(out, folder) : add_words(out, folder, !real || tables[k].valid);
    if (status == RG_OK && real) status = add_archive(out, archive);
    rg_free(archive);
    rg_free(last);
    rg_free(folder);
    return status;
}

rg_status rg_pictured_looks(rg_results *out, const rg_row_run *run)
{
    const rg_grid_settings *s = run->job->settings;
    rg_caption_score        score = { 0 };
    if (!run->row->about || table_of(run->row->about) < TABLES) return RG_OK;
    rg_model *model = NULL;
    rg_status status = rg_lab_model(&model, run->folder);
    if (status == RG_OK) status = rg_caption_judge(&score, model, run->row->about, s->data, s->quick ? 20 : 1000);
    rg_model_free(model);
    if (status == RG_OK && score.things) status = rg_results_set(out, "ordered", score.ordered);
    return status == RG_OK && score.things ? rg_results_set(out, "pointing", score.pointing) : status;
}
