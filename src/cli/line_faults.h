/* line_faults.h - what was wrong with the lines a command reads, said on standard error with file and line number. */
#ifndef RG_CLI_LINE_FAULTS_H
#define RG_CLI_LINE_FAULTS_H

#include "regard/text.h"

/* What is wrong with the line that was read last, at once; of each kind the first few of a file. */
void rg_line_faults_say(const rg_lines *lines, const rg_line *line);

/* After the last line: how many there were of each kind, where not all were said. */
rg_status rg_line_faults_sum(const rg_lines *lines);

#endif
