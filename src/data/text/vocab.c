/* vocab.c - the vocabulary: text to ids and back, whichever way its pieces came about; its bytes on disk.
 *
 * Stored form: a few lines of text, a blank line, then pieces (one a line) or SentencePiece's model.
 *
 *   regard vocabulary 1
 *   kind words
 *   form nfc
 *   bytes 5120
 *   sum 9a3f...        FNV-1a of kind, form and the bytes: what rg_vocab_checksum answers
 *   signs 1 0 0 -1     another program's table (vocab_table.c): ids of <unk>, <s>, </s> and of what begins a line; summed too */
#include "data/text/vocab.h"
#include "data/text/vocab_foreign.h"
#include "base/cores.h"

#include <inttypes.h>
#include <string.h>

static const char *const kind_names[] = { "unigram",    "bpe",    "char",  "word",      "words",
                                          "characters", "pieces", "bytes", "wordpiece", "tokens" };
enum { KINDS = sizeof kind_names / sizeof *kind_names, HEADER_ROOM = 256 };
static const char magic[] = "regard vocabulary 1\n";

rg_status rg_vocab_kind_find(rg_vocab_kind *out, const char *name)
{
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            *out = (rg_vocab_kind)i;
            return RG_OK;
        }
    }
    return rg_fail(RG_EINVAL,
                   "no vocabulary is of kind \"%s\"; there are unigram, bpe, char, word (SentencePiece), words, "
                   "characters and tokens",
                   name);
}

const char *rg_vocab_kind_name(rg_vocab_kind kind)
{
    return kind_names[kind];
}

static bool is_plain(rg_vocab_kind kind)
{
    return kind == RG_VOCAB_WORDS || kind == RG_VOCAB_CHARACTERS || kind == RG_VOCAB_TOKENS;
}

/* ------------------------------------------------------------------------------------------------ make and free */

static rg_status payload(rg_text *out, const rg_vocab *v)
{
    if (v->foreign) return rg_table__write(out, v);
    if (v->spm) return rg_text_add(out, v->model.data, v->model.length);
    for (size_t i = 3; i < v->pieces.count; i++) {
        RG_TRY(rg_text_add(out, rg_words_get(&v->pieces, i), v->pieces.words[i].bytes));
        RG_TRY(rg_text_add(out, "\n", 1));
    }
    return RG_OK;
}

static uint64_t checksum(const rg_vocab *v, const void *bytes, size_t count)
{
    unsigned char head[2] = { (unsigned char)v->kind, (unsigned char)v->form };
    const int32_t signs[4] = { v->unk, v->bos, v->eos, v->begin };
    uint64_t      hash = rg_hash_bytes(RG_HASH_START, head, 2);
    for (int i = 0; v->foreign && i < 4; i++)
        for (int shift = 0; shift < 32; shift += 8)
            hash = rg_hash_bytes(hash, &(unsigned char){ (unsigned char)((uint32_t)signs[i] >> shift) }, 1);
    return rg_hash_bytes(hash, bytes, count);
}

/* Everything is in place: fill in what follows from it. Frees v on failure. */
static rg_status complete(rg_vocab **out, rg_vocab *v, rg_status status)
{
    rg_text bytes = { 0 };
    if (status == RG_OK) {
        v->size = v->cutter ? v->pieces.count : (size_t)rg_spm_size(v->spm);
        status = payload(&bytes, v);
        v->checksum = checksum(v, rg_text_c(&bytes), bytes.length);
    }
    rg_text_free(&bytes);
    if (status == RG_OK) *out = v;
    else rg_vocab_free(v);
    return status;
}

/* Take v->model into use. */
static rg_status start_spm(rg_vocab *v)
{
    char          why[RG_SPM_WHY];
    rg_vocab_kind kind;
    RG_TRY(rg_spm_check(&kind, v->model.data, v->model.length));
    if (!rg_spm_load(&v->spm, v->model.data, v->model.length, why))
        return rg_fail(RG_EFORMAT, "SentencePiece refuses the model: %s", why);
    v->kind = kind;
    v->unk = rg_spm_unk(v->spm);
    v->eos = rg_spm_eos(v->spm);
    v->bos = rg_spm_bos(v->spm);
    if (v->unk < 0 || v->eos < 0) return rg_fail(RG_EFORMAT, "the SentencePiece model has no <unk> or no </s>");
    if (v->bos < 0) v->bos = v->eos;
    return RG_OK;
}

