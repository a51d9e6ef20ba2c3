/* translate.h - translators: load a model, give it lines, get lines.
 *
 *     rg_translator *translator;
 *     rg_session    *session;
 *     if (rg_translator_load(&translator, "model.safetensors") == RG_OK && rg_session_new(&session, &translator, 1, 2) == RG_OK) {
 *         char *french = rg_session_line(session, "the red house");     yours: rg_free it; NULL: rg_message() tells why
 *     }
 *
 * A translator never changes once loaded: any number of threads may share one, each with a session of its own. */
#ifndef REGARD_TRANSLATE_H
#define REGARD_TRANSLATE_H

#include "regard/decode.h"
#include "regard/document.h"
#include "regard/train.h"

RG_API_BEGIN

/* A model and the vocabularies it was trained with. */
typedef struct rg_translator {
    rg_model *model;
    rg_vocab *source, *target; /* the same when joint */
    char     *alignment_name;  /* watch point whose weights align best; "": the last one */
    int       alignment_head;  /* -1: mean of the heads */
    bool      alignment_shift; /* a token's alignment is what the step behind it looks at */
    char     *language[2];     /* of source and target; see rg_translator_language */
    double    extract[RG_EXTRACT]; /* of searches that name none: rg_translator_tune */
    rg_shortlist *shortlist;   /* what sessions answer with; NULL: every token     */
} rg_translator;

/* One file: weights, settings and vocabularies. RG_EMATCH when its parts do not belong together. */
rg_status rg_translator_load(rg_translator **out, const char *path);
rg_status rg_translator_load_as(rg_translator **out, const char *path, rg_weights weights); /* rg_model_load_as */
/* Around parts that exist; takes them over, also on failure. target NULL: source serves both. */
rg_status rg_translator_new(rg_translator **out, rg_model *model, rg_vocab *source, rg_vocab *target);
void      rg_translator_free(rg_translator *translator);

/* The language a translator reads (side 0) or writes (side 1), as stored in its file when it was trained: "en",
 * "pt-BR"; "" when it is not known, as in files of older versions. Borrowed from the translator. */
const char *rg_translator_language(const rg_translator *translator, int side);
/* Both at once; copied. "" is not known. RG_EINVAL unless each is a language code; then nothing has changed. */
rg_status rg_translator_set_languages(rg_translator *translator, const char *source, const char *target);

/* Answer with the tokens that a shortlist gives for each line (regard/shortlist.h), from the next session on; stored
 * with the model. Takes it over, also on failure; NULL: every token. RG_EMATCH: it is of another vocabulary. */
rg_status rg_translator_set_shortlist(rg_translator *translator, rg_shortlist *shortlist);

/* What a model that reads one vocabulary and writes another (or the same: joint) is built from. */
rg_sizes rg_sizes_of_text(const rg_vocab *source, const rg_vocab *target);

/* For translating only: frees what products do not read, about a third of the memory. Before the first session. It
 * cannot be saved or averaged then. */
rg_status rg_translator_slim(rg_translator *translator);

/* Everything but the weights, into what a checkpoint stores. */
rg_status rg_translator_describe(rg_state *state, const rg_translator *translator);
rg_status rg_translator_save(const rg_translator *translator, const char *path);

/* -------------------------------------------------------------------------------------------------- translating */

typedef struct rg_session_config {
    rg_search_config search;
    size_t           max_length;      /* source pieces read; longer lines are cut and say so      */
    size_t           batch;           /* most lines searched together                            */
    size_t           batch_words;     /* and at most so many source pieces; by a wide beam fewer  */
    bool             replace_unknown; /* <unk> becomes the source word it looked at most          */
    bool             whole;           /* answer with every token, though the translator has a shortlist */
    const struct rg_lexicon *lexicon; /* or what this dictionary (regard/lexicon.h) says for it; NULL: none */
    const struct rg_glossary *const *glossary; /* of each line: terms whose translations are wanted (regard/glossary.h), NULL: none; NULL: of no line */
} rg_session_config;
#define RG_SESSION_CONFIG_DEFAULT { .search = RG_SEARCH_CONFIG_DEFAULT, .max_length = 1000, .batch = 32, .batch_words = 512 }

