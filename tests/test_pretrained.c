/* test_pretrained.c - networks that others trained: what they compute is compared with PyTorch's numbers for small
 * ones of each form, and with the reference vectors of the real files where REGARD_DATA says where they are;
 * features are the same however they are come by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/nearest_captions.h"
#include "regard/features.h"
#include "regard/import.h"
#include "regard/safetensors.h"
#include "regard/task.h"
#include "support/faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL TEST_DATA "/imagenet/"

/* ---------------------------------------------------------------------------------------------------------- helpers */

/* The numbers of a tensor of a file; the caller frees. */
static float *numbers(size_t dims[4], const char *path, const char *name)
{
    rg_safetensors *file = NULL;
    assert_int_equal(rg_safetensors_open(&file, path), RG_OK);
    const rg_safetensors_entry *e = rg_safetensors_find(file, name);
    if (!e) {
        rg_safetensors_close(file);
        return NULL;
    }
    const size_t count = e->bytes / rg_dtype_bytes(e->dtype);
    float       *x = malloc((count + 1) * sizeof *x);
    assert_int_equal(rg_safetensors_read_floats(file, e, x, count), RG_OK);
    for (size_t i = 0; i < 4; i++) dims[i] = i < e->ndim ? e->dims[i] : 1;
    rg_safetensors_close(file);
    return x;
}

static void expect_close(const char *what, const float *a, const float *b, size_t count)
{
    double most = 0, far = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)b[i]));
        far = fmax(far, fabs((double)a[i] - (double)b[i]));
    }
    if (far > 1e-4 * most) fail_msg("%s: %g apart, the largest is %g", what, far, most);
}

static rg_picture picture_of(const char *path, const char *name)
{
    size_t     dims[4];
    float     *rgb = numbers(dims, path, name);
    rg_picture p = { 0 };
    assert_non_null(rgb);
    assert_int_equal(rg_picture_new(&p, dims[0], dims[1], 3), RG_OK);
    for (size_t i = 0; i < dims[0] * dims[1] * 3; i++) p.pixels[i] = (unsigned char)(rgb[i] + 0.5F);
    free(rgb);
    return p;
}

static rg_features *open_features(const char *path, const rg_picture *p, const char *cache, int threads)
{
    char                      file[512], kept[512];
    const rg_features_options o = { file, kept };
    rg_pixels_config          size = RG_PIXELS_CONFIG_DEFAULT;
    rg_features              *f = NULL;
    snprintf(file, sizeof file, "%s", path);
    snprintf(kept, sizeof kept, "%s", cache);
    size.height = p->height, size.width = p->width;
    if (rg_features_start(&f, &o, &size, threads) != RG_OK) fail_msg("%s", rg_message());
    return f;
}

static void check_features(const char *network, const char *expected, const char *rgb, const char *name)
{
    rg_status    status;
    size_t       d[4];
    rg_picture   p = picture_of(expected, rgb);
    rg_features *f = open_features(network, &p, "", 2);
    float       *want = numbers(d, expected, name);
    const float *rows = rg_features_of(&status, f, &p);
    assert_int_equal(status, RG_OK);
    assert_int_equal(rg_features_down(f), d[0]);
    assert_int_equal(rg_features_across(f), d[1]);
    assert_int_equal(rg_features_width(f), d[2]);
    expect_close(network, rows, want, d[0] * d[1] * d[2]);
    free(want);
    rg_features_free(f);
    rg_picture_free(&p);
}

/* Logits of a model for one picture, classes in the order 0, 1, 2, ... of numbers. */
static void logits_of(float *out, const rg_model *m, const rg_picture *p)
{
    const size_t         n = p->height * p->width, classes = rg_model_size(m, "classes");
    const rg_tape_config config = { .record = false };
    const int32_t        start[2] = { 0, (int32_t)n };
    rg_real             *values = malloc(n * 3 * sizeof *values);
    rg_tape             *t = NULL;
    for (size_t i = 0; i < n * 3; i++) values[i] = (rg_real)p->pixels[i] / 255;
    const rg_field x = { .kind = RG_FIELD_PIXELS,
                         .layout = { .groups = 1, .start = start, .height = p->height, .width = p->width },
                         .values = values,
                         .width = 3 };
    const rg_batch batch = { .examples = 1, .fields = 1, .field = { [RG_INPUT] = x } };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_tensor *y = m->system->predict(t, m, &batch);
    assert_int_equal(rg_tape_status(t), RG_OK);
    for (size_t c = 0; c < classes; c++) out[c] = (float)rg_tensor_at(y, 0, c);
    rg_tape_free(t);
    free(values);
}

