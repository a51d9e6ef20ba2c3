/* clean.h - which pairs of a parallel corpus are worth learning from, and why the others are not.
 *
 *     rg_cleaner_new(&c, &config);
 *     rg_cleaner_judge(&verdict, c, source, target);    RG_CLEAN_KEPT, or the first rule that the pair breaks
 *
 * Rules are asked in the order of RG_CLEAN_RULES; a pair is dropped for one reason. */
#ifndef REGARD_CLEAN_H
#define REGARD_CLEAN_H

#include "regard/language_guess.h"

RG_API_BEGIN

#define RG_CLEAN_RULES(X)                                                          \
    X(EMPTY, "empty", "a side has no text")                                        \
    X(DAMAGED, "damaged", "bytes that are not UTF-8, or control characters")       \
    X(LONG, "long", "more words than --max-words")                                 \
    X(SHORT, "short", "fewer words than --min-words")                              \
    X(LONG_WORD, "long-word", "a word longer than --max-word-length")              \
    X(RATIO, "ratio", "one side is more than --max-ratio times as long as the other") \
    X(COPIED, "copied", "both sides are the same text")                            \
    X(LETTERS, "letters", "fewer letters than --min-letters, of all characters")   \
    X(SCRIPT, "script", "letters of another script than the language's")           \
    X(LANGUAGE, "language", "text of another language, where --detect can tell")   \
    X(NUMBERS, "numbers", "numbers of one side that the other does not have")      \
    X(DUPLICATE, "duplicate", "the same pair (or side, --duplicates) came before") \
    X(SCORE, "score", "below --min-score")

typedef enum rg_clean_verdict {
    RG_CLEAN_KEPT,
#define RG_CLEAN_NAME(name, word, text) RG_DROPPED_##name,
    RG_CLEAN_RULES(RG_CLEAN_NAME)
#undef RG_CLEAN_NAME
    RG_CLEAN_VERDICTS
} rg_clean_verdict;

typedef enum rg_clean_duplicates { RG_DUPLICATES_KEPT, RG_DUPLICATES_PAIR, RG_DUPLICATES_SOURCE, RG_DUPLICATES_TARGET } rg_clean_duplicates;

typedef struct rg_clean_config {
    size_t              min_words, max_words; /* of each side; a Chinese, Japanese or Thai letter counts as a word       */
    size_t              max_word;             /* characters of the longest word                                          */
    double              max_ratio;            /* of the words of both sides; pairs of less than 5 words are not asked; 0: any */
    double              min_letters;          /* share of characters that are letters, blanks not counted; 0: any         */
    double              min_script;           /* share of letters in the script of the language, where it is known        */
    const char         *language[2];          /* "en", "ru"; "": not known                                               */
    bool                copied;               /* pairs of equal sides are kept                                           */
    bool                numbers;              /* both sides must have the same numbers of two or more digits              */
    rg_clean_duplicates duplicates;           /* what may come once                                                      */
    const rg_languages *detector;             /* tells languages of one script apart; borrowed; NULL: scripts only        */
} rg_clean_config;
#define RG_CLEAN_CONFIG_DEFAULT \
    { .min_words = 1, .max_words = 150, .max_word = 60, .max_ratio = 4, .min_letters = 0.5, .min_script = 0.6, \
      .language = { "", "" }, .duplicates = RG_DUPLICATES_PAIR }

typedef struct rg_cleaner rg_cleaner;
rg_status rg_cleaner_new(rg_cleaner **out, const rg_clean_config *config); /* copied; language codes must be known for a time */
void      rg_cleaner_free(rg_cleaner *cleaner);
/* `damaged`: the reader had to repair the pair. Pairs that are kept are remembered, 16 bytes each, where duplicates are
 * looked for. */
rg_status rg_cleaner_judge(rg_clean_verdict *out, rg_cleaner *cleaner, const char *source, const char *target, bool damaged);

const char *rg_clean_name(rg_clean_verdict verdict);   /* "ratio"; "kept" */
const char *rg_clean_reason(rg_clean_verdict verdict); /* for people      */

/* Lines into a file that appears whole or not at all, packed where the name ends with .gz; "-": standard output is not
 * a file and is refused. */
typedef struct rg_line_writer rg_line_writer;
rg_status rg_line_writer_open(rg_line_writer **out, const char *path);
rg_status rg_line_writer_add(rg_line_writer *writer, const char *line);
rg_status rg_line_writer_close(rg_line_writer *writer, rg_status status); /* with RG_OK the file takes its place; frees; NULL is fine */

RG_API_END
#endif
