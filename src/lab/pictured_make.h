/* pictured_make.h - data of experiments about pictures, written to a folder. */
#ifndef RG_LAB_PICTURED_MAKE_H
#define RG_LAB_PICTURED_MAKE_H

#include "regard/base.h"

struct rg_generator;

/* "captcha count=50000 symbols=all": the generator with these settings; {data} in a value is replaced. */
rg_status pictured_make(const char *folder, const char *about, const char *data);
/* The generator of `about` and its options: rg_options_fini and rg_free, also after a failure when they are not NULL. */
rg_status pictured_options(const struct rg_generator **out, void **options, const char *about, const char *data);
/* Does it write idx files: pictures with classes? */
bool pictured_is_idx(const char *about);
/* train.tsv and test.tsv of the pictures of an archive, named by their texts: every tenth, by name, is for the test. */
rg_status pictured_split(const char *folder, const char *archive);

#endif
