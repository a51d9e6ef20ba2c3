/* test_readers.c - rows from files of every format: what is read, how columns are found, and what bad files are
 * told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "regard/reader.h"
#include "support/faults.h"

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void write_gzip(const char *path, const void *bytes, size_t count)
{
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)count), count);
    gzclose(file);
}

static const char *const label_text[] = { "label", "text" };

/* How a case is read, and all of its rows: cells between |, ? for a missing one, a line number in front; or the
 * failure. */
typedef struct {
    const char *format, *columns, *bytes, *rows; /* rows: "1:pos|good;2:neg|bad;", or NULL and `message` is part of the failure */
    const char *message;
} reading;

static rg_status read_rows(rg_text *out, rg_reader *r)
{
    for (;;) {
        rg_row row;
        bool   more;
        RG_TRY(rg_reader_next(&more, &row, r));
        if (!more) return RG_OK;
        RG_TRY(rg_text_print(out, "%llu:", (unsigned long long)row.line));
        for (size_t i = 0; i < 2; i++) {
            if (i) RG_TRY(rg_text_add(out, "|", 1));
            assert_int_equal(row.cell[i].bytes[row.cell[i].count], 0);
            RG_TRY(row.cell[i].missing ? rg_text_add(out, "?", 1)
                                       : rg_text_add(out, row.cell[i].bytes, row.cell[i].count));
        }
        RG_TRY(rg_text_add(out, ";", 1));
    }
}

static void check_reading(const reading *c, const char *path)
{
    rg_reader_config config = RG_READER_CONFIG_DEFAULT;
    rg_reader       *r = NULL;
    rg_text          rows = { 0 };
    config.format = c->format;
    config.columns = c->columns;
    config.wanted = label_text;
    config.wanted_count = 2;
    rg_status status =
        path ? rg_reader_open(&r, path, &config) : rg_reader_open_bytes(&r, c->bytes, strlen(c->bytes), &config);
    if (status == RG_OK) status = read_rows(&rows, r);
    if (c->rows) {
        if (status != RG_OK) print_error("%s\n", rg_message());
        assert_int_equal(status, RG_OK);
        assert_string_equal(rg_text_c(&rows), c->rows);
    } else {
        assert_int_not_equal(status, RG_OK);
        if (!strstr(rg_message(), c->message)) print_error("%s\n", rg_message());
        assert_non_null(strstr(rg_message(), c->message));
        assert_true(strlen(rg_message()) > strlen(c->message));
    }
    rg_text_free(&rows);
    rg_reader_close(r);
}

