/* test_sound.c - recordings in and out: which WAV files are read, which are refused, resampling, the Fourier transform
 * and log-mel rows against numbers that were computed elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "data/sound/sound.h"
#include "support/faults.h"

static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------------------------------------ making test files */

typedef struct {
    unsigned kind, channels, rate, bits;
    bool     extensible, odd_chunk;
} look;

static void add(rg_text *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char b = (char)(value >> (8 * i) & 255);
        assert_int_equal(rg_text_add(out, &b, 1), RG_OK);
    }
}

static void add_name(rg_text *out, const char *name) { assert_int_equal(rg_text_add(out, name, strlen(name)), RG_OK); }

static void add_sample(rg_text *out, look k, double x)
{
    if (k.kind == 3 && k.bits == 32) {
        const float y = (float)x;
        uint32_t    word;
        memcpy(&word, &y, 4);
        add(out, word, 4);
    } else if (k.kind == 3) {
        uint64_t word;
        memcpy(&word, &x, 8);
        add(out, word, 8);
    } else if (k.bits == 8) {
        add(out, (uint64_t)lrint(128 + 127 * x), 1);
    } else {
        add(out, (uint64_t)(int64_t)llrint(x * (pow(2, k.bits - 1) - 1)), k.bits / 8);
    }
}

static void set_size(rg_text *bytes)
{
    const uint32_t size = (uint32_t)(bytes->length - 8);
    for (int i = 0; i < 4; i++) bytes->data[4 + i] = (char)(size >> (8 * i) & 255);
}

/* Channel c of sample n: a tone, the same in all channels but for its sign where there are several. */
static double tone(size_t n, unsigned rate) { return 0.5 * sin(2 * pi * 440 * (double)n / rate); }

static void write_wav(rg_text *out, look k, size_t samples)
{
    static const char guid[] = "\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71";
    const unsigned    block = k.channels * k.bits / 8;
    rg_text_clear(out);
    add_name(out, "RIFF");
    add(out, 0, 4);
    add_name(out, "WAVE");
    if (k.odd_chunk) {
        add_name(out, "LIST");
        add(out, 3, 4);
        add_name(out, "abc");
        add(out, 0, 1);
    }
    add_name(out, "fmt ");
    add(out, k.extensible ? 40 : 16, 4);
    add(out, k.extensible ? 0xFFFE : k.kind, 2);
    add(out, k.channels, 2);
    add(out, k.rate, 4);
    add(out, (uint64_t)k.rate * block, 4);
    add(out, block, 2);
    add(out, k.bits, 2);
    if (k.extensible) {
        add(out, 22, 2);
        add(out, k.bits, 2);
        add(out, 4, 4);
        add(out, k.kind, 2);
        assert_int_equal(rg_text_add(out, guid, 14), RG_OK);
    }
    add_name(out, "data");
    add(out, samples * block, 4);
    for (size_t n = 0; n < samples; n++)
        for (unsigned c = 0; c < k.channels; c++) add_sample(out, k, tone(n, k.rate));
    set_size(out);
}

/* --------------------------------------------------------------------------------------------------------- reading */

static void every_kind_of_wav_is_read(void **state)
{
    static const look looks[] = {
        { 1, 1, 8000, 8, false, false },   { 1, 1, 8000, 16, false, true },  { 1, 1, 16000, 24, false, false },
        { 1, 2, 44100, 16, false, false }, { 1, 1, 48000, 32, false, true }, { 3, 1, 22050, 32, false, false },
        { 3, 2, 48000, 64, false, false }, { 1, 2, 44100, 24, true, true },  { 3, 1, 8000, 32, true, false },
        { 1, 16, 8000, 8, true, false },
    };
    rg_text bytes = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        const double near = looks[i].bits == 8 ? 0.01 : looks[i].bits == 16 ? 1e-4 : 1e-6;
        rg_sound     s = { 0 };
        write_wav(&bytes, looks[i], 501);
        assert_int_equal(rg_sound_decode(&s, bytes.data, bytes.length), RG_OK);
        assert_int_equal(s.rate, looks[i].rate);
        assert_int_equal(s.count, 501);
        for (size_t n = 0; n < s.count; n++)
            assert_true(fabs((double)s.samples[n] - tone(n, looks[i].rate)) < near);
        rg_sound_free(&s);
    }
    rg_text_free(&bytes);
}

