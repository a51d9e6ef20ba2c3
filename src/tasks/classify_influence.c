/* classify_influence.c - `regard gradients -m` of classifiers of texts: log p of the label a line is given against
 * its words, counted from its end. */
#include "regard/view.h"
#include "tasks/classify.h"

/* The label that was given is taken for right. */
static rg_status measure(void *context, const rg_asked *asked)
{
    if (!asked->batch) return RG_OK; /* an empty line */
    const rg_field *text = &asked->batch->field[RG_INPUT];
    const size_t    i = asked->example, classes = rg_tensor_cols(asked->answers);
    int32_t         best = 0;
    for (size_t c = 1; c < classes; c++)
        if (rg_tensor_at(asked->answers, i, c) > rg_tensor_at(asked->answers, i, (size_t)best)) best = (int32_t)c;
    const int32_t  start[] = { 0, text->layout.start[i + 1] - text->layout.start[i] }, one[] = { 0, 1 };
    const rg_batch batch = {
        .examples = 1,
        .fields = 2,
        .field = { [RG_INPUT] = { .kind = RG_FIELD_IDS,
                                  .layout = { .groups = 1, .start = start },
                                  .ids = text->ids + text->layout.start[i] },
                   [RG_LABEL] = { .kind = RG_FIELD_CLASS, .layout = { .groups = 1, .start = one }, .ids = &best } },
        .lines = &asked->number
    };
    return rg_influence_add(context, &batch);
}

rg_status rg_classify_influence(rg_influence *out, const rg_model *m, const rg_question *q)
{
    const rg_classifier     *its = m->assets;
    const rg_classify_input *input = rg_classify_input_of(m);
    if (!input || input->kind != RG_FIELD_IDS || !its->names)
        return rg_fail(RG_EMATCH, "%s reads no texts, or gives them no labels: there is no sequence to look back over",
                       m->system->name);
    const rg_field_spec spec = rg_classify_input_spec(input, m);
    return rg_supervised_answer(m, q, &spec, measure, out);
}