static rg_model *import_of(const char *path, const rg_import_options *o)
{
    rg_model *m = NULL;
    if (rg_import_with(&m, NULL, path, o) != RG_OK) fail_msg("%s", rg_message());
    return m;
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static const char *const forms[] = { "mobilenet_folded", "mobilenet_norms", "squeezenet_features", "squeezenet_whole" };
enum { FORMS = sizeof forms / sizeof *forms };

static void small_network(char path[256], char expected[256], size_t form)
{
    snprintf(path, 256, SMALL "%s.safetensors", forms[form]);
    snprintf(expected, 256, SMALL "%s.expected.safetensors", forms[form]);
}

static void features_are_those_of_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        char path[256], expected[256];
        small_network(path, expected, i);
        check_features(path, expected, "rgb", "features");
    }
}

/* A model is imported for square pictures, but its convolutions take any. */
static void logits_are_those_of_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        char   path[256], expected[256];
        size_t d[4];
        float  got[8];
        small_network(path, expected, i);
        float *want = numbers(d, expected, "logits");
        if (!want) continue;
        rg_picture              p = picture_of(expected, "rgb");
        const rg_import_options o = { .size = 64 };
        rg_model               *m = import_of(path, &o);
        logits_of(got, m, &p);
        expect_close(forms[i], got, want, d[0]);
        free(want);
        rg_model_free(m);
        rg_picture_free(&p);
    }
}

static void settings_can_be_given(void **state)
{
    const rg_import_options o = { .size = 64, .pixels = "imagenet", .padding = "even" }, usual = { .size = 64 };
    rg_picture              p = picture_of(SMALL "mobilenet_folded.expected.safetensors", "rgb");
    float                   a[8], b[8];
    rg_model               *m = import_of(SMALL "mobilenet_folded.safetensors", &o),
             *n = import_of(SMALL "mobilenet_folded.safetensors", &usual);
    (void)state;
    logits_of(a, m, &p);
    logits_of(b, n, &p);
    assert_true(fabsf(a[0] - b[0]) > 1e-3F);
    rg_model_free(m);
    rg_model_free(n);
    rg_picture_free(&p);
}

static void classes_keep_their_logits_when_they_are_sorted(void **state)
{
    const rg_import_options  o = { .size = 64, .classes = "labels.txt" }, plain = { .size = 64 };
    rg_picture               p = picture_of(SMALL "mobilenet_norms.expected.safetensors", "rgb");
    float                    by_name[8], by_number[8];
    (void)state;
    assert_int_equal(rg_file_replace("labels.txt", "crane\nzebra\nant\ncrane\nbee\n", 26), RG_OK);
    rg_model *m = import_of(SMALL "mobilenet_norms.safetensors", &o),
             *n = import_of(SMALL "mobilenet_norms.safetensors", &plain);
    logits_of(by_name, m, &p);
    logits_of(by_number, n, &p);
    static const size_t place[] = { 2, 4, 0, 3, 1 }; /* ant, bee, crane, crane (3), zebra */
    for (size_t c = 0; c < 5; c++) assert_true(by_name[place[c]] == by_number[c]);
    assert_int_equal(rg_file_replace("labels.txt", "crane\nzebra\nant\n", 16), RG_OK);
    rg_model *none = NULL;
    assert_int_equal(rg_import_with(&none, NULL, SMALL "mobilenet_norms.safetensors", &o), RG_EMATCH);
    assert_non_null(strstr(rg_message(), "3 lines; the network has 5 classes"));
    rg_model_free(m);
    rg_model_free(n);
    rg_picture_free(&p);
}

/* From the file, from the imported model, from bytes in a model file, with 1 and 2 threads, and from the cache: the
 * same bits. */