static void channels_are_mixed(void **state)
{
    static const char wav[] = "RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\1\0\2\0\x40\x1f\0\0\0\x7d\0\0\4\0\x10\0"
                              "data\x8\0\0\0\0\x40\0\xC0\0\x20\0\x20";
    rg_sound          s = { 0 };
    (void)state;
    assert_int_equal(rg_sound_decode(&s, wav, sizeof wav - 1), RG_OK);
    assert_int_equal(s.count, 2);
    assert_true(s.samples[0] == 0 && s.samples[1] == 0.25f);
    rg_sound_free(&s);
}

/* Byte `at` of a good file becomes `value`: the message must have `words`. */
static void what_lies_is_refused(void **state)
{
    static const struct {
        size_t      at;
        int         value;
        const char *words;
    } lies[] = {
        { 0, 'X', "no WAV file" },
        { 3, 'X', "RIFX" },
        { 7, 0x7F, "its header says that 2130706" },
        { 20, 2, "samples of kind 2" },
        { 22, 0, "0 channels" },
        { 22, 17, "17 channels" },
        { 26, 0xFF, "16719680 samples a second" },
        { 32, 3, "3 bytes for a sample of 1 channels of 16 bits" },
        { 34, 12, "PCM samples of 12 bits" },
        { 43, 0xFF, "a chunk at byte 36 says that 4278190280 bytes follow; 200 are there" },
        { 40, 199, "199 bytes of data are no whole number of samples of 2 bytes" },
        { 40, 0, "no samples" },
        { 37, 'X', "without samples" },
        { 12, 'X', "before their format" },
        { 16, 15, "a format of 15 bytes" },
    };
    const look good = { 1, 1, 8000, 16, false, false };
    rg_text    bytes = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        rg_sound s = { 0 };
        write_wav(&bytes, good, 100);
        bytes.data[lies[i].at] = (char)lies[i].value;
        assert_int_equal(rg_sound_decode(&s, bytes.data, bytes.length), RG_EFORMAT);
        if (!strstr(rg_message(), lies[i].words)) fail_msg("%zu: '%s'", i, rg_message());
        assert_null(s.samples);
    }
    rg_text_free(&bytes);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    const look good = { 1, 1, 8000, 16, true, true };
    rg_text    bytes = { 0 };
    (void)state;
    write_wav(&bytes, good, 20);
    for (size_t n = 0; n < bytes.length; n++) {
        rg_sound s = { 0 };
        assert_int_equal(rg_sound_decode(&s, bytes.data, n), RG_EFORMAT);
    }
    rg_text_free(&bytes);
}

static void numbers_that_are_none_are_refused(void **state)
{
    const look good = { 3, 1, 8000, 32, false, false };
    rg_text    bytes = { 0 };
    rg_sound   s = { 0 };
    (void)state;
    write_wav(&bytes, good, 20);
    memcpy(bytes.data + 44 + 4 * 6, "\0\0\xc0\x7f", 4);
    assert_int_equal(rg_sound_decode(&s, bytes.data, bytes.length), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "sample 7 is not a finite number"));
    rg_text_free(&bytes);
}

static void what_is_written_is_read_again(void **state)
{
    rg_sound s = { 0 }, back = { 0 };
    (void)state;
    assert_int_equal(rg_sound_new(&s, 11025, 300), RG_OK);
    for (size_t n = 0; n < 300; n++) s.samples[n] = (float)(1.5 * tone(n, 2000) + (n == 7 ? 3 : 0));
    assert_int_equal(rg_sound_save("there.wav", &s), RG_OK);
    assert_int_equal(rg_sound_load(&back, "there.wav"), RG_OK);
    assert_int_equal(back.rate, 11025);
    assert_int_equal(back.count, 300);
    for (size_t n = 0; n < 300; n++)
        assert_true(fabs(fmin(1, (double)s.samples[n]) - (double)back.samples[n]) <= 1 / 32768.0);
    rg_sound_free(&s);
    rg_sound_free(&back);
    assert_int_equal(rg_file_replace("page.wav", "<html>", 6), RG_OK);
    assert_int_equal(rg_sound_load(&back, "page.wav"), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "page.wav: no WAV file"));
    assert_int_equal(rg_sound_load(&back, "absent.wav"), RG_EIO);
}

