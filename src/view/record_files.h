/* record_files.h - shared by the record's writer, reader and file forms. */
#ifndef RG_VIEW_RECORD_FILES_H
#define RG_VIEW_RECORD_FILES_H

#include "regard/record.h"

/* JSON with or without the weights and pictures; without them it is the metadata of the safetensors form. */
rg_status rg_record__to_json(char **out, size_t *out_bytes, const rg_record *record, rg_weights_as weights,
                             bool with_weights);

/* Gives the weights of map `index` when the JSON does not hold them: dense (from, to NULL) or edges. The arrays are the
 * source's and live until the reader returns. */
typedef struct rg_weights_source {
    rg_status (*get)(void *context, size_t index, size_t rows, size_t cols, const float **weights,
                     const uint32_t **from, const uint32_t **to, size_t *edges);
    void *context;
} rg_weights_source;

rg_status rg_record__from_json(rg_record **out, const char *json, size_t bytes, const rg_weights_source *source);

/* JSON deeper than 64 brackets is refused before a parser sees it. */
rg_status rg_view__check_depth(const char *json, size_t bytes);

#endif
