/* choose_shortlist.h - the options of every command that answers by a shortlist. */
#ifndef RG_CLI_CHOOSE_SHORTLIST_H
#define RG_CLI_CHOOSE_SHORTLIST_H

#include "regard/options.h"
#include "regard/translate.h"

#define RG_SHORTLIST_OPTION(settings, member)                                                                      \
    { RG_OPTION_LIST, "shortlist", offsetof(settings, member), "",                                                 \
      "FILE [FIRST [BEST]]: answer with the tokens that `regard shortlist` lists for a line, an approximation; none: " \
      "with all, though the model file has a list", 0, NULL }

/* Give a translator the list its options name; without them it keeps that of its file. */
rg_status rg_shortlist_use(rg_translator *translator, const rg_list *words);

#endif
