/* records.h - records that tests of the view draw: a small translation, a picture, a graph, curves, many tokens. */
#ifndef TEST_RECORDS_H
#define TEST_RECORDS_H

#include "regard/record.h"

/* English to French, two layers of four heads of cross-attention, an n-best list of which the second was chosen. */
rg_record *test_record_translation(void);
/* n tokens looking at n tokens through `heads` heads of one layer. */
rg_record *test_record_tokens(size_t n, int heads);
/* Six words over a 7 x 7 grid of a picture made here. */
rg_record *test_record_picture(void);
/* Twelve nodes in two rings, edges with weights. */
rg_record *test_record_graph(void);
rg_record *test_record_memory(void);
rg_record *test_record_boxes(void);
rg_record *test_record_rings(void);
/* Gradient norms of a network that forgets and one that does not. */
rg_record *test_record_curves(void);
/* Sets of curves: means with intervals, two series of bars, points with names. */
rg_record *test_record_bars(void);
/* A picture with two parts that is all there is to draw. */
rg_record *test_record_sheet(void);
/* Labels in Latin, Greek, Cyrillic, Arabic, Hebrew, Chinese, Japanese, Korean, with marks and wide characters. */
rg_record *test_record_scripts(void);

#endif
