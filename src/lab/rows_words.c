/* rows_words.c - a training from words of `regard train`, as a shell would split them. */
#include "lab/rows_words.h"

#include <string.h>

#include "regard/text.h"

rg_status rg_row_words_add(rg_words *w, char *word)
{
    char **larger = word ? rg_realloc(w->word, (w->count + 1) * sizeof *larger) : NULL;
    if (!larger) {
        rg_free(word);
        return RG_ENOMEM;
    }
    w->word = larger;
    w->word[w->count++] = word;
    return RG_OK;
}

rg_status rg_words_split(rg_words *w, const char *text)
{
    for (const char *at = text + strspn(text, " \n"); *at; at += strspn(at, " \n")) {
        const size_t n = strcspn(at, " \n");
        RG_TRY(rg_row_words_add(w, rg_format("%.*s", (int)n, at)));
        at += n;
    }
    return RG_OK;
}

void rg_words_free(rg_words *w)
{
    for (size_t i = 0; i < w->count; i++) rg_free(w->word[i]);
    rg_free(w->word);
    *w = (rg_words){ 0 };
}

rg_status rg_words_place(rg_words *w, const char *mark, const char *with)
{
    for (size_t i = 0; i < w->count; i++)
        for (char *at; (at = strstr(w->word[i], mark)) != NULL;) {
            char *placed = rg_format("%.*s%s%s", (int)(at - w->word[i]), w->word[i], with, at + strlen(mark));
            if (!placed) return RG_ENOMEM;
            rg_free(w->word[i]);
            w->word[i] = placed;
        }
    return RG_OK;
}

static bool is_flag(const char *word) { return word[0] == '-' && word[1] == '-' && word[2]; }

/* The last value of a flag; "" without it. */
static const char *value_of(const rg_words *w, const char *flag)
{
    const char *value = "";
    for (size_t i = 0; i + 1 < w->count; i++)
        if (strcmp(w->word[i], flag) == 0) value = w->word[i + 1];
    return value;
}

static rg_status set_all(rg_recipe *recipe, const rg_words *w)
{
    for (size_t i = 0; i < w->count;) {
        const char *flag = w->word[i++];
        size_t      values = 0;
        if (!is_flag(flag)) return rg_fail(RG_EINVAL, "'%s' is not an option of `regard train`", flag);
        while (i + values < w->count && !is_flag(w->word[i + values])) values++;
        RG_TRY(rg_recipe_set(recipe, flag + 2, values, (const char *const *)(w->word + i)));
        i += values;
    }
    return RG_OK;
}

/* All values of a flag's last mention as a list of YAML: "domain, vat". */
static rg_status add_list(rg_text *yaml, const rg_words *w, const char *flag)
{
    size_t last = w->count;
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->word[i], flag) == 0) last = i;
    for (size_t i = last + 1; i < w->count && !is_flag(w->word[i]); i++)
        RG_TRY(rg_text_print(yaml, "%s%s", i > last + 1 ? ", " : "", w->word[i]));
    return RG_OK;
}

/* What decides which options there are. */
static rg_status write_header(rg_text *yaml, const rg_words *w)
{
    const char *type = value_of(w, "--type"), *preset = value_of(w, "--preset");
    if (*type) RG_TRY(rg_text_print(yaml, "type: %s\n", type));
    if (*preset) RG_TRY(rg_text_print(yaml, "preset: %s\n", preset));
    if (!*value_of(w, "--objective")) return RG_OK;
    RG_TRY(rg_text_print(yaml, "objective: ["));
    RG_TRY(add_list(yaml, w, "--objective"));
    return rg_text_print(yaml, "]\n");
}

rg_status rg_words_recipe(rg_recipe **out, const rg_words *w)
{
    const char *from = value_of(w, "--init-from");
    rg_text     yaml = { 0 };
    rg_status   status = write_header(&yaml, w);
    *out = NULL;
    if (status == RG_OK) status = rg_recipe_new(out, rg_text_c(&yaml));
    rg_text_free(&yaml);
    if (status == RG_OK && *from) status = rg_recipe_start_from(*out, from);
    if (status == RG_OK) status = set_all(*out, w);
    if (status != RG_OK) {
        rg_recipe_free(*out);
        *out = NULL;
    }
    return status;
}
