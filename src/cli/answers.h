/* answers.h - answers of a model on the console: TSV with a heading, or JSON lines; the record goes to whoever wants
 * it. */
#ifndef RG_CLI_ANSWERS_H
#define RG_CLI_ANSWERS_H

#include "cli/command.h"
#include "regard/record.h"
#include "regard/task.h"

typedef struct rg_answer_printer {
    bool        json, quiet; /* quiet: rows are not printed */
    const char *record_path; /* NULL or "": nowhere */
    rg_status (*draw)(void *context, const rg_record *record); /* may be NULL */
    void       *draw_context;

    char **names; /* of the columns */
    size_t count;
    rg_sink sink;
} rg_answer_printer;

/* The sink that prints; `p` is filled by the caller as far as `names`, and must stay where it is. */
const rg_sink *rg_answer_printer_sink(rg_answer_printer *p);
void           rg_answer_printer_fini(rg_answer_printer *p);

/* The task of a model file, or NULL with a message: looked at before the other options are known. */
const rg_task *rg_task_of_file(const char *path);

/* For extend(): what a model file was trained for; NULL when there is no such file. */
rg_status rg_call_task(const rg_task **out, const char *model);
/* For extend(): add the options of what can be asked of this model. Without the file (--help) there are none. */
rg_status rg_call_add_asking(rg_call *call, const char *model);

#endif
