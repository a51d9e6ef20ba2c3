/* records.c - the records that tests of the view draw. A failure here is a failure of memory: the test stops. */
#include "support/records.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call)                   \
    do {                             \
        if ((call) != RG_OK) abort(); \
    } while (0)

/* A peak at `centre` of n keys, sharper with `sharp`; sums to one. */
static void peak(rg_real *w, size_t n, double centre, double sharp, rg_random *random)
{
    double sum = 0;

    for (size_t j = 0; j < n; j++) {
        double e = exp(-sharp * ((double)j - centre) * ((double)j - centre)) + 0.02 * rg_random_uniform(random);
        w[j] = (rg_real)e;
        sum += e;
    }
    for (size_t j = 0; j < n; j++) w[j] = (rg_real)((double)w[j] / sum);
}

static const char *const english[] = { "the", "agreement", "on", "the", "European", "Economic", "Area", "was",
                                       "signed", "in", "August", "1992", ".", "</s>" };
static const char *const french[] = { "L'", "accord", "sur", "la", "zone", "économique", "européenne", "a", "été",
                                      "signé", "en", "août", "1992", ".", "</s>" };
static const char *const other[] = { "L'", "accord", "sur", "l'", "espace", "européen", "fut", "signé", "en", "août",
                                     "1992", ".", "</s>" };

rg_record *test_record_translation(void)
{
    static const double place[15] = { 0, 1, 2, 3, 6, 5, 4, 7, 7, 8, 9, 10, 11, 12, 13 };
    rg_record          *r = NULL;
    rg_random           random = rg_random_new(7, 1);
    rg_real             w[15 * 14];
    size_t              source, target, alternative;

    MUST(rg_record_new(&r, "Where a translator looks", "translation"));
    MUST(rg_record_add_text(r, "source", "the agreement on the European Economic Area was signed in August 1992 .", 0,
                            false));
    MUST(
        rg_record_add_text(r, "hypothesis", "L' accord sur l' espace européen fut signé en août 1992 .", -7.25, false));
    MUST(rg_record_add_text(r, "hypothesis", "L' accord sur la zone économique européenne a été signé en août 1992 .",
                            -6.5, true));
    MUST(rg_record_add_labels(&source, r, "source", RG_LABEL_TOKEN, english, 14));
    MUST(rg_record_add_labels(&target, r, "output", RG_LABEL_TOKEN, french, 15));
    MUST(rg_record_add_labels(&alternative, r, "output 1", RG_LABEL_TOKEN, other, 13));
    for (int layer = 0; layer < 2; layer++)
        for (int head = 0; head < 4; head++) {
            rg_map_place at = { "decoder.cross", layer, head, -1, 1 };
            for (size_t i = 0; i < 15; i++)
                peak(w + 14 * i, 14, place[i] + (layer ? 0 : head - 1.5), layer ? 0.6 + head : 0.15 + 0.1 * head,
                     &random);
            MUST(rg_record_add_map(NULL, r, at, target, source, w, 14));
        }
    for (int head = 0; head < 4; head++) {
        rg_map_place at = { "decoder.cross", 1, head, -1, 0 };
        for (size_t i = 0; i < 13; i++) peak(w + 14 * i, 14, (double)i, 0.8, &random);
        MUST(rg_record_add_map(NULL, r, at, alternative, source, w, 14));
    }
    return r;
}

rg_record *test_record_tokens(size_t n, int heads)
{
    rg_record  *r = NULL;
    rg_random   random = rg_random_new(3, 2);
    size_t      tokens;
    char      **text = rg_alloc_array(n, sizeof *text);
    rg_real    *w = rg_alloc_array(n * n, sizeof *w);

    if (!text || !w) abort();
    for (size_t i = 0; i < n; i++) text[i] = rg_format("token%zu", i);
    MUST(rg_record_new(&r, "Many tokens", "language"));
    MUST(rg_record_add_labels(&tokens, r, "tokens", RG_LABEL_TOKEN, (const char *const *)text, n));
    for (int head = 0; head < heads; head++) {
        rg_map_place at = { "encoder.self", 0, head, -1, -1 };
        for (size_t i = 0; i < n; i++)
            peak(w + n * i, n, head % 2 ? (double)(n - 1 - i) : (double)i - 3 * head, 0.02, &random);
        MUST(rg_record_add_map(NULL, r, at, tokens, tokens, w, n));
    }
    for (size_t i = 0; i < n; i++) rg_free(text[i]);
    rg_free(text);
    rg_free(w);
    return r;
}

