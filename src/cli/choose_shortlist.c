/* choose_shortlist.c - see choose_shortlist.h */
#include "cli/choose_shortlist.h"

#include <string.h>

static rg_status number(size_t *out, const char *word)
{
    char        *end;
    const double value = rg_real_parse(word, &end);
    if (*end || !(value >= 0 && value <= 1e6) || value != (double)(size_t)value)
        return rg_fail(RG_EINVAL, "--shortlist FILE FIRST BEST: %s is not a number of tokens", word);
    *out = (size_t)value;
    return RG_OK;
}

rg_status rg_shortlist_use(rg_translator *t, const rg_list *words)
{
    rg_shortlist_config c = RG_SHORTLIST_CONFIG_DEFAULT;
    rg_shortlist       *list;
    if (!words->count) return RG_OK;
    if (words->count > 3)
        return rg_fail(RG_EINVAL, "--shortlist has %zu words; it is FILE [FIRST [BEST]]", words->count);
    if (strcmp(words->items[0], "none") == 0) return rg_translator_set_shortlist(t, NULL);
    if (words->count > 1) RG_TRY(number(&c.first, words->items[1]));
    if (words->count > 2) RG_TRY(number(&c.best, words->items[2]));
    RG_TRY(rg_shortlist_load(&list, t->source, t->target, words->items[0], &c));
    return rg_translator_set_shortlist(t, list);
}
