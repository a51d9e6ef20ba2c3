/* documents.h - what the readers of documents share.
 *
 *   document.c   parts of a document, formats, joining          cutter.c    a paragraph at hand: its text and its tags
 *   segment.c    a paragraph cut into sentences                 protect.c   URLs, addresses, placeholders
 *   markup.c     tags put back into a translation               entities.c  characters of HTML and XML
 *   sentences.c  where sentences end                            <format>.c  one reader per format
 *   layout.c     text that must stand on given lines
 *
 * Readers keep byte offsets into the file instead of building a tree: what is not translated is copied from the file
 * itself, so it cannot change, whatever it holds. */
#ifndef RG_DATA_DOCUMENTS_H
#define RG_DATA_DOCUMENTS_H

#include "regard/document.h"

/* Append text as it stands in the document: "a < b" as "a &lt; b". */
typedef rg_status rg_escape(rg_text *out, const char *text, size_t bytes);

/* A tag inside a sentence. */
typedef enum rg_mark_kind {
    RG_MARK_ELEMENT, /* both tags are in the sentence                 */
    RG_MARK_OPEN,    /* the closing one is not                        */
    RG_MARK_CLOSE,   /* the opening one is not                        */
    RG_MARK_POINT,   /* stands alone: img, a comment                  */
    RG_MARK_KEEP     /* an element that is not translated             */
} rg_mark_kind;

enum { RG_MARK_NAME = 24 };

typedef struct rg_mark {
    rg_mark_kind kind;
    size_t       begin, end;         /* bytes of the text that it encloses */
    int          parent;             /* the mark around it, or -1          */
    bool         instead;            /* stands for the blank behind it: a tab, a line break */
    bool         spaced;             /* around nothing, with a blank on both sides, of which the text has one */
    char        *open, *close;       /* of OPEN, CLOSE and POINT only `open`; of KEEP it is the whole element */
    char         name[RG_MARK_NAME]; /* by which a closing tag finds it */
} rg_mark;

/* Bytes that are copied, or a sentence. */
typedef struct rg_document_part {
    char      *text;
    size_t     bytes;
    bool       sentence;
    int        group; /* written where a marker stands for it, not here; -1: here     */
    rg_mark   *mark;
    size_t     marks;
    rg_escape *escape;
} rg_document_part;

typedef struct rg_member { /* of an archive */
    char  *name;
    size_t index;       /* in the archive */
    size_t first, end; /* its parts      */
} rg_member;

struct rg_document {
    rg_document_config config;
    rg_document_part           *part;
    size_t             parts, part_room;
    size_t            *sentence; /* parts that are sentences */
    size_t             sentences, sentence_room;
    rg_member         *member; /* of archives: texts that were read; the others are copied */
    size_t             members, member_room;
    char              *bytes; /* of archives: the file */
    size_t             count;
    rg_range          *group; /* parts that stand inside of a tag: rg_document__begin_group */
    size_t             groups, group_room;
    int                grouped; /* the group that parts are added to, or -1 */
    bool               ungrouped; /* the document holds the byte of markers: no groups */
    struct rg_block   *block; /* parts whose text stands on given lines, in order */
    size_t             blocks, block_room;
    const char        *line_end; /* that the file uses */
};

/* document.c */
rg_status rg_document__keep(rg_document *d, const char *bytes, size_t count);
/* Takes the marks over, also on failure. */
rg_status rg_document__sentence(rg_document *d, const char *text, size_t bytes, rg_mark *mark, size_t marks,
                                rg_escape *escape);
/* Parts that are added until end_group are written where `out` gets a marker: the values of attributes in a tag, whose
 * sentence is written later. */
rg_status rg_document__begin_group(rg_document *d, int *out_before);
rg_status rg_document__end_group(rg_text *out, rg_document *d, int before);
void      rg_marks__free(rg_mark *mark, size_t marks);
rg_status rg_escape__none(rg_text *out, const char *text, size_t bytes);
char     *rg_document__copy(const char *text, size_t bytes); /* a new string */
/* The name of the file and the line of text[at] in front of a message. */
rg_status rg_document__fail(const rg_document *d, const char *text, size_t at, const char *what);