static const reading cases[] = {
    /* tsv */
    { "tsv", "", "pos\tgood\nneg\tbad\n", "1:pos|good;2:neg|bad;", NULL },
    { "", "", "pos\tgood\r\nneg\tbad", "1:pos|good;2:neg|bad;", NULL },
    { "", "", "text\tlabel\ngood\tpos\n", "2:pos|good;", NULL },
    { "", "", "\xEF\xBB\xBFlabel\ttext\npos\tgood\n", "2:pos|good;", NULL },
    { "", "2,1", "good\tpos\n", "1:pos|good;", NULL },
    { "", "stars,review", "id\treview\tstars\n7\tgood\tpos\n", "2:pos|good;", NULL },
    { "", "1,2-3", "pos\t1\t2\t9\n", "1:pos|1\t2;", NULL },
    { "", "1,2-", "pos\t1\t2\t9\n", "1:pos|1\t2\t9;", NULL },
    { "tsv", "", "pos\tgood\n\nneg\t\"bad\n", "1:pos|good;2:?|?;3:neg|\"bad;", NULL },
    { "tsv", "", "pos\t\n\tx\n", "1:pos|;2:|x;", NULL },
    { "tsv", "", "", "", NULL },
    { "tsv", "", "pos\tgood\nno tab\n", NULL, "line 2: 1 column, and column 2 is wanted: separate columns by a tab" },
    { "tsv", "stars,text", "label\ttext\npos\tgood\n", NULL, "no column is called 'stars'; there are label, text" },
    { "tsv", "1", "pos\tgood\n", NULL, "text is missing" },
    { "tsv", "1,2,3", "pos\tgood\n", NULL, "only 2 are wanted" },
    { "", "", "pos good\n", NULL, "no tab between columns" },
    { "", "", "", NULL, "the file is empty" },
    { "xls", "", "x", NULL, "no format is called 'xls'; there are tsv, csv" },
    /* csv */
    { "csv", "", "pos,good\nneg,bad\n", "1:pos|good;2:neg|bad;", NULL },
    { "csv", "", "label,text\r\npos,\"a, b\"\r\n", "2:pos|a, b;", NULL },
    { "csv", "", "pos,\"say \"\"yes\"\"\"\n", "1:pos|say \"yes\";", NULL },
    { "csv", "", "pos,\"two\nlines\"\nneg,x\n", "1:pos|two\nlines;3:neg|x;", NULL },
    { "csv", "", "pos,\"\"\n,\n\nneg,a\"b\n", "1:pos|;2:|;3:?|?;4:neg|a\"b;", NULL },
    { "csv", "text,label", "a,label,text\n1,pos,\"x\"\n", "2:x|pos;", NULL },
    { "csv", "", "pos,good\nneg,\"bad\nand so on\n", NULL,
      "line 2: a quote opened here is still open at the end of the file" },
    { "csv", "", "pos,\"good\"x\n", NULL, "line 1: 'x' behind a closing quote" },
    { "csv", "", "pos,good\nneg\n", NULL, "line 2: 1 column, and column 2 is wanted: separate columns by commas" },
    /* JSON lines */
    { "", "", "{\"text\":\"good\",\"label\":\"pos\",\"x\":{}}\n\n{\"label\":3,\"text\":null}\n",
      "1:pos|good;2:?|?;3:3|?;", NULL },
    { "jsonl", "y,x", "{\"x\":[1,2.5,\"c\"],\"y\":true}\n", "1:true|1\n2.5\nc;", NULL },
    { "jsonl", "", "{\"label\":\"\\u00e9\",\"text\":\"a\\nb\"}", "1:\xC3\xA9|a\nb;", NULL },
    { "jsonl", "", "{\"label\":1}\n{\"label\":\n", NULL, "line 2" },
    { "jsonl", "", "[1]\n", NULL, "line 1: not a JSON object" },
    { "jsonl", "", "{\"label\":{}}\n", NULL, "line 1: \"label\" is not text" },
    { "jsonl", "a", "{\"a\":1}\n", NULL, "2 keys are wanted" },
    /* label text, svmlight, lines */
    { "label", "", "pos very  good\n\nneg\tbad\nalone\n", "1:pos|very  good;2:?|?;3:neg|bad;4:alone|;", NULL },
    { "svmlight", "label,counts", "# head\n+1 3:1 7:0.5 # note\n-1\n", "2:+1| 3:1 7:0.5 ;3:-1|;", NULL },
    /* CoNLL */
    { "conll", "", "The\tDET\ndog\tNOUN\n\n\nIt\tPRON\n", "1:The\ndog|DET\nNOUN;5:It|PRON;", NULL },
    { "conll", "1,3", "# sent_id = 1\nThe DT B\nend NN I\n", "2:The\nend|B\nI;", NULL },
    { "conll", "", "New York\tLOC\n", "1:New York|LOC;", NULL },
    { "conll", "", "a\tX\nb\n", NULL, "line 2: 1 column; the words before have 2" },
    { "conll", "", "a\t\tX\n", NULL, "line 1: column 2 is empty" },
};

static void every_format_reads_its_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_reading(&cases[i], NULL);
}

