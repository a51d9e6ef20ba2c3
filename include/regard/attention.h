/* attention.h - one attention: same principle, different queries, keys, values and score.
 *
 *   a   = rg_weigh(t, att, q, k, reach)      (P, H)      how much of each open pair: score, then softmax over each query's keys
 *   out = rg_mix(t, a, v, reach)             (Nq, H*dv)  weighted sums of values
 *
 *   rg_attend = rg_mix(rg_weigh)             one fused pass when nobody needs the weights
 *
 * A mask is a graph: a *reach* lists for each query row the key rows it may look at. What a paper does between the
 * halves is ordinary ops on `a`. */
#ifndef REGARD_ATTENTION_H
#define REGARD_ATTENTION_H

#include "regard/ops.h"

RG_API_BEGIN

/* ----------------------------------------------------------------------------------------------------- reach */

/* Who may look at whom. Pairs are numbered query by query: those of query i are first[i] .. first[i+1]-1, their key
 * rows either an interval, begin[i] and following, or a list, key[p].
 *
 *   groups           causal            window 3          edges
 *   x x . . .        x . . . .         x x . . .         x . x . .
 *   x x . . .        x x . . .         x x x . .         . x . . x
 *   . . x x x        x x x . .         . x x x .         . . x . .       rows are queries, columns keys
 *   . . x x x        x x x x .         . . x x x         x . . x .
 */
typedef struct rg_reach {
    size_t         Nq, Nk, P;
    const size_t  *first; /* Nq + 1                                                      */
    const int32_t *begin; /* interval: first key row of each query; NULL: a list         */
    const int32_t *key;   /* list: P key rows; NULL: intervals                           */
    /* of a list, so that gradients of keys are gathered in fixed order, without atomics: */
    const size_t  *back;  /* Nk + 1: pairs that end at key row j are pair[back[j]] ..    */
    const size_t  *pair;
    const int32_t *query; /* P: the query row of a pair                                  */
    const int32_t *asker; /* P: query[pair[t]], in the order of `pair`                   */
    const rg_layout *rows; /* how the query rows group; NULL: not known                  */
    const rg_real  *bias; /* P: given numbers that are added to the scores of all heads, such as log w of a weighted edge; NULL: none */
    void          *owned; /* rg_reach_free frees it; NULL: lives on a tape               */
} rg_reach;

/* On the tape, until its reset. NULL latches. */
const rg_reach *rg_reach_groups(rg_tape *t, const rg_layout *queries, const rg_layout *keys); /* group g of queries sees group g of keys */
const rg_reach *rg_reach_causal(rg_tape *t, const rg_layout *rows);                          /* itself and what came before       */
const rg_reach *rg_reach_window(rg_tape *t, const rg_layout *rows, size_t r);                 /* the r positions centred on it    */
const rg_reach *rg_reach_window_causal(rg_tape *t, const rg_layout *rows, size_t r);          /* the last r, itself among them    */
const rg_reach *rg_reach_before(rg_tape *t, const rg_layout *rows, size_t r);                 /* the r before it, without itself   */
/* Query i sees keys begin[i] .. end[i]-1. Copied. */
const rg_reach *rg_reach_intervals(rg_tape *t, size_t Nq, size_t Nk, const int32_t *begin, const int32_t *end);
/* Query i sees list[first[i]] .. list[first[i+1]-1]. Copied when the tape records, otherwise borrowed until the
 * reset. */
const rg_reach *rg_reach_lists(rg_tape *t, size_t Nq, size_t Nk, const size_t *first, const int32_t *list);

/* The same lists, kept until rg_reach_free: a graph is read once and used every step. */
rg_status rg_reach_new_lists(rg_reach **out, size_t Nq, size_t Nk, const size_t *first, const int32_t *list);
/* P directed edges from[p] -> to[p]: node to[p] looks at node from[p]; with `self`, every node also at itself.
 * Duplicates are refused (RG_EINVAL naming both edge numbers). */
rg_status rg_reach_new_edges(rg_reach **out, size_t nodes, size_t P, const int32_t *from, const int32_t *to, bool self);
void      rg_reach_free(rg_reach *reach);

/* A kind of reach: one file in src/attention/reaches that ends in such a constant, and one word in RG_REACHES. */
typedef struct rg_reach_kind {
    const char *name, *summary;
    const char *paper;  /* may be NULL                                                                          */
    const char *past;   /* name of the kind a decoder takes in its place, which sees nothing ahead; may be its own */
    bool        sized;  /* it has a size r, as in window:3                                                       */
    bool        across; /* queries and keys may be different rows; otherwise rows look at rows of their own group */
    const rg_reach *(*make)(rg_tape *t, const rg_layout *queries, const rg_layout *keys, size_t size);
    bool (*sees)(size_t query, size_t key, size_t size); /* the same, of two positions in one group */
} rg_reach_kind;