typedef struct rg_translation {
    char            *text;
    const rg_answer *answer; /* tokens, scores, attention */
    const char *const *words; /* the text of tokens that were copied or replaced, NULL at the others; NULL: there are none */
    const int32_t     *open;  /* answer->tokens with the ids of copied words (copies.h); NULL: none was copied             */
} rg_translation;

/* What became of one line. */
typedef struct rg_translated {
    rg_translation *best; /* `count` of them, best first */
    size_t          count;
    const int32_t  *source; /* its pieces, closed by </s> */
    size_t          source_length;
    const char *const *source_text; /* where attention was asked for: the text that unknown pieces stand for, NULL at the others; NULL: all are known */
    const int32_t  *copies;  /* of models that copy: the id each source piece has in an answer (batch.h) */
    size_t          extra;   /* and how many ids the line has beyond the vocabulary                      */
    size_t          cut; /* pieces past max_length that were not read */
    bool            stopped; /* given up by the search's `stop`, which was asked with the line's number (`first` and on) */
} rg_translated;

typedef struct rg_session rg_session;

/* Several translators are an ensemble; they must have equal vocabularies (RG_EMATCH). Files are shared out over
 * `threads`; a single batch uses all of them together. */
rg_status rg_session_new(rg_session **out, rg_translator *const *translators, size_t count, int threads);
void      rg_session_free(rg_session *session);

/* Lines of UTF-8 (bad bytes are replaced); out[n], in order, borrowed until the next call. An empty line gives an
 * empty one. `first` numbers the first line: sampling depends on it. `prefix` (may be NULL) are texts the answers
 * begin with. */
rg_status rg_session_run(const rg_translated **out, rg_session *session, const rg_session_config *config,
                         const char *const *lines, size_t n, uint64_t first, const char *const *prefix);

/* What weights of words that stand in the source (rg_search_config.extract) are chosen by: the answers to n lines
 * against their references. All is borrowed. */
typedef struct rg_tuning {
    const rg_session_config *config;
    const char *const       *source, *const *reference;
    size_t                   n;
    const char              *metric; /* a name of metrics.h */
    void (*tell)(void *context, const double *weights, double value); /* the best so far; may be NULL */
    void *context;
} rg_tuning;

/* The weights with the best metric, by coordinate search from 0 in steps of 1, 1/2 and 1/4. The translator, the
 * session's first, keeps them and its file does. The metric without and with them is written. */
rg_status rg_translator_tune(double *out_before, double *out_after, rg_translator *translator, rg_session *session,
                             const rg_tuning *tuning);

/* One line with default settings. */
char *rg_session_line(rg_session *session, const char *line);

/* Which bytes of answer number `rank` stand for which of its line, from the attention that was asked for; without
 * any, from the diagonal. To place the markup of documents. rg_links_free also after a failure. */
rg_status rg_links_make(rg_links *out, const rg_translator *translator, const char *line, const rg_translated *result,
                        size_t rank);

/* ------------------------------------------------------------------------------------------------------ records */

typedef struct rg_record rg_record; /* regard/record.h */
typedef struct rg_explain_options rg_explain_options; /* regard/explain.h */

/* What each piece of a translation looked at: a map "alignment" for each answer, where attention was asked for. An
 * empty line gives a record without maps. */
rg_status rg_record_of_translation(rg_record **out, const rg_translator *translator, const rg_translated *translated);
/* The same and, by a forced pass of every answer, the maps of all layers and heads a watcher sees. */
rg_status rg_record_of_heads(rg_record **out, const rg_translator *translator, const rg_translated *translated,
                             rg_team *team);
/* And maps by the methods of explain.h. */
rg_status rg_record_of_heads_explained(rg_record **out, const rg_translator *translator,
                                       const rg_translated *translated, const rg_explain_options *explain);
/* And RG_ESTOP when `stop`, which is asked before the pass of each answer, says that nobody wants it any more. */
rg_status rg_record_of_heads_until(rg_record **out, const rg_translator *translator, const rg_translated *translated,
                                   rg_team *team, bool (*stop)(const void *context), const void *context);

RG_API_END
#endif