static void files_are_read_like_bytes_packed_or_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file("reader.txt", cases[i].bytes, strlen(cases[i].bytes));
        check_reading(&cases[i], "reader.txt");
        write_gzip("reader.gz", cases[i].bytes, strlen(cases[i].bytes));
        check_reading(&cases[i], "reader.gz");
    }
}

static void endings_of_names_tell_the_format(void **state)
{
    (void)state;
    static const struct { const char *path, *bytes, *format;
    } rows[] = {
        { "a.csv", "pos,good\n", "csv" },
        { "a.tsv", "pos\tgood\n", "tsv" },
        { "a.svmlight", "1 2:3\n", "svmlight" },
        { "a.conll", "a\tX\n", "conll" },
        { "a.jsonl", "{\"label\":1,\"text\":2}\n", "jsonl" },
    };
    rg_reader_config config = RG_READER_CONFIG_DEFAULT;
    config.wanted = label_text;
    config.wanted_count = 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rg_reader *r = NULL;
        config.columns = strcmp(rows[i].format, "svmlight") == 0 ? "label,counts" : "";
        write_file(rows[i].path, rows[i].bytes, strlen(rows[i].bytes));
        assert_int_equal(rg_reader_open(&r, rows[i].path, &config), RG_OK);
        assert_string_equal(rg_reader_format_of(r), rows[i].format);
        rg_reader_close(r);
    }
}

static void a_row_past_the_limit_is_flagged_and_the_next_is_read(void **state)
{
    (void)state;
    enum { HUGE_CELL = 100000 };
    rg_reader_config config = RG_READER_CONFIG_DEFAULT;
    char            *bytes = malloc(HUGE_CELL + 40);
    size_t           count = (size_t)sprintf(bytes, "pos\t");
    memset(bytes + count, 'x', HUGE_CELL);
    count += HUGE_CELL;
    count += (size_t)sprintf(bytes + count, "\nneg\tbad\n");
    config.wanted = label_text;
    config.wanted_count = 2;
    for (int small = 0; small < 2; small++) {
        rg_reader *r = NULL;
        rg_row     row;
        bool       more;
        if (small) config.max_bytes = 1000;
        assert_int_equal(rg_reader_open_bytes(&r, bytes, count, &config), RG_OK);
        assert_int_equal(rg_reader_next(&more, &row, r), RG_OK);
        assert_true(more);
        if (small) assert_true(row.faults & RG_LINE_TOO_LONG && row.cell[1].missing);
        else assert_int_equal(row.cell[1].count, HUGE_CELL);
        assert_int_equal(rg_reader_next(&more, &row, r), RG_OK);
        assert_string_equal(row.cell[1].bytes, "bad");
        rg_reader_close(r);
    }
    free(bytes);
}

static void a_row_of_many_columns_is_read_in_no_time(void **state)
{
    (void)state;
    enum { COLUMNS = 500000 };
    rg_reader_config config = RG_READER_CONFIG_DEFAULT;
    rg_reader       *r = NULL;
    char            *bytes = malloc(2 * COLUMNS);
    rg_row           row;
    bool             more;
    for (size_t i = 0; i < COLUMNS; i++) memcpy(bytes + 2 * i, "x\t", 2);
    bytes[2 * COLUMNS - 1] = '\n';
    config.wanted = label_text;
    config.wanted_count = 2;
    config.columns = "1,2-";
    const double begun = rg_now();
    assert_int_equal(rg_reader_open_bytes(&r, bytes, 2 * COLUMNS, &config), RG_OK);
    assert_int_equal(rg_reader_next(&more, &row, r), RG_OK);
    assert_int_equal(row.cell[1].count, 2 * (COLUMNS - 1) - 1);
    rg_reader_close(r);
    config.header = RG_HEADER_YES;
    config.columns = "x,y";
    assert_int_equal(rg_reader_open_bytes(&r, bytes, 2 * COLUMNS, &config), RG_EFORMAT);
    assert_true(rg_now() - begun < 20); /* a walk from the first name to each would take minutes */
    free(bytes);
}