#define RG_REACHES(X) X(groups) X(causal) X(window) X(window_causal) X(before) X(strided) X(strided_causal)
#define RG_REACH_DECLARE(name) extern const rg_reach_kind rg_reach_kind_##name;
RG_REACHES(RG_REACH_DECLARE)
#undef RG_REACH_DECLARE

const rg_reach_kind *const *rg_reach_kinds(void);                 /* ends with NULL */
const rg_reach_kind        *rg_reach_kind_find(const char *name); /* NULL: none */

/* A kind and its size, from "causal" or "window:3". RG_EINVAL lists what there is. */
typedef struct rg_reach_choice {
    const rg_reach_kind *kind;
    size_t               size;
} rg_reach_choice;
rg_status       rg_reach_choose(rg_reach_choice *out, const char *text);
rg_reach_choice rg_reach_past(rg_reach_choice choice); /* for a decoder */
const rg_reach *rg_reach_within(rg_tape *t, rg_reach_choice choice, const rg_layout *rows); /* rows that look at themselves */

/* ----------------------------------------------------------------------------------------------------- score */

typedef struct rg_attention rg_attention;

typedef struct rg_attention_config {
    const char   *score;
    size_t        heads;      /* H; queries, keys and values are H column blocks, or keys/values one block shared by all */
    size_t        q_width;    /* all columns of q and of k as given to rg_attention_prepare */
    size_t        k_width;
    size_t        hidden;     /* additive, neural: width of the middle layer, a head */
    rg_activation activation; /* the function inside linear, additive and concat; RG_SCORE_OWN: the score's own */
    double        bandwidth;  /* distance: h */
    bool          learned;    /* distance, cosine: learn h or beta */
    double        sharpness;  /* cosine: beta at the start */
    size_t        positions;  /* location: longest group of keys */
    bool          shared_values; /* v is one block that every head reads */
    bool          biased;     /* linear: a bias per head in both halves */
    double        dropout;    /* share of the weights that rg_attend drops while learning; they are not made to sum to 1 again */
} rg_attention_config;
#define RG_SCORE_OWN RG_ACTIVATIONS /* linear: identity; additive, concat: tanh */
#define RG_ATTENTION_CONFIG_DEFAULT                                                                                  \
    {                                                                                                                \
        .score = "scaled_dot", .heads = 1, .hidden = 64, .activation = RG_SCORE_OWN, .bandwidth = 1, .sharpness = 1, \
        .positions = 256                                                                                             \
    }

/* A score is a file that ends in one of these constants, and a word in scores.c. */
typedef struct rg_score {
    const char *name;
    const char *formula;
    const char *paper;
    const char *cost;   /* of one query over n keys of width d */
    const char *note;   /* what to know before using it */
    rg_status (*init)(rg_attention *att, rg_params *params); /* declare W, U, w ...; may be NULL              */
    rg_tensor *(*prepare)(rg_tape *t, const rg_attention *att, rg_tensor *k); /* keys that do not change; may be NULL */
    rg_tensor *(*query)(rg_tape *t, const rg_attention *att, rg_tensor *q);   /* the same for queries; may be NULL    */
    rg_tensor *(*pairs)(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach); /* (P, H) */
    /* The whole attention in one pass; may be NULL, and may return NULL without a failure when this case is not its
     * own. */
    rg_tensor *(*fused)(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, rg_tensor *v,
                        const rg_reach *reach);
    bool          activates;  /* a function of one number stands inside, `activation` unless the settings name another */
    rg_activation activation;
    bool one_width; /* queries and keys must be equally wide */
    bool panels;    /* `fused` reads keys and values in panels: settling them pays */
    bool drops;     /* it drops weights too */
    bool adds_bias;     /* and adds the reach's bias */
} rg_score;

const rg_score *const *rg_score_all(void);            /* ends with NULL */
const rg_score        *rg_score_find(const char *name); /* NULL: none */

struct rg_attention {
    const rg_score     *score;
    rg_attention_config config;
    rg_param           *w, *u, *v, *b; /* what the score learns; NULL where it has none */
};

/* Find the score by name and declare what it learns inside the current scope of `params`. */
rg_status rg_attention_init(rg_attention *out, const rg_attention_config *config, rg_params *params);

/* The function inside the score by name, for settings: "own" leaves it as it is. RG_EINVAL when the score has none.
 * Before the first use. */
rg_status rg_attention_activate(rg_attention *att, const char *name);

/* Do once what does not change from query to query. Every k given to weigh or attend has been through it. */
rg_tensor *rg_attention_prepare(rg_tape *t, const rg_attention *att, rg_tensor *k);