/* --------------------------------------------------------------------------------------------------------- layout */

/* Where the text of a block is cut, and by what: a line end, or whatever lies between two subtitles. */
typedef struct rg_block_cut {
    size_t part;  /* the sentence it is in                                    */
    double share; /* of that sentence which stands before it                  */
    char  *text;
    bool   must;  /* be there, even where the text has no blank left for it   */
} rg_block_cut;
typedef struct rg_block {
    size_t        first, end; /* its parts */
    rg_block_cut *cut;
    size_t        cuts;
} rg_block;
typedef struct rg_cut_here {
    size_t      at; /* byte of the block's text */
    const char *text;
    size_t      bytes;
    bool        must;
} rg_cut_here;
/* The parts from `first` on, which were made from the text `plain`, are one block. */
rg_status       rg_document__block(rg_document *d, size_t first, const char *plain, size_t bytes, const rg_cut_here *here,
                                   size_t cuts);
const rg_block *rg_document__block_at(const rg_document *d, size_t part); /* that begins there; NULL: none */
/* Its text, of which part[i] are the bytes of its i-th part. */
rg_status       rg_block__write(rg_text *out, const rg_block *block, const char *text, const rg_range *part);
void            rg_blocks__free(rg_block *block, size_t blocks);

/* ------------------------------------------------------------------------------------------------------- cutter */

typedef struct rg_swap { /* bytes of the text that are written otherwise, whether there are words or not */
    rg_range range;
    char    *text;
} rg_swap;

/* A paragraph at hand. The reader walks through `text`, adds characters to `plain` and tells of tags; what is not
 * part of a paragraph is cut. Everything before `begin` is in the document already. */
typedef struct rg_cutter {
    rg_document *document;
    const char  *text;
    size_t       bytes, begin;
    rg_escape   *escape;
    rg_text      plain; /* of the paragraph, without tags */
    rg_mark     *mark;
    size_t       marks, room;
    size_t       solid, solid_marks, solid_plain; /* behind the last that is neither blank nor point: in text, mark, plain */
    rg_swap     *swap;
    size_t       swaps, swap_room;
    size_t       gap; /* one more than the mark that separates words like a blank; 0: none is the last */
    int          open, depth; /* the innermost mark that is open, or -1 */
    int          closed;      /* tags of paragraphs before that were closed in this one */
} rg_cutter;

enum { RG_CUTTER_MARKS = 512 }; /* of a paragraph */

rg_cutter rg_cutter__new(rg_document *document, const char *text, size_t bytes, size_t begin, rg_escape *escape);
void      rg_cutter__fini(rg_cutter *c);
rg_status rg_cutter__end(rg_cutter *c, size_t at);             /* the paragraph ends at text[at] */
rg_status rg_cutter__cut(rg_cutter *c, size_t at, size_t end); /* and text[at .. end) is copied  */
void      rg_cutter__solid(rg_cutter *c, size_t at);           /* something that is no blank ends at text[at] */
rg_status rg_cutter__open(rg_cutter *c, const char *name, const char *tag, size_t bytes);
rg_status rg_cutter__close(rg_cutter *c, const char *name, const char *tag, size_t bytes);
rg_status rg_cutter__swap(rg_cutter *c, size_t at, size_t end, const char *tag, size_t bytes);
rg_status rg_cutter__point(rg_cutter *c, size_t at, size_t end); /* text[at .. end) stands alone */
rg_status rg_cutter__point_as(rg_cutter *c, size_t at, size_t end, const char *tag, size_t bytes); /* written as `tag` */
rg_status rg_cutter__lone(rg_cutter *c, const char *tag, size_t bytes); /* the same, not of the text: always a mark */
/* text[at .. end) is copied; its words are those of `plain` from `before` on. */
rg_status rg_cutter__kept(rg_cutter *c, size_t at, size_t end, size_t before);
void      rg_cutter__break(rg_cutter *c);       /* the last point separates words: a tab, a line break */
rg_status rg_cutter__word(rg_cutter *c);        /* before the next sign that is no blank, where there may be breaks */
/* A blank of the text; true when it is to be left out because one stands before the last point. */
bool      rg_cutter__drops_blank(rg_cutter *c);
rg_status rg_cutter__blank(rg_cutter *c); /* one blank, unless there is one */

