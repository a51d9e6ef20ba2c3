/* marian.c - Marian's names for what commands here can do, so that its command lines and configurations paste over.
 *
 * Most options have Marian's names already. This file is the table of the others: those that are called something else
 * here, those whose values are written otherwise (5000u, 1Gt, dan), those that nothing here depends on (a remark lists
 * them once), and those that would change what is learned and do not exist here, which are refused by name.
 * docs/training.md has the same table for people. */
#include "cli/marian.h"

#include <ctype.h>
#include <string.h>

#include "cli/command.h"

enum { TRAIN = 1, TRANSLATE = 2, SCORE = 4, ALL = TRAIN | TRANSLATE | SCORE };

typedef enum { NONE, ONE, SOME, MANY } takes; /* words of a flag: none or true/false, one, none or one, any number */

typedef struct marian_row marian_row;
typedef rg_status setter(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken);

struct marian_row {
    const char *name;
    char        letter;
    int         commands;
    takes       takes;
    setter     *set;  /* NULL: nothing here depends on it, and `text` says why     */
    const char *text; /* our name; the reason                                      */
    bool        over; /* we have an option of this name, which takes other values */
};

/* --------------------------------------------------------------------------------------------------- setting */

/* Set our option; a lenient look does not know all of them yet. */
static rg_status put(rg_call *call, const char *name, const char *value, bool *taken)
{
    size_t           group;
    const rg_option *row = rg_option_find(call->groups, call->count, name, &group);
    if (!row) return RG_OK;
    *taken = true;
    return rg_option_set(row, call->groups[group].values, 1, &value);
}

static void note(char *list, size_t room, const char *name, const char *reason)
{
    const size_t used = strlen(list);
    char         item[256];
    snprintf(item, sizeof item, "--%s\t%s\n", name, reason);
    if (!strstr(list, item)) snprintf(list + used, room - used, "%s", item);
}

static rg_status refuse(rg_call *call, const marian_row *row, const char *reason, bool *taken)
{
    *taken = true;
    note(call->marian.missing, sizeof call->marian.missing, row->name, reason);
    return RG_OK;
}

static rg_status needless(rg_call *call, const marian_row *row, bool *taken)
{
    *taken = true;
    note(call->marian.needless, sizeof call->marian.needless, row->name, row->text);
    return RG_OK;
}

static bool says(size_t n, const char *const *word, const char *value)
{
    return n == 1 && strcmp(word[0], value) == 0;
}

static bool is_on(size_t n, const char *const *word) { return !says(n, word, "false"); }

/* ------------------------------------------------------------------------------------------------------ rows */

static rg_status missing(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    const bool off = !n || says(n, word, "false") || says(n, word, "0") || says(n, word, "") || says(n, word, "none");
    *taken = true;
    return off && row->takes != NONE ? RG_OK : !is_on(n, word) ? RG_OK : refuse(call, row, row->text, taken);
}

static rg_status renamed(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    return put(call, row->text, n ? word[0] : "true", taken);
}

/* "5000u", "1.5Ke", "1Gt": the number without its unit, which is 0 where there is none. False: not of that form. */
static bool split_period(char number[64], char *unit, const char *word)
{
    const size_t n = strlen(word);
    char        *end;
    *unit = 0;
    if (!n || n >= 64) return false;
    memcpy(number, word, n + 1);
    if (strchr("ute", word[n - 1])) *unit = word[n - 1], number[n - 1] = 0;
    (void)rg_real_parse(number, &end);
    return end != number && (!*end || (strchr("KMG", *end) && !end[1]));
}

static const struct {
    char        unit;
    const char *word;
} units[] = { { 'u', "freq" }, { 'e', "epochs" }, { 't', "labels" } };

