/* objectives.c - which objectives a run learns by, kept in its checkpoint: a run that resumes with others would not
 * be the same training. */
#include <string.h>

#include "train/learn.h"

static const char names_key[] = "objective.names", settings_key[] = "objective.settings";

rg_status rg_learn__put_objectives(rg_state *state, const rg_objectives *o)
{
    char     *names = rg_objectives_names(o), *settings = rg_objectives_settings(o);
    rg_status status = names && settings ? rg_state_put_text(state, names_key, names) : RG_ENOMEM;
    if (status == RG_OK) status = rg_state_put_text(state, settings_key, settings);
    rg_free(names);
    rg_free(settings);
    return status;
}

rg_status rg_learn__same_objectives(const rg_train_report *report, const rg_state *state, const rg_objectives *o)
{
    const char *were, *before;
    if (!rg_state_has(state, names_key)) return RG_OK; /* of an older version */
    RG_TRY(rg_state_get_text(&were, state, names_key));
    RG_TRY(rg_state_get_text(&before, state, settings_key));
    char     *names = rg_objectives_names(o), *settings = rg_objectives_settings(o);
    rg_status status = names && settings ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && strcmp(names, were) != 0)
        status = rg_fail(RG_EMATCH, "it was trained with --objective %s, not with %s; --overwrite starts again", were,
                         names);
    if (status == RG_OK) rg_tell_differences(report, before, settings, NULL);
    rg_free(names);
    rg_free(settings);
    return status;
}
