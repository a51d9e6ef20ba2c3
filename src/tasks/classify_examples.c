/* classify_examples.c - other files as a trained classifier reads them: for attack, shift and rank. */
#include "tasks/batches.h"
#include "tasks/classify.h"

/* `files`: of recordings that a table names. */
static rg_status open_examples(rg_examples **out, const rg_model *m, const rg_set_options *sets, const char *files)
{
    const rg_classifier     *its = m->assets;
    const rg_classify_input *in = rg_classify_input_of(m);
    const char              *wanted[] = { "label", in->column }, *only[] = { in->column };
    const char              *path = sets->train.items[0];
    rg_field_spec            specs[2] = { [RG_LABEL] = {
                                              .name = "label", .kind = RG_FIELD_CLASS, .names = its->names, .optional = true } };
    rg_reader_config         reading = rg_supervised_reading(sets, wanted, 2);
    rg_examples_config       c = RG_EXAMPLES_CONFIG_DEFAULT;
    if (in->sound) reading.file = in->column, reading.files = files;
    if (its->features)
        return rg_fail(RG_EMATCH,
                       "its pictures go through a frozen network first: attack a model that reads pixels itself");
    specs[RG_INPUT] = rg_classify_input_spec(in, m);
    c.batch = sets->batch ? (size_t)sets->batch : 100;
    c.window = 0;
    c.shuffle = false;
    reading.labels = sets->train.count > 1 ? sets->train.items[1] : NULL;
    RG_TRY(rg_classify_columns(&reading, in, path));
    if (its->names && rg_set_has_labels(path, &reading)) return rg_examples_open(out, &c, specs, 2, path, &reading);
    reading.wanted = only;
    reading.wanted_count = 1;
    return rg_examples_open(out, &c, specs, 1, path, &reading);
}

rg_status rg_classify_examples(rg_examples **out, const rg_model *m, const rg_set_options *sets)
{
    char *files = NULL;
    if (rg_classify_input_of(m)->sound) RG_TRY(rg_heard_files(&files, sets->train.items[0], sets));
    const rg_status status = open_examples(out, m, sets, files);
    rg_free(files);
    return status;
}

const rg_names *rg_classify_names(const rg_model *m) { return ((const rg_classifier *)m->assets)->names; }
