/* language_codes.c - see language_codes.h. */
#include "tasks/language_codes.h"

#include <string.h>

/* ISO 639-1, all of it: so that train.tx, lines.md and part.aa ... part.zz are not taken for languages unless they
 * name one. */
static const char codes[] = " aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu "
                            "cv cy da de dv dz ee el en eo es et eu fa ff fi "
                            "fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja "
                            "jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky "
                            "la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny "
                            "oc oj om or os pa pi pl ps pt qu rm rn ro ru rw "
                            "sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts "
                            "tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za "
                            "zh zu ";

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_code(const char *text)
{
    const char word[] = { ' ', text[0], text[0] ? text[1] : '\0', ' ', '\0' };
    return strstr(codes, word) != NULL;
}

/* A region (BR) or a script (Hans) of `n` characters. */
static bool is_region(const char *text, size_t n) { return is_upper(text[0]) && (n == 2 ? is_upper(text[1]) : n == 4); }

/* The last part of a path between dots, without the endings that say how the file is written. */
static void last_part(const char **out, size_t *out_length, const char *path)
{
    static const char *const forms[] = { ".gz", ".tsv", ".txt" };
    const char              *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t                   n = strlen(name);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const size_t k = strlen(forms[i]);
        if (n > k && strncmp(name + n - k, forms[i], k) == 0) n -= k;
    }
    size_t begin = n;
    while (begin > 0 && name[begin - 1] != '.') begin--;
    *out = name + begin;
    *out_length = begin ? n - begin : 0; /* a name without a dot has no ending */
}

void rg_language_of_path(char out[RG_LANGUAGE_ROOM], const char *path)
{
    const char *part;
    size_t      n;
    out[0] = '\0';
    last_part(&part, &n, path);
    if (n < 2 || !is_code(part)) return;
    if (n != 2 && !((part[2] == '-' || part[2] == '_') && n > 4 && is_region(part + 3, n - 3))) return;
    memcpy(out, part, n);
    out[n] = '\0';
    if (n > 2) out[2] = '-';
}

void rg_languages_of_path(char source[RG_LANGUAGE_ROOM], char target[RG_LANGUAGE_ROOM], const char *path)
{
    const char *part;
    size_t      n;
    source[0] = target[0] = '\0';
    last_part(&part, &n, path);
    if (n != 5 || part[2] != '-' || !is_code(part) || !is_code(part + 3)) return;
    snprintf(source, RG_LANGUAGE_ROOM, "%.2s", part);
    snprintf(target, RG_LANGUAGE_ROOM, "%.2s", part + 3);
}

rg_status rg_language_check(const char *tag)
{
    size_t n = 0, part = 0;
    bool   good = strlen(tag) < RG_LANGUAGE_ROOM;
    for (; good && tag[n]; n++) {
        if (tag[n] == '-') good = part > 0, part = 0;
        else
            good = ++part <= 8 &&
                   (is_letter(tag[n]) || (is_digit(tag[n]) && strchr(tag, '-') && strchr(tag, '-') < tag + n));
    }
    const size_t first = strcspn(tag, "-");
    if (good && (!n || (part > 0 && first >= 2))) return RG_OK;
    return rg_fail(RG_EINVAL, "'%.40s' is not a language code such as en, de or pt-BR", tag);
}
