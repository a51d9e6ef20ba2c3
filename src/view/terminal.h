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

#endif
