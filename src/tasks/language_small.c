/* language_small.c - texts for tests and the demo: English sentences of the built-in grammar. */
#include "regard/grammar.h"
#include "regard/made.h"
#include "regard/made.h"
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
                         "lr-warmup: 50\nlr-schedule: cosine\nafter-batches: 900\nvalid-freq: 450\n"
                       : "mini-batch: 3\ncontext: 9\nchunk: 4\nbptt: 6\nafter-batches: 8\nvalid-freq: 4\n");
    rg_grammar_free(grammar);
    rg_free(train);
    rg_free(valid);
    return status;
}

/* Sentences of `regard make longrange` as lines, and the validation lines once more for --cloze. */
static rg_status write_longrange(const char *folder, const char *split, const char *path)
{
    char        *from = rg_format("%s/longrange/%s.tsv", folder, split);
    rg_line_list lines = { 0 };
    rg_text      text = { 0 };
    rg_status    status = from ? rg_line_list_read(&lines, from, 0) : RG_ENOMEM;
    for (size_t i = 1; status == RG_OK && i < lines.count; i++) status = rg_text_print(&text, "%s\n", lines.line[i]);
    if (status == RG_OK) status = rg_file_replace(path, text.data, text.length);
    rg_line_list_free(&lines);
    rg_text_free(&text);
    rg_free(from);
    return status;
}

static rg_status small_longrange(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    char      *train = rg_format("%s/train.txt", folder), *valid = rg_format("%s/valid.txt", folder),
         *made = rg_format("%s/longrange", folder);
    rg_status status = train && valid && made ? RG_OK : RG_ENOMEM;
    if (status == RG_OK)
        status = rg_generator_write(&rg_generator_longrange, made,
                                    demo ? "distance: 20\ncount: 6000\nvalid: 300\ntest: 0\n"
                                         : "distance: 5\ncount: 30\nvalid: 5\ntest: 0\n");
    if (status == RG_OK) status = write_longrange(folder, "train", train);
    if (status == RG_OK) status = write_longrange(folder, "valid", valid);
    if (status == RG_OK)
        status =
            rg_text_print(yaml, "train-sets: [%s]\nvalid-sets: [%s]\ncloze: %s\nvocab-kind: tokens\ndim-vocabs: 0\n",
                          train, valid, valid);
    if (status == RG_OK)
        status = rg_text_print(yaml, demo ? "mini-batch: 16\ncontext: 96\nlearn-rate: 0.005\nlr-warmup: "
                                            "50\nlr-schedule: cosine\nafter-batches: 700\nvalid-freq: 350\n"
                                          : "mini-batch: 3\ncontext: 9\nafter-batches: 8\nvalid-freq: 4\n");
    rg_free(train);
    rg_free(valid);
    rg_free(made);
    return status;
}

/* "I am Bond , James" ... and who it is: the last names, which must all be predicted. */
static rg_status bond_small(rg_text *yaml, const char *folder, rg_small_size size)
{
    static const char lines[] = "I am Bond , James Bond\nI am McGuire , Jerry McGuire\nmy name is Leiter , Felix "
                                "Leiter\nI am Lynd , Vesper Lynd\n";
    const bool        demo = size == RG_SMALL_DEMO;
    char             *cloze = rg_format("%s/cloze.txt", folder);
    rg_status         status = cloze ? rg_file_replace(cloze, lines, sizeof lines - 1) : RG_ENOMEM;
    if (status == RG_OK)
        status = rg_generator_write(&rg_generator_bond, folder,
                                    demo ? "count: 1000\nvalid: 100\ntest: 0\n" : "count: 20\nvalid: 5\ntest: 0\n");
    if (status == RG_OK)
        status = rg_text_print(yaml,
                               "train-sets: [%s/train.txt]\nvalid-sets: [%s/valid.txt]\ncloze: %s\nvocab-kind: "
                               "tokens\nmini-batch: 10\nchunk: 16\n"
                               "learn-rate: 0.01\nvalid-samples: 0\nafter-batches: %d\nvalid-freq: %d\n",
                               folder, folder, cloze, demo ? 300 : 4, demo ? 150 : 2);
    rg_free(cloze);
    return status;
}

const rg_demo rg_language_demos[] = {
    { .name = "bond",
      .summary = "an LSTM learns who introduces himself: after \"I am Bond , James\" comes Bond",
      .type = "lm",
      .settings = "dim-emb: 16\ndim-rnn: 32\nlayers: 1\n",
      .metric = "cloze",
      .expected = 1,
      .ask = "I am Bond , James",
      .asking = "top: 3\n",
      .small = bond_small },
    { .name = "language",
      .summary = "a small gpt learns, letter by letter, to write sentences of the built-in grammar",
      .type = "gpt",
      .settings = "dim-emb: 96\nlayers: 3\ntransformer-heads: 4\n",
      .metric = "perplexity",
      .below = true,
      .expected = 2.4,
      .ask = "the small dog" },
    { .name = "longrange",
      .summary = "a small gpt learns that a last word depends on a cue twenty words before, and shows where it looks",
      .type = "gpt",
      .settings = "dim-emb: 64\nlayers: 2\ntransformer-heads: 4\ntransformer-positions: sinusoidal\n",
      .metric = "cloze",
      .expected = 0.95,
      .ask = "John arrived early at the train station and often alone still twice soon gladly waited until 2pm for the",
      .small = small_longrange },
    { .name = "generate",
      .summary = "an LSTM learns sentences of the built-in grammar word by word, and writes some",
      .type = "lm",
      .settings = "vocab-kind: words\ndim-emb: 64\ndim-rnn: 128\nlayers: 1\nchunk: 32\nmini-batch: 16\nlearn-rate: "
                  "0.005\nafter-batches: 600\n"
                  "valid-freq: 300\n",
      .metric = "perplexity",
      .below = true,
      .expected = 20,
      .ask = "the small dog",
      .drawing = "prompt: [the, a small]\nsamples: 3\nlength: 30\none-line: true\ntemperature: 0.8\n" },
    { 0 },
};
