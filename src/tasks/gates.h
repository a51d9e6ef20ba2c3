/* gates.h - the end of watching gates, which every task that shows them shares. */
#ifndef RG_TASKS_GATES_H
#define RG_TASKS_GATES_H

#include "regard/model.h"
#include "regard/view.h"

/* Free the collector. passed: what the pass came to, which goes before. RG_EMATCH: the record has no map, because the
 * model has no gates. */
rg_status rg_gates_finish(rg_gate_collector *collector, const rg_record *record, const rg_model *model,
                          rg_status passed);

#endif
