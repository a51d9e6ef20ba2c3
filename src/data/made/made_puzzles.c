/* made_puzzles.c - `regard make puzzles`: the sequences that memories learn from, one JSON object per line. */
#include "regard/made.h"
#include "regard/puzzles.h"
#include "regard/text.h"

typedef struct {
    char   *kind;
    int64_t count, bits, min_length, max_length, max_repeats, seed;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "kind", offsetof(settings, kind), "copy", "which puzzle", 0, "copy|repeat-copy|recall" },
    { RG_OPTION_INT, "count", offsetof(settings, count), "100", "sequences", 'n', "[1,10000000]" },
    { RG_OPTION_INT, "bits", offsetof(settings, bits), "8", "of a vector", 0, "[1,1024]" },
    { RG_OPTION_INT, "min-length", offsetof(settings, min_length), "2",
      "fewest vectors; recall: items of three vectors", 0, "[1,10000]" },
    { RG_OPTION_INT, "max-length", offsetof(settings, max_length), "20", "most vectors", 0, "[1,10000]" },
    { RG_OPTION_INT, "max-repeats", offsetof(settings, max_repeats), "10", "repeat-copy: most repeats", 0, "[1,1000]" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of the sequences", 0, "[0,inf)" },
    RG_OPTION_END
};

/* [[0,1,0],[1,1,0]] */
static rg_status add_rows(rg_text *text, const rg_real *rows, size_t count, size_t width)
{
    RG_TRY(rg_text_add_string(text, "["));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width; k++)
            RG_TRY(rg_text_print(text, "%s%.6g%s",
                                 k   ? ","
                                 : i ? ",["
                                     : "[",
                                 (double)rows[i * width + k], k + 1 == width ? "]" : ""));
    return rg_text_add_string(text, "]");
}

static rg_status add_sequence(rg_text *text, const rg_puzzle_batch *b)
{
    RG_TRY(rg_text_add_string(text, "{\"input\":"));
    RG_TRY(add_rows(text, b->input, b->steps, b->in));
    RG_TRY(rg_text_add_string(text, ",\"answer\":"));
    RG_TRY(add_rows(text, b->target, b->answers, b->out));
    return rg_text_add_string(text, "}\n");
}

static rg_status write_puzzles(const char *out, const void *values)
{
    const settings  *s = values;
    rg_puzzle_config c = RG_PUZZLE_CONFIG_DEFAULT;
    rg_puzzle_batch  batch = { 0 };
    rg_text          line = { 0 };
    rg_file         *file = NULL;
    c.kind = s->kind;
    c.bits = (size_t)s->bits;
    c.min_length = (size_t)s->min_length;
    c.max_length = (size_t)s->max_length;
    c.max_repeats = (size_t)s->max_repeats;
    RG_TRY(rg_puzzle_check(&c));
    RG_TRY(rg_file_replace_begin(&file, out));
    rg_status status = RG_OK;
    for (int64_t i = 0; status == RG_OK && i < s->count; i++) {
        rg_text_clear(&line);
        status = rg_puzzle_draw(&batch, &c, (uint64_t)s->seed, (uint64_t)i, 0, 1);
        if (status == RG_OK) status = add_sequence(&line, &batch);
        if (status == RG_OK) status = rg_file_write(file, line.data, line.length);
    }
    if (status == RG_OK) status = rg_file_replace_commit(file);
    else rg_file_replace_abandon(file);
    rg_puzzle_free(&batch);
    rg_text_free(&line);
    return status;
}

const rg_generator rg_generator_puzzles = {
    .name = "puzzles",
    .summary = "sequences with an answer to be given from memory: copy, repeat-copy, recall",
    .writes = "OUT: JSON lines, {\"input\": rows of steps, \"answer\": rows}",
    .options = options,
    .options_bytes = sizeof(settings),
    .write = write_puzzles,
};