/* ------------------------------------------------------------------------------------------------------ resampling */

static void a_tone_stays_the_same_tone_at_any_rate(void **state)
{
    static const size_t rates[][2] = { { 8000, 16000 },  { 16000, 8000 }, { 44100, 8000 }, { 48000, 8000 },
                                       { 22050, 16000 }, { 8000, 7919 },  { 8000, 8000 } };
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        rg_sound s = { 0 }, to = { 0 };
        assert_int_equal(rg_sound_new(&s, rates[i][0], rates[i][0] / 4), RG_OK);
        for (size_t n = 0; n < s.count; n++) s.samples[n] = (float)(tone(n, (unsigned)s.rate) + 0.25);
        assert_int_equal(rg_sound_resample(&to, &s, rates[i][1]), RG_OK);
        assert_int_equal(to.rate, rates[i][1]);
        assert_true(fabs((double)to.count - (double)rates[i][1] / 4) <= 1);
        for (size_t n = to.count / 10; n < to.count - to.count / 10; n++)
            assert_true(fabs((double)to.samples[n] - tone(n, (unsigned)to.rate) - 0.25) < 2e-3);
        rg_sound_free(&s);
        rg_sound_free(&to);
    }
}

/* 5 kHz cannot be heard at 8000 samples a second: nothing of it may come back as 3 kHz. */
static void what_lies_above_half_the_rate_goes(void **state)
{
    rg_sound s = { 0 }, to = { 0 };
    (void)state;
    assert_int_equal(rg_sound_new(&s, 48000, 12000), RG_OK);
    for (size_t n = 0; n < s.count; n++) s.samples[n] = (float)sin(2 * pi * 5000 * (double)n / 48000);
    assert_int_equal(rg_sound_resample(&to, &s, 8000), RG_OK);
    for (size_t n = 100; n < to.count - 100; n++) assert_true(fabs((double)to.samples[n]) < 2e-3);
    rg_sound_free(&s);
    rg_sound_free(&to);
    assert_int_equal(rg_sound_resample(&to, &(rg_sound){ 8000, 0, NULL }, 10), RG_EINVAL);
}

/* ---------------------------------------------------------------------------------------------------------- frames */

static void the_fourier_transform_is_the_sum_of_its_definition(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 256; n *= 2) {
        rg_fourier f;
        rg_random  random = rg_random_new(n, 0);
        double     re[256], im[256], x[256], y[256];
        assert_int_equal(rg_fourier__init(&f, n), RG_OK);
        for (size_t i = 0; i < n; i++) x[i] = re[i] = rg_random_normal(&random), y[i] = im[i] = rg_random_normal(&random);
        rg_fourier__run(&f, re, im);
        for (size_t k = 0; k < n; k++) {
            double a = 0, b = 0;
            for (size_t i = 0; i < n; i++) {
                const double c = cos(2 * pi * (double)(i * k) / (double)n), s = -sin(2 * pi * (double)(i * k) / (double)n);
                a += x[i] * c - y[i] * s;
                b += x[i] * s + y[i] * c;
            }
            assert_true(fabs(a - re[k]) < 1e-9 && fabs(b - im[k]) < 1e-9);
        }
        rg_fourier__back(&f, re, im);
        for (size_t i = 0; i < n; i++) assert_true(fabs(re[i] - x[i]) < 1e-12 && fabs(im[i] - y[i]) < 1e-12);
        rg_fourier__fini(&f);
    }
    rg_fourier f;
    assert_int_equal(rg_fourier__init(&f, 12), RG_EINVAL);
}