/* A small landscape: sky, sun, hill, house. */
static void paint(unsigned char *p, int wide, int high)
{
    for (int y = 0; y < high; y++)
        for (int x = 0; x < wide; x++) {
            unsigned char *c = p + 3 * (y * wide + x);
            double         u = (double)x / wide, v = (double)y / high;
            bool           sun = hypot(u - 0.8, v - 0.2) < 0.09, hill = v > 0.62 + 0.1 * sin(5 * u);
            bool           house =
                u > 0.25 && u < 0.45 && v > 0.48 && v<0.75, roof = v> 0.36 && v <= 0.48 && fabs(u - 0.35) < v - 0.36;
            c[0] = (unsigned char)(sun ? 255 : roof ? 160 : house ? 235 : hill ? 80 : 120 + 80 * v);
            c[1] = (unsigned char)(sun ? 220 : roof ? 60 : house ? 225 : hill ? 140 : 175 + 40 * v);
            c[2] = (unsigned char)(sun ? 90 : roof ? 50 : house ? 200 : hill ? 70 : 235);
        }
}

/* The landscape as a PNG file, to be freed. */
static void *landscape(size_t *out_bytes)
{
    static unsigned char pixels[240 * 180 * 3];
    png_image            png = { .version = PNG_IMAGE_VERSION, .width = 240, .height = 180, .format = PNG_FORMAT_RGB };
    png_alloc_size_t     bytes = 0;
    void                *file;

    paint(pixels, 240, 180);
    png_image_write_get_memory_size(png, bytes, 0, pixels, 0, NULL);
    file = rg_alloc(bytes);
    if (!file || !png_image_write_to_memory(&png, file, &bytes, 0, pixels, 0, NULL)) abort();
    *out_bytes = bytes;
    return file;
}

/* Regions that somebody found: boxes of any size, which overlap. */
rg_record *test_record_boxes(void)
{
    static const char *const words[] = { "a", "house", "with", "a", "red", "roof" }, *const things[] = {
        "house", "roof", "sun", "hill", "sky"
    };
    static const float       boxes[] = { 0.24f, 0.36f, 0.46f, 0.76f, 0.23f, 0.35f, 0.47f, 0.49f, 0.7f, 0.1f,
                                         0.9f,  0.3f,  0,     0.53f, 1,     1,     0,     0,     1,    0.55f };
    static const rg_real     w[] = { 0.4f, 0.1f, 0.1f, 0.2f, 0.2f, 0.85f, 0.1f, 0, 0.05f, 0, 0.5f, 0.3f, 0, 0.1f, 0.1f,
                                     0.4f, 0.4f, 0, 0.1f, 0.1f, 0.2f, 0.75f, 0, 0.05f, 0, 0.08f, 0.9f, 0, 0.02f, 0 };
    rg_record   *r = NULL;
    rg_map_place place = RG_MAP_PLACE_DEFAULT;
    size_t       rows, regions, bytes;
    void        *file = landscape(&bytes);

    MUST(rg_record_new(&r, "What each word saw", "caption"));
    MUST(rg_record_add_labels(&rows, r, "caption", RG_LABEL_TOKEN, words, 6));
    MUST(rg_record_add_labels(&regions, r, "things", RG_LABEL_REGION, things, 5));
    MUST(rg_record_set_boxes(r, regions, boxes));
    MUST(rg_record_set_picture(r, regions, file, bytes));
    MUST(rg_record_add_map(NULL, r, place, rows, regions, w, 5));
    rg_free(file);
    return r;
}

rg_record *test_record_picture(void)
{
    static const char *const words[] = { "a", "white", "house", "under", "the", "sun" };
    static const double      at_y[] = { 3, 4, 4, 3, 1, 1 }, at_x[] = { 3, 2, 2, 3, 5, 5 };
    rg_record               *r = NULL;
    rg_map_place             place = RG_MAP_PLACE_DEFAULT;
    rg_real                  w[6 * 49];
    size_t                   rows, regions, bytes;
    void                    *file = landscape(&bytes);

    for (size_t i = 0; i < 6; i++) {
        double sum = 0;
        for (size_t k = 0; k < 49; k++) {
            double dy = (double)(k / 7) - at_y[i], dx = (double)(k % 7) - at_x[i];
            sum += w[49 * i + k] = (rg_real)exp(-(dy * dy + dx * dx) / (i == 0 || i == 3 ? 8 : 1.5));
        }
        for (size_t k = 0; k < 49; k++) w[49 * i + k] = (rg_real)((double)w[49 * i + k] / sum);
    }
    MUST(rg_record_new(&r, "What each word saw", "caption"));
    MUST(rg_record_add_labels(&rows, r, "caption", RG_LABEL_TOKEN, words, 6));
    MUST(rg_record_add_grid(&regions, r, "regions", 7, 7));
    MUST(rg_record_set_picture(r, regions, file, bytes));
    MUST(rg_record_add_map(NULL, r, place, rows, regions, w, 49));
    rg_free(file);
    return r;
}

