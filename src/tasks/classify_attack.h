/* classify_attack.h - one input and what a small change makes of it, as a record of kind "attack". */
#ifndef RG_TASKS_CLASSIFY_ATTACK_H
#define RG_TASKS_CLASSIFY_ATTACK_H

#include "regard/perturb.h"
#include "regard/record.h"
#include "tasks/classify.h"

typedef struct rg_shown_attack {
    const char *given; /* the size as it was written: "1/256" */
    double      epsilon;
    rg_ball     ball;
    size_t      steps;
} rg_shown_attack;

/* Pictures: label lists "picture: CLASS 0.931", "change: ..." and "attacked: CLASS 0.541", each with its picture; the
 * maps evidence.before and evidence.after where the system shows where its evidence was.
 * Texts: the map "change", how long r is at each of the words `piece`.
 * Both answers are texts of the roles "before" and "after". RG_EMATCH: nothing of the kind goes in. */
rg_status rg_attack_show(rg_record *record, const rg_model *model, const rg_asked *asked, const rg_shown_attack *how,
                         const char *const *piece, size_t pieces);

#endif
