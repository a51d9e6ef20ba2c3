/* sample_safetensors.h - a small file with every kind of array and some metadata, for tests of reading and writing. */
#ifndef TESTS_SUPPORT_SAMPLE_SAFETENSORS_H
#define TESTS_SUPPORT_SAMPLE_SAFETENSORS_H

#include "regard/safetensors.h"

/* A writer that holds the sample; `version` changes the numbers, and metadata "version" says it. */
rg_status sample_writer(rg_safetensors_writer **out, int version);

/* RG_OK when `st` holds a whole sample; *out_version says which. RG_EMATCH when something is different. */
rg_status sample_check(int *out_version, rg_safetensors *st);

/* A writer with the content of `st`, which must stay open while it is used. */
rg_status sample_copy(rg_safetensors_writer **out, rg_safetensors *st);

#endif