/* Keys and values that many later calls read, group by group, such as a source: what each call would do first is
 * done once, here. Only speed changes. k is prepared, `groups` are its rows' groups; tapes that record gain nothing
 * from it. */
void rg_attention_pack(rg_tape *t, const rg_attention *att, rg_tensor *k, rg_tensor *v, const rg_layout *groups);

/* ---------------------------------------------------------------------------------------------- the three words */

rg_tensor *rg_scores(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k,
                     const rg_reach *reach); /* (P, H) before softmax, biased */
rg_tensor *rg_softmax_over(rg_tape *t, rg_tensor *e, const rg_reach *reach); /* over the keys of each query; none: nothing */
rg_tensor *rg_weigh(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach);
rg_tensor *rg_mix(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach);        /* v: one block per head    */
rg_tensor *rg_mix_shared(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach); /* v: one block for all   */

/* Sparse rows times w while their entries are dropped: query row i holds value[p] at each key p it reaches, w is
 * (Nk, heads * d), and each of `heads` column blocks of w sees a mask of its own. Without dropout (or when nothing
 * learns) it is rg_mix with the values as weights. */
rg_tensor *rg_sparse_product(rg_tape *t, const rg_reach *words, const rg_real *value, rg_tensor *w, size_t heads,
                             double dropout);

/* Read from v, weighted by how well each query fits each key it can reach.
 *
 *   q (Nq, H*dk)   k (Nk, H*dk)   v (Nk, H*dv)   ->   (Nq, H*dv)
 *
 * k has been through rg_attention_prepare(). A row that reaches none gives zeros. The weights are watched under the
 * name "weights" of the current scope; not watched means never made. */
rg_tensor *rg_attend(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, rg_tensor *v,
                     const rg_reach *reach);

/* --------------------------------------------------------------------------------------- heads with projections */

/* Multi-head attention (Vaswani et al. 2017):  concat(heads of attend(x Wq, y Wk, y Wv)) Wo */
typedef struct rg_heads {
    rg_attention att;
    size_t       width, heads;
    bool         self;         /* q, k, v from the same rows: one product */
    rg_param    *wqkv, *bqkv;  /* self: (d, 3d) */
    rg_param    *wq, *bq, *wkv, *bkv;
    rg_param    *wo, *bo;
} rg_heads;

rg_status  rg_heads_init(rg_heads *out, rg_params *params, size_t width, size_t heads, bool self, const char *score);
rg_tensor *rg_heads_self(rg_tape *t, const rg_heads *h, rg_tensor *x, const rg_reach *reach);
rg_tensor *rg_heads_cross(rg_tape *t, const rg_heads *h, rg_tensor *x, rg_tensor *y, const rg_reach *reach);

/* The same in pieces, for decoders that keep keys and values from step to step. k is prepared. */
void       rg_heads_project(rg_tape *t, const rg_heads *h, rg_tensor *x, rg_tensor **q, rg_tensor **k, rg_tensor **v); /* self     */
void       rg_heads_memory(rg_tape *t, const rg_heads *h, rg_tensor *y, rg_tensor **k, rg_tensor **v);                 /* cross    */
rg_tensor *rg_heads_query(rg_tape *t, const rg_heads *h, rg_tensor *x);                                                /* cross    */
rg_tensor *rg_heads_read(rg_tape *t, const rg_heads *h, rg_tensor *q, rg_tensor *k, rg_tensor *v, const rg_reach *reach); /* attend, Wo */

/* ------------------------------------------------------------------------------------------------ a decoder's past */

/* Keys and values of past tokens are rows, a store for each layer; each hypothesis owns a list of row numbers, so that
 * reordering a beam moves numbers, not memory.
 *
 *   each step     reach = rg_cache_step(t, cache, n, past);           every hypothesis gets a row for its token
 *   each layer    rg_cache_put(t, cache, layer, &k, &v);              k and v (n rows) go in; all rows come out
 *                 out = rg_attend(t, att, q, k, v, reach);
 *   between       rg_cache_keep(cache, parents, n);                   row i of the next step continues row parents[i]
 *
 * For tapes that do not record: what comes out is borrowed until the next step. */
typedef struct rg_cache rg_cache;
rg_status       rg_cache_new(rg_cache **out, size_t layers);
void            rg_cache_free(rg_cache *cache);
void            rg_cache_clear(rg_cache *cache);       /* the next step is the first; memory is kept */
size_t          rg_cache_steps(const rg_cache *cache); /* since then */
const rg_reach *rg_cache_step(rg_tape *t, rg_cache *cache, size_t n, rg_reach_choice past); /* what of its past each sees */
void            rg_cache_put(rg_tape *t, rg_cache *cache, size_t layer, rg_tensor **k, rg_tensor **v);
rg_status       rg_cache_keep(rg_cache *cache, const int32_t *parents, size_t n);

RG_API_END
#endif
