/* batches.c - see batches.h. */
#include "tasks/batches.h"

#include <string.h>

#include "regard/safetensors.h"

/* ----------------------------------------------------------------------------------------------------------- shares */

static rg_status make_room(rg_share_room *room, size_t numbers, size_t threads)
{
    if (!room->share) room->share = rg_alloc_zero(threads * sizeof *room->share);
    if (!room->share_of) room->share_of = rg_alloc_zero(threads * sizeof *room->share_of);
    if (!room->share || !room->share_of) return RG_ENOMEM;
    if (numbers <= room->storage_room) return RG_OK;
    int32_t *storage = rg_realloc(room->storage, 2 * numbers * sizeof *storage);
    if (!storage) return RG_ENOMEM;
    room->storage = storage;
    room->storage_room = 2 * numbers;
    return RG_OK;
}

rg_status rg_cut_shares(rg_shares *out, rg_share_room *room, const rg_batch *batch, int threads)
{
    const size_t each = rg_batch_share_room(batch), T = (size_t)threads;
    *out = (rg_shares){ 0 };
    RG_TRY(make_room(room, each * T, T));
    for (size_t i = 0; i < T; i++) {
        rg_batch_share(&room->share[out->count], room->storage + i * each, batch, i, T);
        if (!room->share[out->count].examples) continue;
        room->share_of[out->count] = &room->share[out->count];
        out->count++;
    }
    out->share = room->share_of;
    return RG_OK;
}

void rg_share_room_free(rg_share_room *room)
{
    rg_free(room->storage);
    rg_free(room->share);
    rg_free(room->share_of);
    *room = (rg_share_room){ 0 };
}

void rg_blame_lines(const rg_run *run, const void *share, char *out, size_t room)
{
    const rg_batch *b = share;
    size_t          at = 0;
    (void)run;
    at += (size_t)snprintf(out, room, "corpus lines");
    for (size_t i = 0; i < b->examples && i < 20 && at < room; i++)
        at += (size_t)snprintf(out + at, room - at, " %llu", (unsigned long long)b->lines[i]);
    if (b->examples > 20 && at < room) snprintf(out + at, room - at, " and %zu more", b->examples - 20);
}

/* ------------------------------------------------------------------------------------------------------------ place */

static const char *key_of(char room[64], const char *store, const char *what)
{
    return snprintf(room, 64, "%s.%s", store, what), room;
}

rg_status rg_put_place_of(rg_state *state, const char *store, rg_place p, uint64_t checksum)
{
    char key[64];
    RG_TRY(rg_state_put_count(state, key_of(key, store, "epoch"), p.epoch));
    RG_TRY(rg_state_put_count(state, key_of(key, store, "window"), p.window));
    RG_TRY(rg_state_put_count(state, key_of(key, store, "batch"), p.batch));
    RG_TRY(rg_state_put_count(state, key_of(key, store, "ended"), p.ended));
    return rg_state_put_count(state, key_of(key, store, "checksum"), checksum);
}

rg_status rg_put_place(rg_state *state, rg_place p, uint64_t checksum)
{
    return rg_put_place_of(state, "corpus", p, checksum);
}

/* Files of older versions do not say whether the loop has counted the epoch that ended: its own count (from 1) tells.
 */
static rg_status was_ended(bool *out, const rg_state *state, const char *store, uint64_t epoch)
{
    uint64_t value;
    char     key[64];
    if (rg_state_has(state, key_of(key, store, "ended"))) {
        RG_TRY(rg_state_get_count(&value, state, key));
        *out = value != 0;
        return RG_OK;
    }
    RG_TRY(rg_state_get_count(&value, state, "trainer.epoch"));
    *out = value == epoch;
    return RG_OK;
}

rg_status rg_get_place_of(rg_place *out, const rg_state *state, const char *store, uint64_t checksum)
{
    uint64_t then;
    char     key[64];
    RG_TRY(rg_state_get_count(&out->epoch, state, key_of(key, store, "epoch")));
    RG_TRY(rg_state_get_count(&out->window, state, key_of(key, store, "window")));
    RG_TRY(rg_state_get_count(&out->batch, state, key_of(key, store, "batch")));
    RG_TRY(was_ended(&out->ended, state, store, out->epoch));
    RG_TRY(rg_state_get_count(&then, state, key_of(key, store, "checksum")));
    if (then == checksum) return RG_OK;
    return rg_fail(RG_EMATCH,
                   "the checkpoint was trained on another corpus, vocabulary or batch size; --overwrite starts again, "
                   "--fine-tune MODEL with another --model trains the model further on these data");
}

