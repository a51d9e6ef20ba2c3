/* text.h - from lines of text to rows of numbers and back.
 *
 *   file, .gz, stdin --rg_lines--> clean lines --rg_vocab--> ids --rg_corpus--> batches of ragged rows
 *
 * A line ends at LF. Whatever it holds, it is one line: N lines in, N lines out. What had to be changed to make it
 * clean text (bad UTF-8, NUL, a line past the limit) is flagged on the line and counted with its number. */
#ifndef REGARD_TEXT_H
#define REGARD_TEXT_H

#include "regard/base.h"
#include "regard/batch.h"
#include "regard/tensor.h"

RG_API_BEGIN

/* ------------------------------------------------------------------------------------------ growing buffers */

/* Bytes, always followed by a NUL that is not counted. All zero is empty; owned by who declared it. */
typedef struct rg_text {
    char  *data; /* NULL while nothing was ever added: rg_text_c() never is */
    size_t length, room;
} rg_text;

void        rg_text_free(rg_text *text); /* and empty it; NULL is fine */
void        rg_text_clear(rg_text *text);
const char *rg_text_c(const rg_text *text);
rg_status   rg_text_add(rg_text *text, const void *bytes, size_t count);
rg_status   rg_text_add_string(rg_text *text, const char *string);
rg_status   rg_text_print(rg_text *text, const char *format, ...) RG_PRINTF(2, 3); /* appends */

/* Ids of tokens. */
typedef struct rg_ids {
    int32_t *data;
    size_t   count, room;
} rg_ids;

void      rg_ids_free(rg_ids *ids);
rg_status rg_ids_add(rg_ids *ids, int32_t id);
rg_status rg_ids_reserve(rg_ids *ids, size_t more); /* room for so many beyond count */

/* Where a piece stands in the line it was cut from: bytes begin .. end-1. */
typedef struct rg_span {
    uint32_t begin, end;
} rg_span;

typedef struct rg_spans {
    rg_span *data;
    size_t   count, room;
} rg_spans;

void      rg_spans_free(rg_spans *spans);
rg_status rg_spans_add(rg_spans *spans, size_t begin, size_t end);

/* ---------------------------------------------------------------------------------------------------- UTF-8 */

/* True when all of it is UTF-8 (no surrogates, nothing overlong, nothing past U+10FFFF). Otherwise *out_at, if not
 * NULL, is the first byte that is not. */
bool rg_utf8_check(const char *text, size_t bytes, size_t *out_at);

/* The character at text[0] of valid UTF-8 and its length in bytes. bytes > 0. */
size_t rg_utf8_next(uint32_t *out, const char *text, size_t bytes);
/* Append text with U+FFFD in place of every byte that is not UTF-8; nothing else changes. */
rg_status rg_utf8_repair(rg_text *out, const char *text, size_t bytes);
/* Append one character. */
rg_status rg_utf8_add(rg_text *text, uint32_t character);

typedef enum rg_text_form {
    RG_TEXT_NFC,   /* composed characters, the default                             */
    RG_TEXT_NFKC,  /* compatibility forms too: ligatures, full-width letters, ...  */
    RG_TEXT_AS_IS, /* only made valid                                              */
    RG_TEXT_LOWER, /* composed, in lower case: what is read and what is written    */
    RG_TEXT_EXACT, /* composed; runs of blanks stay: source code, poems            */
    RG_TEXT_FORMS  /* how many there are                                           */
} rg_text_form;

rg_status   rg_text_form_find(rg_text_form *out, const char *name); /* "nfc", "nfkc", "none", "lower", "exact" */
const char *rg_text_form_name(rg_text_form form);

/* What was wrong with a line; bits. */
enum {
    RG_LINE_BAD_UTF8 = 1, /* bytes that are not UTF-8; each is now U+FFFD                           */
    RG_LINE_NUL      = 2, /* NUL bytes; each is now U+FFFD                                          */
    RG_LINE_TOO_LONG = 4  /* over the byte limit; the text is empty, the line still counts as a line */
};

/* Append `line` made clean: valid UTF-8, in `form`, control characters and line separators turned into blanks (a CR
 * at the end is dropped, a TAB stays). Blanks are otherwise left alone. *out_faults (may be NULL) receives the bits
 * above. Cleaning what is clean changes nothing. */
rg_status rg_text_clean(rg_text *out, const char *line, size_t bytes, rg_text_form form, unsigned *out_faults);

/* Blanks at both ends dropped, runs of them made one, in place. Unicode blanks count. */
void rg_text_squeeze(rg_text *text);

