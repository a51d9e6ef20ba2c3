/* translation_options.c - where the text is, how it is cut into subwords and batches, how a translator is validated. */
#include "tasks/translation.h"

#include <string.h>

#include "regard/reader.h"

#define AT(field) offsetof(rg_translation_options, field)

const rg_option rg_translation_rows[] = {
    { RG_OPTION_LIST, "train-sets", AT(train_sets), "",
      "source and target file, line by line the same sentences, or one table of both; .gz, .zst allowed", 't', NULL },
    { RG_OPTION_LIST, "valid-sets", AT(valid_sets), "", "the same for validation", 0, NULL },
    { RG_OPTION_STRING, "source-lang", AT(source_lang), "",
      "language translated from, stored in the model; empty: guessed from the file's ending (train.en: en)", 0, NULL },
    { RG_OPTION_STRING, "target-lang", AT(target_lang), "", "language translated to, likewise", 0, NULL },
    { RG_OPTION_BOOL, "tsv", AT(tsv), "false", "sets are one file each: source TAB target; the same as --format tsv", 0,
      NULL },
    { RG_OPTION_STRING, "format", AT(format), "",
      "of sets that are one file each: tsv, csv, jsonl (docs/data.md); empty: recognised", 0, NULL },
    { RG_OPTION_STRING, "columns", AT(columns), "",
      "columns of source and target in such a file, by name or number: text,title or 2,3; empty: source,target or 1,2",
      0, NULL },
    { RG_OPTION_STRING, "header", AT(header), "auto", "is the first line of tsv and csv files names of columns?", 0,
      "auto|yes|no" },
    { RG_OPTION_LIST, "vocabs", AT(vocabs), "",
      "vocabulary files (SentencePiece .model or .vocab, Marian .yml, words) of source and target, or one for both; or "
      "a model file, whose own are taken",
      'v', NULL },
    { RG_OPTION_LIST, "dim-vocabs", AT(dim_vocabs), "8000",
      "tokens of source and target vocabulary, or of the joint one", 0, NULL },
    { RG_OPTION_STRING, "vocab-kind", AT(vocab_kind), "unigram", "how text is cut into tokens", 0,
      "unigram|bpe|char|word|words|characters|tokens" },
    { RG_OPTION_INT, "vocab-min-count", AT(vocab_min_count), "1", "words and characters: rarer ones become unknown", 0,
      "[0,inf)" },
    { RG_OPTION_LIST, "sentencepiece-alphas", AT(alphas), "",
      "cut source and target into other tokens each epoch: bpe leaves out such a share of merges, unigram draws by "
      "p^this",
      0, NULL },
    { RG_OPTION_LIST, "user-symbols", AT(user_symbols), "",
      "words such as <name> that are always one token, whatever the text (SentencePiece)", 0, NULL },
    { RG_OPTION_STRING, "sentencepiece-options", AT(spm_options), "",
      "more settings of SentencePiece's trainer: '--character_coverage=0.9995 --byte_fallback=true'", 0, NULL },
    { RG_OPTION_INT, "sentencepiece-max-lines", AT(spm_lines), "2000000",
      "most lines, drawn by --seed, that a vocabulary is learned from; 0: all", 0, "[0,inf)" },
    { RG_OPTION_INT, "sentencepiece-max-mib", AT(spm_mib), "32",
      "most MiB of such lines; learning takes some 25 times as much memory; 0: all", 0, "[0,1000000]" },
    { RG_OPTION_STRING, "normalization", AT(form), "nfc",
      "form of the text; lower: composed (nfc) and in lower case, answers too", 0, "nfc|nfkc|none|lower" },
    { RG_OPTION_BOOL, "joint-vocab", AT(joint), "true", "one vocabulary for both languages", 0, NULL },
    { RG_OPTION_INT, "max-length", AT(max_length), "100", "longest sentence in tokens", 0, "[1,1000000]" },
    { RG_OPTION_BOOL, "max-length-crop", AT(crop), "false", "crop longer ones instead of leaving the pair out", 0,
      NULL },
    { RG_OPTION_INT, "mini-batch", AT(mini_batch), "0",
      "most pairs in a batch, beside --mini-batch-words; 0: no limit. The last two batches share the remainder", 0,
      "[0,inf)" },
    { RG_OPTION_INT, "mini-batch-words", AT(mini_batch_words), "2000",
      "most target tokens in a batch, beside --mini-batch; 0: no limit, or what fits --workspace", 0, "[0,inf)" },
    { RG_OPTION_INT, "maxi-batch", AT(maxi_batch), "10",
      "so many times mini-batch pairs (0: 1000) are sorted by length together; 0: not sorted", 0, "[0,inf)" },
    { RG_OPTION_INT, "workspace", AT(workspace), "0", "MiB that batches may take; 0: not limited", 'w',
      "[0,1000000000]" },
    { RG_OPTION_INT, "corpus-memory", AT(corpus_memory), "256",
      "MiB of text in two plain files (--workspace, where that is less) beyond which shards of lines are read, encoded "
      "and shuffled when they are needed; 0: never (docs/large-corpora.md)",
      0, "[0,1000000000]" },
    { RG_OPTION_STRING, "cache", AT(cache), "",
      "directory where such shards are kept once they are encoded; empty: beside the target file; none: nowhere", 0,
      NULL },
    { RG_OPTION_STRING, "guided-alignment", AT(guided), "",
      "a head learns word alignments too: file of links (0-0 1-2) per training pair, or auto: the built-in aligner", 0,
      NULL },
    { RG_OPTION_REAL, "guided-alignment-weight", AT(guided_weight), "0.1", "of that loss", 0, "(0,inf)" },
    { RG_OPTION_INT, "guided-alignment-layer", AT(guided_layer), "0",
      "which layer that looks at the source, from 1; 0: the last", 0, "[0,1000]",
      "transformer-guided-alignment-layer" },
    { RG_OPTION_INT, "guided-alignment-head", AT(guided_head), "0", "which head, from 0; -1: the mean", 0,
      "[-1,1000]" },
    { RG_OPTION_BOOL, "guided-alignment-shift", AT(guided_shift), "false",
      "learn a token's links one step later, when the decoder has read it: better alignments", 0, NULL },
    { RG_OPTION_LIST, "valid-metrics", AT(metrics), "bleu chrf perplexity",
      "the first one decides: bleu, chrf, perplexity, exact, cross-entropy (nats per pair), ce-mean-words, ce-sum, "
      "bleu-segmented, translation and valid-script (what --valid-script-path prints)", 0, NULL },
    { RG_OPTION_STRING, "valid-script-path", AT(script), "",
      "command that prints one number: translation gets the file of translations as its last argument", 0, NULL },
    { RG_OPTION_LIST, "valid-script-args", AT(script_args), "", "arguments before that file", 0, NULL },
    { RG_OPTION_STRING, "valid-translation-output", AT(translation_output), "",
      "write the translations of a validation here; {U}: updates, {E}: epoch, {B}: its batches, {T}: tokens", 0, NULL },
    { RG_OPTION_INT, "beam-size", AT(beam), "4", "of validation", 'b', "[1,1000]" },
    { RG_OPTION_REAL, "normalize", AT(normalize), "1", "of validation: score is log p / length^this", 'n', "[0,inf)",
      NULL, "1" },
    { RG_OPTION_REAL, "max-length-factor", AT(max_length_factor), "2",
      "of validation: answers end at this times the source length", 0, "[0,inf)" },
    { RG_OPTION_INT, "valid-samples", AT(samples), "3", "translations shown at each validation", 0, "[0,inf)",
      "samples" },
    RG_OPTION_END
};

bool rg_translation_is_table(const rg_translation_options *o)
{
    return o->tsv || *o->format || *o->columns || o->train_sets.count == 1;
}

rg_reader_config rg_translation_table(const rg_translation_options *o)
{
    static const char *const wanted[] = { "source", "target" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    c.format = o->tsv ? "tsv" : o->format;
    c.columns = o->columns;
    c.header = strcmp(o->header, "yes") == 0  ? RG_HEADER_YES
               : strcmp(o->header, "no") == 0 ? RG_HEADER_NO
                                              : RG_HEADER_AUTO;
    c.wanted = wanted;
    c.wanted_count = 2;
    return c;
}