/* A tag such as <b> or </b> that begins at text[at], in strings that are no HTML but may hold tags; *next: behind it.
 * false: it is none. */
bool      rg_cutter__string_tag(rg_status *status, rg_cutter *c, size_t at, size_t end, size_t *next);

/* segment.c: a paragraph without blanks at its ends becomes sentences and what is between them. Takes the marks. */
rg_status rg_segment__add(rg_document *d, const char *plain, size_t bytes, rg_mark *mark, size_t marks,
                          rg_escape *escape);
/* Has it a letter outside of what is kept? */
rg_status rg_segment__has_words(bool *out, const char *plain, size_t bytes, const rg_mark *mark, size_t marks);

/* protect.c: what is copied as it is, in order, appended to `out`. */
rg_status rg_protect__find(rg_spans *out, const char *text, size_t bytes);

/* markup.c: the translation with the sentence's tags, and with its signs escaped. */
rg_status rg_markup_write(rg_text *out, const rg_document_part *sentence, const char *translation, const rg_links *links);

/* entities.c: the character that stands at text[*at], which is set behind it; and text as HTML. */
rg_status rg_html__character(rg_text *out, const char *text, size_t end, size_t *at);
rg_status rg_html__escape(rg_text *out, const char *text, size_t bytes);
rg_status rg_html__escape_value(rg_text *out, const char *text, size_t bytes); /* quotes too: of attributes */

/* tags.c: tags of HTML and XML by their bytes. */
bool   rg_tag__is(const char *at);                                     /* < and what may begin a tag; "a < b" is text */
size_t rg_tag__end(const char *text, size_t bytes, size_t at);         /* of the tag or comment at text[at]           */
void   rg_tag__name(char out[RG_MARK_NAME], const char *tag);          /* in lower case; "" of a comment              */
/* The attributes of a tag, one after another; *at is 0 before the first. */
typedef struct rg_attribute {
    rg_range name, value; /* bytes of the tag; the value without its quotes */
    char     quote;       /* 0: none                                       */
} rg_attribute;
bool   rg_tag__next(rg_attribute *out, const char *tag, size_t bytes, size_t *at);
bool   rg_tag__named(const char *tag, rg_range range, const char *name); /* whatever its case */
size_t rg_tag__value(const char **out, const char *tag, size_t bytes, const char *name); /* of an attribute; 0: none */
/* Behind the tag that closes the element of this name whose content begins at text[at]; *out_close (may be NULL): where
 * that tag begins. Of one that is never closed both are `bytes`. */
size_t rg_tag__element_end(size_t *out_close, const char *text, size_t bytes, size_t at, const char *name);
bool   rg_tag__closes_itself(const char *text, size_t end);            /* <br/>                                       */
/* html.c: which elements of HTML or of a kind of XML are what. Lists are " a b c ". */
typedef struct rg_dialect {
    const char *blocks;   /* separate paragraphs; NULL: all that are not in `inlines`       */
    const char *inlines;
    const char *voids;    /* have no end                                                   */
    const char *kept;     /* part of a sentence, and copied                                */
    const char *skipped;  /* copied, and no part of a sentence                             */
    const char *inside;   /* only text inside of these is translated; NULL: everywhere     */
    const char *attributes;
    const char *breaks;   /* separate words like a blank; NULL: none                       */
    const char *notes;    /* stand in a sentence and have paragraphs of their own; NULL: none */
    bool        html;     /* raw text in script and style; attributes that say what stays  */
} rg_dialect;
extern const rg_dialect rg_dialect_html;
rg_status rg_html__read(rg_document *d, const char *text, size_t bytes, const rg_dialect *dialect);

bool   rg_word_in(const char *list, const char *word);                 /* " a b c "                                   */

#endif