void rg_vocab_free(rg_vocab *v)
{
    if (!v) return;
    rg_spm_free(v->spm);
    rg_text_free(&v->model);
    rg_words_fini(&v->pieces);
    rg_words_fini(&v->merges);
    rg_free(v->merged);
    rg_free(v);
}

/* An empty one, with nothing in front of lines. */
static rg_vocab *new_vocab(rg_vocab_kind kind, rg_text_form form)
{
    rg_vocab *v = rg_alloc_zero(sizeof *v);
    if (!v) return NULL;
    v->kind = kind;
    v->form = form;
    v->cutter = rg_cutter_of(kind);
    v->begin = -1;
    return v;
}

rg_status rg_vocab_from_table(rg_vocab **out, const rg_vocab_table *table)
{
    rg_vocab *v = new_vocab(table->kind, table->form);
    *out = NULL;
    return v ? complete(out, v, rg_table__fill(v, table)) : RG_ENOMEM;
}

rg_status rg_vocab_from_pieces(rg_vocab **out, rg_vocab_kind kind, const char *const *pieces, size_t count)
{
    if (!is_plain(kind)) return rg_fail(RG_EINVAL, "tokens can be given for words and characters only");
    rg_vocab *v = new_vocab(kind, RG_TEXT_NFC);
    if (!v) return RG_ENOMEM;
    rg_status status = rg_plain_begin(v);
    for (size_t i = 0; i < count && status == RG_OK; i++) status = rg_plain_add(v, pieces[i], strlen(pieces[i]));
    return complete(out, v, status);
}

/* ----------------------------------------------------------------------------------------------------- training */

/* Lines for SentencePiece, normalised as encoding will do it. */
typedef struct spm_feed {
    rg_vocab_feed *feed;
    void          *context;
    rg_text_form   form;
    rg_text        line;
    rg_status      status;
} spm_feed;

typedef struct trained {
    rg_text  *model;
    rg_status status;
} trained;

static int next_for_spm(void *context, const char **text, size_t *bytes)
{
    spm_feed *f = context;
    bool      more = false;
    do {
        f->status = f->feed(&more, text, bytes, f->context);
        if (f->status == RG_OK && more) f->status = rg_plain_normalize(&f->line, f->form, *text, *bytes);
    } while (f->status == RG_OK && more && !f->line.length);
    *text = rg_text_c(&f->line);
    *bytes = f->line.length;
    return f->status != RG_OK ? -1 : more;
}

static bool store(void *context, const char *bytes, size_t count)
{
    trained *t = context;
    t->status = rg_text_add(t->model, bytes, count);
    return t->status == RG_OK;
}

/* Work on a sample of a large text is cut into as many parts on every machine, whatever the number of cores that do it. */
enum { SAMPLE_THREADS = 16 };

static rg_status train_spm(rg_vocab *v, const rg_vocab_config *config, rg_vocab_feed *feed, void *context)
{
    char            why[RG_SPM_WHY];
    spm_feed        lines = { .feed = feed, .context = context, .form = config->form };
    rg_spm_training training = { .type = kind_names[config->kind],
                                 .size = config->size,
                                 .max_lines = config->max_lines,
                                 .threads = config->sampled ? SAMPLE_THREADS : 1,
                                 .coverage = config->coverage,
                                 .byte_fallback = config->byte_fallback,
                                 .seed = (uint32_t)(config->seed ^ (config->seed >> 32)),
                                 .options = config->options,
                                 .symbols = config->symbols,
                                 .symbol_count = config->symbol_count,
                                 .next = next_for_spm,
                                 .context = &lines };
    if (config->size < 8 || config->size > RG_VOCAB_MAX_PIECES)
        return rg_fail(RG_EINVAL, "a SentencePiece vocabulary of %zu tokens: give 8 to %d", config->size,
                       RG_VOCAB_MAX_PIECES);
    trained   result = { &v->model, RG_OK };
    rg_cores *cores = config->sampled ? rg_cores_hold(config->threads) : NULL;
    bool      done = rg_spm_train(store, &result, &training, why);
    rg_cores_release(cores);
    rg_text_free(&lines.line);
    if (lines.status != RG_OK) return lines.status;
    if (result.status != RG_OK) return result.status;
    if (!done)
        return rg_fail(RG_EINVAL, "cannot learn a %s vocabulary of %zu tokens: %s", training.type, config->size, why);
    return start_spm(v);
}