static void features_are_the_same_however_they_are_come_by(void **state)
{
    rg_picture   p = picture_of(SMALL "squeezenet_whole.expected.safetensors", "rgb");
    rg_text      png = { 0 }, bytes = { 0 };
    rg_status    status;
    uint32_t     entry;
    uint64_t     key, other;
    size_t       down, across;
    rg_features *read = NULL;
    (void)state;
    const rg_import_options o = { .size = 64 };
    rg_model               *m = import_of(SMALL "squeezenet_whole.safetensors", &o);
    assert_int_equal(rg_model_save(m, "imported.safetensors"), RG_OK);
    rg_model_free(m);
    rg_features *direct = open_features(SMALL "squeezenet_whole.safetensors", &p, "kept.features", 1),
                *ours = open_features("imported.safetensors", &p, "", 2);
    const size_t count = rg_features_down(direct) * rg_features_across(direct) * rg_features_width(direct);
    float       *first = malloc(count * sizeof *first);
    memcpy(first, rg_features_of(&status, direct, &p), count * sizeof *first);
    assert_memory_equal(first, rg_features_of(&status, ours, &p), count * sizeof *first);
    assert_int_equal(rg_features_to_bytes(&bytes, ours), RG_OK);
    assert_int_equal(rg_features_from_bytes(&read, bytes.data, bytes.length), RG_OK);
    assert_memory_equal(first, rg_features_of(&status, read, &p), count * sizeof *first);

    assert_int_equal(rg_picture_encode(&png, &p), RG_OK);
    const rg_cell       cell = { .bytes = png.data, .count = png.length };
    const rg_field_spec spec = rg_features_spec(direct, "picture");
    assert_int_equal(spec.kept->keep(&entry, &down, &across, &key, &cell, spec.context), RG_OK);
    assert_memory_equal(first, spec.kept->rows(spec.context, entry), count * sizeof *first);
    assert_int_equal(rg_features_save(direct), RG_OK);

    rg_features        *again = open_features(SMALL "squeezenet_whole.safetensors", &p, "kept.features", 1);
    const rg_field_spec kept = rg_features_spec(again, "picture");
    assert_int_equal(kept.kept->keep(&entry, &down, &across, &other, &cell, kept.context), RG_OK);
    assert_true(key == other && rg_features_computed(again) == 0);
    assert_memory_equal(first, kept.kept->rows(kept.context, entry), count * sizeof *first);

    p.pixels[0] ^= 64; /* another picture: computed, and the one before stays */
    rg_text_clear(&png);
    assert_int_equal(rg_picture_encode(&png, &p), RG_OK);
    const rg_cell changed = { .bytes = png.data, .count = png.length };
    assert_int_equal(kept.kept->keep(&entry, &down, &across, &other, &changed, kept.context), RG_OK);
    assert_true(key != other && rg_features_computed(again) == 1);
    rg_features_free(direct);
    rg_features_free(ours);
    rg_features_free(read);
    rg_features_free(again);
    rg_text_free(&png);
    rg_text_free(&bytes);
    rg_picture_free(&p);
    free(first);
}

static void a_cache_of_another_network_is_begun_anew_and_a_damaged_one_refused(void **state)
{
    rg_picture p = picture_of(SMALL "squeezenet_whole.expected.safetensors", "rgb");
    rg_text    png = { 0 };
    uint32_t   entry;
    uint64_t   key;
    size_t     down, across;
    (void)state;
    assert_int_equal(rg_picture_encode(&png, &p), RG_OK);
    const rg_cell cell = { .bytes = png.data, .count = png.length };
    static const char *const networks[] = { SMALL "squeezenet_whole.safetensors",
                                            SMALL "squeezenet_features.safetensors" };
    for (size_t i = 0; i < 2; i++) {
        rg_features        *f = open_features(networks[i], &p, "other.features", 1);
        const rg_field_spec spec = rg_features_spec(f, "picture");
        assert_int_equal(spec.kept->keep(&entry, &down, &across, &key, &cell, spec.context), RG_OK);
        assert_int_equal(rg_features_computed(f), 1);
        assert_int_equal(rg_features_save(f), RG_OK);
        rg_features_free(f);
    }
    assert_int_equal(truncate("other.features", 200), 0);
    char                      file[] = SMALL "squeezenet_features.safetensors", kept[] = "other.features";
    const rg_features_options o = { file, kept };
    const rg_pixels_config    size = { p.height, p.width, RG_FIT_CROP, RG_RESIZE_BILINEAR };
    rg_features              *f = NULL;
    assert_int_equal(rg_features_start(&f, &o, &size, 1), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "other.features"));
    rg_text_free(&png);
    rg_picture_free(&p);
}

/* ---------------------------------------------------------------------------------------------------- refused files */

