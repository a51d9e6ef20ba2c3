/* translation_options.c - where the text is, how it is cut into subwords and batches, how a translator is validated. */
#include "tasks/translation.h"

#include <stdlib.h>

#define AT(field) offsetof(rg_translation_options, field)

const rg_option rg_translation_rows[] = {
    { RG_OPTION_LIST, "train-sets", AT(train_sets), "",
      "source and target file, line by line the same sentences; .gz allowed", 't', NULL },
    { RG_OPTION_LIST, "valid-sets", AT(valid_sets), "", "the same for validation", 0, NULL },
    { RG_OPTION_STRING, "source-lang", AT(source_lang), "",
      "language translated from, stored in the model; empty: guessed from the file's ending (train.en: en)", 0, NULL },
    { RG_OPTION_STRING, "target-lang", AT(target_lang), "", "language translated to, likewise", 0, NULL },
    { RG_OPTION_BOOL, "tsv", AT(tsv), "false", "sets are one file each: source TAB target", 0, NULL },
    { RG_OPTION_LIST, "columns", AT(columns), "",
      "with --tsv: the columns of source and target, numbers from 1, such as 2,3; none: 1,2", 0, NULL },
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
    { RG_OPTION_LIST, "valid-metrics", AT(metrics), "bleu chrf perplexity",
      "the first one decides: bleu, chrf, perplexity, exact", 0, NULL },
    { RG_OPTION_INT, "beam-size", AT(beam), "4", "of validation", 'b', "[1,1000]" },
    { RG_OPTION_REAL, "normalize", AT(normalize), "1", "of validation: score is log p / length^this", 0, "[0,inf)" },
    { RG_OPTION_REAL, "max-length-factor", AT(max_length_factor), "2",
      "of validation: answers end at this times the source length", 0, "[0,inf)" },
    { RG_OPTION_INT, "valid-samples", AT(samples), "3", "translations shown at each validation", 0, "[0,inf)",
      "samples" },
    RG_OPTION_END
};

rg_status rg_translation_columns(int out[2], const rg_translation_options *o)
{
    long long   n[2] = { 1, 2 };
    size_t      count = 0;
    const char *bad = NULL;
    out[0] = out[1] = -1;
    if (!o->tsv)
        return o->columns.count ? rg_fail(RG_EINVAL, "--columns is for one file with tabs: give --tsv") : RG_OK;
    for (size_t i = 0; i < o->columns.count && !bad; i++)
        for (char *at = o->columns.items[i]; *at && !bad;) {
            char           *end;
            const long long value = strtoll(at, &end, 10);
            if (end == at || (*end && *end != ',') || value < 1 || value > 1000 || count == 2)
                bad = o->columns.items[i];
            else n[count++] = value;
            at = *end ? end + 1 : end;
        }
    if (bad || count == 1)
        return rg_fail(RG_EINVAL, "--columns %s: two numbers from 1, of source and target, such as 2,3",
                       bad ? bad : o->columns.items[0]);
    for (int side = 0; side < 2; side++) out[side] = (int)n[side] - 1;
    return RG_OK;
}
