/* test_figures.c - every style in every format, light and dark; no box in place of a letter where a font is
 * installed. */
#include "support/records.h"
#include "view/figure.h"

#include <pango/pangocairo.h>
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>
#include <cmocka.h>

typedef struct sample {
    rg_figure_style style;
    rg_record *(*make)(void);
} sample;

static const sample samples[] = {
    { RG_FIGURE_MATRIX, test_record_translation }, { RG_FIGURE_GRID, test_record_translation },
    { RG_FIGURE_LINKS, test_record_translation },  { RG_FIGURE_PICTURE, test_record_picture },
    { RG_FIGURE_GRAPH, test_record_graph },        { RG_FIGURE_CURVES, test_record_curves },
    { RG_FIGURE_AUTO, test_record_picture },       { RG_FIGURE_AUTO, test_record_graph },
    { RG_FIGURE_AUTO, test_record_curves },        { RG_FIGURE_AUTO, test_record_scripts },
    { RG_FIGURE_AUTO, test_record_memory },        { RG_FIGURE_AUTO, test_record_boxes },
    { RG_FIGURE_GRAPH, test_record_rings },        { RG_FIGURE_AUTO, test_record_bars },
    { RG_FIGURE_AUTO, test_record_sheet },
};

static void every_style_draws_in_every_format(void **state)
{
    static const char *const head[] = { "\x89PNG", "<?xml", "%PDF-" }, *const tail[] = { "IEND", "</svg>", "%%EOF" };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (int format = 0; format < 3; format++)
            for (int dark = 0; dark < 2; dark++) {
                rg_record        *r = samples[i].make();
                rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
                rg_figure_result  result;
                void             *bytes = NULL;
                size_t            count = 0;
                char              end[33] = "";
                o.style = samples[i].style;
                o.dark = dark;
                assert_int_equal(rg_figure__render(&bytes, &count, &result, r, (rg_figure_format)format, &o), RG_OK);
                assert_true(count > 500);
                assert_memory_equal(bytes, head[format], strlen(head[format]));
                for (size_t k = 0; k < 32; k++) {
                    char ch = ((char *)bytes)[count - 32 + k];
                    end[k] = ch ? ch : ' ';
                }
                assert_non_null(strstr(end, tail[format]));
                assert_true(result.width > 50 && result.height > 50);
                rg_free(bytes);
                rg_record_free(r);
            }
}

/* The pixels of a figure, as RGB. */
static unsigned char *pixels_of(const rg_record *r, const rg_figure_options *o, unsigned *wide, unsigned *high)
{
    png_image      png = { .version = PNG_IMAGE_VERSION };
    void          *bytes = NULL;
    size_t         count = 0;
    unsigned char *pixels;

    assert_int_equal(rg_figure__render(&bytes, &count, NULL, r, RG_FIGURE_PNG, o), RG_OK);
    assert_true(png_image_begin_read_from_memory(&png, bytes, count));
    png.format = PNG_FORMAT_RGB;
    pixels = malloc(PNG_IMAGE_SIZE(png));
    assert_true(png_image_finish_read(&png, NULL, pixels, 0, NULL));
    *wide = png.width;
    *high = png.height;
    rg_free(bytes);
    return pixels;
}

static size_t count_colour(const unsigned char *p, size_t n, const double want[3])
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += abs(p[3 * i] - (int)(want[0] * 255 + 0.5)) < 2 && abs(p[3 * i + 1] - (int)(want[1] * 255 + 0.5)) < 2 &&
                 abs(p[3 * i + 2] - (int)(want[2] * 255 + 0.5)) < 2;
    return found;
}

static void the_strongest_cell_has_the_strongest_colour(void **state)
{
    rg_record        *r = test_record_scripts();
    rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
    unsigned          wide, high;
    unsigned char    *p;
    double            top[3];

    (void)state;
    for (size_t i = 0; i < 72; i++) r->map[0].weights[i] = i == 11 ? 1 : 0;
    o.no_title = true;
    p = pixels_of(r, &o, &wide, &high);
    rg_palette_colour(top, RG_PALETTE_BLUE, 1);
    /* one cell of 24 points at 2 pixels a point, without its rim; the scale's end adds a few */
    size_t found = count_colour(p, (size_t)wide * high, top);
    assert_true(found > 44 * 44 && found < 50 * 50 + 200);
    free(p);
    rg_record_free(r);
}

