/* terminal.h - shared by the parts of the terminal drawing. */
#ifndef RG_VIEW_TERMINAL_H
#define RG_VIEW_TERMINAL_H

#include "regard/view.h"
#include "view/buffer.h"

/* A label of at most `most` columns, cut with an ellipsis, without anything a terminal would obey. Returns its
 * width. */
size_t rg_terminal__label(rg_buffer *buffer, const char *text, size_t most, bool unicode);

/* Switch the background (cells) or the foreground (lines, words) to a palette's colour; nothing without colour. */
void rg_terminal__ground(rg_buffer *buffer, const rg_terminal_options *options, double value);
void rg_terminal__ink(rg_buffer *buffer, const rg_terminal_options *options, double value);
void rg_terminal__dim(rg_buffer *buffer, const rg_terminal_options *options);
void rg_terminal__bold(rg_buffer *buffer, const rg_terminal_options *options);
void rg_terminal__plain(rg_buffer *buffer, const rg_terminal_options *options);

void rg_terminal__rgb(rg_buffer *buffer, const rg_terminal_options *options, const double rgb[3], bool ground);

/* The picture of a list of regions in half blocks (without colour in shades), at most `lines` high. */
rg_status rg_terminal__sheet(rg_buffer *buffer, const rg_labels *regions, size_t lines, const rg_terminal_options *options);
/* The picture and, beside it, the same lit by each row of the weights w, under the rows' names; as many as have room. */
rg_status rg_terminal__lit(rg_buffer *buffer, const rg_labels *rows, const rg_labels *regions, const float *w, size_t lines,
                           const rg_terminal_options *options);

double rg_terminal__hue(size_t series); /* of a series, for rg_terminal__ink */

/* Curves that have bars. */
rg_status rg_terminal__bars(char **out, const rg_curves *curves, const rg_terminal_options *options);

#endif
