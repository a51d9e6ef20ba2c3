/* sentiment_data.c - reviews into ten folds, questions into two parts, texts without labels. Line i of the negative
 * and of the positive reviews is of fold i mod 10; a fold is tested on, the one behind it validates, the other eight
 * are learned from. Kinds alternate, so that any beginning of a file has as many of each. */
#include "lab/sentiment.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "data/stream.h"

/* What the bytes 0x80 to 0x9F are in windows-1252; 0: nothing. The others are the character of the same number. */
static const uint16_t high[32] = { 0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                   0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                   0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                   0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178 };

rg_status sentiment_utf8(rg_text *out, const char *line, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const unsigned byte = (unsigned char)line[i];
        const unsigned c = byte < 0x80 || byte >= 0xA0 ? byte : high[byte - 0x80] ? high[byte - 0x80] : 0xFFFD;
        const char     one[] = { (char)c }, two[] = { (char)(0xC0 | c >> 6), (char)(0x80 | (c & 0x3F)) };
        const char     three[] = { (char)(0xE0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3F)), (char)(0x80 | (c & 0x3F)) };
        RG_TRY(c < 0x80 ? rg_text_add(out, one, 1) : c < 0x800 ? rg_text_add(out, two, 2) : rg_text_add(out, three, 3));
    }
    return RG_OK;
}

/* All bytes of DATA/NAME, packed or not. */
static rg_status read_bytes(rg_text *out, const char *data, const char *name)
{
    char     *path = rg_format("%s/%s", data, name);
    rg_stream s = { 0 };
    rg_status status = path ? rg_stream_open(&s, path) : RG_ENOMEM;
    while (status == RG_OK) {
        status = rg_stream_fill(&s);
        if (status != RG_OK || s.at == s.end) break;
        status = rg_text_add(out, s.chunk + s.at, s.end - s.at);
        s.at = s.end;
    }
    rg_stream_close(&s);
    rg_free(path);
    return status;
}

/* The next line of a text, without its end and blanks around it; false at the end. */
static bool next_line(const char **out, size_t *out_bytes, const rg_text *text, size_t *at)
{
    if (*at >= text->length) return false;
    const char *begin = text->data + *at, *end = memchr(begin, '\n', text->length - *at);
    size_t      n = end ? (size_t)(end - begin) : text->length - *at;
    *at += n + 1;
    while (n && (*begin == ' ' || *begin == '\t')) begin++, n--;
    while (n && (begin[n - 1] == ' ' || begin[n - 1] == '\r' || begin[n - 1] == '\t')) n--;
    *out = begin;
    *out_bytes = n;
    return true;
}

/* --------------------------------------------------------------------------------------------------------- reviews */

enum { TRAIN, VALID, TEST, FEW, PARTS };

typedef struct {
    rg_text part[SENTIMENT_FOLDS][PARTS];
    size_t  few;
} folds;

static rg_status add_review(folds *f, const char *label, const rg_text *review, size_t number)
{
    for (size_t k = 0; k < SENTIMENT_FOLDS; k++) {
        const size_t mine = number % SENTIMENT_FOLDS;
        const size_t part = mine == k ? TEST : mine == (k + 1) % SENTIMENT_FOLDS ? VALID : TRAIN;
        RG_TRY(rg_text_print(&f->part[k][part], "%s\t%s\n", label, rg_text_c(review)));
        if (k == 0 && part == TRAIN && f->few++ < SENTIMENT_FEW)
            RG_TRY(rg_text_print(&f->part[k][FEW], "%s\t%s\n", label, rg_text_c(review)));
    }
    return RG_OK;
}

static rg_status cut_reviews(folds *f, const char *data)
{
    static const char *const label[2] = { "negative", "positive" }, *const name[2] = { "sentiment/rt-polarity.neg.gz",
                                                                                       "sentiment/rt-polarity.pos.gz" };
    rg_text                  all[2] = { { 0 }, { 0 } }, review = { 0 };
    size_t                   at[2] = { 0, 0 }, bytes;
    const char              *line;
    bool                     more = true;
    rg_status                status = read_bytes(&all[0], data, name[0]);
    if (status == RG_OK) status = read_bytes(&all[1], data, name[1]);
    for (size_t i = 0; status == RG_OK && more; i++) {
        more = false;
        for (size_t k = 0; k < 2 && status == RG_OK; k++) {
            if (!next_line(&line, &bytes, &all[k], &at[k])) continue;
            more = true;
            rg_text_clear(&review);
            status = sentiment_utf8(&review, line, bytes);
            if (status == RG_OK && bytes) status = add_review(f, label[k], &review, i);
        }
    }
    rg_text_free(&all[0]);
    rg_text_free(&all[1]);
    rg_text_free(&review);
    return status;
}