rg_status rg_vocab_train(rg_vocab **out, const rg_vocab_config *config, rg_vocab_feed *feed, void *context)
{
    if (config->kind > RG_VOCAB_CHARACTERS && config->kind != RG_VOCAB_TOKENS)
        return rg_fail(RG_EINVAL, "a vocabulary of kind %s comes with an imported model and is not learned here",
                       kind_names[config->kind]);
    rg_vocab *v = new_vocab(config->kind, config->form);
    if (!v) return RG_ENOMEM;
    return complete(out, v,
                    is_plain(v->kind) ? rg_plain_train(v, config, feed, context) : train_spm(v, config, feed, context));
}

/* ------------------------------------------------------------------------------------------------------ storing */

rg_status rg_vocab_to_bytes(rg_text *out, const rg_vocab *v)
{
    rg_text   bytes = { 0 };
    rg_status status = payload(&bytes, v);
    if (status == RG_OK)
        status = rg_text_print(out, "%skind %s\nform %s\nbytes %zu\nsum %016" PRIx64 "\n", magic, kind_names[v->kind],
                               rg_text_form_name(v->form), bytes.length, v->checksum);
    if (status == RG_OK && v->foreign)
        status = rg_text_print(out, "signs %d %d %d %d\n", v->unk, v->bos, v->eos, v->begin);
    if (status == RG_OK) status = rg_text_add(out, "\n", 1);
    if (status == RG_OK) status = rg_text_add(out, rg_text_c(&bytes), bytes.length);
    rg_text_free(&bytes);
    return status;
}

static rg_status add_pieces(rg_vocab *v, const char *bytes, size_t count)
{
    RG_TRY(rg_plain_begin(v));
    for (size_t at = 0; at < count;) {
        const char *lf = memchr(bytes + at, '\n', count - at);
        if (!lf) return rg_fail(RG_EFORMAT, "the vocabulary's last token has no line end");
        RG_TRY(rg_plain_add(v, bytes + at, (size_t)(lf - (bytes + at))));
        at = (size_t)(lf - bytes) + 1;
    }
    return RG_OK;
}

/* Fill v from our own format. */
static rg_status parse(rg_vocab *v, const char *bytes, size_t count)
{
    char     head[HEADER_ROOM], kind[16], form[8];
    size_t   begin = 0, length = 0;
    uint64_t sum = 0;
    int      signs[4];
    for (size_t i = 0; i + 1 < count && i + 2 < sizeof head && !begin; i++)
        if (bytes[i] == '\n' && bytes[i + 1] == '\n') begin = i + 2;
    if (!begin) return rg_fail(RG_EFORMAT, "the vocabulary's head is not closed by a blank line");
    memcpy(head, bytes, begin);
    head[begin] = '\0';
    const int found =
        sscanf(head + sizeof magic - 1, "kind %15s\nform %7s\nbytes %zu\nsum %16" SCNx64 "\nsigns %d %d %d %d", kind,
               form, &length, &sum, &signs[0], &signs[1], &signs[2], &signs[3]);
    if (found != 4 && found != 8)
        return rg_fail(RG_EFORMAT, "the vocabulary's head lacks kind, form, bytes or sum");
    if (length != count - begin)
        return rg_fail(RG_EFORMAT, "the vocabulary should have %zu bytes after its head and has %zu", length,
                       count - begin);
    RG_TRY(rg_vocab_kind_find(&v->kind, kind));
    RG_TRY(rg_text_form_find(&v->form, form));
    v->cutter = rg_cutter_of(v->kind);
    if ((v->foreign = found == 8)) v->unk = signs[0], v->bos = signs[1], v->eos = signs[2], v->begin = signs[3];
    if (checksum(v, bytes + begin, length) != sum)
        return rg_fail(RG_EFORMAT, "the vocabulary is damaged: its bytes do not give the checksum %016" PRIx64, sum);
    if (v->foreign) return rg_table__read(v, bytes + begin, length);
    if (is_plain(v->kind)) return add_pieces(v, bytes + begin, length);
    if (v->cutter) return rg_fail(RG_EFORMAT, "a vocabulary of kind %s without the ids of its signs", kind);
    RG_TRY(rg_text_add(&v->model, bytes + begin, length));
    rg_vocab_kind said = v->kind;
    RG_TRY(start_spm(v));
    if (v->kind != said) return rg_fail(RG_EFORMAT, "the vocabulary says %s but holds %s", kind, kind_names[v->kind]);
    return RG_OK;
}