/* Lower case by Unicode's rules, final sigma included, appended to out. */
rg_status rg_text_lower(rg_text *out, const char *text, size_t bytes);

/* ---------------------------------------------------------------------------------------------------- lines */

/* How often, and where first. */
enum { RG_FAULT_LINES = 8 };
typedef struct rg_fault {
    uint64_t count, lines[RG_FAULT_LINES]; /* the first numbers, counting from 1 */
} rg_fault;

void      rg_fault_note(rg_fault *fault, uint64_t line);
rg_status rg_fault_print(rg_text *out, const rg_fault *fault, const char *what); /* "3 empty (lines 4, 9, 12)"; "" if none */

typedef struct rg_line {
    const char *text; /* clean, NUL at the end, without the line end; borrowed until the next call */
    size_t      bytes;
    uint64_t    number; /* from 1 */
    unsigned    faults; /* RG_LINE_ bits */
} rg_line;

typedef struct rg_lines_config {
    rg_text_form form;
    size_t       max_bytes; /* of one line */
} rg_lines_config;
#define RG_LINES_CONFIG_DEFAULT { RG_TEXT_NFC, (size_t)16 << 20 }

typedef struct rg_lines rg_lines;

/* "-" is standard input. gzip and zstd are recognised by their first bytes, whatever the name. A BOM at the start is dropped. */
rg_status rg_lines_open(rg_lines **out, const char *path, const rg_lines_config *config); /* NULL config: the default */
rg_status rg_lines_open_bytes(rg_lines **out, const void *bytes, size_t count, const rg_lines_config *config); /* borrowed */
void      rg_lines_close(rg_lines *lines);
/* *out_more is false at the end. A failure (unreadable file, broken gzip) names the path and ends the reading. */
rg_status rg_lines_next(bool *out_more, rg_line *out, rg_lines *lines);
/* Would the next line have to be waited for? Used to answer a person at once and a file in batches. */
bool            rg_lines_would_wait(rg_lines *lines);
uint64_t        rg_lines_count(const rg_lines *lines); /* lines given so far */
const char     *rg_lines_name(const rg_lines *lines);
const rg_fault *rg_lines_fault(const rg_lines *lines, unsigned bit); /* one RG_LINE_ bit */

/* All lines of a file, for sets small enough to hold. column -1 takes whole lines, 0, 1, ... the field of a
 * tab-separated file ("" when a line has none). All zero is empty. */
typedef struct rg_line_list {
    char **line;
    size_t count, room;
} rg_line_list;
rg_status rg_line_list_read(rg_line_list *out, const char *path, int column);
void      rg_line_list_free(rg_line_list *list); /* and empty it */

/* Whoever reads much asks this every RG_READ_EVERY lines, with the number of lines so far: to show progress, and to
 * end early. False makes the reading fail with RG_ESTOP. */
enum { RG_READ_EVERY = 256 };
typedef struct rg_read_watch {
    bool (*go_on)(void *context, uint64_t lines);
    void *context;
} rg_read_watch;

/* ----------------------------------------------------------------------------------------------- vocabulary */

typedef enum rg_vocab_kind {
    RG_VOCAB_UNIGRAM,   /* the first four are SentencePiece's */
    RG_VOCAB_BPE,
    RG_VOCAB_CHAR,
    RG_VOCAB_WORD,
    RG_VOCAB_WORDS,     /* ours: words between blanks, cut after the apostrophe of an elision: l'homme -> l' homme */
    RG_VOCAB_CHARACTERS, /* ours: one piece a character, the blank among them                                      */
    RG_VOCAB_PIECES,    /* these three come with imported models: cut by SentencePiece, numbered by another table   */
    RG_VOCAB_BYTES,     /* byte-level BPE (GPT-2): any text, no unknown piece                                       */
    RG_VOCAB_WORDPIECE, /* BERT's: words and punctuation, then the longest known beginning, ##rest                  */
    RG_VOCAB_TOKENS     /* ours: what stands between blanks, as it is: text that was tokenised before               */
} rg_vocab_kind;

/* "unigram" "bpe" "char" "word" "words" "characters" "pieces" "bytes" "wordpiece" "tokens" */
rg_status   rg_vocab_kind_find(rg_vocab_kind *out, const char *name);
const char *rg_vocab_kind_name(rg_vocab_kind kind);

