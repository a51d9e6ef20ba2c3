/* Generators, walked: every row is complete, and what it writes follows from its options and seed alone. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "regard/made.h"
#include "regard/text.h"
#include "support/faults.h"

/* Options of a generator with its own defaults and, where it has such a row, a small count. */
static void *fill(const rg_generator *g, const char *seed)
{
    const char *few = "5";
    size_t      at;
    void       *values = rg_alloc_zero(g->options_bytes + 1);
    assert_non_null(values);
    if (!g->options) return values;
    const rg_option_group group = { "options", g->options, values };
    assert_int_equal(rg_options_init(g->options, values), RG_OK);
    for (size_t i = 0; i < 3; i++) {
        const char *const counts[] = { "count", "valid", "test" };
        if (rg_option_find(&group, 1, counts[i], &at))
            assert_int_equal(rg_options_set(&group, 1, counts[i], 1, &few), RG_OK);
    }
    assert_int_equal(rg_options_set(&group, 1, "seed", 1, &seed), RG_OK); /* every generator has one */
    return values;
}

static void write_into(const rg_generator *g, const char *folder, const char *seed)
{
    char  out[128];
    void *values = fill(g, seed);
    mkdir(folder, 0777);
    snprintf(out, sizeof out, "%s/made", folder);
    assert_int_equal(g->write(out, values), RG_OK);
    if (g->options) rg_options_fini(g->options, values);
    rg_free(values);
}

/* Numbers of every file below a folder, names and bytes, in any order of the folder. */
static uint64_t folder_sum(const char *folder)
{
    uint64_t sum = 0;
    DIR     *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char        path[4096];
        struct stat st;
        uint64_t    hash = 14695981039346656037u;
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        for (const char *c = e->d_name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        assert_int_equal(stat(path, &st), 0);
        if (S_ISDIR(st.st_mode)) hash ^= folder_sum(path);
        else {
            FILE *f = fopen(path, "rb");
            assert_non_null(f);
            for (int c; (c = getc(f)) != EOF;) hash = (hash ^ (unsigned)c) * 1099511628211u;
            fclose(f);
        }
        sum += hash;
    }
    closedir(d);
    return sum;
}

static void every_generator_says_what_it_makes(void **state)
{
    (void)state;
    for (const rg_generator *const *g = rg_generator_all(); *g; g++) {
        assert_true((*g)->name[0] && (*g)->summary[0] && (*g)->writes[0] && (*g)->write != NULL);
        assert_ptr_equal(rg_generator_find((*g)->name), *g);
    }
    assert_null(rg_generator_find("nothing"));
}

static void the_same_seed_gives_the_same_bytes(void **state)
{
    (void)state;
    faults_no_sync();
    for (const rg_generator *const *g = rg_generator_all(); *g; g++) {
        char a[64], b[64], c[64];
        snprintf(a, sizeof a, "a-%s", (*g)->name);
        snprintf(b, sizeof b, "b-%s", (*g)->name);
        snprintf(c, sizeof c, "c-%s", (*g)->name);
        write_into(*g, a, "1");
        write_into(*g, b, "1");
        write_into(*g, c, "2");
        assert_int_equal(folder_sum(a), folder_sum(b));
        assert_int_not_equal(folder_sum(a), folder_sum(c));
    }
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    (void)state;
    for (const rg_generator *const *g = rg_generator_all(); *g; g++) {
        void *values = fill(*g, "1");
        assert_int_not_equal((*g)->write("no/such/folder/made", values), RG_OK);
        assert_non_null(strstr(rg_message(), "no/such/folder"));
        if ((*g)->options) rg_options_fini((*g)->options, values);
        rg_free(values);
    }
}

static bool stops(const char *codon)
{
    return strcmp(codon, "TAA") == 0 || strcmp(codon, "TAG") == 0 || strcmp(codon, "TGA") == 0;
}

/* A gene is ATG, codons that do not stop, and one that does: by frames of three bases. */
static void genes_begin_and_end_as_they_should(void **state)
{
    (void)state;
    rg_line_list base = { 0 }, tag = { 0 };
    size_t       genes = 0;
    assert_int_equal(rg_generator_write(&rg_generator_dna, "made.dna", "count: 60\nseed: 3\n"), RG_OK);
    assert_int_equal(rg_line_list_read(&base, "made.dna", 0), RG_OK);
    assert_int_equal(rg_line_list_read(&tag, "made.dna", 1), RG_OK);
    for (size_t i = 0; i < tag.count; i++) {
        if (strcmp(tag.line[i], "B-GENE") != 0) continue;
        size_t n = 1;
        while (i + n < tag.count && strcmp(tag.line[i + n], "I-GENE") == 0) n++;
        assert_true(n % 3 == 0 && n >= 18);
        for (size_t k = 0; k < n; k += 3) {
            const char codon[] = { base.line[i + k][0], base.line[i + k + 1][0], base.line[i + k + 2][0], '\0' };
            if (k == 0) assert_string_equal(codon, "ATG");
            assert_true(stops(codon) == (k + 3 == n));
        }
        genes++;
    }
    assert_true(genes > 20);
    rg_line_list_free(&base);
    rg_line_list_free(&tag);
    unlink("made.dna");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_generator_says_what_it_makes),
        cmocka_unit_test(the_same_seed_gives_the_same_bytes),
        cmocka_unit_test(a_folder_that_is_not_there_is_named),
        cmocka_unit_test(genes_begin_and_end_as_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
