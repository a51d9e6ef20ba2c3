/* number.c - see number.h. The locale is the calling thread's for the length of a call: other threads notice
 * nothing. */
#include "base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    locale_t ours, before;
} plain;

/* Without memory for a locale numbers are read in the program's own, as before. */
static plain enter(void)
{
    plain p = { newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0 };
    if (p.ours) p.before = uselocale(p.ours);
    return p;
}

static void leave(plain p)
{
    if (!p.ours) return;
    uselocale(p.before);
    freelocale(p.ours);
}

double rg_real_parse(const char *text, char **end)
{
    const plain  p = enter();
    const double value = strtod(text, end);
    leave(p);
    return value;
}

int rg_real_print(char *out, size_t room, int digits, double value)
{
    const plain p = enter();
    const int   bytes = snprintf(out, room, "%.*g", digits, value);
    leave(p);
    return bytes;
}

void rg_real_print_double(char *out, size_t room, int least, double value)
{
    const plain p = enter();
    for (int digits = least; digits <= 17; digits++) {
        snprintf(out, room, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    leave(p);
}

void rg_real_print_float(char *out, size_t room, int least, float value)
{
    const plain p = enter();
    for (int digits = least; digits <= 9; digits++) {
        snprintf(out, room, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value) break;
    }
    leave(p);
}