static rg_sound two_tones(void)
{
    rg_sound s = { 0 };
    assert_int_equal(rg_sound_new(&s, 8000, 400), RG_OK);
    for (size_t n = 0; n < 400; n++)
        s.samples[n] = (float)(0.5 * sin(2 * pi * 440 * (double)n / 8000) + 0.25 * sin(2 * pi * 1234.5 * (double)n / 8000 + 1) +
                               0.01 * ((double)((n * 7919) % 101) - 50) / 50);
    return s;
}

/* By a direct sum of complex exponentials in another language. */
static void rows_are_those_of_an_independent_program(void **state)
{
    static const double expected[24] = {
        -2.655203396, 6.759390235, 5.830245191, 4.157736312, 5.467064404, -3.062987209, -4.866633435, -1.687277266,
        -2.667107412, 6.756296776, 5.826289707, 4.149698524, 5.458093923, -3.063810049, -4.845759957, -1.689748984,
        -2.676472968, 6.756671162, 5.826798778, 4.160317021, 5.470209141, -3.064999905, -4.843325757, -1.690049072,
    };
    rg_frames_config c = RG_FRAMES_CONFIG_DEFAULT;
    rg_sound         s = two_tones();
    rg_frames       *f = NULL;
    rg_text          rows = { 0 };
    (void)state;
    c.mels = 8;
    c.norm = RG_FRAMES_RAW;
    c.range = c.emphasis = 0;
    assert_int_equal(rg_frames_new(&f, &c), RG_OK);
    assert_int_equal(rg_frames_of(&rows, f, &s), RG_OK);
    assert_int_equal(rows.length, 24 * sizeof(float));
    for (size_t i = 0; i < 24; i++) {
        float x;
        memcpy(&x, rows.data + i * sizeof x, sizeof x);
        assert_true(fabs((double)x - expected[i]) < 2e-4);
    }
    rg_frames_free(f);
    rg_text_free(&rows);
    rg_sound_free(&s);
}

static float at(const rg_text *rows, size_t i)
{
    float x;
    memcpy(&x, rows->data + i * sizeof x, sizeof x);
    return x;
}

static void normalising_and_stacking_do_what_they_say(void **state)
{
    rg_frames_config c = RG_FRAMES_CONFIG_DEFAULT;
    rg_sound         s = { 0 };
    rg_text          raw = { 0 }, rows = { 0 };
    enum { M = 40, T = 31 }; /* 1 + (2600 - 200) / 80 */
    (void)state;
    assert_int_equal(rg_sound_new(&s, 8000, 2600), RG_OK);
    rg_random random = rg_random_new(3, 0);
    for (size_t n = 0; n < s.count; n++) s.samples[n] = (float)(0.1 * rg_random_normal(&random) * (double)(n % 700) / 700);
    for (int norm = 0; norm < RG_FRAMES_NORMS; norm++)
        for (c.stack = 1; c.stack <= 4; c.stack += 3) {
            rg_frames *f = NULL;
            c.norm = (rg_frames_norm)norm;
            assert_int_equal(rg_frames_new(&f, &c), RG_OK);
            rg_text_clear(&rows);
            assert_int_equal(rg_frames_of(&rows, f, &s), RG_OK);
            assert_int_equal(rows.length, ((T + c.stack - 1) / c.stack) * c.stack * M * sizeof(float));
            if (!norm && c.stack == 1) assert_int_equal(rg_text_add(&raw, rows.data, rows.length), RG_OK);
            double all = 0, worst_mean = 0, worst_square = 0;
            for (size_t m = 0; m < M; m++) {
                double mean = 0, square = 0;
                for (size_t t = 0; t < T; t++) mean += (double)at(&rows, t * M + m) / T;
                for (size_t t = 0; t < T; t++) square += pow((double)at(&rows, t * M + m) - mean, 2) / T;
                all += mean / M;
                worst_mean = fmax(worst_mean, fabs(mean));
                worst_square = fmax(worst_square, fabs(square - 1));
            }
            if (norm == RG_FRAMES_LEVEL) assert_true(fabs(all) < 1e-4 && worst_mean > 0.1);
            if (norm == RG_FRAMES_MEAN) assert_true(worst_mean < 1e-4 && worst_square > 0.1);
            if (norm == RG_FRAMES_VARIANCE) assert_true(worst_mean < 1e-4 && worst_square < 1e-4);
            if (norm == RG_FRAMES_RAW)
                for (size_t i = 0; i < T * M; i++) assert_true(at(&rows, i) == at(&raw, i));
            if (c.stack == 4) /* the last row repeats the last frame */
                for (size_t m = 0; m < M; m++) assert_true(at(&rows, T * M + m) == at(&rows, (T - 1) * M + m));
            rg_frames_free(f);
        }
    rg_text_free(&raw);
    rg_text_free(&rows);
    rg_sound_free(&s);
}