static void width_and_scale_are_kept(void **state)
{
    rg_record        *r = test_record_translation();
    rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
    unsigned          wide, high;

    (void)state;
    o.width = 240;
    o.scale = 3;
    free(pixels_of(r, &o, &wide, &high));
    assert_true(wide >= 720 && wide <= 721);
    rg_record_free(r);
}

/* The fonts that tools/setup installs (DejaVu, WenQuanYi Micro Hei) have all of these. */
static void retitle(char **title, size_t letters)
{
    rg_free(*title);
    assert_non_null(*title = rg_alloc_zero(letters + 1));
    memset(*title, 'W', letters);
}

/* However long the title, its last letter (or the ellipsis) stands within the margin. */
static void a_long_title_is_not_cut_off(void **state)
{
    static const size_t letters[] = { 40, 5000 };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (size_t k = 0; k < 2; k++) {
            rg_record        *r = samples[i].make();
            rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
            unsigned          wide, high;

            retitle(&r->title, letters[k]);
            if (r->curve_sets) retitle(&r->curves[0].title, letters[k]);
            o.style = samples[i].style;
            o.scale = 1;
            unsigned char *p = pixels_of(r, &o, &wide, &high);
            assert_true(wide > 400 && wide < 2000);
            for (size_t y = 0; y < high; y++)
                for (size_t x = wide - 10; x < wide; x++) assert_memory_equal(p + 3 * (y * wide + x), p, 3);
            free(p);
            rg_record_free(r);
        }
}