typedef struct rg_vocab_config {
    rg_vocab_kind kind;
    size_t        size;        /* most pieces, <unk> <s> </s> among them; 0: no limit (plain kinds only)                  */
    size_t        min_count;   /* plain kinds: rarer pieces become <unk>                                                  */
    rg_text_form  form;
    double        coverage;      /* SentencePiece: share of characters that get a piece                                    */
    bool          byte_fallback; /* SentencePiece: unknown characters become their bytes instead of <unk>                  */
    size_t        max_lines;     /* SentencePiece: learn from a seeded sample of so many lines; 0: all                     */
    uint64_t      seed;
    const rg_read_watch *watch; /* of rg_vocab_train_files, while it reads; NULL: nobody */
    const char          *options; /* SentencePiece: more settings of its trainer, "--name=value --name=value"; NULL: none */
    const char *const   *symbols; /* SentencePiece: texts that are one token wherever they stand                       */
    size_t               symbol_count;
    size_t               max_bytes; /* SentencePiece, from files: learn from a seeded sample of so many bytes; 0: all     */
    bool                 sampled;   /* set where the lines are such a sample                                              */
    int                  threads;   /* SentencePiece: cores that learn from a sample; changes no bit. 0: all            */
} rg_vocab_config;
#define RG_VOCAB_CONFIG_DEFAULT { RG_VOCAB_UNIGRAM, 8000, 1,    RG_TEXT_NFC, 1.0, false, 2000000, 1, \
                                  NULL,             NULL, NULL, 0,           (size_t)32 << 20, false, 0 }

typedef struct rg_vocab rg_vocab; /* never changes once made: any number of threads may use one */

/* Where lines to learn from come from: *out_more false at the end; the text is borrowed until the next call. */
typedef rg_status rg_vocab_feed(bool *out_more, const char **out_text, size_t *out_bytes, void *context);

rg_status rg_vocab_train(rg_vocab **out, const rg_vocab_config *config, rg_vocab_feed *feed, void *context);
/* Text in a file: whole lines (column -1), or field 0, 1, ... of a tab-separated one. */
typedef struct rg_text_side {
    const char *path;
    int         column;
} rg_text_side;

/* Lines of files, one after another: both sides of a corpus make a joint vocabulary. */
rg_status rg_vocab_train_files(rg_vocab **out, const rg_vocab_config *config, const rg_text_side *sides, size_t count);
/* The same of plain files, kept in a file in `directory` (NULL: beside the last of them) whose name changes with the text
 * and the settings: the next call reads it. A file that cannot be written costs a remark. */
rg_status rg_vocab_train_files_kept(rg_vocab **out, const rg_vocab_config *config, const rg_text_side *sides,
                                    size_t count, const char *directory);
/* Given pieces, in order, after <unk> <s> </s>. WORDS or CHARACTERS. */
rg_status rg_vocab_from_pieces(rg_vocab **out, rg_vocab_kind kind, const char *const *pieces, size_t count);
/* The vocabulary of a model that another program trained: row i of its tables belongs to pieces[i]. */
typedef struct rg_vocab_table {
    rg_vocab_kind      kind; /* WORDS, CHARACTERS, PIECES, BYTES or WORDPIECE                                              */
    rg_text_form       form; /* WORDPIECE: LOWER (uncased) or AS_IS (cased). PIECES and BYTES: AS_IS                        */
    const char *const *pieces;
    size_t             count;
    int32_t            unk, bos, eos; /* their ids; unk -1: none (BYTES only); eos -1: lines are not closed (sources only)   */
    int32_t            begin;         /* the id encoding puts in front of every line that is not empty; -1: none            */
    const void        *model;         /* PIECES: SentencePiece's bytes; BYTES: the text of merges.txt; else NULL           */
    size_t             model_bytes;
} rg_vocab_table;
rg_status rg_vocab_from_table(rg_vocab **out, const rg_vocab_table *table); /* all is copied */
void      rg_vocab_free(rg_vocab *vocab);

/* Bytes to be stored in a model file, and back; also what rg_vocab_save writes. Bytes that were changed are refused. */
rg_status rg_vocab_to_bytes(rg_text *out, const rg_vocab *vocab);
rg_status rg_vocab_from_bytes(rg_vocab **out, const void *bytes, size_t count);
rg_status rg_vocab_save(const rg_vocab *vocab, const char *path);
/* A file of rg_vocab_save, a SentencePiece `.model` or `.vocab` (piece TAB score), Marian's `vocab.yml` (word: id;
 * or JSON), or plain text with one word per line, in front of a tab or alone. SentencePiece's pieces without their
 * scores are RG_EFORMAT. */
