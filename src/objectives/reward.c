/* Reward (Wu et al. 2016, section 4.2; Ranzato et al. 2016): the metric itself is learned from, by trying answers out.
 *
 *     L = sum_k (mean_j r(y_j) - r(y_k)) / K * -log p(y_k | x)   +   w * -log p(y* | x)           y_1 .. y_K ~ p( . | x)
 *
 * Answers are drawn from the weights that are being changed; their reward is that of a metric of sentences in 0 ..
 * 1, less the mean of the sentence's draws, so that a reward which is the same for all answers teaches nothing. The
 * likelihood of the reference, times w, keeps the language in order. Draws are numbered by line and update: a
 * resumed run draws the same. */
#include "regard/decode.h"
#include "regard/metrics.h"
#include "regard/objective.h"
#include "regard/ops.h"

#include <string.h>

typedef struct {
    char   *reward;
    int64_t samples;
    double  likelihood, temperature;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "reward", offsetof(settings, reward), "gleu", "metric that answers are rewarded by", 0,
      "gleu|bleu-sentence|rouge-l|chrf" },
    { RG_OPTION_INT, "samples", offsetof(settings, samples), "8", "answers drawn for each sentence", 0, "[2,1000]" },
    { RG_OPTION_REAL, "likelihood", offsetof(settings, likelihood), "0.02",
      "weight of the reference's likelihood beside the reward", 0, "[0,inf)" },
    { RG_OPTION_REAL, "sampling-temperature", offsetof(settings, temperature), "1", "of the draws", 0, "(0,100]" },
    RG_OPTION_END
};

/* ------------------------------------------------------------------------------------------------------- rewards */

static rg_status add_segment(rg_scorer *scorer, const rg_model *m, rg_text *text, const int32_t *tokens, size_t count,
                             const char *reference)
{
    rg_text_clear(text);
    RG_TRY(m->spell(text, m->assets, tokens, count));
    return rg_scorer_add(scorer, rg_text_c(text), &reference, 1);
}

static size_t words_of(const rg_field *target, size_t i, int32_t eos)
{
    const int32_t begin = target->layout.start[i], end = target->layout.start[i + 1];
    return (size_t)(end - begin) - (end > begin && target->ids[end - 1] == eos);
}

/* Rewards of all answers, K of each example: 0 .. 1. An example with fewer answers leaves the rest at 0. */
static rg_status judge(double *out, const settings *s, const rg_model *m, const rg_batch *batch,
                       const rg_answers *answers, size_t K)
{
    const rg_field *to = &batch->field[RG_TARGET];
    const int32_t   eos = (int32_t)rg_model_size(m, "eos");
    rg_scorer      *scorer = NULL;
    rg_text         text = { 0 }, reference = { 0 };
    rg_status       status = rg_scorer_new_reward(&scorer, s->reward);
    size_t          segment = 0;
    for (size_t i = 0; status == RG_OK && i < batch->examples; i++) {
        rg_text_clear(&reference);
        status = m->spell(&reference, m->assets, to->ids + to->layout.start[i], words_of(to, i, eos));
        for (size_t k = 0; status == RG_OK && k < answers[i].count && k < K; k++) {
            const rg_answer *a = &answers[i].answer[k];
            status = add_segment(scorer, m, &text, a->tokens, a->length, rg_text_c(&reference));
            if (status == RG_OK) out[i * K + k] = rg_scorer_sentence(scorer, segment++) / 100;
        }
    }
    rg_text_free(&text);
    rg_text_free(&reference);
    rg_scorer_free(scorer);
    return status;
}

/* ------------------------------------------------------------------------------------------- answers as a batch */

typedef struct { /* pairs of a source and an answer with a weight, as fields of a batch */
    int32_t *source_start, *source, *copies, *target_start, *target, *previous;
    rg_real *weight;
    size_t   pairs;
} pairs;

static bool make_room(pairs *p, rg_tape *t, size_t most, size_t sources, size_t targets, bool copies)
{
    p->source_start = rg_tape_memory(t, (most + 1) * sizeof *p->source_start);
    p->target_start = rg_tape_memory(t, (most + 1) * sizeof *p->target_start);
    p->source = rg_tape_memory(t, (sources + 1) * sizeof *p->source);
    p->copies = rg_tape_memory(t, (copies ? sources + 1 : 1) * sizeof *p->copies);
    p->target = rg_tape_memory(t, (targets + 1) * sizeof *p->target);
    p->previous = rg_tape_memory(t, (targets + 1) * sizeof *p->previous);
    p->weight = rg_tape_memory(t, (targets + 1) * sizeof *p->weight);
    if (!p->weight) return false;
    p->source_start[0] = p->target_start[0] = 0;
    return true;
}

