/* pictures.c - see pictures.h. */
#include "lab/pictures.h"

#include "lab/made_judge.h"

rg_status rg_pictures_judge(rg_results *out, const rg_row_run *run)
{
    char *path = rg_format("%s/model.safetensors", run->folder),
         *digits = rg_format("%s/mnist", run->job->settings->data);
    rg_made_score s = { 0 };
    rg_status     status =
        path && digits ? rg_made_judge(&s, path, run->row->about, digits, run->job->settings->quick) : RG_ENOMEM;
    rg_free(path);
    rg_free(digits);
    RG_TRY(status);
    RG_TRY(rg_results_set(out, "error", 100 - s.accuracy));
    RG_TRY(rg_results_set(out, "accuracy", s.accuracy));
    RG_TRY(rg_results_set(out, "parameters", s.parameters));
    if (!s.maps) return RG_OK;
    RG_TRY(rg_results_set(out, "pointing", s.pointing));
    RG_TRY(rg_results_set(out, "iou-half", s.half));
    return rg_results_set(out, "mean-iou", s.iou);
}