rg_status rg_vocab_load(rg_vocab **out, const char *path);
uint64_t  rg_vocab_checksum(const rg_vocab *vocab); /* equal for equal vocabularies: models record it */

size_t        rg_vocab_size(const rg_vocab *vocab);
rg_vocab_kind rg_vocab_kind_of(const rg_vocab *vocab);
rg_text_form  rg_vocab_form_of(const rg_vocab *vocab);
int32_t       rg_vocab_unk(const rg_vocab *vocab); /* 0 in vocabularies trained here */
int32_t       rg_vocab_bos(const rg_vocab *vocab); /* 1; the </s> of a loaded model that has no <s>     */
int32_t       rg_vocab_eos(const rg_vocab *vocab); /* 2; -1: an imported model's source lines are not closed */
int32_t       rg_vocab_begin(const rg_vocab *vocab); /* what encoding puts in front of lines; -1: nothing */
const char   *rg_vocab_piece(const rg_vocab *vocab, int32_t id);   /* borrowed; "" outside the vocabulary */
int32_t       rg_vocab_find(const rg_vocab *vocab, const char *piece); /* <unk> if absent */
bool          rg_vocab_is_special(const rg_vocab *vocab, int32_t id);  /* <unk>, <s>, </s>, control pieces */

/* Append the ids of a line (raw: it is cleaned first), without <s> and </s>. spans, if not NULL, gets for each id
 * the bytes of rg_vocab_normalize's text that it covers (the blank before a word belongs to the word). */
rg_status rg_vocab_encode(rg_ids *out, rg_spans *spans, const rg_vocab *vocab, const char *line, size_t bytes);
/* Append another cut of a line that rg_vocab_encode cut into `ids`, drawn at random: the same text in other pieces.
 *   bpe      each merge is left out with probability alpha       unigram  cuts are drawn in proportion to p^alpha
 * alpha is above 0, at most 1. Words with an unknown piece or of more than 256 characters stay as they are. Other
 * kinds of vocabulary are RG_EINVAL: rg_vocab_can_sample tells. */
rg_status rg_vocab_sample(rg_ids *out, const rg_vocab *vocab, const int32_t *ids, size_t count, double alpha,
                          rg_random *random);
bool      rg_vocab_can_sample(const rg_vocab *vocab);
/* Append the text of ids; <s>, </s> and control pieces give nothing, <unk> its sign. decode(encode(x)) is
 * normalize(x) when x has no unknown piece. Ids outside the vocabulary are RG_EINVAL. */
rg_status rg_vocab_decode(rg_text *out, const rg_vocab *vocab, const int32_t *ids, size_t count);
/* The same with instead[i] where id i stands, for those that are not NULL. */
rg_status rg_vocab_decode_with(rg_text *out, const rg_vocab *vocab, const int32_t *ids, size_t count,
                               const char *const *instead);
/* Append the line as the vocabulary sees it: clean, in its form, blanks squeezed. */
rg_status rg_vocab_normalize(rg_text *out, const rg_vocab *vocab, const char *line, size_t bytes);

/* -------------------------------------------------------------------------------------------------- batches */

/* A batch of pairs (batch.h) has two fields of ids. Source lines are closed by </s> where source_eos says so, target
 * lines always: they are what is to be predicted, and `previous` is the decoder's input. */
enum { RG_SOURCE, RG_TARGET };

typedef struct rg_corpus_config {
    size_t      max_length;       /* longest side in pieces, </s> not counted; 0: no limit                          */
    bool        max_length_crop;  /* crop longer lines (counted) instead of skipping the pair                       */
    size_t      mini_batch;       /* most pairs in a batch; 0: no limit. All limits hold together                   */
    size_t      mini_batch_words; /* most target pieces in a batch, </s> counted (a longer pair is alone); 0: no limit */
    size_t      maxi_batch;       /* sort by length within so many times mini_batch (0: 1000) pairs; 0: keep the order */
    bool        shuffle;          /* a new order each epoch                                                         */
    bool        source_eos;       /* close source lines with </s>                                                   */
    uint64_t    seed;
    size_t      memory;           /* bytes of encoded pairs kept in memory; more goes to a temporary file            */
    const char *temp;             /* its directory; NULL: $TMPDIR or /tmp                                            */
    size_t      source_words;     /* most source pieces in a batch; 0: no limit                                     */
    double      source_alpha, target_alpha; /* rg_vocab_sample cuts the side anew each epoch; 0: always the same cut */
    const rg_read_watch *watch;   /* while files are read and encoded (of shards: as long as the corpus); NULL: nobody */
    bool        copy;             /* words that the joint vocabulary does not know can be copied from the source (copies.h) */
    int         threads;          /* that encode, the caller among them; their number changes no bit. 0: one            */
    uint64_t    shards_above;     /* bytes of two plain text files beyond which the corpus is one of shards; 0: never   */
    const char *cache;            /* directory where encoded shards are kept; NULL: beside the target file; "": nowhere */
    size_t      shard_pairs, pool_shards;
} rg_corpus_config;
#define RG_CORPUS_CONFIG_DEFAULT { 100,  false, 64,    0, 100, true, true, 1, (size_t)1 << 30, NULL, 0, 0, 0, \
                                   NULL, false, 1, 0, NULL, 4096, 32 }