/* The source of example i with an answer; `closed`: eos follows. */
static void add_pair(pairs *p, const rg_model *m, const rg_field *from, size_t i, const int32_t *tokens, size_t count,
                     bool closed, double weight)
{
    const int32_t bos = (int32_t)rg_model_size(m, "bos"), eos = (int32_t)rg_model_size(m, "eos"),
                  V = (int32_t)rg_model_size(m, "target-vocabulary"), unknown = (int32_t)rg_model_size(m, "unknown");
    const size_t n = (size_t)(from->layout.start[i + 1] - from->layout.start[i]),
                 first = (size_t)p->source_start[p->pairs], at = (size_t)p->target_start[p->pairs];
    memcpy(p->source + first, from->ids + from->layout.start[i], n * sizeof *p->source);
    if (from->copies) memcpy(p->copies + first, from->copies + from->layout.start[i], n * sizeof *p->copies);
    for (size_t k = 0; k < count + closed; k++) {
        p->target[at + k] = k < count ? tokens[k] : eos;
        p->previous[at + k] = k ? (tokens[k - 1] < V ? tokens[k - 1] : unknown) : bos;
        p->weight[at + k] = (rg_real)weight;
    }
    p->pairs++;
    p->source_start[p->pairs] = (int32_t)(first + n);
    p->target_start[p->pairs] = (int32_t)(at + count + closed);
}

/* Draws with their advantages, and references with the weight of the likelihood. */
static bool gather(pairs *p, rg_tape *t, const settings *s, const rg_model *m, const rg_batch *batch,
                   const rg_answers *answers, const double *reward)
{
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const size_t    K = (size_t)s->samples;
    const int32_t   eos = (int32_t)rg_model_size(m, "eos");
    size_t          targets = rg_field_rows(to);
    for (size_t i = 0; i < batch->examples; i++)
        for (size_t k = 0; k < answers[i].count; k++) targets += answers[i].answer[k].length + 1;
    if (!make_room(p, t, (K + 1) * batch->examples, (K + 1) * rg_field_rows(from), targets, from->copies != NULL))
        return false;
    for (size_t i = 0; i < batch->examples; i++) {
        const double *r = reward + i * K;
        const size_t  drawn = answers[i].count;
        double        mean = 0;
        for (size_t k = 0; k < drawn; k++) mean += (r[k] - r[0]) / (double)drawn; /* of equal rewards exactly 0 */
        for (size_t k = 0; k < drawn; k++) {
            const rg_answer *a = &answers[i].answer[k];
            const double     advantage = r[k] - r[0] - mean;
            if (advantage != 0) add_pair(p, m, from, i, a->tokens, a->length, !a->cut, advantage / (double)drawn);
        }
        const size_t n = words_of(to, i, eos), rows = (size_t)(to->layout.start[i + 1] - to->layout.start[i]);
        if (s->likelihood > 0 || (i + 1 == batch->examples && !p->pairs)) /* a loss of nothing would lead nowhere */
            add_pair(p, m, from, i, to->ids + to->layout.start[i], n, rows > n, s->likelihood);
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- loss */

static rg_status draw(const rg_answers **out, rg_search **search, rg_tape *t, const settings *s, const rg_model *m,
                      const rg_batch *batch)
{
    rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
    c.beam = c.n_best = (size_t)s->samples;
    c.sample = true;
    c.temperature = s->temperature;
    c.normalize = 0;
    c.seed = 0x5265776172640000u + rg_tape_progress(t).step;
    RG_TRY(rg_search_new(search, &m, 1, NULL));
    return rg_search_run(out, *search, &c, &batch->field[RG_SOURCE], batch->lines, NULL);
}

static rg_loss loss(rg_tape *t, const rg_objective_use *use, const rg_pass *pass)
{
    const settings   *s = use->options;
    const rg_model   *m = use->model;
    const rg_batch   *batch = pass->batch;
    const rg_field   *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const rg_answers *answers = NULL;
    rg_search        *search = NULL;
    pairs             p = { .pairs = 0 };
    double           *reward = rg_tape_memory(t, ((size_t)s->samples * batch->examples + 1) * sizeof *reward);
    rg_loss           none = { NULL, 0 };
    if (!reward) return none;
    memset(reward, 0, (size_t)s->samples * batch->examples * sizeof *reward);
    rg_status status =
        m->spell ? RG_OK : rg_fail(RG_EINVAL, "%s does not write text: there is nothing to reward", m->system->name);
    if (status == RG_OK) status = draw(&answers, &search, t, s, m, batch);
    if (status == RG_OK) status = judge(reward, s, m, batch, answers, (size_t)s->samples);
    const bool ready = status == RG_OK && gather(&p, t, s, m, batch, answers, reward);
    rg_search_free(search);
    if (status != RG_OK) rg_tape_fail(t, status, "%s", rg_message());
    if (!ready) return none;
    const double count = (double)rg_field_rows(to);
    rg_batch     tried = { .examples = p.pairs, .fields = 2 };
    tried.field[RG_SOURCE] = (rg_field){ .kind = from->kind,
                                         .layout = { .groups = p.pairs, .start = p.source_start },
                                         .ids = p.source,
                                         .copies = from->copies ? p.copies : NULL,
                                         .extra = from->extra };
    tried.field[RG_TARGET] = (rg_field){ .kind = to->kind,
                                         .layout = { .groups = p.pairs, .start = p.target_start },
                                         .ids = p.target,
                                         .previous = p.previous,
                                         .weights = p.weight };
    return (rg_loss){ m->system->loss(t, m, &tried).sum, count };
}

const rg_objective rg_objective_reward = {
    .name = "reward",
    .summary = "answers are drawn and those that a metric likes better than the others become likelier",
    .formula = "sum_k (mean r - r(y_k)) / K * -log p(y_k) + w * -log p(y*)",
    .paper = "Wu et al. 2016; Ranzato et al. 2016",
    .options = options,
    .options_bytes = sizeof(settings),
    .whole = true,
    .decodes = true,
    .refines = true,
    .loss = loss,
};