/* --------------------------------------------------------------------------------------------- folders and archives */

static const char *const member_columns[] = { "label", "path", "name", "picture" };

static rg_status list_members(rg_text *out, const char *path, size_t wanted)
{
    rg_reader_config config = RG_READER_CONFIG_DEFAULT;
    rg_reader       *r = NULL;
    config.wanted = member_columns;
    config.wanted_count = wanted;
    rg_status status = rg_reader_open(&r, path, &config);
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) continue;
        for (size_t i = 0; i < wanted; i++)
            rg_text_print(out, "%s%s", i ? "|" : "", row.cell[i].missing ? "?" : row.cell[i].bytes);
        rg_text_add(out, ";", 1);
        assert_non_null(row.member);
    }
    rg_reader_close(r);
    return status;
}

static void folders_give_their_files_in_the_order_of_paths(void **state)
{
    (void)state;
    rg_text text = { 0 };
    mkdir("set", 0777), mkdir("set/dog", 0777), mkdir("set/cat", 0777);
    write_file("set/dog/2.png", "D2", 2);
    write_file("set/cat/b.c.png", "Cb", 2);
    write_file("set/cat/a", "", 0);
    write_file("set/cat/.hidden", "x", 1);
    write_file("set/flat.png", "F", 1);
    assert_int_equal(list_members(&text, "set", 4), RG_OK);
    assert_string_equal(text.data, "cat|cat/a|a|;cat|cat/b.c.png|b.c|Cb;dog|dog/2.png|2|D2;?|flat.png|flat|F;");
    rg_text_clear(&text);
    assert_int_equal(list_members(&text, "set", 2), RG_OK); /* without reading the files */
    assert_string_equal(text.data, "cat|cat/a;cat|cat/b.c.png;dog|dog/2.png;?|flat.png;");
    mkdir("set/empty", 0777);
    assert_int_equal(list_members(&text, "set", 4), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "set/empty: the folder has no files"));
    rg_text_free(&text);
}

static void archives_of_every_kind_give_their_files(void **state)
{
    (void)state;
    static const char *const kinds[] = { "ustar", "pax", "gnu", "v7" };
    rg_text                  text = { 0 }, expected = { 0 };
    char                     deep[260] = "";
    for (int i = 0; i < 12; i++) strcat(deep, "long-folder-name/");
    mkdir("tree", 0777), mkdir("tree/cat", 0777), mkdir("tree/dog", 0777);
    write_file("tree/cat/1.png", "C1", 2);
    char big[1500];
    memset(big, 'b', sizeof big);
    big[sizeof big - 1] = 0;
    write_file("tree/dog/2.png", big, sizeof big - 1);
    rg_text_print(&expected, "cat|cat/1.png|1|C1;dog|dog/2.png|2|%s;", big);
    for (size_t k = 0; k < 4; k++) {
        char command[900];
        snprintf(command, sizeof command, "tar --format=%s -C tree -cf tree.tar cat dog && gzip -kf tree.tar",
                 kinds[k]);
        if (system(command) != 0) skip();
        rg_text_clear(&text);
        if (k < 3) {
            if (list_members(&text, "tree.tar", 4) != RG_OK) print_error("%s\n", rg_message());
            assert_string_equal(text.data, expected.data);
        }
        rg_text_clear(&text);
        assert_int_equal(list_members(&text, "tree.tar.gz", 4), RG_OK); /* v7 has no magic: the name tells */
        assert_string_equal(text.data, expected.data);
        if (k == 0 || k == 3) continue;
        snprintf(command, sizeof command,
                 "mkdir -p 'deep/%s' && printf x > 'deep/%sleaf.png' && tar --format=%s -C deep -cf deep.tar "
                 "./long-folder-name",
                 deep, deep, kinds[k]);
        assert_int_equal(system(command), 0);
        rg_text_clear(&text);
        assert_int_equal(list_members(&text, "deep.tar", 3), RG_OK);
        assert_non_null(strstr(text.data, "long-folder-name|long-folder-name/long-folder-name/"));
        assert_non_null(strstr(text.data, "leaf.png|leaf;"));
    }
    rg_text_free(&text);
    rg_text_free(&expected);
}