rg_record *test_record_graph(void)
{
    static const char *const names[] = { "Alice", "Bob", "Carol", "Dan", "Eve", "Frank",
                                         "Grace", "Heidi", "Ivan", "Judy", "Ken", "Lea" };
    rg_record   *r = NULL;
    rg_map_place place = { "gat", 0, 0, -1, -1 };
    rg_random    random = rg_random_new(11, 0);
    size_t       nodes;
    uint32_t     from[64], to[64], edges = 0;
    rg_real      w[64];

    for (uint32_t i = 0; i < 12; i++) {
        uint32_t ring = i / 6 * 6, next = ring + (i + 1 - ring) % 6, before = ring + (i + 5 - ring) % 6;
        uint32_t ends[4] = { i, next, before, (i + 6) % 12 };
        for (int k = 0; k < (i % 3 ? 3 : 4); k++) {
            from[edges] = i;
            to[edges] = ends[k];
            w[edges++] = (rg_real)(0.05 + 0.9 * rg_random_uniform(&random) * rg_random_uniform(&random));
        }
    }
    MUST(rg_record_new(&r, "Who listens to whom", "graph"));
    MUST(rg_record_add_labels(&nodes, r, "people", RG_LABEL_NODE, names, 12));
    MUST(rg_record_add_edges(NULL, r, place, nodes, nodes, from, to, w, edges));
    return r;
}

rg_record *test_record_curves(void)
{
    rg_record *r = NULL;
    size_t     set;
    double     x[128], rnn[128], lstm[128];

    for (int i = 0; i < 128; i++) {
        x[i] = i;
        rnn[i] = pow(0.86, 127 - i) * (1 + 0.2 * sin(i));
        lstm[i] = pow(0.988, 127 - i) * (1 + 0.1 * sin(0.3 * i));
    }
    MUST(rg_record_new(&r, "Gradient over 128 steps", "training"));
    MUST(rg_record_add_curves(&set, r, "Norm of the gradient by time step", "time step", "norm of dL/dh", false, true));
    MUST(rg_record_add_series(r, set, "vanilla RNN", x, rnn, 128));
    MUST(rg_record_add_series(r, set, "LSTM, forget bias 1", x, lstm, 128));
    return r;
}

rg_record *test_record_bars(void)
{
    static const char *const names[] = { "base", "cell-gru", "direction-reversed" }, *const systems[] = { "seq2seq", "luong", "transformer" };
    static const double      at[] = { 0, 1, 2 }, y[] = { 37.1, 36.2, 28.4 }, low[] = { 36.5, 35.9, 28.4 }, high[] = { 37.7, 36.5, 28.4 },
                        share[] = { 0.25, 0.5, 0.125 }, smaller[] = { 0.5, 0.25, 0.0625 }, cost[] = { 4e14, 9e14, 2e15 };
    rg_record *r = NULL;
    size_t     set;

    MUST(rg_record_new(&r, "Means and shares", "evaluation"));
    MUST(rg_record_add_curves(&set, r, "Mean and interval", "row", "BLEU", false, false));
    MUST(rg_record_set_bars(r, set, names, 3));
    MUST(rg_record_add_series(r, set, "BLEU", at, y, 3));
    MUST(rg_record_set_interval(r, set, low, high));
    MUST(rg_record_add_curves(&set, r, "Load", "expert", "share", false, false));
    MUST(rg_record_set_bars(r, set, names, 3));
    MUST(rg_record_add_series(r, set, "encoder", at, share, 3));
    MUST(rg_record_add_series(r, set, "decoder", at, smaller, 3));
    MUST(rg_record_add_curves(&set, r, "BLEU and cost", "operations", "BLEU", true, false));
    for (size_t i = 0; i < 3; i++) MUST(rg_record_add_series(r, set, systems[i], &cost[i], &y[i], 1));
    return r;
}

rg_record *test_record_sheet(void)
{
    static const char *const parts[] = { "before", "after" }, *const row[] = { "front" };
    static const float       boxes[] = { 0, 0, 0.5f, 1, 0.5f, 0, 1, 1 };
    static const rg_real     half[] = { (rg_real)0.5, (rg_real)0.5 };
    rg_map_place             place = { "front", -1, -1, -1, -1 };
    rg_record               *r = NULL;
    size_t                   bytes, regions, rows;
    void                    *png = landscape(&bytes);

    MUST(rg_record_new(&r, "One picture", "class"));
    MUST(rg_record_add_labels(&regions, r, "parts", RG_LABEL_REGION, parts, 2));
    MUST(rg_record_set_boxes(r, regions, boxes));
    MUST(rg_record_set_picture(r, regions, png, bytes));
    MUST(rg_record_add_labels(&rows, r, "front", RG_LABEL_TOKEN, row, 1));
    MUST(rg_record_add_map(NULL, r, place, rows, regions, half, 2));
    MUST(rg_record_set_kind(r, "sheet"));
    rg_free(png);
    return r;
}

