/* axis.h - axes of curves: what range they show, where a value lies, where the ticks are. */
#ifndef RG_VIEW_AXIS_H
#define RG_VIEW_AXIS_H

#include "regard/record.h"

typedef struct rg_axis {
    double low, high; /* in the unit of the axis; low < high */
    bool   log;
} rg_axis;

/* Round ranges that hold all points of all series. */
void rg_axis_fit(rg_axis *x, rg_axis *y, const rg_curves *curves);

/* 0 at low, 1 at high. False for a value a logarithmic axis cannot show. */
bool   rg_axis_place(double *out, const rg_axis *scale, double value);
double rg_axis_value(const rg_axis *scale, double place);

/* Ticks at round values, at most `most`; returns how many. Written like "0.5", "200", "10⁻⁶". */
enum { RG_TICKS_MOST = 16 };
size_t rg_axis_ticks(double out[RG_TICKS_MOST], const rg_axis *scale, size_t most);
void   rg_axis_text(char out[32], const rg_axis *scale, double tick);

#endif
