/* axis.h - axes of curves: what range they show, where a value lies, where the ticks are. */
#ifndef RG_VIEW_AXIS_H
#define RG_VIEW_AXIS_H

#include "regard/record.h"

typedef struct rg_axis {
    double low, high; /* in the unit of the axis; low < high */
    bool   log;
} rg_axis;

/* Series of one point each, several of them: points with names instead of lines. */
bool rg_curves_are_points(const rg_curves *curves);

/* Round ranges that hold all points of all series and their intervals; of bars, 0 too. */
void rg_axis_fit(rg_axis *x, rg_axis *y, const rg_curves *curves);

/* 0 at low, 1 at high. False for a value a logarithmic axis cannot show. */
bool   rg_axis_place(double *out, const rg_axis *scale, double value);
double rg_axis_value(const rg_axis *scale, double place);

/* Ticks at round values, at most `most`; returns how many. Written like "0.5", "200", "10⁻⁶". */
enum { RG_TICKS_MOST = 16 };
size_t rg_axis_ticks(double out[RG_TICKS_MOST], const rg_axis *scale, size_t most);
void   rg_axis_text(char out[32], const rg_axis *scale, double tick);

/* Where names stand that are written beside their points, so that they cover neither each other nor other points. */
typedef enum { RG_BESIDE_RIGHT, RG_BESIDE_LEFT, RG_BESIDE_ABOVE, RG_BESIDE_BELOW, RG_BESIDE_SIDES } rg_beside;
typedef struct rg_point_name {
    double    x, y;        /* the point, y downwards; given, as width and height of the name */
    double    width, height;
    rg_beside side;        /* found: left end, right end or middle of the text is at (text_x, text_y), its middle */
    double    text_x, text_y;
} rg_point_name;
void rg_point_names(rg_point_name *names, size_t count, double left, double right);

#endif