rg_record *test_record_scripts(void)
{
    static const char *const rows[] = {
        "naïve", "e\xcc\x81t\xe2\x80\xaf\x65", "άνθρωπος", "мир", "سلام", "שלום", "世界", "こんにちは", "안녕"
    };
    static const char *const cols[] = { "hello", "Ελλάδα", "Москва", "العربية", "中文", "日本語", "한국어", "x̂" };
    rg_record   *r = NULL;
    rg_map_place place = { "scripts", 0, 0, -1, -1 };
    rg_random    random = rg_random_new(5, 0);
    rg_real      w[9 * 8];
    size_t       a, b;

    for (size_t i = 0; i < 9; i++) peak(w + 8 * i, 8, (double)i - 0.5, 0.7, &random);
    MUST(rg_record_new(&r, "Every script — مرحبا 你好 γειά", "translation"));
    MUST(rg_record_add_labels(&a, r, "rows", RG_LABEL_TOKEN, rows, 9));
    MUST(rg_record_add_labels(&b, r, "columns", RG_LABEL_TOKEN, cols, 8));
    MUST(rg_record_add_map(NULL, r, place, a, b, w, 8));
    return r;
}

/* Heads of a memory that copies six items: written along one diagonal, read along the next. */
rg_record *test_record_memory(void)
{
    enum { ITEMS = 8, STEPS = 2 * ITEMS + 2, SLOTS = 32 };
    static const char *const heads[] = { "write", "read" };
    rg_record *r = NULL;
    rg_random  random = rg_random_new(13, 0);
    rg_real    w[STEPS * SLOTS];
    char      *text[SLOTS];
    size_t     steps, slots;

    MUST(rg_record_new(&r, "Copying eight items", "memory"));
    for (size_t i = 0; i < SLOTS; i++) text[i] = rg_format("%zu", i);
    MUST(rg_record_add_labels(&steps, r, "time step", RG_LABEL_TOKEN, (const char *const *)text, STEPS));
    MUST(rg_record_add_labels(&slots, r, "memory", RG_LABEL_SLOT, (const char *const *)text, SLOTS));
    for (int head = 0; head < 2; head++) {
        rg_map_place at = { heads[head], -1, 0, -1, -1 };
        for (size_t t = 0; t < STEPS; t++) {
            const bool answers = t > ITEMS;
            const double where = head ? (answers ? 10 + (double)(t - ITEMS - 1) : 9) : 10 + fmin((double)t, ITEMS);
            peak(w + t * SLOTS, SLOTS, where, head != (int)answers ? 0.4 : 3, &random);
        }
        MUST(rg_record_add_map(NULL, r, at, steps, slots, w, SLOTS));
    }
    for (size_t i = 0; i < SLOTS; i++) rg_free(text[i]);
    return r;
}

/* A graph too large to be drawn whole: 40 rings of 25, each with a bridge to the next. */
rg_record *test_record_rings(void)
{
    enum { RINGS = 40, SIZE = 25, NODES = RINGS * SIZE };
    rg_record   *r = NULL;
    rg_map_place place = { "gat", 0, 0, -1, -1 };
    rg_random    random = rg_random_new(17, 0);
    char       **text = rg_alloc_array(NODES, sizeof *text);
    uint32_t    *from = rg_alloc_array(3 * NODES, sizeof *from), *to = rg_alloc_array(3 * NODES, sizeof *to), edges = 0;
    rg_real     *w = rg_alloc_array(3 * NODES, sizeof *w);
    size_t       nodes;

    if (!text || !from || !to || !w) abort();
    for (uint32_t i = 0; i < NODES; i++) {
        const uint32_t ring = i / SIZE * SIZE,
                       ends[3] = { i, ring + (i + 1 - ring) % SIZE, i == ring ? (i + SIZE) % NODES : ring };
        text[i] = rg_format("paper %u", i);
        for (int k = 0; k < 3; k++) {
            from[edges] = i;
            to[edges] = ends[k];
            w[edges++] = (rg_real)(0.1 + 0.8 * rg_random_uniform(&random));
        }
    }
    MUST(rg_record_new(&r, "A thousand papers", "graph"));
    MUST(rg_record_add_labels(&nodes, r, "papers", RG_LABEL_NODE, (const char *const *)text, NODES));
    MUST(rg_record_add_edges(NULL, r, place, nodes, nodes, from, to, w, edges));
    for (size_t i = 0; i < NODES; i++) rg_free(text[i]);
    rg_free(text);
    rg_free(from);
    rg_free(to);
    rg_free(w);
    return r;
}
