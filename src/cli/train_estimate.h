/* train_estimate.h - `regard train --estimate`: what a training would cost here. */
#ifndef RG_CLI_TRAIN_ESTIMATE_H
#define RG_CLI_TRAIN_ESTIMATE_H

#include "cli/command.h"
#include "regard/task.h"

/* Of a training as the command line has it; where it names no data, of the task's small data with a vocabulary of
 * --dim-vocabs tokens. Prints; nothing is written. */
rg_status rg_cli_estimate(const rg_call *call, const rg_training *training, const char *preset);

#endif