/* Of --valid-freq 1e: --valid-epochs 1, and 0 by updates and target tokens. */
static rg_status period(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    char number[64], unit, name[64];
    if (n != 1 || !split_period(number, &unit, word[0]) || !unit) return RG_OK; /* as the row takes it */
    bool found = false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        bool any = false;
        snprintf(name, sizeof name, "%s-%s", row->text, units[i].word);
        RG_TRY(put(call, name, units[i].unit == unit ? number : "0", &any));
        found = found || (any && units[i].unit == unit);
    }
    *taken = true;
    return found || call->marian.lenient ? RG_OK
                                         : rg_fail(RG_EINVAL, "--%s %s: counts updates (u) or target tokens (t) here",
                                                   row->name, word[0]);
}

/* --after 10e, --after 100Ku, --after 10e,1Gt */
static rg_status after(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    static const char *const names[][2] = { { "u", "after-batches" }, { "e", "after-epochs" }, { "t", "after-labels" } };
    char number[64], unit, part[64];
    (void)row;
    for (const char *at = n == 1 ? word[0] : ""; *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(part, sizeof part, "%.*s", (int)strcspn(at, ","), at);
        if (!split_period(number, &unit, part) || !unit)
            return rg_fail(RG_EINVAL, "--after %s: a number and its unit, as in 10e (epochs), 100Ku (updates), 1Gt (target tokens)",
                           word[0]);
        for (size_t i = 0; i < 3; i++)
            if (names[i][0][0] == unit) RG_TRY(put(call, names[i][1], number, taken));
    }
    *taken = *taken || call->marian.lenient;
    return RG_OK;
}

/* Schedules count updates: --lr-warmup 16000u, --lr-decay-inv-sqrt 16000 16000. */
static rg_status in_updates(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    char number[64], unit = 0;
    if (n == 2 && strcmp(word[0], word[1]) != 0)
        return rg_fail(RG_EINVAL, "--%s %s %s: the rate falls from the update it is named for; give one number",
                       row->name, word[0], word[1]);
    if (!n || !split_period(number, &unit, word[0]) || (n == 1 && !unit)) return RG_OK;
    if (unit == 't' || unit == 'e')
        return rg_fail(RG_EINVAL, "--%s %s: counts updates here, not %s", row->name, word[0],
                       unit == 't' ? "target tokens" : "epochs");
    return put(call, row->name, number, taken);
}

static rg_status optimizer_params(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    static const char *const names[] = { "beta1", "beta2", "optimizer-epsilon" };
    if (n > 3) return rg_fail(RG_EINVAL, "--%s takes two betas and an epsilon, not %zu numbers", row->name, n);
    for (size_t i = 0; i < n; i++) RG_TRY(put(call, names[i], word[i], taken));
    *taken = *taken || !n;
    return RG_OK;
}

static rg_status cost_type(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    *taken = true; /* ce-mean-words is what is done */
    return says(n, word, "ce-mean-words") ? RG_OK : needless(call, row, taken);
}

/* What fits the workspace, 2048 MiB unless it is said, and no other limit. */
static rg_status mini_batch_fit(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    size_t           group;
    const rg_option *space = rg_option_find(call->groups, call->count, "workspace", &group);
    (void)row;
    *taken = *taken || call->marian.lenient;
    if (!space) return RG_OK;
    *taken = true;
    if (!is_on(n, word)) return RG_OK;
    RG_TRY(put(call, "mini-batch-words", "0", taken));
    const int64_t *now = (const int64_t *)(const void *)((const char *)call->groups[group].values + space->offset);
    return *now ? RG_OK : put(call, "workspace", "2048", taken);
}

static rg_status quiet_translation(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    (void)row;
    *taken = *taken || call->marian.lenient;
    if (!is_on(n, word)) return *taken = true, RG_OK;
    RG_TRY(put(call, "valid-samples", "0", taken));
    return *taken ? RG_OK : put(call, "quiet", "true", taken);
}