static void settings_come_back_from_text_and_bad_ones_are_named(void **state)
{
    static const char *const bad[][2] = {
        { "rate 8000 mels", "no list of names and values" },  { "mels 0", "0 bands" },
        { "mels 2.5", "'mels 2.5' is not known" },            { "colour 3", "'colour 3' is not known" },
        { "step 30", "windows of 25 ms every 30 ms" },        { "stack 33", "33 frames" },
        { "low 5000", "bands from 5000 to 4000 Hz" },         { "rate 900000", "900000 samples a second" },
        { "norm loud", "'norm loud' is not known" },          { "range 300", "a range of 300 dB" },
        { "emphasis 1", "an emphasis of 1" },
                 { "window 1e9", "'window 1e9' is not known" },
    };
    rg_frames_config c = { 16000, 24, 32, 12.5, 50, 7000, 0.5, 45, 3, RG_FRAMES_VARIANCE }, back;
    rg_text          text = { 0 }, again = { 0 };
    rg_frames       *f = NULL;
    (void)state;
    assert_int_equal(rg_frames_config_print(&text, &c), RG_OK);
    assert_int_equal(rg_frames_config_parse(&back, rg_text_c(&text)), RG_OK);
    assert_int_equal(rg_frames_config_print(&again, &back), RG_OK);
    assert_string_equal(rg_text_c(&text), rg_text_c(&again));
    assert_string_equal(rg_text_c(&text), "rate 16000 mels 24 window 32 step 12.5 low 50 high 7000 emphasis 0.5 range 45 stack 3 norm variance");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rg_frames_config_parse(&back, bad[i][0]), RG_EFORMAT);
        if (!strstr(rg_message(), bad[i][1])) fail_msg("%s: '%s'", bad[i][0], rg_message());
    }
    c = (rg_frames_config)RG_FRAMES_CONFIG_DEFAULT;
    c.mels = 128;
    assert_int_equal(rg_frames_new(&f, &c), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "128 bands are too many for windows of 25 ms"));
    rg_text_free(&text);
    rg_text_free(&again);
}

/* Silence beside a tone is as loud as the range allows, whatever its own level. */
static void backgrounds_are_alike(void **state)
{
    rg_frames_config c = RG_FRAMES_CONFIG_DEFAULT;
    rg_text          rows[2] = { { 0 }, { 0 } };
    rg_frames       *f = NULL;
    double           top = -100;
    (void)state;
    c.norm = RG_FRAMES_RAW;
    c.range = 40;
    assert_int_equal(rg_frames_new(&f, &c), RG_OK);
    for (int k = 0; k < 2; k++) {
        rg_sound s = { 0 };
        assert_int_equal(rg_sound_new(&s, 8000, 1600), RG_OK);
        for (size_t n = 0; n < s.count; n++) s.samples[n] = (float)(n < 800 ? tone(n, 8000) : k * 1e-5 * (double)(n % 7));
        assert_int_equal(rg_frames_of(&rows[k], f, &s), RG_OK);
        rg_sound_free(&s);
    }
    const size_t last = rows[0].length / sizeof(float) - 1;
    for (size_t i = 0; i <= last; i++) top = fmax(top, (double)at(&rows[0], i));
    assert_true(fabs(top - 4 * log(10) - (double)at(&rows[0], last)) < 1e-4);
    assert_true(fabs((double)at(&rows[0], last) - (double)at(&rows[1], last)) < 1e-4);
    rg_text_free(&rows[0]);
    rg_text_free(&rows[1]);
    rg_frames_free(f);
}

