/* suggest.c - /suggest: better translations that people send, a line each in a file that the operator named:
 *
 *     source language, target language, text, suggested translation       separated by tabs; \t \n \r \\ are written so
 *
 * The file is opened before the server gives up other files, only added to, and no longer than allowed. */
#include "serve/serve.h"

#include <string.h>

rg_status rg_suggestions_open(rg_server *s)
{
    const char *path = s->config->suggestions;
    return path && *path ? rg_file_open(&s->suggestions, path, "ab") : RG_OK;
}

static rg_status add_escaped(rg_text *out, const char *text, char end)
{
    static const char plain[] = "\t\n\r\\", letter[] = "tnr\\";
    for (; *text; text++) {
        const char *special = strchr(plain, *text);
        const char  pair[2] = { '\\', special ? letter[special - plain] : 0 };
        RG_TRY(special ? rg_text_add(out, pair, 2) : rg_text_add(out, text, 1));
    }
    return rg_text_add(out, &end, 1);
}

static rg_status write_line(rg_file *file, size_t most, bool *out_full, const char *const field[4])
{
    rg_text   line = { 0 };
    uint64_t  size = 0;
    rg_status status = rg_file_size(&size, file);
    for (int i = 0; status == RG_OK && i < 4; i++) status = add_escaped(&line, field[i], i < 3 ? '\t' : '\n');
    *out_full = status == RG_OK && size + line.length > most;
    if (status == RG_OK && !*out_full) status = rg_file_write(file, line.data, line.length);
    /* one write: lines of other processes do not mix with it */
    if (status == RG_OK && !*out_full) status = rg_file_flush(file);
    rg_text_free(&line);
    return status;
}

static const char *const names[4] = { "source", "target", "q", "s" };

static bool read_fields(rg_request *r, const char *field[4], const json_t *fields)
{
    const size_t most = r->server->config->char_limit;
    for (int i = 0; i < 4; i++) {
        field[i] = json_string_value(json_object_get(fields, names[i]));
        if (!field[i] || !*field[i])
            return rg_serve__error(&r->reply, 400, "Invalid request: missing %s parameter", names[i]), false;
        if (rg_serve__characters(field[i]) > most)
            return rg_serve__error(&r->reply, 400, "Invalid request: %s (%zu) exceeds text limit (%zu)", names[i],
                                   rg_serve__characters(field[i]), most),
                   false;
    }
    for (int i = 0; i < 2; i++)
        if (!rg_serve__language_of(r->server, field[i]) && (i || strcmp(field[i], "auto") != 0))
            return rg_serve__error(&r->reply, 400, "%s is not supported", field[i]), false;
    return true;
}

bool rg_serve__suggest(rg_request *r)
{
    rg_server  *s = r->server;
    const char *field[4];
    bool        full = false;
    if (!s->suggestions) return rg_serve__error(&r->reply, 403, "Suggestions are disabled on this server."), false;
    json_t *fields = rg_serve__fields(r);
    if (!fields) return false;
    if (rg_serve__allowed(r, fields) && read_fields(r, field, fields)) {
        if (write_line(s->suggestions, s->config->suggestions_bytes, &full, field) != RG_OK)
            rg_serve__error(&r->reply, 500, "The suggestion cannot be stored");
        else if (full) rg_serve__error(&r->reply, 507, "The file of suggestions is full");
        else rg_serve__answer(&r->reply, 200, json_pack("{s:b}", "success", 1));
    }
    json_decref(fields);
    return false;
}