/* A copy of a small network with one tensor left out, renamed or of another shape. */
static void copy_without(const char *to, const char *from, const char *name, const char *renamed, bool flat)
{
    rg_safetensors        *file = NULL;
    rg_safetensors_writer *w = NULL;
    assert_int_equal(rg_safetensors_open(&file, from), RG_OK);
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    for (size_t i = 0; i < rg_safetensors_count(file); i++) {
        const rg_safetensors_entry *e = rg_safetensors_at(file, i);
        const void                 *data = NULL;
        const bool                  it = strcmp(e->name, name) == 0;
        const size_t                all = e->bytes / rg_dtype_bytes(e->dtype);
        assert_int_equal(rg_safetensors_data(&data, file, e), RG_OK);
        if (it && !renamed && !flat) continue;
        assert_int_equal(rg_safetensors_writer_add(w, it && renamed ? renamed : e->name, e->dtype,
                                                   it && flat ? &all : e->dims, it && flat ? 1 : e->ndim, data),
                         RG_OK);
    }
    assert_int_equal(rg_safetensors_writer_save(w, to), RG_OK);
    rg_safetensors_writer_free(w);
    rg_safetensors_close(file);
}

static void expect_refused(const char *path, const char *says)
{
    char                      file[256], none[] = "";
    const rg_features_options o = { file, none };
    const rg_pixels_config    size = { 64, 64, RG_FIT_CROP, RG_RESIZE_BILINEAR };
    const rg_import_options   how = { .size = 64 };
    rg_features              *f = NULL;
    rg_model                 *m = NULL;
    snprintf(file, sizeof file, "%s", path);
    assert_int_not_equal(rg_features_start(&f, &o, &size, 1), RG_OK);
    if (!strstr(rg_message(), says) || !strstr(rg_message(), path)) fail_msg("features of %s: %s", path, rg_message());
    assert_int_not_equal(rg_import_with(&m, NULL, path, &how), RG_OK);
    if (!strstr(rg_message(), says) || !strstr(rg_message(), path)) fail_msg("import of %s: %s", path, rg_message());
}

static void missing_extra_and_misshapen_tensors_are_named(void **state)
{
    (void)state;
    copy_without("missing.st", SMALL "mobilenet_folded.safetensors", "features.5.conv.1.0.bias", NULL, false);
    expect_refused("missing.st", "features.5.conv.1.0.bias");
    copy_without("extra.st", SMALL "mobilenet_norms.safetensors", "features.5.conv.1.1.num_batches_tracked",
                 "features.19.weight", false);
    expect_refused("extra.st", "features.19.weight");
    copy_without("flat.st", SMALL "squeezenet_features.safetensors", "features.9.expand3x3.weight", NULL, true);
    expect_refused("flat.st", "features.9.expand3x3.weight");
    copy_without("other.st", SMALL "squeezenet_features.safetensors", "features.6.squeeze.weight", "encoder.weight",
                 false);
    rg_model *m = NULL;
    assert_int_not_equal(rg_import(&m, NULL, "other.st"), RG_OK);
}

static void a_pickle_is_refused_with_what_to_do(void **state)
{
    char                      file[] = "weights.pth", none[] = "";
    const rg_features_options o = { file, none };
    const rg_pixels_config    size = RG_PIXELS_CONFIG_DEFAULT;
    rg_features              *f = NULL;
    (void)state;
    assert_int_equal(rg_file_replace(file, "PK\003\004 and more", 13), RG_OK);
    assert_int_equal(rg_features_start(&f, &o, &size, 1), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "regard import weights.pth"));
}

/* ------------------------------------------------------------------------------------------------------- real files */

static void real_networks_give_their_reference_vectors(void **state)
{
    const char *data = getenv("REGARD_DATA");
    char        network[512], reference[512];
    size_t      d[4];
    (void)state;
    if (!data) skip();
    snprintf(network, sizeof network, "%s/squeezenet/squeezenet_v1.1_features.safetensors", data);
    snprintf(reference, sizeof reference, "%s/squeezenet/reference.safetensors", data);
    check_features(network, reference, "rgb", "features");
    snprintf(network, sizeof network, "%s/mobilenet_v2/mobilenet_v2_1.0_224.safetensors", data);
    snprintf(reference, sizeof reference, "%s/mobilenet_v2/reference.safetensors", data);
    check_features(network, reference, "small.rgb", "small.features");
    check_features(network, reference, "odd.rgb", "odd.features");
    rg_model *m = import_of(network, NULL);
    for (size_t i = 0; i < 4; i++) {
        static const char *const names[] = { "cat", "dogs", "small", "odd" };
        char                     rgb[32], logits[32];
        float                   *got = malloc(1001 * sizeof *got);
        snprintf(rgb, sizeof rgb, "%s.rgb", names[i]);
        snprintf(logits, sizeof logits, "%s.logits", names[i]);
        rg_picture p = picture_of(reference, rgb);
        float     *want = numbers(d, reference, logits);
        logits_of(got, m, &p);
        expect_close(names[i], got, want, d[0]);
        free(got);
        free(want);
        rg_picture_free(&p);
    }
    rg_model_free(m);
}