/* Letters d (dropout), a (add), n (norm): before and after a sub-layer, after embeddings, after the last layer. */
static rg_status around_layers(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    const char *letters = n ? word[0] : "";
    const bool  norm = strchr(letters, 'n') != NULL;
    if (strspn(letters, "dan") != strlen(letters))
        return rg_fail(RG_EINVAL, "--%s %s: letters of d (dropout), a (add) and n (norm)", row->name, letters);
    *taken = true;
    if (strcmp(row->text, "before") == 0) call->marian.norm_before = norm;
    if (strcmp(row->text, "after") == 0) call->marian.norm_after = norm, call->marian.after_said = true;
    if (strcmp(row->text, "embedding") == 0) return put(call, "transformer-norm-embedding", norm ? "true" : "false", taken);
    if (strcmp(row->text, "top") == 0) call->marian.norm_top = norm;
    return RG_OK;
}

static rg_status autoregression(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    if (says(n, word, "self-attention")) return put(call, "decoder", "self-attention", taken);
    if (says(n, word, "rnn")) return put(call, "decoder", "ssru", taken);
    return refuse(call, row, "self-attention or rnn (an SSRU) here", taken);
}

static rg_status train_positions(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    (void)row;
    if (!is_on(n, word)) return *taken = true, RG_OK;
    return put(call, "transformer-positions", "learned", taken);
}

static rg_status model_type(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    static const char *const recurrent[] = { "amun", "nematus", "s2s" };
    for (size_t i = 0; i < sizeof recurrent / sizeof *recurrent; i++)
        if (says(n, word, recurrent[i]))
            return rg_fail(RG_EINVAL, "--type %s is Marian's recurrent model with attention; the nearest here is "
                                      "--type rnnsearch (`regard train --type rnnsearch --help`)", word[0]);
    (void)call, (void)row, (void)taken;
    return RG_OK;
}

static rg_status task(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    const bool before = n == 1 && strstr(word[0], "-prenorm");
    if (n != 1 || (strncmp(word[0], "transformer-base", 16) != 0 && strncmp(word[0], "transformer-big", 15) != 0))
        return refuse(call, row, "transformer-base, transformer-big, and both with -prenorm", taken);
    RG_TRY(put(call, "preset", strncmp(word[0], "transformer-big", 15) == 0 ? "big" : "base", taken));
    bool known;
    return before ? put(call, "transformer-norm", "pre", &known) : RG_OK;
}

static rg_status n_best(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    if (says(n, word, "true")) return put(call, row->name, "-1", taken);
    return says(n, word, "false") ? put(call, row->name, "0", taken) : RG_OK;
}

static rg_status alignment(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    return says(n, word, "1") ? put(call, row->name, "hard", taken) : RG_OK; /* 1: the strongest link of each token */
}

static rg_status sampling(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    const bool  top = n && strcmp(word[0], "topk") == 0;
    const char *temperature = top ? (n > 2 ? word[2] : "1") : n > 1 ? word[1] : "1";
    if (n && !top && strcmp(word[0], "full") != 0)
        return rg_fail(RG_EINVAL, "--%s %s: full TEMPERATURE, or topk NUMBER TEMPERATURE", row->name, word[0]);
    RG_TRY(put(call, "sampling", "true", taken));
    RG_TRY(put(call, "temperature", temperature, taken));
    return top && n > 1 ? put(call, "top", word[1], taken) : RG_OK;
}

static rg_status tsv_fields(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    if (says(n, word, "2") || says(n, word, "0")) return *taken = true, RG_OK;
    return refuse(call, row, "2 here; --columns chooses two of a table that has more", taken);
}

static rg_status tab_separated(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    (void)row;
    if (!is_on(n, word)) return *taken = true, RG_OK;
    return put(call, "format", "tsv", taken);
}

static rg_status gemm_type(rg_call *call, const marian_row *row, size_t n, const char *const *word, bool *taken)
{
    (void)row;
    *taken = true;
    const bool bytes = n && (strstr(word[0], "int8") || strncmp(word[0], "packed8", 7) == 0);
    return bytes ? put(call, "int8", "true", taken) : RG_OK;
}

