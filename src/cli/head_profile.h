/* head_profile.h - what each head of self-attention does on average: how far it looks, how widely, and where. */
#ifndef RG_CLI_HEAD_PROFILE_H
#define RG_CLI_HEAD_PROFILE_H

#include <stdio.h>

#include "regard/record.h"

typedef struct rg_head_profile rg_head_profile;

rg_status rg_head_profile_new(rg_head_profile **out);
void      rg_head_profile_free(rg_head_profile *profile);
/* Maps whose rows and columns are the same labels; others are passed over. */
rg_status rg_head_profile_add(rg_head_profile *profile, const rg_record *record);
/* One line per head; returns how many kinds of heads there are. */
size_t rg_head_profile_print(FILE *out, const rg_head_profile *profile);

#endif