/* A corpus of shards is never whole in memory, and its first batch does not wait for all of it. Lines are numbered
 * and their bytes summed in one quick pass; then
 *
 *   shard   shard_pairs lines that follow each other         epoch e takes shards in an order that follows from (seed, e),
 *   pool    pool_shards shards of that order                  pool after pool: its lines are read, encoded and shuffled
 *
 * Within a pool batches are made as everywhere else. Encoded shards are kept in a file (cache), which is whole after an
 * epoch; later epochs and runs read them from there. With it or without it, the bits are the same. Counts grow until all
 * shards were seen, and rg_corpus_pair is RG_EINVAL. */

typedef struct rg_corpus_report {
    uint64_t lines; /* pairs of lines read                */
    uint64_t pairs; /* kept                               */
    uint64_t source_tokens, target_tokens; /* kept, </s> counted */
    uint64_t source_unknown, target_unknown;
    rg_fault empty, too_long, cropped, bad_utf8, nul, line_limit;
    rg_fault longer; /* kept pairs whose target has more tokens than the source; told of texts and their summaries */
} rg_corpus_report;

typedef rg_place rg_corpus_place; /* where a corpus stands: batch.h */

typedef struct rg_corpus rg_corpus;

/* Vocabularies are borrowed and must outlive the corpus. A NULL source vocabulary makes a corpus of one side
 * (language models): source layouts then have no rows. */
rg_status rg_corpus_new(rg_corpus **out, const rg_corpus_config *config, const rg_vocab *source,
                        const rg_vocab *target);
void      rg_corpus_free(rg_corpus *corpus);
rg_status rg_corpus_add(rg_corpus *corpus, const char *source, const char *target, uint64_t line);
/* No more pairs will come. A corpus without a single pair is refused. Called by the openers below. */
rg_status rg_corpus_seal(rg_corpus *corpus);

/* Two files of equally many lines (different counts are RG_EMATCH, with both), or one file when source is NULL. */
rg_status rg_corpus_open(rg_corpus **out, const rg_corpus_config *config, const char *source_path,
                         const char *target_path, const rg_vocab *source, const rg_vocab *target);
/* Pairs in one table: rg_corpus_open_table (reader.h). */
/* Would rg_corpus_open make a corpus of shards of these files? */
rg_status rg_corpus_is_large(bool *out, const rg_corpus_config *config, const char *source_path,
                             const char *target_path);

uint64_t                rg_corpus_pairs(const rg_corpus *corpus);
const rg_corpus_report *rg_corpus_counts(const rg_corpus *corpus);
rg_status               rg_corpus_describe(rg_text *out, const rg_corpus *corpus); /* the counts in a sentence or two */

/* The next batch. *out_new_epoch (may be NULL) tells that it is the first of an epoch. Borrowed until the next call. */
rg_status       rg_corpus_next(rg_batch *out, bool *out_new_epoch, rg_corpus *corpus);
/* The same, but false in *out_more at the end of the epoch; the call after that starts the next. */
rg_status       rg_corpus_next_in_epoch(bool *out_more, rg_batch *out, rg_corpus *corpus);
rg_corpus_place rg_corpus_tell(const rg_corpus *corpus);
double          rg_corpus_epoch_part(const rg_corpus *corpus); /* share of this epoch's pairs that was given, 0 to 1 */
rg_status       rg_corpus_seek(rg_corpus *corpus, rg_corpus_place place); /* of another corpus or settings: RG_EMATCH where visible */
/* Pair i in file order, for samples and scoring. Borrowed like a batch. */
rg_status       rg_corpus_pair(rg_batch *out, rg_corpus *corpus, uint64_t i);
/* A number that changes with the data, the vocabularies and the batching: checkpoints record it beside the place. */
uint64_t        rg_corpus_checksum(const rg_corpus *corpus);

RG_API_END
#endif
