/* page.h - the parts a page is put together from; the files of src/view/page are in the library as they are. */
#ifndef RG_VIEW_PAGE_H
#define RG_VIEW_PAGE_H

#include "regard/view.h"
#include "view/buffer.h"

/* <!doctype ...> to <body>, with the style; unless `dark` the reader's system decides. */
void rg_page__begin(rg_buffer *buffer, const char *title, bool live, bool dark);
/* Every set of curves as an <svg> in a <figure>. */
rg_status rg_page__curves(rg_buffer *buffer, const rg_record *record);

#endif
