/* scale.h - axes of curves: what range they show, where a value lies, where the ticks are. */
#ifndef RG_VIEW_SCALE_H
#define RG_VIEW_SCALE_H

#include "regard/record.h"

typedef struct rg_scale {
    double low, high; /* in the unit of the axis; low < high */
    bool   log;
} rg_scale;

/* Round ranges that hold all points of all series. */
void rg_scale_fit(rg_scale *x, rg_scale *y, const rg_curves *curves);

/* 0 at low, 1 at high. False for a value a logarithmic axis cannot show. */
bool   rg_scale_place(double *out, const rg_scale *scale, double value);
double rg_scale_value(const rg_scale *scale, double place);

/* Ticks at round values, at most `most`; returns how many. Written like "0.5", "200", "10⁻⁶". */
enum { RG_TICKS_MOST = 16 };
size_t rg_scale_ticks(double out[RG_TICKS_MOST], const rg_scale *scale, size_t most);
void   rg_scale_text(char out[32], const rg_scale *scale, double tick);

#endif
