/* cost.c - `regard reproduce cost`: multiply-adds of one picture for the recurrent attention model and a
 * convolutional network, by the side of the picture (Mnih et al. 2014: the cost of glimpses does not grow with the
 * picture). Counted on dry passes, where nothing is computed; the time is of a real pass. The exponent is the slope
 * of log multiply-adds over log side. */
#include "base/clock.h"
#include "regard/lab.h"
#include "regard/layers.h"

#include <math.h>
#include <string.h>

enum { SIDES = 4, SYSTEMS = 2 };
static const size_t sides[SIDES] = { 28, 60, 100, 200 };

typedef struct {
    const char *name, *settings;
} measured;
static const measured systems[SYSTEMS] = {
    { "ram", "glimpses: 6\npatch: 12\nscales: 3\n" },
    { "cnn", "layers: c3x32 c3x32 c3x32\npool: gap\n" },
};

typedef struct {
    int64_t repeat;
} cost_options;

static const rg_option rows[] = {
    { RG_OPTION_INT, "repeat", offsetof(cost_options, repeat), "5",
      "real passes of which the fastest counts; 0: time is not measured", 0, "[0,1000]", NULL },
    RG_OPTION_END,
};

static rg_status make(rg_model **out, const measured *s, size_t side)
{
    const rg_system      *system = rg_system_find(s->name);
    void                 *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group group = { s->name, system->options, options };
    const rg_sizes        sizes = { { { "channels", 1 }, { "height", side }, { "width", side }, { "classes", 10 } } };
    if (!options) return RG_ENOMEM;
    rg_status status = rg_options_init(system->options, options);
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, s->settings, strlen(s->settings), "cost", false);
    if (status == RG_OK) status = rg_model_new(out, system, options, &sizes, 1);
    rg_options_fini(system->options, options);
    rg_free(options);
    return status;
}

/* One pass over a grey picture. */
static rg_status pass(double *out_madds, double *out_seconds, const rg_model *m, size_t side, const rg_real *values,
                      bool dry)
{
    const rg_tape_config config = { .record = false, .dry = dry };
    const int32_t        start[2] = { 0, (int32_t)(side * side) }, size[2] = { (int32_t)side, (int32_t)side };
    const rg_field       x = { .kind = RG_FIELD_PIXELS,
                               .layout = { .groups = 1, .start = start, .height = side, .width = side },
                               .values = values,
                               .width = 1,
                               .size = size };
    const rg_batch       batch = { .examples = 1, .fields = 1, .field = { [RG_INPUT] = x } };
    rg_tape             *t = NULL;
    RG_TRY(rg_tape_new(&t, &config));
    const double begun = rg_now();
    m->system->predict(t, m, &batch);
    *out_seconds = rg_now() - begun;
    *out_madds = rg_tape_get_cost(t).flops / 2;
    const rg_status status = rg_tape_status(t);
    rg_tape_free(t);
    return status;
}

static rg_status measure(double *madds, double *seconds, const measured *s, size_t side, int64_t repeat)
{
    rg_model *m = NULL;
    rg_real  *values = rg_alloc_zero(side * side * sizeof *values);
    double    now = 0, ignored;
    rg_status status = values ? make(&m, s, side) : RG_ENOMEM;
    if (status == RG_OK) status = pass(madds, &now, m, side, values, true);
    *seconds = INFINITY;
    for (int64_t i = 0; status == RG_OK && i < repeat; i++) {
        status = pass(&ignored, &now, m, side, values, false);
        *seconds = fmin(*seconds, now);
    }
    rg_model_free(m);
    rg_free(values);
    return status;
}

/* Slope of log y over log side. */
static double exponent(const double *y)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < SIDES; i++) {
        const double u = log((double)sides[i]), v = log(y[i]);
        sx += u, sy += v, sxx += u * u, sxy += u * v;
    }
    return (SIDES * sxy - sx * sy) / (SIDES * sxx - sx * sx);
}

static rg_status run(bool *holds, const rg_lab *lab, const void *options)
{
    const cost_options *o = options;
    double              madds[SYSTEMS][SIDES], seconds[SYSTEMS][SIDES];
    for (size_t s = 0; s < SYSTEMS; s++)
        for (size_t i = 0; i < SIDES; i++)
            RG_TRY(measure(&madds[s][i], &seconds[s][i], &systems[s], sides[i], o->repeat));
    fprintf(lab->out, "cost of one picture: multiply-adds counted on a dry pass%s\n\n%6s",
            o->repeat ? ", time of a real pass on one thread" : "", "side");
    for (size_t s = 0; s < SYSTEMS; s++)
        fprintf(lab->out, "  %10s Mmadd%s", systems[s].name, o->repeat ? "        ms" : "");
    fprintf(lab->out, "\n");
    for (size_t i = 0; i < SIDES; i++) {
        fprintf(lab->out, "%6zu", sides[i]);
        for (size_t s = 0; s < SYSTEMS; s++) {
            fprintf(lab->out, "  %16.3f", 1e-6 * madds[s][i]);
            if (o->repeat) fprintf(lab->out, "%10.3f", 1e3 * seconds[s][i]);
        }
        fprintf(lab->out, "\n");
    }
    const double ram = exponent(madds[0]), cnn = exponent(madds[1]),
                 grown = fabs(madds[0][SIDES - 1] / madds[0][0] - 1);
    const bool   flat = grown <= 0.01, square = fabs(cnn - 2) <= 0.05;
    fprintf(lab->out, "\nexponent of the side: ram %.4f, cnn %.4f\n", ram, cnn);
    fprintf(lab->out, "ram grows by %.2f %% from %zu to %zu pixels, 1 %% at most: %s\n", 100 * grown, sides[0],
            sides[SIDES - 1], flat ? "holds" : "does not hold");
    fprintf(lab->out, "cnn grows with the square of the side, 2.0 +- 0.05: %s\n", square ? "holds" : "does not hold");
    *holds = flat && square;
    return RG_OK;
}

const rg_experiment rg_experiment_cost = {
    .name = "cost",
    .summary = "what a picture costs by its size: glimpses against convolutions",
    .source = "Mnih et al. 2014: cost independent of the picture",
    .options = rows,
    .size = sizeof(cost_options),
    .run = run,
};
