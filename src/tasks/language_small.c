/* language_small.c - texts for tests and the demo: English sentences of the built-in grammar. */
#include "regard/grammar.h"
#include "tasks/language.h"

static rg_status write_part(rg_grammar *grammar, rg_grammar_part part, size_t lines, const char *path)
{
    rg_text   text = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < lines; i++) {
        rg_grammar_pair pair;
        status = rg_grammar_next(&pair, grammar, part);
        if (status == RG_OK) status = rg_text_print(&text, "%s\n", pair.english);
    }
    if (status == RG_OK) status = rg_file_replace(path, text.data, text.length);
    rg_text_free(&text);
    return status;
}

rg_status rg_language_small(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool  demo = size == RG_SMALL_DEMO;
    rg_grammar *grammar = NULL;
    char       *train = rg_format("%s/train.txt", folder), *valid = rg_format("%s/valid.txt", folder);
    rg_status   status = train && valid ? rg_grammar_new(&grammar, 1) : RG_ENOMEM;
    if (status == RG_OK) status = write_part(grammar, RG_GRAMMAR_TRAIN, demo ? 5000 : 30, train);
    if (status == RG_OK) status = write_part(grammar, RG_GRAMMAR_VALID, demo ? 300 : 5, valid);
    if (status == RG_OK) status = rg_text_print(yaml, "train-sets: [%s]\nvalid-sets: [%s]\n", train, valid);
    if (status == RG_OK)
        status = rg_text_print(
            yaml, demo ? "vocab-kind: characters\nmini-batch: 16\ncontext: 64\nchunk: 64\nlearn-rate: 0.003\n"
                         "lr-warmup: 50\nlr-schedule: cosine\nafter-batches: 1300\nvalid-freq: 650\n"
                       : "mini-batch: 3\ncontext: 9\nchunk: 4\nbptt: 6\nafter-batches: 8\nvalid-freq: 4\n");
    rg_grammar_free(grammar);
    rg_free(train);
    rg_free(valid);
    return status;
}

const rg_demo rg_language_demos[] = {
    { .name = "language",
      .summary = "a small gpt learns, letter by letter, to write sentences of the built-in grammar",
      .type = "gpt",
      .settings = "dim-emb: 96\nlayers: 3\ntransformer-heads: 4\n",
      .metric = "perplexity",
      .below = true,
      .expected = 2.4,
      .ask = "the small dog" },
    { 0 },
};