static rg_status save(const char *folder, const char *name, const rg_text *text)
{
    char           *path = rg_format("%s/%s", folder, name);
    const rg_status status = path ? rg_file_replace(path, text->data, text->length) : RG_ENOMEM;
    rg_free(path);
    return status;
}

static rg_status save_folds(const folds *f, const char *folder)
{
    static const char *const names[PARTS] = { "train", "valid", "test", "few" };
    for (size_t k = 0; k < SENTIMENT_FOLDS; k++)
        for (size_t p = 0; p < PARTS; p++) {
            char name[32];
            snprintf(name, sizeof name, "mr.%u.%s.tsv", (unsigned)(k + 1), names[p]);
            if (f->part[k][p].length) RG_TRY(save(folder, name, &f->part[k][p]));
        }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------- questions, plain texts */

/* "label text" into label TAB text; every tenth line goes to the second part, if there is one. */
static rg_status cut_questions(rg_text *first, rg_text *second, const char *data, const char *name)
{
    rg_text     all = { 0 };
    const char *line;
    size_t      at = 0, bytes, number = 0;
    rg_status   status = read_bytes(&all, data, name);
    while (status == RG_OK && next_line(&line, &bytes, &all, &at)) {
        const char *blank = memchr(line, ' ', bytes);
        if (!blank) continue;
        rg_text *to = second && number++ % 10 == 9 ? second : first;
        status = rg_text_print(to, "%.*s\t%.*s\n", (int)(blank - line), line, (int)(bytes - (size_t)(blank - line) - 1),
                               blank + 1);
    }
    rg_text_free(&all);
    return status;
}

/* What stands behind the tabs of a file of labels. */
static rg_status add_texts(rg_text *out, const rg_text *labelled)
{
    const char *line;
    size_t      at = 0, bytes;
    while (next_line(&line, &bytes, labelled, &at)) {
        const char *tab = memchr(line, '\t', bytes);
        if (tab) RG_TRY(rg_text_print(out, "%.*s\n", (int)(bytes - (size_t)(tab - line) - 1), tab + 1));
    }
    return RG_OK;
}

static rg_status write_rest(const folds *f, const char *folder, const char *data)
{
    rg_text   train = { 0 }, valid = { 0 }, test = { 0 }, text = { 0 }, held = { 0 };
    rg_status status = cut_questions(&train, &valid, data, "sentiment/TREC.train.all.gz");
    if (status == RG_OK) status = cut_questions(&test, NULL, data, "sentiment/TREC.test.all.gz");
    if (status == RG_OK) status = save(folder, "trec.train.tsv", &train);
    if (status == RG_OK) status = save(folder, "trec.valid.tsv", &valid);
    if (status == RG_OK) status = save(folder, "trec.test.tsv", &test);
    if (status == RG_OK) status = read_bytes(&text, data, "ptb/ptb.train.txt.gz");
    if (status == RG_OK) status = add_texts(&text, &f->part[0][TRAIN]);
    if (status == RG_OK) status = add_texts(&text, &train);
    if (status == RG_OK) status = read_bytes(&held, data, "ptb/ptb.valid.txt.gz");
    if (status == RG_OK) status = add_texts(&held, &f->part[0][VALID]);
    if (status == RG_OK) status = save(folder, "text.train.txt", &text);
    if (status == RG_OK) status = save(folder, "text.valid.txt", &held); /* last: all is there */
    rg_text_free(&train);
    rg_text_free(&valid);
    rg_text_free(&test);
    rg_text_free(&text);
    rg_text_free(&held);
    return status;
}

rg_status sentiment_data(const char *out, const char *data)
{
    char     *folder = rg_format("%s/data", out), *last = rg_format("%s/data/text.valid.txt", out);
    bool      there = false;
    folds    *f = rg_alloc_zero(sizeof *f);
    rg_status status = folder && last && f ? rg_file_exists(&there, last) : RG_ENOMEM;
    if (status == RG_OK && !there && mkdir(folder, 0777) != 0 && errno != EEXIST)
        status = rg_fail(RG_EIO, "%s: %s", folder, strerror(errno));
    if (status == RG_OK && !there) status = cut_reviews(f, data);
    if (status == RG_OK && !there) status = save_folds(f, folder);
    if (status == RG_OK && !there) status = write_rest(f, folder, data);
    for (size_t k = 0; f && k < SENTIMENT_FOLDS; k++)
        for (size_t p = 0; p < PARTS; p++) rg_text_free(&f->part[k][p]);
    rg_free(f);
    rg_free(folder);
    rg_free(last);
    return status;
}