/* What comes back from rows has nearly the same rows. */
static void a_sound_of_rows_has_these_rows(void **state)
{
    rg_frames_config c = RG_FRAMES_CONFIG_DEFAULT;
    rg_sound         s = { 0 }, back = { 0 };
    rg_text          rows = { 0 }, again = { 0 };
    rg_frames       *f = NULL;
    double           away = 0, level = 0;
    (void)state;
    c.norm = RG_FRAMES_RAW;
    assert_int_equal(rg_sound_new(&s, 8000, 4000), RG_OK);
    for (size_t n = 0; n < s.count; n++) /* a gliding tone with three harmonics */
        for (int h = 1; h <= 3; h++)
            s.samples[n] += (float)(0.3 / h * sin(2 * pi * h * (200 * (double)n + 0.02 * (double)(n * n)) / 8000));
    assert_int_equal(rg_frames_new(&f, &c), RG_OK);
    assert_int_equal(rg_frames_of(&rows, f, &s), RG_OK);
    const size_t T = rows.length / (40 * sizeof(float));
    float       *r = rg_alloc_array(T * 40, sizeof *r);
    assert_non_null(r);
    memcpy(r, rows.data, rows.length);
    assert_int_equal(rg_frames_invert(&back, f, r, T, 40, 1), RG_OK);
    assert_int_equal(rg_frames_of(&again, f, &back), RG_OK);
    assert_int_equal(again.length, rows.length);
    for (size_t i = 0; i < T * 40; i++) { /* where there is energy */
        if (r[i] < 0) continue;
        away += fabs((double)at(&again, i) - (double)r[i]);
        level++;
    }
    assert_true(level > 100);
    assert_true(away / level < 0.5);
    rg_free(r);
    rg_text_free(&rows);
    rg_text_free(&again);
    rg_frames_free(f);
    rg_sound_free(&s);
    rg_sound_free(&back);
}

/* --------------------------------------------------------------------------------------------------------- changes */

enum { MELS = 6, FRAMES = 30 };

static void fill(float *rows)
{
    for (size_t t = 0; t < FRAMES; t++)
        for (size_t m = 0; m < MELS; m++) rows[t * MELS + m] = (float)(1 + (double)t + 100 * (double)m);
}

static void changes_follow_from_seed_epoch_and_line(void **state)
{
    rg_frames_change c = { .mels = MELS, .seed = 4 };
    float            rows[FRAMES * MELS];
    rg_text          a = { 0 }, b = { 0 };
    size_t           lengths = 0;
    (void)state;
    fill(rows);
    assert_int_equal(rg_frames_change_parse(&c, "stretch:0.3, warp:0.2 noise:0.1 bands:2 frames:3"), RG_OK);
    for (uint64_t line = 1; line <= 20; line++) {
        rg_text_clear(&a);
        rg_text_clear(&b);
        assert_int_equal(rg_frames_change_rows(&a, rows, FRAMES / 2, 2 * MELS, 1, line, &c), RG_OK);
        assert_int_equal(rg_frames_change_rows(&b, rows, FRAMES / 2, 2 * MELS, 1, line, &c), RG_OK);
        assert_int_equal(a.length, b.length);
        assert_memory_equal(a.data, b.data, a.length);
        assert_int_equal(a.length % (2 * MELS * sizeof(float)), 0); /* whole rows of two frames */
        assert_true(a.length >= 21 * MELS * sizeof(float) && a.length <= 42 * MELS * sizeof(float));
        lengths |= (size_t)1 << (a.length / (2 * MELS * sizeof(float)));
        rg_text_clear(&b);
        assert_int_equal(rg_frames_change_rows(&b, rows, FRAMES / 2, 2 * MELS, 2, line, &c), RG_OK);
        assert_true(a.length != b.length || memcmp(a.data, b.data, a.length) != 0); /* another epoch */
    }
    assert_true(lengths & (lengths - 1)); /* several */
    rg_text_free(&a);
    rg_text_free(&b);
}

