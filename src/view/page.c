/* page.c - one HTML file: style, skeleton, the record as JSON, the program. It asks no other file and no network; its
 * content policy forbids both (a served page may talk to its own server). */
#include "view/page.h"

#include <string.h>

#define FILES(X) X(page_html) X(page_css) X(start_js) X(data_js) X(draw_js) X(graph_js) X(memory_js) \
                 X(export_js) X(ui_js) X(live_js) X(test_js) X(end_js)
#define DECLARE(name)                             \
    extern const unsigned char rg_embed_##name[]; \
    extern const size_t        rg_embed_##name##_bytes;
FILES(DECLARE)

#define PUT(name) rg_buffer_put(b, rg_embed_##name, rg_embed_##name##_bytes)

void rg_page__begin(rg_buffer *b, const char *title, bool live, bool dark)
{
    rg_buffer_text(b, "<!doctype html>\n<html lang=\"en\"");
    if (dark) rg_buffer_text(b, " data-theme=\"dark\"");
    rg_buffer_format(
        b,
        ">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data: blob:; style-src "
        "'unsafe-inline'; script-src 'unsafe-inline'%s\">\n",
        live ? "; connect-src 'self'" : "");
    if (live) rg_buffer_text(b, "<meta name=\"regard-live\" content=\"1\">\n");
    rg_buffer_text(b, "<title>");
    rg_buffer_html(b, title);
    rg_buffer_text(b, "</title>\n<style>\n");
    PUT(page_css);
    rg_buffer_text(b, "</style>\n</head>\n<body>\n");
}

rg_status rg_page__curves(rg_buffer *b, const rg_record *r)
{
    for (size_t i = 0; i < r->curve_sets; i++) {
        char *svg = NULL;
        RG_TRY(rg_curves_svg(&svg, &r->curves[i], 560, 320));
        rg_buffer_text(b, "<figure>");
        rg_buffer_text(b, svg);
        rg_buffer_text(b, "</figure>\n");
        rg_free(svg);
    }
    return RG_OK;
}

/* The skeleton, with the curves where it says <!--curves-->. */
static rg_status put_skeleton(rg_buffer *b, const rg_record *r)
{
    static const char mark[] = "<!--curves-->";
    const char       *html = (const char *)rg_embed_page_html, *at = strstr(html, mark);
    size_t            before = at ? (size_t)(at - html) : rg_embed_page_html_bytes;

    rg_buffer_put(b, html, before);
    if (r) RG_TRY(rg_page__curves(b, r));
    rg_buffer_put(b, html + before, rg_embed_page_html_bytes - before);
    return RG_OK;
}

static rg_status put_record(rg_buffer *b, const rg_record *r)
{
    char  *json = NULL;
    size_t bytes = 0;

    rg_buffer_text(b, "<script type=\"application/json\" id=\"record\">");
    if (r) {
        RG_TRY(rg_record_to_json(&json, &bytes, r, RG_WEIGHTS_U16));
        rg_buffer_put(b, json, bytes);
        rg_free(json);
    }
    rg_buffer_text(b, "</script>\n");
    return RG_OK;
}

rg_status rg_page_write(char **out, size_t *out_bytes, const rg_record *r, const rg_page_options *options)
{
    rg_status status;
    rg_buffer buffer = RG_BUFFER_EMPTY, *b = &buffer;

    rg_page__begin(b, r ? r->title : "regard", options->live, options->dark);
    if ((status = put_skeleton(b, r)) != RG_OK || (status = put_record(b, r)) != RG_OK) {
        rg_buffer_fini(b);
        return status;
    }
    rg_buffer_text(b, "<script>\n(() => {\n'use strict';\n");
    PUT(start_js);
    PUT(data_js);
    PUT(draw_js);
    PUT(graph_js);
    PUT(memory_js);
    PUT(export_js);
    PUT(ui_js);
    PUT(live_js);
    PUT(test_js);
    PUT(end_js);
    rg_buffer_text(b, "})();\n</script>\n</body>\n</html>\n");
    return rg_buffer_take(out, out_bytes, b);
}

rg_status rg_page_save(const char *path, const rg_record *r, const rg_page_options *options)
{
    rg_status status;
    char     *html = NULL;
    size_t    bytes = 0;

    RG_TRY(rg_page_write(&html, &bytes, r, options));
    status = rg_file_replace(path, html, bytes);
    rg_free(html);
    return status;
}