/* ----------------------------------------------------------------------------------------------------- table */

static const char batching[] = "answers do not depend on batches", memory_text[] = "memory is taken as it is needed",
                  precision_text[] = "sums are float32", reading[] = "files are read once, encoded and shuffled in memory",
                  in_file[] = "the model file says so", recurrent_text[] = "of Marian's recurrent models (--type rnnsearch here)";

static const marian_row table[] = {
    /* called something else, or with other values */
    { "type", 0, TRAIN, ONE, model_type, "", true },
    { "task", 0, TRAIN, MANY, task, "preset", false },
    { "pretrained-model", 0, TRAIN, ONE, renamed, "init-from", false },
    { "after", 'a', TRAIN, ONE, after, "", false },
    { "disp-freq", 0, TRAIN, ONE, period, "disp", true },
    { "save-freq", 0, TRAIN, ONE, period, "save", true },
    { "valid-freq", 0, TRAIN, ONE, period, "valid", true },
    { "lr-warmup", 0, TRAIN, ONE, in_updates, "", true },
    { "lr-decay-inv-sqrt", 0, TRAIN, MANY, in_updates, "", true },
    { "optimizer-params", 0, TRAIN, MANY, optimizer_params, "beta1", false },
    { "cost-type", 0, TRAIN, ONE, cost_type, "the loss is the mean over target tokens (ce-mean-words)", false },
    { "mini-batch-fit", 0, TRAIN, NONE, mini_batch_fit, "workspace", false },
    { "quiet-translation", 0, ALL, NONE, quiet_translation, "valid-samples", false },
    { "quiet-validation", 0, TRAIN, NONE, quiet_translation, "valid-samples", false },
    { "no-shuffle", 0, TRAIN, NONE, missing, "every epoch is shuffled by --seed", false },
    { "shuffle", 0, TRAIN, ONE, NULL, "every epoch is shuffled by --seed", false },
    { "transformer-preprocess", 0, TRAIN, ONE, around_layers, "before", false },
    { "transformer-postprocess", 0, TRAIN, ONE, around_layers, "after", false },
    { "transformer-postprocess-emb", 0, TRAIN, ONE, around_layers, "embedding", false },
    { "transformer-postprocess-top", 0, TRAIN, ONE, around_layers, "top", false },
    { "transformer-decoder-autoreg", 0, TRAIN, ONE, autoregression, "decoder", false },
    { "transformer-train-position-embeddings", 0, TRAIN, NONE, train_positions, "transformer-positions", false },
    { "n-best", 0, TRANSLATE, SOME, n_best, "", true },
    { "alignment", 0, TRANSLATE, SOME, alignment, "", true },
    { "output-sampling", 0, TRANSLATE, MANY, sampling, "sampling", false },
    { "gemm-type", 'g', TRANSLATE | SCORE, ONE, gemm_type, "int8", false },
    { "tsv-fields", 0, ALL, ONE, tsv_fields, "columns", false },
    { "tsv", 0, TRANSLATE, NONE, tab_separated, "format", false },
    { "no-reload", 0, TRAIN, NONE, renamed, "overwrite", false },
    { "allow-special", 0, TRANSLATE, NONE, missing, "control tokens are never part of an answer", false },
    { "no-optimizer-reload", 0, TRAIN, NONE, missing, "--init-from starts from weights alone", false },

    /* nothing here depends on them */
    { "devices", 'd', ALL, MANY, NULL, "computed on the CPU: --cpu-threads says on how many cores", false },
    { "num-devices", 0, ALL, ONE, NULL, "computed on the CPU: --cpu-threads says on how many cores", false },
    { "no-nccl", 0, TRAIN, NONE, NULL, "several machines train together by mpirun", false },
    { "sharding", 0, TRAIN, ONE, NULL, "several machines train together by mpirun", false },
    { "sync-freq", 0, TRAIN, ONE, NULL, "every update is synchronous", false },
    { "sync-sgd", 0, TRAIN, NONE, NULL, "every update is synchronous", false },
    { "lr-report", 0, TRAIN, NONE, NULL, "every log line has the learning rate", false },
    { "disp-first", 0, TRAIN, ONE, NULL, "the bar and MODEL.jsonl show a run from its first seconds", false },
    { "disp-label-counts", 0, TRAIN, NONE, NULL, "MODEL.jsonl has counts of words", false },
    { "workspace", 'w', TRANSLATE | SCORE, ONE, NULL, memory_text, false },
    { "mini-batch-fit-step", 0, TRAIN, ONE, NULL, "what fits is computed for each length", false },
    { "mini-batch-round-up", 0, TRAIN, NONE, NULL, "rows are not padded", false },
    { "gradient-checkpointing", 0, TRAIN, NONE, NULL, memory_text, false },
    { "valid-mini-batch", 0, TRAIN, ONE, NULL, batching, false },
    { "valid-max-length", 0, TRAIN, ONE, NULL, "validation lines are read whole", false },
    { "maxi-batch-sort", 0, ALL, ONE, NULL, "lines of similar length share a batch, answers keep their order", false },
    { "mini-batch-words", 0, TRANSLATE, ONE, NULL, batching, false },
    { "maxi-batch", 0, SCORE, ONE, NULL, batching, false },
    { "data-threads", 0, ALL, ONE, NULL, reading, false },
    { "shuffle-in-ram", 0, TRAIN, NONE, NULL, reading, false },
    { "tempdir", 'T', TRAIN, ONE, NULL, reading, false },
    { "sqlite", 0, TRAIN, SOME, NULL, reading, false },
    { "sqlite-drop", 0, TRAIN, NONE, NULL, reading, false },
    { "overwrite-checkpoint", 0, TRAIN, NONE, NULL, "one checkpoint is kept and replaced at once", false },
    { "valid-reset-stalled", 0, TRAIN, NONE, NULL, "--overwrite or --init-from begin a new run", false },
    { "fp16", 0, ALL, NONE, NULL, precision_text, false },
    { "precision", 0, ALL, MANY, NULL, precision_text, false },
    { "cost-scaling", 0, TRAIN, MANY, NULL, precision_text, false },
    { "check-nan", 0, ALL, NONE, NULL, "an update that is not finite ends the run and names its lines", false },
    { "check-gradient-nan", 0, TRAIN, NONE, NULL, "an update that is not finite ends the run and names its lines", false },
    { "throw-on-divergence", 0, TRAIN, MANY, NULL, "an update that is not finite ends the run and names its lines", false },
    { "log", 0, TRANSLATE | SCORE, ONE, NULL, "remarks go to standard error", false },
    { "log-level", 0, ALL, ONE, NULL, "--quiet", false },
    { "log-time-zone", 0, ALL, ONE, NULL, "times are local", false },
    { "sigterm", 0, TRAIN, ONE, NULL, "SIGTERM saves and stops", false },
    { "skip-cost", 0, TRANSLATE, NONE, NULL, "scores cost nothing where they are not asked for", false },
    { "optimize", 0, TRANSLATE | SCORE, NONE, NULL, "--int8", false },
    { "model-mmap", 0, TRANSLATE, NONE, NULL, "model files are mapped", false },
    { "max-length-crop", 0, TRANSLATE | SCORE, NONE, NULL, "longer lines are cut, and a remark says so", false },
    { "stat-freq", 0, TRANSLATE, ONE, NULL, "--maxi-batch lines are answered at a time", false },
    { "ignore-model-config", 0, ALL, NONE, NULL, in_file, false },
    { "type", 0, TRANSLATE | SCORE, ONE, NULL, in_file, false },
    { "vocabs", 'v', TRANSLATE | SCORE, MANY, NULL, "the model file holds its vocabularies", false },
    { "dim-vocabs", 0, TRANSLATE | SCORE, MANY, NULL, in_file, false },
    { "relative-paths", 0, ALL, NONE, NULL, "paths count from the current folder", false },
    { "no-restore-corpus", 0, TRAIN, NONE, NULL, "a resumed run goes on with the next batch", false },
    { "transformer-guided-alignment-layer", 0, TRAIN, ONE, NULL, "see --help for guided alignment", false },
    { "lemma-dim-emb", 0, TRAIN, ONE, NULL, "of factored vocabularies", false },
    { "version", 0, ALL, ONE, NULL, "of the Marian that wrote the file", false },

    /* what would be learned or answered differs, so they are refused where they are switched on */
    { "transformer-tied-layers", 0, TRAIN, MANY, missing, "layers are not tied", false },
    { "transformer-depth-scaling", 0, TRAIN, NONE, missing, "weights are not scaled by depth", false },
    { "transformer-pool", 0, TRAIN, NONE, missing, "the decoder attends to every source token", false },
    { "transformer-no-bias", 0, TRAIN, NONE, missing, "layers have biases", false },
    { "transformer-no-affine", 0, TRAIN, NONE, missing, "norms have scale and bias", false },
    { "transformer-no-projection", 0, TRAIN, NONE, missing, "heads are projected", false },
    { "alibi", 0, TRAIN, NONE, missing, "`regard list reaches` lists the masks there are", false },
    { "tied-embeddings-src", 0, TRAIN, NONE, missing, "--tied-embeddings-all or --tied-embeddings", false },
    { "right-left", 0, TRAIN, NONE, missing, "reverse the target lines instead", false },
    { "data-weighting", 0, TRAIN, ONE, missing, "pairs have equal weight; repeat lines instead", false },
    { "dropout-src", 0, TRAIN, ONE, missing, "--transformer-dropout drops embeddings", false },
    { "dropout-trg", 0, TRAIN, ONE, missing, "--transformer-dropout drops embeddings", false },
    { "mini-batch-words-ref", 0, TRAIN, ONE, missing, "rates are not scaled by batch size", false },
    { "mini-batch-warmup", 0, TRAIN, ONE, missing, "batches have one size", false },
    { "mini-batch-track-lr", 0, TRAIN, NONE, missing, "batches have one size", false },
    { "embedding-vectors", 0, TRAIN, MANY, missing, "--init-from takes weights of a model file", false },
    { "all-caps-every", 0, TRAIN, ONE, missing, "change the corpus instead", false },
    { "english-title-case-every", 0, TRAIN, ONE, missing, "change the corpus instead", false },
    { "ulr", 0, TRAIN, NONE, missing, "universal language representation", false },
    { "quantize-bits", 0, TRAIN, ONE, missing, "`regard quantize` works on a trained model", false },
    { "dim-rnn", 0, TRAIN, ONE, missing, recurrent_text, false },
    { "enc-cell", 0, TRAIN, ONE, missing, recurrent_text, false },
    { "force-decode", 0, TRANSLATE, NONE, missing, "--prefix has words that every answer begins with", false },
    { "no-spm-decode", 0, TRANSLATE, NONE, missing, "--json has the tokens", false },
    { "no-spm-encode", 0, ALL, NONE, missing, "lines are plain text", false },
    { "weights", 0, TRANSLATE, MANY, missing, "models of an ensemble have equal weight", false },
    { "output-approx-knn", 0, TRANSLATE, MANY, missing, "--shortlist", false },
};