static void archives_that_leave_their_folder_or_are_damaged_are_refused(void **state)
{
    (void)state;
    rg_text text = { 0 };
    mkdir("out", 0777), mkdir("out/in", 0777);
    write_file("out/evil.png", "x", 1);
    write_file("out/in/good.png", "y", 1);
    if (system("cd out/in && tar -Pcf ../../evil.tar ../evil.png && ln -sf good.png link && tar -cf ../../link.tar "
               "link") != 0)
        skip();
    assert_int_equal(list_members(&text, "evil.tar", 4), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "evil.tar: ../evil.png: the name leaves the archive's folder"));
    assert_int_equal(list_members(&text, "link.tar", 4), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "link.tar: link: a link"));
    assert_int_equal(
        system("cd out/in && tar -cf ../../cut.tar good.png && head -c 700 ../../cut.tar > ../../short.tar"), 0);
    assert_int_equal(list_members(&text, "short.tar", 4), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "cut short"));
    char  bytes[10240];
    FILE *file = fopen("cut.tar", "rb");
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    fclose(file);
    bytes[0] = 'G';
    write_file("sum.tar", bytes, sizeof bytes);
    assert_int_equal(list_members(&text, "sum.tar", 4), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "damaged"));
    rg_text_free(&text);
}

static void tables_name_files_of_a_folder_or_an_archive(void **state)
{
    (void)state;
    static const char *const wanted[] = { "picture", "label" };
    rg_text                  text = { 0 };
    mkdir("photos", 0777), mkdir("photos/a", 0777);
    write_file("photos/a/1.jpg", "one", 3);
    write_file("photos/2.jpg", "two", 3);
    static const char captions[] = "a/1.jpg\tx\n2.jpg\ty\n3.jpg\tz\na/1.jpg\tagain\n";
    write_file("captions.tsv", captions, sizeof captions - 1);
    const int has_tar = system("tar -C photos -cf photos.tar a 2.jpg && gzip -kf photos.tar") == 0;
    for (int archive = 0; archive <= has_tar; archive++) {
        rg_reader_config config = RG_READER_CONFIG_DEFAULT;
        rg_reader       *r = NULL;
        rg_row           row;
        bool             more;
        config.wanted = wanted;
        config.wanted_count = 2;
        config.files = archive ? "photos.tar" : "photos";
        assert_int_equal(rg_reader_open(&r, "captions.tsv", &config), RG_OK);
        rg_text_clear(&text);
        for (;;) {
            assert_int_equal(rg_reader_next(&more, &row, r), RG_OK);
            if (!more) break;
            rg_text_print(&text, "%s %s %u;", row.cell[1].bytes, row.cell[0].missing ? "?" : row.cell[0].bytes,
                          row.faults);
        }
        assert_string_equal(text.data, "x one 0;y two 0;z ? 256;again one 0;");
        rg_reader_close(r);
        write_file("evil.tsv", "../captions.tsv\tx\n", 18);
        assert_int_equal(rg_reader_open(&r, "evil.tsv", &config), RG_OK);
        assert_int_equal(rg_reader_next(&more, &row, r), RG_EFORMAT);
        assert_non_null(strstr(rg_message(), "evil.tsv: line 1: ../captions.tsv leaves photos"));
        rg_reader_close(r);
    }
    rg_files *files = NULL;
    if (has_tar) assert_int_equal(rg_files_open(&files, "photos.tar.gz"), RG_EINVAL);
    assert_int_equal(rg_files_open(&files, "nowhere"), RG_EIO);
    rg_text_free(&text);
}

