/* opendocument.c - OpenDocument (text, spreadsheets, presentations) and EPUB: archives whose members are read by
 * html.c, with other lists of elements. */
#include "data/documents/archive.h"

static const rg_dialect opendocument = {
    .inlines = " text:span text:a text:s text:tab text:line-break text:bookmark text:bookmark-start text:bookmark-end "
               "text:soft-page-break text:reference-mark ",
    .kept = " ",
    .skipped = " text:tracked-changes office:settings office:forms text:variable-decls text:sequence-decls ",
    .inside = " text:p text:h ",
    .breaks = " text:s text:tab text:line-break ",
    .notes = " text:note office:annotation draw:frame ",
};
static const rg_dialect contents = { .inlines = " ", .kept = " ", .skipped = " ", .inside = " text dc:title dc:description " };

static rg_status read_content(rg_document *d, const char *text, size_t bytes)
{
    return rg_html__read(d, text, bytes, &opendocument);
}
static rg_status read_html(rg_document *d, const char *text, size_t bytes)
{
    return rg_html__read(d, text, bytes, &rg_dialect_html);
}
static rg_status read_contents(rg_document *d, const char *text, size_t bytes)
{
    return rg_html__read(d, text, bytes, &contents);
}

static rg_status read_odt(rg_document *d, const char *bytes, size_t count)
{
    static const rg_member_kind kinds[] = { { "content.xml", read_content }, { "styles.xml", read_content }, { 0 } };
    return rg_archive__read(d, bytes, count, kinds);
}

static rg_status read_epub(rg_document *d, const char *bytes, size_t count)
{
    static const rg_member_kind kinds[] = { { "*.xhtml", read_html }, { "*.html", read_html }, { "*.htm", read_html },
                                            { "*.ncx", read_contents }, { "*.opf", read_contents }, { 0 } };
    return rg_archive__read(d, bytes, count, kinds);
}

const rg_document_format rg_document_format_odt = {
    .name = "odt",
    .endings = " .odt .ods .odp .ott ",
    .type = "application/vnd.oasis.opendocument.text",
    .about = "paragraphs, headings, cells, notes, headers and footers",
    .read = read_odt,
    .pack = rg_archive__pack,
};

const rg_document_format rg_document_format_epub = {
    .name = "epub",
    .endings = " .epub ",
    .type = "application/epub+zip",
    .about = "chapters as HTML, the table of contents, title and description",
    .read = read_epub,
    .pack = rg_archive__pack,
};