/* ----------------------------------------------------------------------------------------------- captions of others */

/* A picture of one colour, a little darker in every line. */
static void save_colour(const char *path, unsigned char red, unsigned char green, unsigned char blue)
{
    enum { SIDE = 32 };
    static unsigned char pixels[SIDE * SIDE * 3];
    const rg_picture     p = { .pixels = pixels, .height = SIDE, .width = SIDE, .channels = 3 };
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        const double part = 1 - 0.2 * (double)(i / SIDE) / SIDE;
        pixels[3 * i] = (unsigned char)(red * part);
        pixels[3 * i + 1] = (unsigned char)(green * part);
        pixels[3 * i + 2] = (unsigned char)(blue * part);
    }
    assert_int_equal(rg_picture_save(path, &p), RG_OK);
}

static void a_picture_gets_the_caption_of_its_neighbour(void **state)
{
    (void)state;
    static const char table[] = "picture\tcaption\n"
                                "red.png\ta large red wall in the evening sun\n"
                                "blue.png\ta cold blue sea under a clear sky\n"
                                "rose.png\ta large red wall in the evening sun\n"
                                "rose.png\tsomething else\n"
                                "navy.png\ta cold blue sea under a clear sky\n";
    rg_nearest_captions what = { .table = "captions.tsv",
                                 .train = "near-train",
                                 .test = "near-test",
                                 .features = SMALL "mobilenet_folded.safetensors",
                                 .neighbours = 1,
                                 .threads = 1 };
    rg_nearest_score    score;
    assert_int_equal(rg_file_replace("captions.tsv", table, sizeof table - 1), RG_OK);
    (void)mkdir("near-train", 0777);
    (void)mkdir("near-test", 0777);
    save_colour("near-train/red.png", 250, 30, 30);
    save_colour("near-train/blue.png", 20, 40, 240);
    save_colour("near-test/rose.png", 250, 30, 30);
    save_colour("near-test/navy.png", 20, 40, 240);
    if (rg_nearest_captions_judge(&score, &what) != RG_OK) fail_msg("%s", rg_message());
    assert_int_equal(score.pictures, 2);
    assert_true(fabs(score.bleu - 100) < 1e-6 && fabs(score.bleu_1 - 100) < 1e-6);
    save_colour("near-test/rose.png", 20, 40, 240); /* the caption of the sea is wrong for it */
    assert_int_equal(rg_nearest_captions_judge(&score, &what), RG_OK);
    assert_true(score.bleu_1 < 90 && score.bleu < 90);
    what.test = "near-nothing";
    (void)mkdir("near-nothing", 0777);
    assert_int_equal(rg_nearest_captions_judge(&score, &what), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "near-nothing"));
    what.neighbours = 0;
    assert_int_equal(rg_nearest_captions_judge(&score, &what), RG_EINVAL);
}

static void captions_agree_on_one(void **state)
{
    (void)state;
    static const char *const said[] = { "two dogs", "a brown dog runs on the grass", "A brown dog runs in the grass",
                                        "a dog runs on the grass", "a man sits" };
    size_t                   best = 9;
    assert_int_equal(rg_consensus(&best, said, 5), RG_OK);
    assert_int_equal(best, 1);
    assert_int_equal(rg_consensus(&best, said + 4, 1), RG_OK); /* nobody else: itself */
    assert_int_equal(best, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_those_of_pytorch),
        cmocka_unit_test(logits_are_those_of_pytorch),
        cmocka_unit_test(settings_can_be_given),
        cmocka_unit_test(classes_keep_their_logits_when_they_are_sorted),
        cmocka_unit_test(features_are_the_same_however_they_are_come_by),
        cmocka_unit_test(a_cache_of_another_network_is_begun_anew_and_a_damaged_one_refused),
        cmocka_unit_test(missing_extra_and_misshapen_tensors_are_named),
        cmocka_unit_test(a_pickle_is_refused_with_what_to_do),
        cmocka_unit_test(real_networks_give_their_reference_vectors),
        cmocka_unit_test(captions_agree_on_one),
        cmocka_unit_test(a_picture_gets_the_caption_of_its_neighbour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
