/* vqa_record.h - what a network looked at before it answered questions about a picture. */
#ifndef RG_TASKS_VQA_RECORD_H
#define RG_TASKS_VQA_RECORD_H

#include "tasks/pictured.h"

/* One picture with a map for every question and hop, to the sink: rows are "hop 1", "hop 2: square" (the answer), of
 * several questions with their number. `answer` has `questions` names; `first` is the row of the batch's answers
 * that the first question has. */
rg_status rg_vqa_record(const rg_sink *sink, const rg_model *model, const rg_asked *asked, const char *const *answer,
                        size_t questions, size_t first);

#endif