/* One word per line; what follows a tab (a count, a score) is left aside, and so are our own three. */
static rg_status parse_list(rg_vocab *v, const char *bytes, size_t count)
{
    rg_lines *lines = NULL;
    rg_line   line;
    bool      more = true;
    v->kind = RG_VOCAB_WORDS;
    v->cutter = &rg_cutter_words;
    rg_status status = rg_plain_begin(v);
    if (status == RG_OK) status = rg_lines_open_bytes(&lines, bytes, count, NULL);
    while (status == RG_OK && (status = rg_lines_next(&more, &line, lines)) == RG_OK && more) {
        const char *tab = memchr(line.text, '\t', line.bytes);
        size_t      length = tab ? (size_t)(tab - line.text) : line.bytes;
        if (length > 3 && memcmp(line.text, RG_BLANK_MARK, 3) == 0)
            status = rg_fail(RG_EFORMAT,
                             "line %llu: \"%.40s\" is a token of SentencePiece's without its score; give its model "
                             "(.model, .spm) instead",
                             (unsigned long long)line.number, line.text);
        else if (line.faults)
            status = rg_fail(RG_EFORMAT, "line %llu is not clean UTF-8", (unsigned long long)line.number);
        else if (rg_words_find(&v->pieces, line.text, length) >= 0 && rg_words_find(&v->pieces, line.text, length) < 3)
            continue;
        else if ((status = rg_plain_add(v, line.text, length)) != RG_OK)
            rg_fail_in(status, "line %llu: ", (unsigned long long)line.number);
    }
    rg_lines_close(lines);
    return status;
}

/* How a SentencePiece model begins: a length-delimited first field. */
static bool looks_like_spm(const char *bytes, size_t count)
{
    return count > 0 && bytes[0] == '\n';
}

static rg_status from_bytes(rg_vocab **out, const char *bytes, size_t count, bool foreign)
{
    rg_vocab *v = new_vocab(RG_VOCAB_UNIGRAM, RG_TEXT_NFC);
    rg_status status;
    if (!v) return RG_ENOMEM;
    if (count >= sizeof magic - 1 && memcmp(bytes, magic, sizeof magic - 1) == 0) {
        status = parse(v, bytes, count);
    } else if (!foreign) {
        status = rg_fail(RG_EFORMAT, "not a vocabulary: it should begin with \"regard vocabulary 1\"");
    } else if (looks_like_spm(bytes, count)) {
        v->form = RG_TEXT_AS_IS; /* such a model brings its own normaliser */
        status = rg_text_add(&v->model, bytes, count);
        if (status == RG_OK) status = start_spm(v);
    } else if (rg_vocab__is_yaml(bytes, count)) {
        status = rg_vocab__read_yaml(v, bytes, count);
    } else if (rg_vocab__is_scored(bytes, count)) {
        v->form = RG_TEXT_NFKC; /* what SentencePiece's own normaliser does unless told otherwise */
        status = rg_vocab__read_scored(&v->model, bytes, count);
        if (status == RG_OK) status = start_spm(v);
    } else {
        status = parse_list(v, bytes, count);
    }
    return complete(out, v, status);
}

rg_status rg_vocab_from_bytes(rg_vocab **out, const void *bytes, size_t count)
{
    return from_bytes(out, bytes, count, false);
}

rg_status rg_vocab__from_file_bytes(rg_vocab **out, const void *bytes, size_t count)
{
    return from_bytes(out, bytes, count, true);
}

rg_status rg_vocab_save(const rg_vocab *v, const char *path)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_vocab_to_bytes(&bytes, v);
    if (status == RG_OK) status = rg_file_replace(path, bytes.data, bytes.length);
    rg_text_free(&bytes);
    return status;
}

rg_status rg_vocab_load(rg_vocab **out, const char *path)
{
    enum { CHUNK = 1 << 16, LIMIT = 1 << 30 };
    rg_file  *file = NULL;
    rg_text   bytes = { 0 };
    size_t    got = 1;
    char     *chunk = rg_alloc(CHUNK);
    rg_status status = chunk ? rg_file_open(&file, path, "rb") : RG_ENOMEM;
    while (status == RG_OK && got) {
        status = rg_file_read_some(&got, file, chunk, CHUNK);
        if (status == RG_OK) status = rg_text_add(&bytes, chunk, got);
        if (status == RG_OK && bytes.length > LIMIT)
            status = rg_fail(RG_ELIMIT, "%s: a vocabulary of more than %d MiB", path, LIMIT >> 20);
    }
    if (status == RG_OK && (status = from_bytes(out, rg_text_c(&bytes), bytes.length, true)) != RG_OK)
        rg_fail_in(status, "%s: ", path);
    rg_status closed = rg_file_close(file);
    if (status == RG_OK && closed != RG_OK) {
        rg_vocab_free(*out);
        *out = NULL;
        status = closed;
    }
    rg_text_free(&bytes);
    rg_free(chunk);
    return status;
}