static void each_change_does_its_part(void **state)
{
    float   rows[FRAMES * MELS];
    rg_text out = { 0 };
    (void)state;
    fill(rows);
    const rg_frames_change none = { .mels = MELS }, warp = { .mels = MELS, .warp = 0.3 },
                           cover = { .mels = MELS, .bands = 2, .frames = 4 };
    assert_int_equal(rg_frames_change_rows(&out, rows, FRAMES, MELS, 0, 1, (void *)(uintptr_t)&none), RG_OK);
    assert_int_equal(out.length, sizeof rows);
    assert_memory_equal(out.data, rows, sizeof rows);
    rg_text_clear(&out);
    assert_int_equal(rg_frames_change_rows(&out, rows, FRAMES, MELS, 0, 1, (void *)(uintptr_t)&warp), RG_OK);
    const double factor = ((double)at(&out, 2) - 1) / 200; /* band 2 was read at 2 * factor */
    assert_true(fabs(factor - 1) > 1e-3 && fabs(log(factor)) <= 0.3);
    for (size_t t = 0; t < FRAMES; t++) /* linear in between, so that it is the same at every time */
        assert_true(fabs((double)at(&out, t * MELS + 1) - (1 + (double)t + 100 * factor)) < 1e-2);
    for (uint64_t line = 1, most = 0; line < 40; line++) {
        size_t zeros[MELS] = { 0 }, bands = 0;
        rg_text_clear(&out);
        assert_int_equal(rg_frames_change_rows(&out, rows, FRAMES, MELS, 0, line, (void *)(uintptr_t)&cover), RG_OK);
        for (size_t i = 0; i < FRAMES * MELS; i++) zeros[i % MELS] += at(&out, i) == 0;
        for (size_t m = 0; m < MELS; m++) {
            assert_true(zeros[m] == FRAMES || zeros[m] <= 4);
            bands += zeros[m] == FRAMES;
        }
        assert_true(bands <= 2);
        most = bands > most ? bands : most;
        if (line == 39) assert_int_equal(most, 2);
    }
    rg_text_free(&out);
}

static void changes_that_make_no_sense_are_named(void **state)
{
    static const char *const bad[] = { "warp", "warp:", "warp:x", "warp:2", "loud:1", "noise:-1", "bands:1e9", ":3" };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rg_frames_change c = { 0 };
        assert_int_equal(rg_frames_change_parse(&c, bad[i]), RG_EINVAL);
        assert_non_null(strstr(rg_message(), bad[i]));
    }
}

/* Of a store to learn from, not of one to validate on. */
static void stores_change_what_is_learned_from(void **state)
{
    rg_frames_change c = { .mels = 2, .stretch = 0.5, .seed = 1 };
    const rg_cell    cell = { .bytes = "1 2;3 4;5 6;7 8;9 8;7 6;5 4", .count = 27 };
    (void)state;
    for (int still = 0; still < 2; still++) {
        const rg_examples_config in = RG_EXAMPLES_CONFIG_DEFAULT;
        const rg_field_spec spec = { .name = "x", .kind = RG_FIELD_NUMBERS, .many = true, .width = 2, .change_rows = rg_frames_change_rows, .changing = &c, .still = still };
        rg_examples *e = NULL;
        size_t       seen = 0;
        assert_int_equal(rg_examples_new(&e, &in, &spec, 1), RG_OK);
        assert_int_equal(rg_examples_add(e, &cell, 1), RG_OK);
        assert_int_equal(rg_examples_seal(e), RG_OK);
        for (int epoch = 0; epoch < 30; epoch++) {
            rg_batch b;
            assert_int_equal(rg_examples_next(&b, NULL, e), RG_OK);
            const size_t rows = rg_field_rows(&b.field[0]);
            assert_true(still ? rows == 7 : rows >= 4 && rows <= 12);
            seen |= (size_t)1 << rows;
        }
        assert_true(still ? seen == 1u << 7 : (seen & (seen - 1)) != 0);
        rg_examples_free(e);
    }
}

