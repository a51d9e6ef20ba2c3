/* gates.c - see gates.h. */
#include "tasks/gates.h"

rg_status rg_gates_finish(rg_gate_collector *c, const rg_record *r, const rg_model *m, rg_status passed)
{
    const rg_status finished = rg_gate_collector_finish(c);
    if (passed != RG_OK) return passed;
    if (finished != RG_OK || r->maps) return finished;
    return rg_fail(RG_EMATCH, "--gates: this %s has no gates (a plain recurrent network, or none)", m->system->name);
}