/* --------------------------------------------------------------------------------------------------- looking */

static int command_of(const rg_call *call)
{
    static const char *const names[] = { "train", "translate", "score" };
    for (int i = 0; i < 3; i++)
        if (strcmp(call->command->name, names[i]) == 0) return 1 << i;
    return 0;
}

static const marian_row *find(const rg_call *call, const char *name, char letter)
{
    const int command = command_of(call);
    for (size_t i = 0; command && i < sizeof table / sizeof *table; i++)
        if ((table[i].commands & command) && (name ? strcmp(table[i].name, name) == 0 : table[i].letter == letter))
            return &table[i];
    return NULL;
}

const char *rg_marian_name(const rg_call *call, const char *name, char letter)
{
    const marian_row *row = name || letter ? find(call, name, letter) : NULL;
    return row ? row->name : NULL;
}

static bool is_flag(const char *word) { return word[0] == '-' && isalpha((unsigned char)word[1 + (word[1] == '-')]); }

size_t rg_marian_take(const rg_call *call, const char *name, int left, const char *const *words)
{
    const marian_row *row = find(call, name, 0);
    size_t            count = 0, most = row && row->takes == MANY ? SIZE_MAX : row && row->takes != NONE;
    while (count < most && count < (size_t)left && !is_flag(words[count])) count++;
    if (row && row->takes == NONE && left && (!strcmp(words[0], "true") || !strcmp(words[0], "false"))) count = 1;
    return count;
}

