/* beside.c - examples without labels beside those of a training, and a further column that an objective asks for.
 *
 *   --unlabelled SET, --target-sets SET    a store of its own, walked without end; batch.beside of every share is a part of its batch
 *
 * Labelled shares are cut as if nothing stood beside them, so what an objective makes of the others can be switched
 * off without a trace. */
#include <stdlib.h>
#include <string.h>

#include "tasks/batches.h"

/* -------------------------------------------------------------------------------------------------------- the store */

static bool same_file(const char *a, const char *b)
{
    char      *x = realpath(a, NULL), *y = realpath(b, NULL);
    const bool same = x && y && strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

bool rg_set_has_labels(const char *path, const rg_reader_config *reading)
{
    rg_reader *r;
    rg_row     row;
    bool       more;
    if (rg_reader_open(&r, path, reading) != RG_OK) return false;
    const bool fine = rg_reader_next(&more, &row, r) == RG_OK;
    rg_reader_close(r);
    return fine;
}

/* The input as the training data have it; a column of labels, where there is one, is read over. */
static rg_status read_set(rg_examples **out, const rg_run *run, const rg_set_options *sets, const rg_list *files,
                          const rg_reader_config *reading, const rg_field_spec *input, const char *label)
{
    rg_field_spec      s[2] = { *input, { .name = label, .kind = RG_FIELD_IDS, .optional = true } };
    rg_reader_config   r = *reading;
    rg_examples_config c = RG_EXAMPLES_CONFIG_DEFAULT;
    const char        *only[] = { input->name };
    if (!s[0].batch_rows) s[0].batch_rows = (size_t)sets->batch_rows;
    s[0].crop = s[0].crop || s[0].kind == RG_FIELD_IDS;
    c.batch = (size_t)(sets->batch_beside ? sets->batch_beside : sets->batch);
    c.window = 0;
    c.seed = (uint64_t)run->learning->seed + 1;
    r.labels = files->count > 1 ? files->items[1] : NULL;
    const bool both = label && rg_set_has_labels(files->items[0], &r);
    if (!both) { /* a file of inputs alone */
        r.wanted = only;
        r.wanted_count = 1;
        r.columns = "";
    }
    return rg_examples_open(out, &c, s, both ? 2 : 1, files->items[0], &r);
}

rg_status rg_beside_open(rg_run *run, const rg_set_options *sets, const rg_reader_config *reading,
                         const rg_field_spec *specs, size_t fields)
{
    rg_supervised *d = run->data;
    const rg_list *files = sets->target.count ? &sets->target : &sets->unlabelled;
    const char    *flag = sets->target.count ? "--target-sets" : "--unlabelled";
    const size_t   most = specs[RG_INPUT].kind == RG_FIELD_PIXELS ? 2 : 1;
    if (sets->target.count && sets->unlabelled.count)
        return rg_fail(RG_EINVAL,
                       "--unlabelled and --target-sets both stand beside the labelled examples: give one of them");
    if (!files->count) return RG_OK;
    if (files->count > most)
        return rg_fail(RG_EINVAL, "%s takes one file like --train-sets, not %zu", flag, files->count);
    if (same_file(files->items[0], sets->train.items[0]))
        rg_tell(run->report, "warning: %s %s is the training data themselves", flag, files->items[0]);
    rg_tell_begin(run->report, "encoding %s", files->items[0]);
    rg_status status = read_set(&d->beside, run, sets, files, reading, &specs[RG_INPUT],
                                fields > RG_LABEL ? specs[RG_LABEL].name : NULL);
    rg_tell_over(run->report);
    if (status != RG_OK) return rg_fail_in(status, "%s: ", flag);
    rg_tell(run->report, "%llu examples of %s", (unsigned long long)rg_examples_count(d->beside), flag);
    return RG_OK;
}

rg_status rg_beside_next(rg_run *run, rg_shares *shares)
{
    rg_supervised *d = run->data;
    rg_shares      beside;
    RG_TRY(rg_examples_next(&d->beside_batch, NULL, d->beside));
    RG_TRY(rg_cut_shares(&beside, &d->beside_shares, &d->beside_batch, (int)shares->count));
    for (size_t i = 0; i < shares->count; i++) d->shares.share[i].beside = i < beside.count ? beside.share[i] : NULL;
    for (size_t i = 0; i < beside.count; i++) d->beside_shares.share[i].fields = 1; /* nobody reads their labels */
    shares->cost += (double)rg_field_rows(&d->beside_batch.field[RG_INPUT]);
    return RG_OK;
}

rg_status rg_beside_tell(const rg_run *run, rg_state *state)
{
    const rg_supervised *d = run->data;
    return rg_put_place_of(state, "beside", rg_examples_tell(d->beside), rg_examples_checksum(d->beside));
}

rg_status rg_beside_seek(rg_run *run, const rg_state *state)
{
    rg_supervised *d = run->data;
    rg_place       p;
    RG_TRY(rg_get_place_of(&p, state, "beside", rg_examples_checksum(d->beside)));
    return rg_examples_seek(d->beside, p);
}

void rg_beside_close(rg_run *run)
{
    rg_supervised *d = run->data;
    rg_examples_free(d->beside);
    rg_names_free(d->adversary);
    rg_share_room_free(&d->beside_shares);
}

/* ------------------------------------------------------------------------------------------------- a further column */

/* The columns as they are chosen now, by name where the file has names. */
static rg_status chosen_columns(rg_text *out, const char *path, const rg_reader_config *reading)
{
    rg_reader *r;
    if (reading->columns[0]) return rg_text_add_string(out, reading->columns);
    RG_TRY(rg_reader_open(&r, path, reading));
    const bool named = rg_reader_has_header(r);
    rg_reader_close(r);
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < reading->wanted_count; i++)
        status = named ? rg_text_print(out, "%s%s", i ? "," : "", reading->wanted[i])
                       : rg_text_print(out, "%s%zu", i ? "," : "", i + 1);
    return status;
}

rg_status rg_beside_column(rg_reader_config *out, rg_text *columns, const char **wanted, rg_field_spec *spec,
                           rg_run *run, const char *path, const rg_reader_config *reading)
{
    static const char name[] = "adversary";
    rg_supervised    *d = run->data;
    RG_TRY(chosen_columns(columns, path, reading));
    RG_TRY(rg_text_print(columns, ",%s", run->column));
    memcpy(wanted, reading->wanted, reading->wanted_count * sizeof *wanted);
    wanted[reading->wanted_count] = name;
    *out = *reading;
    out->wanted = wanted;
    out->wanted_count = reading->wanted_count + 1;
    out->columns = rg_text_c(columns);
    *spec = (rg_field_spec){ .name = name, .kind = RG_FIELD_CLASS };
    rg_status status = rg_examples_learn(&d->adversary, NULL, spec, path, out);
    if (status != RG_OK) return rg_fail_in(status, "--adversary column:%s: ", run->column);
    spec->names = d->adversary;
    return rg_sizes_put(&run->sizes, "adversary-classes", rg_names_count(d->adversary));
}
