/* translated_beside.h - what a model shows beside its attention while an answer goes through it: the switch between
 * generating and copying, the experts that words went to. */
#ifndef RG_TASKS_TRANSLATED_BESIDE_H
#define RG_TASKS_TRANSLATED_BESIDE_H

#include "regard/view.h"

enum { RG_BESIDE_POINTS = 64 };

typedef struct rg_beside_point {
    char   *name;
    double *value; /* rows x cols, as they came */
    size_t  count, room, cols;
} rg_beside_point;

typedef struct rg_beside {
    rg_watcher        watcher; /* hand this to the tape */
    const rg_watcher *inner;   /* sees what is not ours */
    rg_beside_point   point[RG_BESIDE_POINTS];
    size_t            points;
    bool              out_of_memory;
} rg_beside;

/* inner is borrowed and may be NULL. Not to be moved while it watches. */
void rg_beside_init(rg_beside *b, const rg_watcher *inner);
/* Add what was seen to the record: maps copy.switch (generated, copied x words of the output), NAME.experts.load
 * (share x expert) and NAME.experts (expert x word). `source` and `output` are label lists of the record. */
rg_status rg_beside_finish(rg_beside *b, rg_record *record, size_t source, size_t output, int hypothesis);
void      rg_beside_fini(rg_beside *b);

#endif