rg_status rg_marian_set(void *context, const char *name, size_t n, const char *const *word, bool *out_taken)
{
    rg_call          *call = context;
    const marian_row *row = find(call, name, 0);
    size_t            group;
    *out_taken = false;
    if (!row || (!row->over && rg_option_find(call->groups, call->count, name, &group))) return RG_OK;
    if (row->takes == ONE && n != 1) return rg_fail(RG_EINVAL, "--%s needs a value", name);
    return row->set ? row->set(call, row, n, word, out_taken) : needless(call, row, out_taken);
}

/* --------------------------------------------------------------------------------------------------- the end */

/* The norm of a sub-layer stands before it or behind it. */
static rg_status place_norm(rg_call *call)
{
    const rg_marian_notes *m = &call->marian;
    bool                   taken;
    if (!m->after_said && !m->norm_before) return RG_OK;
    if (m->norm_before && m->norm_after)
        return rg_fail(RG_EINVAL, "--transformer-preprocess and --transformer-postprocess both have a norm; one of them here");
    if (!m->norm_before && !m->norm_after)
        return rg_fail(RG_EINVAL, "no norm in --transformer-preprocess or --transformer-postprocess; one of them has it here");
    if (m->norm_after && m->norm_top)
        return rg_fail(RG_EINVAL, "--transformer-postprocess-top n: a norm after the last layer comes with "
                                  "--transformer-preprocess n here");
    return put(call, "transformer-norm", m->norm_before ? "pre" : "post", &taken);
}

