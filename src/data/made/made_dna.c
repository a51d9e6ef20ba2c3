/* made_dna.c - `regard make dna`: strands of bases with genes in them, a base and its tag per line and an empty line
 * behind each strand (CoNLL).
 *
 *   ... T A T A A T  (4 to 7 bases)  A T G  codons ...  T A A        the gene is ATG up to a stop codon (TAA, TAG, TGA)
 *                                    B I I  I ...       I I I        all else is O
 *
 * Only an ATG shortly behind TATAAT begins a gene; others are decoys. Where it ends is told by the first stop codon in
 * its frame, a multiple of three bases later: neither is seen from a few bases alone. */
#include <string.h>

#include "regard/made.h"
#include "regard/text.h"

typedef struct {
    int64_t count, seed;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "count", offsetof(settings, count), "1500", "strands", 'n', "[1,10000000]" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of the strands", 0, "[0,inf)" },
    RG_OPTION_END
};

static char base(rg_random *r) { return "ACGT"[rg_random_below(r, 4)]; }

static rg_status add(rg_text *out, const char *bases, size_t n, const char *first, const char *rest)
{
    for (size_t i = 0; i < n; i++) RG_TRY(rg_text_print(out, "%c\t%s\n", bases[i], i ? rest : first));
    return RG_OK;
}

/* Bases between genes; now and then an ATG that begins none. */
static rg_status add_between(rg_text *out, rg_random *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char one = base(r);
        RG_TRY(add(out, &one, 1, "O", "O"));
    }
    return rg_random_below(r, 2) ? add(out, "ATG", 3, "O", "O") : RG_OK;
}

static bool stops(const char *codon)
{
    return memcmp(codon, "TAA", 3) == 0 || memcmp(codon, "TAG", 3) == 0 || memcmp(codon, "TGA", 3) == 0;
}

static rg_status add_gene(rg_text *out, rg_random *r)
{
    static const char *const stop[] = { "TAA", "TAG", "TGA" };
    char                     gene[64] = "ATG";
    const size_t             codons = 4 + (size_t)rg_random_below(r, 8), gap = 4 + (size_t)rg_random_below(r, 4);
    size_t                   n = 3;
    for (size_t i = 0; i < codons; i++, n += 3) {
        do
            for (size_t k = 0; k < 3; k++) gene[n + k] = base(r);
        while (stops(gene + n));
    }
    memcpy(gene + n, stop[rg_random_below(r, 3)], 3);
    RG_TRY(add(out, "TATAAT", 6, "O", "O"));
    for (size_t i = 0; i < gap; i++) RG_TRY(add(out, &"ACGT"[rg_random_below(r, 4)], 1, "O", "O"));
    return add(out, gene, n + 3, "B-GENE", "I-GENE");
}

static rg_status add_strand(rg_text *out, rg_random *r)
{
    const size_t genes = (size_t)rg_random_below(r, 3);
    for (size_t i = 0; i < genes; i++) {
        RG_TRY(add_between(out, r, 5 + (size_t)rg_random_below(r, 15)));
        RG_TRY(add_gene(out, r));
    }
    RG_TRY(add_between(out, r, 5 + (size_t)rg_random_below(r, 15)));
    return rg_text_add_string(out, "\n");
}

static rg_status write_dna(const char *path, const void *values)
{
    const settings *s = values;
    rg_random       random = rg_random_new((uint64_t)s->seed, 0);
    rg_text         text = { 0 };
    rg_status       status = RG_OK;
    for (int64_t i = 0; status == RG_OK && i < s->count; i++) status = add_strand(&text, &random);
    if (status == RG_OK) status = rg_file_replace(path, text.data, text.length);
    rg_text_free(&text);
    return status;
}

const rg_generator rg_generator_dna = {
    .name = "dna",
    .summary = "strands of DNA with genes in them, a tag per base",
    .writes = "OUT: a base and its tag per line, an empty line behind each strand (CoNLL)",
    .options = options,
    .options_bytes = sizeof(settings),
    .write = write_dna,
};
