/* number.h - numbers as text, the same in every locale: a program that embeds the library may have chosen one whose
 * point is a comma. */
#ifndef RG_BASE_NUMBER_H
#define RG_BASE_NUMBER_H

#include "regard/base.h" /* rg_real_parse */

/* "%.*g" with a point; like snprintf. */
int rg_real_print(char *out, size_t room, int digits, double value);
/* With as few digits, `least` or more, as read back the same. */
void rg_real_print_double(char *out, size_t room, int least, double value);
void rg_real_print_float(char *out, size_t room, int least, float value);

#endif