rg_status rg_get_place(rg_place *out, const rg_state *state, uint64_t checksum)
{
    return rg_get_place_of(out, state, "corpus", checksum);
}

/* --------------------------------------------------------------------------------------------------------- settings */

rg_status rg_put_settings(rg_state *state, const char *key, const rg_option *rows, const void *values)
{
    const rg_option_group group = { .rows = rows, .values = (void *)values };
    char                 *yaml = rg_options_yaml(&group, 1);
    const rg_status       status = yaml ? rg_state_put_text(state, key, yaml) : RG_ENOMEM;
    rg_free(yaml);
    return status;
}

rg_status rg_get_settings(void *values, const rg_state *state, const char *key, const rg_option *rows)
{
    const rg_option_group group = { .rows = rows, .values = values };
    const char           *yaml;
    RG_TRY(rg_state_get_text(&yaml, state, key));
    const rg_status status = rg_options_read_yaml(&group, 1, yaml, strlen(yaml), key, true);
    return status == RG_EINVAL ? rg_fail_in(RG_EFORMAT, "its ") : status;
}

/* ----------------------------------------------------------------------------------------------------- vocabularies */

rg_status rg_put_vocab(rg_state *state, const char *key, const rg_vocab *vocab)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_vocab_to_bytes(&bytes, vocab);
    if (status == RG_OK) status = rg_state_put_bytes(state, key, bytes.data, bytes.length);
    rg_text_free(&bytes);
    return status;
}

rg_status rg_get_vocab(rg_vocab **out, const rg_state *state, const char *key)
{
    const void *bytes;
    size_t      count;
    RG_TRY(rg_state_get_bytes(&bytes, &count, state, key));
    return rg_vocab_from_bytes(out, bytes, count);
}

bool rg_is_model_file(const char *path)
{
    rg_safetensors *file = NULL;
    const bool      is = rg_safetensors_open(&file, path) == RG_OK;
    rg_safetensors_close(file);
    return is;
}

rg_status rg_load_vocab(rg_vocab **out, const char *path, const char *key)
{
    rg_state *state;
    if (!rg_is_model_file(path)) return rg_vocab_load(out, path);
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_model_file_state(state, path);
    if (status == RG_OK) status = rg_get_vocab(out, state, key);
    rg_state_free(state);
    return status == RG_OK || rg_message_names(path) ? status : rg_fail_in(status, "%s: ", path);
}

/* ------------------------------------------------------------------------------------------------------------ lines */

/* What was wrong with the lines that were read; they were answered all the same. */
rg_status rg_note_line_faults(const rg_sink *sink, const rg_lines *lines)
{
    static const struct {
        unsigned    bit;
        const char *what;
    } faults[] = { { RG_LINE_BAD_UTF8, "with bad UTF-8" },
                   { RG_LINE_NUL, "with NUL bytes" },
                   { RG_LINE_TOO_LONG, "over the byte limit, taken as empty" } };
    rg_status status = RG_OK;
    for (size_t i = 0; sink->note && status == RG_OK && i < sizeof faults / sizeof *faults; i++) {
        rg_text text = { 0 };
        status = rg_text_print(&text, "%s: ", rg_lines_name(lines));
        const size_t name = text.length;
        if (status == RG_OK) status = rg_fault_print(&text, rg_lines_fault(lines, faults[i].bit), faults[i].what);
        if (status == RG_OK && text.length > name) sink->note(sink->context, rg_text_c(&text));
        rg_text_free(&text);
    }
    return status;
}

static rg_status words_as_one(const rg_list *words, rg_each_text *each, void *context)
{
    rg_text   line = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < words->count; i++)
        status = rg_text_print(&line, "%s%s", i ? " " : "", words->items[i]);
    if (status == RG_OK) status = each(context, rg_text_c(&line), line.length, 1);
    rg_text_free(&line);
    return status;
}

bool rg_always_texts(const rg_model *model)
{
    (void)model;
    return true;
}

rg_status rg_question_texts(const rg_question *q, rg_each_text *each, void *context)
{
    rg_lines *lines;
    if (q->words && q->words->count) return words_as_one(q->words, each, context);
    if (!q->input) return rg_fail(RG_EINVAL, "which text? give its words behind the options");
    RG_TRY(rg_lines_open(&lines, q->input, NULL));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_line line;
        status = rg_lines_next(&more, &line, lines);
        if (status == RG_OK && more) status = each(context, line.text, line.bytes, line.number);
    }
    if (status == RG_OK) status = rg_note_line_faults(q->sink, lines);
    rg_lines_close(lines);
    return status;
}