/* -------------------------------------------------------------------------------------------------------------- idx */

static size_t make_idx(unsigned char *out, unsigned items, unsigned height, unsigned width)
{
    const unsigned      dimensions = height ? 3 : 1, size[3] = { items, height, width };
    size_t              count = 4 + 4 * dimensions, numbers = items * (height ? height * width : 1);
    const unsigned char head[4] = { 0, 0, 8, (unsigned char)dimensions };
    memcpy(out, head, 4);
    for (unsigned i = 0; i < dimensions; i++)
        for (unsigned b = 0; b < 4; b++) out[4 + 4 * i + b] = (unsigned char)(size[i] >> (24 - 8 * b));
    for (size_t i = 0; i < numbers; i++) out[count++] = (unsigned char)(i * 7);
    return count;
}

static rg_status read_idx(size_t *out_rows, rg_text *labels, const char *path)
{
    static const char *const wanted[] = { "label", "picture" };
    rg_reader_config         config = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r = NULL;
    config.wanted = wanted;
    config.wanted_count = 2;
    *out_rows = 0;
    rg_status status = rg_reader_open(&r, path, &config);
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) continue;
        ++*out_rows;
        assert_int_equal(row.line, *out_rows);
        assert_int_equal(row.cell[1].count, 6);
        assert_int_equal(row.cell[1].height, 2);
        assert_int_equal(row.cell[1].width, 3);
        assert_int_equal(row.cell[1].channels, 1);
        assert_int_equal((unsigned char)row.cell[1].bytes[5], (unsigned char)((6 * (*out_rows - 1) + 5) * 7));
        rg_text_print(labels, "%s ", row.cell[0].missing ? "?" : row.cell[0].bytes);
    }
    rg_reader_close(r);
    return status;
}

static void idx_gives_pictures_with_their_labels(void **state)
{
    (void)state;
    unsigned char bytes[200];
    rg_text       labels = { 0 };
    size_t        rows, count = make_idx(bytes, 5, 2, 3);
    write_file("t-images-idx3-ubyte", bytes, count);
    write_gzip("u-images-idx3-ubyte.gz", bytes, count);
    assert_int_equal(read_idx(&rows, &labels, "t-images-idx3-ubyte"), RG_OK);
    assert_string_equal(labels.data, "? ? ? ? ? ");
    count = make_idx(bytes, 5, 0, 0);
    write_file("t-labels-idx1-ubyte", bytes, count);
    write_gzip("u-labels-idx1-ubyte.gz", bytes, count);
    rg_text_clear(&labels);
    assert_int_equal(read_idx(&rows, &labels, "t-images-idx3-ubyte"), RG_OK);
    assert_int_equal(read_idx(&rows, &labels, "u-images-idx3-ubyte.gz"), RG_OK);
    assert_string_equal(labels.data, "0 7 14 21 28 0 7 14 21 28 ");

    count = make_idx(bytes, 4, 0, 0);
    write_file("t-labels-idx1-ubyte", bytes, count);
    assert_int_equal(read_idx(&rows, &labels, "t-images-idx3-ubyte"), RG_EMATCH);
    assert_non_null(strstr(rg_message(), "t-images-idx3-ubyte has 5 items and t-labels-idx1-ubyte has 4 labels"));
    count = make_idx(bytes, 5, 2, 3);
    write_file("v-images-idx3-ubyte", bytes, count - 8);
    assert_int_equal(read_idx(&rows, &labels, "v-images-idx3-ubyte"), RG_EFORMAT);
    assert_int_equal(rows, 3);
    assert_non_null(strstr(rg_message(), "the header says 5 items, the file ends in item 4"));
    write_file("v-images-idx3-ubyte", bytes, count + 1);
    assert_int_equal(read_idx(&rows, &labels, "v-images-idx3-ubyte"), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "more bytes than those"));
    memset(bytes + 8, 0x7F, 8);
    write_file("v-images-idx3-ubyte", bytes, count);
    assert_int_equal(read_idx(&rows, &labels, "v-images-idx3-ubyte"), RG_ELIMIT);
    bytes[2] = 13;
    write_file("v-images-idx3-ubyte", bytes, count);
    assert_int_equal(read_idx(&rows, &labels, "v-images-idx3-ubyte"), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "no idx file of bytes"));
    rg_text_free(&labels);
}

