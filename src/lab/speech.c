/* speech.c - `regard reproduce speech`: spoken digits, one by one, of a speaker that was never heard, and in strings;
 * words that espeak-ng spells (tools/speak-spelled makes them, into the folder of the data). */
#include <string.h>

#include "lab/rows.h"
#include "lab/speech_data.h"

#define HEARD "--mini-batch 32 --early-stopping 0 --restore-best false --lr-schedule cosine --lr-least 0.00005 "
#define DIGITS "--type classifier --sound-stack 2 " HEARD
#define USUAL DIGITS "--sound-mels 24 --sound-range 35 --dim-emb 48 --width 64 --dropout-emb 0.3 --dropout-words 0.2 --after-epochs 20 "
/* Fewer bands: the harmonics of a voice are not told apart, its formants are. */
#define UNKNOWN DIGITS "--sound-mels 16 --sound-range 35 --after-epochs 15 "
#define ATTENTION UNKNOWN "--dim-emb 48 --width 64 --dropout-emb 0.3 --dropout-words 0.2 "
#define WINDOWS UNKNOWN "--encoder cnn --pool max --dim-emb 64 --maps 64 --dropout-emb 0.1 --dropout-words 0 "
#define STRINGS                                                                                                           \
    "--type listen --vocab-kind characters --sound-mels 20 --sound-range 35 --sound-stack 3 --dim-in 64 --width 96 "      \
    "--dim-emb 32 --dim-rnn 128 --dropout-in 0.3 --dropout-rnn 0.2 --learn-rate 0.002 --after-epochs 25 "                 \
    "--sound-augment warp:0.08,stretch:0.15,noise:0.2,bands:3,frames:9 " HEARD

/* 26 letters, ten of which rhyme with E: more bands and a wider network. */
#define SPELLED STRINGS "--sound-mels 32 --width 128 --after-epochs 30 "