static const char *const scripts[][2] = {
    { "Latin", "Zażółć gęślą jaźń Čeština İstanbul Đặng Quốc œuvre façade Straße Ærø" },
    { "Greek", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία ἀρχὴ ᾧ" },
    { "Cyrillic", "Съешь ещё этих мягких булок ґедзь її Ђорђе Ўзбек" },
    { "Arabic", "صِف خَلقَ خَودٍ كَمِثلِ الشَمسِ گچپژ ٠١٢٣" },
    { "Hebrew", "דג סקרן שט בים מאוכזב ולפתע מצא חברה" },
    { "Han, simplified", "我能吞下玻璃而不伤身体。视觉" },
    { "Han, traditional", "我能吞下玻璃而不傷身體。視覺" },
    { "Kana", "いろはにほへとちりぬるを アイウエオ ガギグ" },
    { "Hangul", "나는 유리를 먹을 수 있어요. 키스의 고유조건은 쀍" },
};

static void every_script_is_drawn_without_boxes(void **state)
{
    const rg_figure_format formats[] = { RG_FIGURE_PNG, RG_FIGURE_SVG, RG_FIGURE_PDF };

    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        for (size_t f = 0; f < 3; f++) {
            rg_record        *r = NULL;
            rg_map_place      place = RG_MAP_PLACE_DEFAULT;
            rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
            rg_figure_result  result = { 0 };
            rg_real           one = 1;
            void             *bytes = NULL;
            size_t            l, count;
            assert_int_equal(rg_record_new(&r, scripts[i][1], ""), RG_OK);
            assert_int_equal(rg_record_add_labels(&l, r, "", RG_LABEL_TOKEN, &scripts[i][1], 1), RG_OK);
            assert_int_equal(rg_record_add_map(NULL, r, place, l, l, &one, 1), RG_OK);
            assert_int_equal(rg_figure__render(&bytes, &count, &result, r, formats[f], &o), RG_OK);
            if (result.missing_glyphs)
                print_error("%s: no font for %u of the characters of %s\n", scripts[i][0], result.missing_glyphs,
                            scripts[i][1]);
            assert_int_equal(result.missing_glyphs, 0);
            rg_free(bytes);
            rg_record_free(r);
        }
}

static int width_of(const char *text)
{
    PangoContext *context = pango_font_map_create_context(pango_cairo_font_map_get_default());
    PangoLayout  *layout = pango_layout_new(context);
    int           wide, high;

    pango_layout_set_text(layout, text, -1);
    pango_layout_get_size(layout, &wide, &high);
    g_object_unref(layout);
    g_object_unref(context);
    return wide;
}

/* The letters of an Arabic word join: together they are narrower than one by one, as Latin ones are not. */
static void arabic_is_shaped(void **state)
{
    (void)state;
    assert_true(width_of("مكتبة") <
                width_of("م") + width_of("ك") + width_of("ت") + width_of("ب") + width_of("ة") - width_of("ب") / 2);
    assert_true(abs(width_of("nnn") - 3 * width_of("n")) <= 2 * PANGO_SCALE);
}

static void a_missing_glyph_is_counted(void **state)
{
    static const char *const private[] = { "\xee\x80\x80\xee\x80\x81" }; /* private use: no font has it */
    rg_record        *r = NULL;
    rg_map_place      place = RG_MAP_PLACE_DEFAULT;
    rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
    rg_figure_result  result;
    rg_real           one = 1;
    void             *bytes = NULL;
    size_t            l, count;

    (void)state;
    assert_int_equal(rg_record_new(&r, "", ""), RG_OK);
    assert_int_equal(rg_record_add_labels(&l, r, "", RG_LABEL_TOKEN, private, 1), RG_OK);
    assert_int_equal(rg_record_add_map(NULL, r, place, l, l, &one, 1), RG_OK);
    assert_int_equal(rg_figure__render(&bytes, &count, &result, r, RG_FIGURE_PNG, &o), RG_OK);
    assert_int_equal(result.missing_glyphs, 4);
    rg_free(bytes);
    rg_record_free(r);
}

/* How often `what` stands in the SVG of a record: a letter is one <use>. */
static size_t count_in_svg(const rg_record *r, const rg_figure_options *o, const char *what)
{
    void  *bytes = NULL;
    size_t count = 0, found = 0;

    assert_int_equal(rg_figure__render(&bytes, &count, NULL, r, RG_FIGURE_SVG, o), RG_OK);
    for (size_t i = 0; i + strlen(what) <= count; i++) found += memcmp((char *)bytes + i, what, strlen(what)) == 0;
    rg_free(bytes);
    return found;
}

/* 0.996 is written as 1.00, 0.99 as .99. */
static void numbers_in_cells_are_rounded_before_their_zero_is_left_out(void **state)
{
    static const float weights[] = { 1, 0.996f, 0.995001f, 0.99f, 0.5f };
    rg_record         *r = test_record_scripts();
    rg_figure_options  o = RG_FIGURE_OPTIONS_DEFAULT;
    size_t             letters[5];

    (void)state;
    o.numbers = true;
    for (size_t k = 0; k < 5; k++) {
        for (size_t i = 0; i < 72; i++) r->map[0].weights[i] = i == 11 ? 1 : i == 12 ? weights[k] : 0;
        letters[k] = count_in_svg(r, &o, "<use ");
    }
    assert_int_equal(letters[1], letters[0]);
    assert_int_equal(letters[2], letters[0]);
    assert_int_equal(letters[3], letters[0] - 1);
    assert_int_equal(letters[4], letters[0] - 1);
    rg_record_free(r);
}

/* Without a map, a grid has every head of every attention; with one, those of its name. */
static void a_grid_draws_every_head_of_every_name(void **state)
{
    rg_record        *r = test_record_translation();
    rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
    rg_figure_result  one, all;
    rg_real           w[14 * 14];
    rg_map_place      alignment = { "alignment", -1, -1, -1, 1 };
    void             *bytes = NULL;
    size_t            count, cross;

    (void)state;
    for (size_t i = 0; i < 14 * 14; i++) w[i] = (rg_real)(i % 15 == 0);
    for (int layer = 0; layer < 3; layer++)
        for (int head = 0; head < 6; head++) {
            rg_map_place place = { "encoder.self", layer, head, -1, -1 };
            assert_int_equal(rg_record_add_map(NULL, r, place, 0, 0, w, 14), RG_OK);
        }
    rg_real aligned[15 * 14] = { 0 };
    assert_int_equal(rg_record_add_map(NULL, r, alignment, 1, 0, aligned, 14), RG_OK);
    cross = rg_record_find(r, "decoder.cross", -1, -1, -1);
    o.style = RG_FIGURE_GRID;
    o.no_title = true;
    o.map = cross;
    assert_int_equal(rg_figure__render(&bytes, &count, &one, r, RG_FIGURE_SVG, &o), RG_OK);
    rg_free(bytes);
    o.map = (size_t)-1;
    assert_int_equal(rg_figure__render(&bytes, &count, &all, r, RG_FIGURE_SVG, &o), RG_OK);
    rg_free(bytes);
    /* 2 x 4 maps of decoder.cross; with 3 x 6 of encoder.self below them it is wider by two and higher by three */
    assert_true(all.width > one.width * 1.3);
    assert_true(all.height > one.height * 2.2);
    rg_record_free(r);
}

/* Three sets of one record: every bar is a line more, and points with names need no legend. */
static void bars_and_points_are_drawn(void **state)
{
    rg_record        *r = test_record_bars();
    rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
    rg_figure_result  size[3];

    (void)state;
    for (o.curves = 0; o.curves < r->curve_sets; o.curves++) {
        void  *bytes = NULL;
        size_t count = 0;
        assert_int_equal(rg_figure__render(&bytes, &count, &size[o.curves], r, RG_FIGURE_SVG, &o), RG_OK);
        rg_free(bytes);
    }
    assert_true(size[1].height > size[0].height + 3 * 12);
    rg_record_free(r);
}

/* Maps of two models over a picture stand one below the other, without their difference. */
static void maps_over_a_picture_are_stacked(void **state)
{
    rg_record        *one = test_record_picture(), *both = NULL;
    rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
    rg_figure_result  size = { 0 };
    void             *bytes = NULL;
    size_t            count = 0;

    (void)state;
    assert_int_equal(rg_record_beside(&both, one, one), RG_OK);
    o.map = 2;
    assert_int_equal(rg_figure__render(&bytes, &count, &size, both, RG_FIGURE_PNG, &o), RG_OK);
    assert_true(size.width > (double)one->map[0].rows * 128 && size.height < 400);
    rg_free(bytes);
    rg_record_free(both);
    rg_record_free(one);
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    rg_record        *r = test_record_translation(), *empty = NULL;
    rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
    void             *bytes = NULL;
    size_t            count;

    (void)state;
    o.style = RG_FIGURE_PICTURE;
    assert_int_equal(rg_figure__render(&bytes, &count, NULL, r, RG_FIGURE_PNG, &o), RG_EINVAL);
    o.style = RG_FIGURE_GRAPH;
    assert_int_equal(rg_figure__render(&bytes, &count, NULL, r, RG_FIGURE_PNG, &o), RG_EINVAL);
    o.style = RG_FIGURE_CURVES;
    assert_int_equal(rg_figure__render(&bytes, &count, NULL, r, RG_FIGURE_PNG, &o), RG_EINVAL);
    o.style = RG_FIGURE_MATRIX;
    o.scale = 1000;
    assert_int_equal(rg_figure__render(&bytes, &count, NULL, r, RG_FIGURE_PNG, &o), RG_ELIMIT);
    assert_int_equal(rg_record_new(&empty, "", ""), RG_OK);
    assert_int_equal(rg_figure__render(&bytes, &count, NULL, empty, RG_FIGURE_PNG, &o), RG_EINVAL);
    rg_record_free(r);
    rg_record_free(empty);
    r = test_record_picture();
    o.style = RG_FIGURE_PICTURE;
    o.scale = 1;
    memset(r->labels[1].picture + 16, 0xff, 8); /* a PNG that says it has 2^32 pixels a side */
    assert_int_equal(rg_figure__render(&bytes, &count, NULL, r, RG_FIGURE_PNG, &o), RG_ELIMIT);
    assert_int_equal(rg_record_set_picture(r, 1, "\xff\xd8\xff\xe0 not a JPEG", 16), RG_OK);
    assert_int_equal(rg_figure__render(&bytes, &count, NULL, r, RG_FIGURE_PNG, &o), RG_EFORMAT);
    rg_record_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_style_draws_in_every_format),
        cmocka_unit_test(the_strongest_cell_has_the_strongest_colour),
        cmocka_unit_test(width_and_scale_are_kept),
        cmocka_unit_test(a_long_title_is_not_cut_off),
        cmocka_unit_test(every_script_is_drawn_without_boxes),
        cmocka_unit_test(arabic_is_shaped),
        cmocka_unit_test(a_missing_glyph_is_counted),
        cmocka_unit_test(numbers_in_cells_are_rounded_before_their_zero_is_left_out),
        cmocka_unit_test(a_grid_draws_every_head_of_every_name),
        cmocka_unit_test(bars_and_points_are_drawn),
        cmocka_unit_test(maps_over_a_picture_are_stacked),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