/* ---------------------------------------------------------------------------------------------------------- fields */

static void a_field_of_rows_reads_files(void **state)
{
    const look       k = { 1, 1, 16000, 16, false, false };
    rg_frames_config c = RG_FRAMES_CONFIG_DEFAULT;
    rg_frames       *f = NULL;
    rg_examples     *e = NULL;
    rg_text          bytes = { 0 };
    rg_batch         one;
    (void)state;
    assert_int_equal(rg_frames_new(&f, &c), RG_OK);
    const rg_examples_config in = RG_EXAMPLES_CONFIG_DEFAULT;
    const rg_field_spec      spec = { .name = "sound", .kind = RG_FIELD_NUMBERS, .many = true, .width = 40, .rows = rg_frames_decode, .context = f };
    assert_int_equal(rg_examples_new(&e, &in, &spec, 1), RG_OK);
    write_wav(&bytes, k, 4000);
    const rg_cell good = { .bytes = bytes.data, .count = bytes.length }, bad = { .bytes = "1 2 3", .count = 5 };
    assert_int_equal(rg_examples_add(e, &good, 1), RG_OK);
    assert_int_equal(rg_examples_add(e, &bad, 2), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "no WAV file"));
    assert_int_equal(rg_examples_seal(e), RG_OK);
    assert_int_equal(rg_examples_one(&one, e, 0), RG_OK);
    assert_int_equal(rg_field_rows(&one.field[0]), 23); /* 1 + (2000 - 200) / 80 */
    assert_int_equal(one.field[0].width, 40);
    rg_examples_free(e);
    rg_frames_free(f);
    rg_text_free(&bytes);
}

static rg_status everything(void *context)
{
    const rg_text   *wav = context;
    rg_frames_config c = RG_FRAMES_CONFIG_DEFAULT;
    rg_sound         s = { 0 }, to = { 0 }, back = { 0 };
    rg_frames       *f = NULL;
    rg_text          rows = { 0 }, text = { 0 };
    rg_status        status = rg_sound_decode(&s, wav->data, wav->length);
    if (status == RG_OK) status = rg_sound_resample(&to, &s, 8000);
    if (status == RG_OK) status = rg_sound_encode(&text, &to);
    if (status == RG_OK) status = rg_frames_new(&f, &c);
    if (status == RG_OK) status = rg_frames_of(&rows, f, &s);
    if (status == RG_OK) status = rg_frames_invert(&back, f, (const float *)(const void *)rows.data, 2, 1, 1);
    rg_sound_free(&s);
    rg_sound_free(&to);
    rg_sound_free(&back);
    rg_frames_free(f);
    rg_text_free(&rows);
    rg_text_free(&text);
    return status;
}

static void memory_may_run_out_anywhere(void **state)
{
    const look k = { 1, 1, 16000, 16, false, false };
    rg_text    bytes = { 0 };
    (void)state;
    write_wav(&bytes, k, 1000);
    faults_every_alloc(everything, &bytes, NULL, false);
    rg_text_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_wav_is_read),
        cmocka_unit_test(channels_are_mixed),
        cmocka_unit_test(what_lies_is_refused),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(a_tone_stays_the_same_tone_at_any_rate),
        cmocka_unit_test(what_lies_above_half_the_rate_goes),
        cmocka_unit_test(the_fourier_transform_is_the_sum_of_its_definition),
        cmocka_unit_test(rows_are_those_of_an_independent_program),
        cmocka_unit_test(normalising_and_stacking_do_what_they_say),
        cmocka_unit_test(settings_come_back_from_text_and_bad_ones_are_named),
        cmocka_unit_test(backgrounds_are_alike),
        cmocka_unit_test(a_sound_of_rows_has_these_rows),
        cmocka_unit_test(changes_follow_from_seed_epoch_and_line),
        cmocka_unit_test(each_change_does_its_part),
        cmocka_unit_test(changes_that_make_no_sense_are_named),
        cmocka_unit_test(stores_change_what_is_learned_from),
        cmocka_unit_test(a_field_of_rows_reads_files),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
