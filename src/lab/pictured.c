/* pictured.c - see pictured.h. */
#include "lab/pictured.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/pictured_make.h"

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

rg_status rg_pictured_data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    struct stat about;
    if (!row->about) return RG_OK;
    const bool real = strcmp(row->about, "real-captchas") == 0, idx = !real && pictured_is_idx(row->about);
    char      *folder = rg_format("%s/data-%s", job->out, row->about);
    for (char *c = folder ? folder + strlen(job->out) + 1 : NULL; c && *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789", *c)) *c = '-';
    char     *last = folder ? rg_format("%s/%s", folder, idx ? "train-labels-idx1-ubyte" : "test.tsv") : NULL;
    char     *archive = rg_format("%s/captcha/images.tar", job->settings->data);
    rg_status status = last && archive ? RG_OK : RG_ENOMEM;
    const bool listed = job->settings->list; /* only said, not done */
    if (status == RG_OK && !listed && mkdir(job->out, 0777) != 0 && errno != EEXIST)
        status = rg_fail(RG_EIO, "%s: %s", job->out, strerror(errno));
    if (status == RG_OK && !listed && mkdir(folder, 0777) != 0 && errno != EEXIST)
        status = rg_fail(RG_EIO, "%s: %s", folder, strerror(errno));
    if (status == RG_OK && !listed && stat(last, &about) != 0)
        status = real ? pictured_split(folder, archive) : pictured_make(folder, row->about, job->settings->data);
    if (status == RG_OK) status = idx ? add_idx(out, folder) : add_words(out, folder, !real);
    if (status == RG_OK && real) status = rg_row_words_add(out, rg_strdup("--pictures"));
    if (status == RG_OK && real) status = rg_row_words_add(out, rg_strdup(archive));
    if (status == RG_OK && real) status = rg_row_words_add(out, rg_strdup("--test-pictures"));
    if (status == RG_OK && real) status = rg_row_words_add(out, rg_strdup(archive));
    rg_free(archive);
    rg_free(last);
    rg_free(folder);
    return status;
}
