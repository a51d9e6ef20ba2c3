/* cmd_shortlist.c - which target tokens can translate which source tokens, from parallel text. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "regard/task.h"
#include "regard/translate.h"

typedef struct {
    char   *model, *output, *into;
    rg_list sets, vocabularies;
    int64_t first, best, lines, iterations;
    bool    quiet;
} settings;

static const rg_option options[] = {
    { RG_OPTION_LIST, "train-sets", offsetof(settings, sets), "", "two files of lines that translate each other", 't',
      NULL },
    { RG_OPTION_STRING, "model", offsetof(settings, model), "", "model file whose vocabularies cut the lines", 'm',
      NULL },
    { RG_OPTION_LIST, "vocabs", offsetof(settings, vocabularies), "",
      "or vocabulary files, one (joint) or two; neither: words between blanks", 'v', NULL },
    { RG_OPTION_STRING, "output", offsetof(settings, output), "", "file to write, in Marian's text form; FILE.bin: in its binary form",
      'o', NULL },
    { RG_OPTION_STRING, "into", offsetof(settings, into), "", "model file to write, with the list in it (needs -m)", 0,
      NULL },
    { RG_OPTION_INT, "first", offsetof(settings, first), "100", "most frequent target tokens", 0, "[0,1000000]" },
    { RG_OPTION_INT, "best", offsetof(settings, best), "100", "translations of each source token", 0, "[1,1000000]" },
    { RG_OPTION_INT, "lines", offsetof(settings, lines), "100000", "lines that are aligned, spread over the files", 0,
      "[1,1000000000]" },
    { RG_OPTION_INT, "iterations", offsetof(settings, iterations), "5", "rounds of the aligner (IBM model 1)", 0,
      "[1,1000]" },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "do not print the sizes", 0, NULL },
    RG_OPTION_END
};

static rg_status check(const settings *s)
{
    if (s->sets.count != 2) return rg_fail(RG_EINVAL, "which texts? -t SOURCE TARGET");
    if (!s->output[0] && !s->into[0]) return rg_fail(RG_EINVAL, "where to? -o FILE, or --into MODEL.safetensors");
    if (s->into[0] && !s->model[0]) return rg_fail(RG_EINVAL, "--into writes a model with the list in it: -m says which");
    if (s->vocabularies.count > 2 || (s->vocabularies.count && s->model[0]))
        return rg_fail(RG_EINVAL, "vocabularies are those of -m, or one or two files of -v");
    for (size_t i = 0; i < 2; i++) {
        RG_TRY(rg_output_is_not("output", s->output, s->sets.items[i]));
        RG_TRY(rg_output_is_not("into", s->into, s->sets.items[i]));
    }
    RG_TRY(rg_output_is_not("output", s->output, s->model));
    return rg_output_is_not("into", s->into, s->model);
}

static rg_status words_of(rg_vocab **out, const char *path)
{
    rg_vocab_config    config = RG_VOCAB_CONFIG_DEFAULT;
    const rg_text_side file = { .path = path, .column = -1 };
    config.kind = RG_VOCAB_WORDS;
    config.size = 0;
    return rg_vocab_train_files(out, &config, &file, 1);
}

/* out[0], out[1]: the same when joint. */
static rg_status open_vocabularies(rg_vocab *out[2], const settings *s)
{
    const rg_list *v = &s->vocabularies;
    if (!v->count) {
        RG_TRY(words_of(&out[0], s->sets.items[0]));
        return words_of(&out[1], s->sets.items[1]);
    }
    RG_TRY(rg_vocab_load(&out[0], v->items[0]));
    if (v->count == 2) return rg_vocab_load(&out[1], v->items[1]);
    out[1] = out[0];
    return RG_OK;
}

static rg_status make(const settings *s, rg_translator *t, const rg_vocab *source, const rg_vocab *target)
{
    const rg_shortlist_config c = { .first = (size_t)s->first,
                                    .best = (size_t)s->best,
                                    .lines = (size_t)s->lines,
                                    .iterations = (int)s->iterations };
    rg_shortlist             *list;
    RG_TRY(rg_shortlist_learn(&list, source, target, s->sets.items[0], s->sets.items[1], &c));
    const rg_shortlist_size size = rg_shortlist_size_of(list);
    rg_status               status = s->output[0] ? rg_shortlist_save(list, source, target, s->output) : RG_OK;
    if (status == RG_OK && s->into[0]) {
        status = rg_translator_set_shortlist(t, list);
        list = NULL;
        if (status == RG_OK) status = rg_translator_save(t, s->into);
    }
    rg_shortlist_free(list);
    if (status == RG_OK && !s->quiet)
        printf("%s: %zu translations of %zu tokens, %zu frequent ones of %zu\n", s->output[0] ? s->output : s->into,
               size.pairs, rg_vocab_size(source), size.frequent, size.target);
    return status;
}

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    rg_vocab       *vocab[2] = { NULL, NULL };
    rg_translator  *t = NULL;
    RG_TRY(check(s));
    rg_status status = s->model[0] ? rg_translator_load(&t, s->model) : open_vocabularies(vocab, s);
    if (status == RG_OK) status = make(s, t, t ? t->source : vocab[0], t ? t->target : vocab[1]);
    if (vocab[1] != vocab[0]) rg_vocab_free(vocab[1]);
    rg_vocab_free(vocab[0]);
    rg_translator_free(t);
    return status;
}

const rg_command rg_command_shortlist = {
    .name = "shortlist",
    .summary = "which target tokens translate which source tokens, for faster answers",
    .details = "Aligns the tokens of parallel text (IBM model 1) and writes, for each source token, its likeliest "
               "translations, and the most frequent target tokens. translate and serve then compute the output layer "
               "for those alone (--shortlist FILE, or the list in the model file that --into writes): an "
               "approximation, docs/shortlist.md.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