static const rg_row rows[] = {
    { "digits", USUAL, 1, 0, "digits", NULL },
    { "without-george", ATTENTION, 2, 0, "george", NULL },
    { "without-jackson", ATTENTION, 2, 0, "jackson", NULL },
    { "without-lucas", ATTENTION, 2, 0, "lucas", NULL },
    { "without-nicolas", ATTENTION, 2, 0, "nicolas", NULL },
    { "without-theo", ATTENTION, 2, 0, "theo", NULL },
    { "without-yweweler", ATTENTION, 2, 0, "yweweler", NULL },
    { "windows-george", WINDOWS, 2, 0, "george", NULL },
    { "windows-jackson", WINDOWS, 2, 0, "jackson", NULL },
    { "windows-lucas", WINDOWS, 2, 0, "lucas", NULL },
    { "windows-nicolas", WINDOWS, 2, 0, "nicolas", NULL },
    { "windows-theo", WINDOWS, 2, 0, "theo", NULL },
    { "windows-yweweler", WINDOWS, 2, 0, "yweweler", NULL },
    { "strings", STRINGS, 1, 0, "strings", NULL },
    { "strings-mean", STRINGS "--attention mean ", 1, 0, "strings", NULL },
    { "spelled", SPELLED, 1, 0, "spelled", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-accuracy", "digits %", 2, 100 },
    { "valid-accuracy", "valid %", 2, 100 },
    { "test-exact", "strings %", 2, 0 },
    { "test-error", "error %", 2, 0 },
    { "test-monotone", "monotone %", 2, 0 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "digits", NULL, 0.95, "test-accuracy", "digits, the usual split", 0 },
    { RG_CLAIM_LEAST, "without-george", NULL, 0.85, "test-accuracy", "a speaker never heard", 0 },
    { RG_CLAIM_LEAST, "without-jackson", NULL, 0.85, "test-accuracy", "a speaker never heard", 0 },
    { RG_CLAIM_LEAST, "without-lucas", NULL, 0.85, "test-accuracy", "a speaker never heard", 0 },
    { RG_CLAIM_LEAST, "without-nicolas", NULL, 0.85, "test-accuracy", "a speaker never heard", 0 },
    { RG_CLAIM_LEAST, "without-theo", NULL, 0.85, "test-accuracy", "a speaker never heard", 0 },
    { RG_CLAIM_LEAST, "without-yweweler", NULL, 0.85, "test-accuracy", "a speaker never heard", 0 },
    { RG_CLAIM_LEAST, "windows-george", NULL, 0.85, "test-accuracy", "the same by windows and their largest", 0 },
    { RG_CLAIM_LEAST, "windows-jackson", NULL, 0.85, "test-accuracy", "the same by windows and their largest", 0 },
    { RG_CLAIM_LEAST, "windows-lucas", NULL, 0.85, "test-accuracy", "the same by windows and their largest", 0 },
    { RG_CLAIM_LEAST, "windows-nicolas", NULL, 0.85, "test-accuracy", "the same by windows and their largest", 0 },
    { RG_CLAIM_LEAST, "windows-theo", NULL, 0.85, "test-accuracy", "the same by windows and their largest", 0 },
    { RG_CLAIM_LEAST, "windows-yweweler", NULL, 0.85, "test-accuracy", "the same by windows and their largest", 0 },
    { RG_CLAIM_LEAST, "strings", NULL, 90, "test-exact", "strings of 3 to 7 digits without a fault", 0 },
    { RG_CLAIM_LEAST, "strings", NULL, 95, "test-monotone", "attention that never goes back", 0 },
    { RG_CLAIM_ABOVE, "strings", "strings-mean", 0, "test-exact", "attention against the mean of all frames", 0 },
    { RG_CLAIM_LEAST, "spelled", NULL, 95, "test-monotone", "the same while words are spelled", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

/* Made by espeak-ng before: DATA/spelled-train.tsv ... */
static rg_status spelled_data(rg_words *out, const rg_grid_job *job)
{
    static const char *const flags[] = { "--train-sets", "--valid-sets", "--test-sets" },
                      *const parts[] = { "train", "valid", "test" };
    const char              *data = job->settings->data;
    for (size_t i = 0; i < 3; i++) {
        char     *path = rg_format("%s/spelled-%s.tsv", data, parts[i]);
        bool      there = false;
        rg_status status = path ? rg_file_exists(&there, path) : RG_ENOMEM;
        if (status == RG_OK && !there && *data) /* without a folder the row is only listed */
            status = rg_fail(RG_EIO, "%s is not there: `tools/speak-spelled %s` makes it with espeak-ng", path, data);
        if (status == RG_OK) status = rg_row_words_add(out, rg_strdup(flags[i]));
        if (status != RG_OK) rg_free(path);
        RG_TRY(status);
        RG_TRY(rg_row_words_add(out, path));
    }
    return RG_OK;
}

/* Made once into OUT/data: `about` is the beginning of the names of its tables. */
static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    const bool quick = job->settings->quick;
    if (strcmp(row->about, "spelled") == 0) return spelled_data(out, job);
    char      *folder = rg_format("%s/%s", job->out, quick ? "data-quick" : "data"),
         *done = folder ? rg_format("%s/complete", folder) : NULL, *words = NULL;
    bool        there = false;
    rg_status   status = done ? rg_file_exists(&there, done) : RG_ENOMEM;
    if (status == RG_OK && !there) status = rg_speech_make(folder, job->settings->data, quick);
    if (status == RG_OK && !there) status = rg_row_save(folder, "complete", "\n");
    if (status == RG_OK && !(words = rg_format("--train-sets %s/%s-train.tsv --valid-sets %s/%s-valid.tsv --test-sets "
                                               "%s/%s-test.tsv",
                                               folder, row->about, folder, row->about, folder, row->about)))
        status = RG_ENOMEM;
    if (status == RG_OK) status = rg_words_split(out, words);
    rg_free(folder);
    rg_free(done);
    rg_free(words);
    return status;
}

static const rg_grid grid = {
    .name = "speech",
    .heading =
        "spoken digits: single ones, those of a speaker that was left out, strings of 3 to 7; words that are spelled",
    .needs =
        "the folder with recordings.tar.gz of the Free Spoken Digit Dataset; spelled: where tools/speak-spelled wrote",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 4 --after-epochs 0",
    .data = data,
};

const rg_experiment rg_experiment_speech = {
    .name = "speech",
    .summary = "spoken digits by attention over time: alone, of an unknown speaker, in strings",
    .source = "a lecture; Chan et al. 2016; data: Free Spoken Digit Dataset",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
