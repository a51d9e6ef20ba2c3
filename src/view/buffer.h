/* buffer.h - text that grows: what the record's writer, the terminal, the page and the report write into.
 *
 * The first failed allocation is kept and later calls do nothing, so a writer checks once, at the end. */
#ifndef RG_VIEW_BUFFER_H
#define RG_VIEW_BUFFER_H

#include "regard/base.h"

typedef struct rg_buffer {
    char     *data; /* always ends in a zero byte once anything was put */
    size_t    used, room;
    rg_status status;
} rg_buffer;

#define RG_BUFFER_EMPTY { NULL, 0, 0, RG_OK }

void rg_buffer_put(rg_buffer *buffer, const void *bytes, size_t count);
void rg_buffer_text(rg_buffer *buffer, const char *text);
void rg_buffer_repeat(rg_buffer *buffer, const char *text, size_t times);
void rg_buffer_format(rg_buffer *buffer, const char *format, ...) RG_PRINTF(2, 3);

/* "text" with quotes and escapes of JSON; '<' becomes \u003c so that the result may stand inside a <script>. */
void rg_buffer_json(rg_buffer *buffer, const char *text);
/* Text for HTML and SVG: & < > " ' escaped. */
void rg_buffer_html(rg_buffer *buffer, const char *text);
/* The shortest decimal number that reads back to the same float; finite values only. */
void rg_buffer_float(rg_buffer *buffer, float value);
void rg_buffer_double(rg_buffer *buffer, double value);
void rg_buffer_base64(rg_buffer *buffer, const void *bytes, size_t count);

/* Hand the text over (the caller frees it with rg_free) or report what failed. Leaves the buffer empty. */
rg_status rg_buffer_take(char **out, size_t *out_bytes, rg_buffer *buffer);
void      rg_buffer_fini(rg_buffer *buffer);

/* Bytes of a base64 text, or RG_EFORMAT. rg_base64_size gives the room needed for `count` characters. */
size_t    rg_base64_size(size_t count);
rg_status rg_base64_decode(size_t *out_bytes, unsigned char *out, const char *text, size_t count);

/* A whole file, with a zero byte behind it that out_bytes does not count. RG_ELIMIT when it is larger than `most`. */
rg_status rg_view__read_file(char **out, size_t *out_bytes, const char *path, size_t most);

#endif
