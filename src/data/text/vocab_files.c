/* vocab_files.c - see vocab_files.h. */
#include "data/text/vocab_files.h"

#include <jansson.h>
#include <string.h>

#include "base/json_scan.h"
#include "data/text/vocab.h"

static rg_status make_room(rg_line_list *list, size_t count)
{
    if (count <= list->room) return RG_OK;
    const size_t room = count > 2 * list->room ? count : 2 * list->room;
    char       **line = rg_realloc(list->line, room * sizeof *line);
    if (!line) return RG_ENOMEM;
    list->line = line;
    list->room = room;
    return RG_OK;
}

rg_status rg_pieces_add(rg_line_list *list, const char *piece, size_t bytes)
{
    if (list->count >= RG_VOCAB_MAX_PIECES)
        return rg_fail(RG_ELIMIT, "more than %d tokens in a vocabulary", RG_VOCAB_MAX_PIECES);
    RG_TRY(make_room(list, list->count + 1));
    char *copy = rg_alloc(bytes + 1);
    if (!copy) return RG_ENOMEM;
    memcpy(copy, piece, bytes);
    copy[bytes] = '\0';
    list->line[list->count++] = copy;
    return RG_OK;
}

int32_t rg_pieces_find(const rg_line_list *pieces, const char *piece)
{
    for (size_t i = 0; i < pieces->count; i++)
        if (strcmp(pieces->line[i], piece) == 0) return (int32_t)i;
    return -1;
}

rg_status rg_pieces_of_lines(rg_line_list *out, const char *bytes, size_t count)
{
    for (const char *at = bytes, *end = bytes + count, *lf; at < end; at = lf + 1) {
        lf = memchr(at, '\n', (size_t)(end - at));
        if (!lf) lf = end;
        const size_t length = (size_t)(lf - at) - (lf > at && lf[-1] == '\r');
        if (!length || memchr(at, '\0', length))
            return rg_fail(RG_EFORMAT, "line %zu is empty or has a zero byte: no token", out->count + 1);
        RG_TRY(rg_pieces_add(out, at, length));
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ JSON */

static rg_status place(rg_line_list *out, const char *piece, const json_t *value)
{
    const json_int_t id = json_integer_value(value);
    if (!json_is_integer(value) || id < 0 || (size_t)id >= out->count)
        return rg_fail(RG_EFORMAT, "the id of \"%.40s\" is not a number in 0 .. %zu, how many tokens there are", piece,
                       out->count - 1);
    if (out->line[id])
        return rg_fail(RG_EFORMAT, "id %lld has two tokens, \"%.40s\" and \"%.40s\"", (long long)id, out->line[id],
                       piece);
    return (out->line[id] = rg_strdup(piece)) ? RG_OK : RG_ENOMEM;
}

/* As many pieces as ids and no id twice: then every id has one. */
static rg_status place_all(rg_line_list *out, json_t *root)
{
    const char *piece;
    json_t     *value;
    if (!json_is_object(root) || !json_object_size(root))
        return rg_fail(RG_EFORMAT, "not an object of tokens and their ids");
    RG_TRY(make_room(out, json_object_size(root)));
    memset(out->line, 0, json_object_size(root) * sizeof *out->line);
    out->count = json_object_size(root);
    json_object_foreach(root, piece, value) RG_TRY(place(out, piece, value));
    return RG_OK;
}

rg_status rg_pieces_of_json(rg_line_list *out, const char *bytes, size_t count)
{
    json_error_t       error;
    const rg_json_scan scan = rg_json_scan_text(bytes, count);
    if (scan.depth != 1 || scan.objects != 1 || scan.arrays)
        return rg_fail(RG_EFORMAT, "not one object of tokens and their ids, {\"token\": 0, ...}");
    if (scan.commas >= RG_VOCAB_MAX_PIECES)
        return rg_fail(RG_ELIMIT, "more than %d tokens in a vocabulary", RG_VOCAB_MAX_PIECES);
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    if (!root) return rg_fail(RG_EFORMAT, "line %d: %s", error.line, error.text);
    const rg_status status = place_all(out, root);
    json_decref(root);
    return status;
}