typedef struct {
    char name[80], reason[200];
} noted;

static void copy_part(char *out, size_t room, const char *from, size_t count)
{
    if (count >= room) count = room - 1;
    memcpy(out, from, count);
    out[count] = '\0';
}

/* The note at *at, a line, and on to the next; false at the end. */
static bool next_note(noted *out, const char **at)
{
    const size_t name = strcspn(*at, "\t\n"), all = strcspn(*at, "\n");
    if (!all || name == all) return false; /* the last one may be cut */
    copy_part(out->name, sizeof out->name, *at, name);
    copy_part(out->reason, sizeof out->reason, *at + name + 1, all - name - 1);
    *at += all + ((*at)[all] == '\n');
    return true;
}

rg_status rg_marian_check(rg_call *call)
{
    char        line[2048] = "";
    noted       n;
    const char *at = call->marian.missing, *sign = "";
    RG_TRY(place_norm(call));
    if (!*at) return RG_OK;
    while (next_note(&n, &at)) {
        const size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%s (%s)", sign, n.name, n.reason);
        sign = ", ";
    }
    return rg_fail(RG_EINVAL, "known to Marian, not done here: %s", line);
}

void rg_marian_remark(FILE *out, const rg_call *call)
{
    noted       n;
    const char *at = call->marian.needless;
    if (!*at) return;
    fputs("known to Marian, not needed here:\n", out);
    while (next_note(&n, &at)) fprintf(out, "  %-22s %s\n", n.name, n.reason);
}
