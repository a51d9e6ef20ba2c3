/* vocab_kept.c - a vocabulary learned from large files is kept beside them: a second run need not learn it again.
 *
 * The key of the file follows from the text and from every setting that the vocabulary depends on. */
#include "data/text/kept.h"
#include "data/text/line_index.h"
#include "data/text/words.h"

#include <string.h>

static rg_status key_of(uint64_t *out, const rg_vocab_config *c, const rg_text_side *sides, size_t count)
{
    enum { PART_LINES = 1 << 16 };
    const uint64_t settings[] = { (uint64_t)c->kind, c->size, c->min_count, (uint64_t)c->form, c->byte_fallback,
                                  c->max_lines, c->max_bytes, c->seed, count };
    uint64_t       key = rg_hash_bytes(RG_HASH_START, settings, sizeof settings);
    key = rg_hash_bytes(key, &c->coverage, sizeof c->coverage);
    if (c->options) key = rg_hash_bytes(key, c->options, strlen(c->options) + 1);
    for (size_t i = 0; i < c->symbol_count; i++) key = rg_hash_bytes(key, c->symbols[i], strlen(c->symbols[i]) + 1);
    for (size_t i = 0; i < count; i++) {
        rg_line_index index;
        RG_TRY(rg_line_index_make(&index, sides[i].path, PART_LINES, c->watch));
        const uint64_t side[] = { rg_line_index_sum(&index), (uint64_t)sides[i].column };
        rg_line_index_free(&index);
        key = rg_hash_bytes(key, side, sizeof side);
    }
    *out = key;
    return RG_OK;
}

/* The one that is there, if it can be used. */
static bool find(rg_vocab **out, const char *path)
{
    bool there = false;
    if (rg_file_exists(&there, path) != RG_OK || !there) return false;
    if (rg_vocab_load(out, path) == RG_OK) {
        rg_log(RG_LOG_INFO, "the vocabulary was learned before: %s", path);
        return true;
    }
    rg_log(RG_LOG_WARN, "the vocabulary is learned anew: %s", rg_message());
    return false;
}

rg_status rg_vocab_train_files_kept(rg_vocab **out, const rg_vocab_config *config, const rg_text_side *sides,
                                    size_t count, const char *directory)
{
    uint64_t key;
    *out = NULL;
    RG_TRY(key_of(&key, config, sides, count));
    char *path = rg_kept_path(directory, sides[count - 1].path, key, "vocab");
    if (!path) return RG_ENOMEM;
    rg_status status = find(out, path) ? RG_OK : rg_vocab_train_files(out, config, sides, count);
    bool      there = true;
    if (status == RG_OK && rg_file_exists(&there, path) == RG_OK && !there && rg_vocab_save(*out, path) != RG_OK)
        rg_log(RG_LOG_WARN, "the vocabulary is not kept for the next run: %s", rg_message());
    rg_free(path);
    return status;
}
