/* attack_curves.c - the errors of attacked models over the size of the change, as curves. */
#include "regard/probe.h"

#include "regard/record.h"

typedef struct {
    rg_record *record;
    size_t     curves;
    double    *x, *y; /* room for every size, and 0 */
} drawing;

/* One number of steps: from the error without a change on. */
static rg_status add_steps(drawing *d, const rg_attack_curve *a, size_t steps, bool several)
{
    size_t n = 0;
    d->x[n] = 0;
    d->y[n++] = a->rows[steps].clean_error;
    for (size_t i = steps; i < a->count; i += a->step_counts, n++) {
        d->x[n] = a->rows[i].epsilon;
        d->y[n] = a->rows[i].error;
    }
    const long long number = (long long)a->rows[steps].steps;
    char           *name = !several             ? rg_format("%lld %s", number, number == 1 ? "step" : "steps")
                           : a->step_counts > 1 ? rg_format("%s, %lld %s", a->name, number, number == 1 ? "step" : "steps")
                                                : rg_strdup(a->name);
    const rg_status status = name ? rg_record_add_series(d->record, d->curves, name, d->x, d->y, n) : RG_ENOMEM;
    rg_free(name);
    return status;
}

/* The control: answers that random changes of the same size change. */
static rg_status add_noise(drawing *d, const rg_attack_curve *a)
{
    size_t n = 0;
    d->x[n] = 0;
    d->y[n++] = 0;
    for (size_t i = 0; i < a->count; i += a->step_counts, n++) {
        d->x[n] = a->rows[i].epsilon;
        d->y[n] = a->rows[i].noise;
    }
    return rg_record_add_series(d->record, d->curves, "random: answers that change", d->x, d->y, n);
}

rg_status rg_attack_record(rg_record **out, const rg_attack_curve *models, size_t count, const char *norm)
{
    drawing d = { .record = NULL };
    size_t  most = 0;
    for (size_t i = 0; i < count; i++) most = models[i].count > most ? models[i].count : most;
    char     *x_name = rg_format("size of the change (%s)", norm);
    rg_status status = x_name ? rg_record_new(&d.record, "Errors under attack", "evaluation") : RG_ENOMEM;
    if (status == RG_OK)
        status = rg_record_add_curves(&d.curves, d.record, "Errors under attack", x_name, "share of wrong answers", false,
                                      false);
    d.x = rg_alloc_array(2 * (most + 1), sizeof *d.x);
    d.y = d.x ? d.x + most + 1 : NULL;
    if (!d.x) status = RG_ENOMEM;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; status == RG_OK && k < models[i].step_counts; k++)
            status = add_steps(&d, &models[i], k, count > 1);
    if (status == RG_OK && count == 1) status = add_noise(&d, &models[0]);
    rg_free(d.x);
    rg_free(x_name);
    if (status != RG_OK) rg_record_free(d.record);
    else *out = d.record;
    return status;
}