/* ----------------------------------------------------------------------------------------------------------- faults */

typedef struct {
    const char *path, *format;
} source;

static rg_status read_all(void *context)
{
    const source    *from = context;
    const bool       members = strcmp(from->format, "tar") == 0 || strcmp(from->format, "folder") == 0;
    const bool       idx = strcmp(from->format, "idx") == 0;
    rg_reader_config config = RG_READER_CONFIG_DEFAULT;
    rg_reader       *r = NULL;
    config.format = from->format;
    config.wanted = members ? member_columns : label_text;
    config.wanted_count = members ? 4 : 2;
    if (idx) config.columns = "label,picture";
    if (strcmp(from->format, "svmlight") == 0) config.columns = "label,counts";
    rg_status status = rg_reader_open(&r, from->path, &config);
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
    }
    rg_reader_close(r);
    return status;
}

static void failed_allocations_and_file_calls_come_back_as_errors(void **state)
{
    (void)state;
    static const struct { const char *format, *bytes;
    } rows[] = {
        { "tsv", "pos\tgood\nneg\tbad\n" },
        { "csv", "pos,\"a\nb\"\n" },
        { "jsonl", "{\"label\":\"a\",\"text\":[1,2]}\n" },
        { "label", "pos good\n" },
        { "conll", "a\tX\nb\tY\n\nc\tZ\n" },
        { "svmlight", "1 2:3\n" },
    };
    unsigned char bytes[200];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        source from = { "faults.txt", rows[i].format };
        write_file("faults.txt", rows[i].bytes, strlen(rows[i].bytes));
        faults_every_alloc(read_all, &from, NULL, false);
        faults_every_file_call(read_all, &from, NULL);
    }
    source idx = { "f-images-idx3-ubyte", "idx" }, folder = { "fset", "folder" }, tar = { "fset.tar", "tar" };
    write_file("f-images-idx3-ubyte", bytes, make_idx(bytes, 3, 2, 3));
    write_file("f-labels-idx1-ubyte", bytes, make_idx(bytes, 3, 0, 0));
    faults_every_alloc(read_all, &idx, NULL, false);
    faults_every_file_call(read_all, &idx, NULL);
    mkdir("fset", 0777), mkdir("fset/a", 0777);
    write_file("fset/a/1", "x", 1);
    write_file("fset/2", "y", 1);
    faults_every_alloc(read_all, &folder, NULL, false);
    faults_every_file_call(read_all, &folder, NULL);
    if (system("tar --format=pax -cf fset.tar fset") != 0) skip();
    faults_every_alloc(read_all, &tar, NULL, false);
    faults_every_file_call(read_all, &tar, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_reads_its_rows),
        cmocka_unit_test(files_are_read_like_bytes_packed_or_not),
        cmocka_unit_test(endings_of_names_tell_the_format),
        cmocka_unit_test(a_row_past_the_limit_is_flagged_and_the_next_is_read),
        cmocka_unit_test(a_row_of_many_columns_is_read_in_no_time),
        cmocka_unit_test(folders_give_their_files_in_the_order_of_paths),
        cmocka_unit_test(archives_of_every_kind_give_their_files),
        cmocka_unit_test(archives_that_leave_their_folder_or_are_damaged_are_refused),
        cmocka_unit_test(tables_name_files_of_a_folder_or_an_archive),
        cmocka_unit_test(idx_gives_pictures_with_their_labels),
        cmocka_unit_test(failed_allocations_and_file_calls_come_back_as_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
