/* pictured.c - see pictured.h. */
#include "lab/pictured.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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
    char *folder = rg_format("%s/data-%s", job->out, about);
    for (char *c = folder ? folder + strlen(job->out) + 1 : NULL; c && *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789", *c)) *c = '-';
    return folder;
}

/* Real pictures, by the name of a row's `about`. */
static const struct {
    const char *about, *archive;
    rg_status (*write)(const char *folder, const char *archive_or_data);
    bool given_archive, valid;
} tables[] = { { "real-captchas", "captcha/images.tar", pictured_split, true, false },
               { "emoji", "emoji/png64-twitter.tar", pictured_emoji, false, true },
               { "recipes", "recipes/images.tar", pictured_recipes, false, true } };

rg_status rg_pictured_data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    struct stat about;
    size_t      k = 0;
    if (!row->about) return RG_OK;
    while (k < 3 && strcmp(row->about, tables[k].about) != 0) k++;
    const bool  real = k < 3, idx = !real && pictured_is_idx(row->about), listed = job->settings->list; /* only said, not done */
    const char *data = job->settings->data;
    char       *folder = rg_pictured_folder(job, row->about);
    char       *last = folder ? rg_format("%s/%s", folder, idx ? "train-labels-idx1-ubyte" : "test.tsv") : NULL;
    char       *archive = rg_format("%s/%s", data, real ? tables[k].archive : "");
    rg_status   status = last && archive ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && !listed) status = make_folder(job->out);
    if (status == RG_OK && !listed) status = make_folder(folder);
    if (status == RG_OK && !listed && stat(last, &about) != 0)
        status = real ? tables[k].write(folder, tables[k].given_archive ? archive : data)
                      : pictured_make(folder, row->about, data);
    if (status == RG_OK) status = idx ? add_idx(out, folder) : add_words(out, folder, !real || tables[k].valid);
    if (status == RG_OK && real) status = add_archive(out, archive);
    rg_free(archive);
    rg_free(last);
    rg_free(folder);
    return status;
}
