/* The server inside one process: threads, memory and lives. What clients see is the business of serve.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/seams.h"
#include "regard/record.h"
#include "regard/serve.h"
#include "serve/serve.h"

/* ------------------------------------------------------------------------------------------------------ a server */

static rg_translator *make_with(const char *name, const char *yaml)
{
    static const char *const pieces[] = { "a", "b", "c", "d", "e" };
    const rg_system         *system = rg_system_find(name);
    void                    *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group    group = { .rows = system->options, .values = options };
    rg_vocab                *vocab;
    rg_model                *model;
    rg_translator           *t;
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 5), RG_OK);
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK);
    const rg_sizes sizes = rg_sizes_of_text(vocab, vocab);
    assert_int_equal(rg_model_new(&model, system, options, &sizes, 5), RG_OK);
    rg_options_fini(system->options, options);
    rg_free(options);
    assert_int_equal(rg_translator_new(&t, model, vocab, NULL), RG_OK);
    return t;
}

static rg_translator *make_translator(void)
{
    return make_with("transformer",
                     "dim-emb: 16\ntransformer-dim-ffn: 24\ntransformer-heads: 4\nenc-depth: 1\ndec-depth: 2\n");
}

typedef struct {
    rg_serve_config           config;
    rg_translator            *translator;
    const rg_serve_direction *directions; /* of a server with several models */
    size_t                    count;
    int             stop[2], ready[2], port;
    rg_status       status;
    pthread_t       thread;
} life;

static void is_ready(void *context, const char *address)
{
    life      *l = context;
    const int  port = atoi(strrchr(address, ':') + 1);
    if (write(l->ready[1], &port, sizeof port) != sizeof port) abort();
}

static void *serve(void *context)
{
    life                    *l = context;
    const rg_serve_direction only = { .model = l->translator ? l->translator->model : NULL };
    l->status = rg_serve__models(&l->config, l->directions ? l->directions : &only, l->directions ? l->count : 1,
                                 l->stop[0], is_ready, l);
    return NULL;
}

static void begin_life(life *l)
{
    l->config.port = 0;
    l->config.threads = 2;
    assert_int_equal(pipe(l->stop) | pipe(l->ready), 0);
    assert_int_equal(pthread_create(&l->thread, NULL, serve, l), 0);
    assert_int_equal(read(l->ready[0], &l->port, sizeof l->port), sizeof l->port);
}

static void begin_with(life *l, rg_translator *translator, double request_seconds, double drain_seconds)
{
    *l = (life){ .config = RG_SERVE_CONFIG_DEFAULT, .translator = translator };
    l->config.request_seconds = request_seconds;
    l->config.drain_seconds = drain_seconds;
    begin_life(l);
}

static void begin(life *l, rg_translator *translator)
{
    assert_int_equal(rg_translator_set_languages(translator, "en", "fr"), RG_OK);
    begin_with(l, translator, 30, 10);
}

static void end(life *l)
{
    assert_int_equal(write(l->stop[1], "x", 1), 1);
    pthread_join(l->thread, NULL);
    assert_int_equal(l->status, RG_OK);
    for (int i = 0; i < 2; i++) {
        close(l->stop[i]);
        close(l->ready[i]);
    }
}

/* The whole answer of one request; "" when the server is gone. */
static void ask(char *out, size_t room, int port, const char *path, const char *body)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int          fd = socket(AF_INET, SOCK_STREAM, 0);
    char               request[4096];
    size_t             used = 0;
    const int          n = snprintf(request, sizeof request,
                                    "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", path,
                                    strlen(body), body);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && send(fd, request, (size_t)n, MSG_NOSIGNAL) == n)
        for (ssize_t got; used + 1 < room && (got = recv(fd, out + used, room - 1 - used, 0)) > 0;) used += (size_t)got;
    out[used] = 0;
    close(fd);
}

static const char *const bodies[] = {
    "{\"q\":\"a b c\",\"source\":\"en\",\"target\":\"fr\"}",
    "{\"q\":[\"e\",\"d c\"],\"source\":\"en\",\"target\":\"fr\",\"alternatives\":2}",
    "{\"q\":\"<b>a</b> d\",\"source\":\"auto\",\"target\":\"fr\",\"format\":\"html\"}"
};

typedef struct {
    int    port, number, rounds;
    char (*alone)[2048];
    size_t wrong;
} asker;

static void *ask_often(void *context)
{
    asker *a = context;
    char   answer[2048], record[65536];
    for (int i = 0; i < a->rounds; i++) {
        const int k = (a->number + i) % 3;
        ask(answer, sizeof answer, a->port, "/translate", bodies[k]);
        const char *text = strstr(answer, "\r\n\r\n");
        a->wrong += !text || strcmp(text, a->alone[k]) != 0;
        if (i % 4) continue;
        ask(record, sizeof record, a->port, "/v1/attention", bodies[0]);
        a->wrong += strstr(record, "regard-record/1") == NULL;
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------- tests */

static void every_thread_gets_the_answer_it_would_get_alone(void **state)
{
    enum { THREADS = 8 };
    static char    alone[3][2048], answer[2048];
    pthread_t      thread[THREADS];
    asker          a[THREADS];
    life           l;
    rg_translator *t = make_translator();
    (void)state;
    begin(&l, t);
    for (int k = 0; k < 3; k++) {
        ask(answer, sizeof answer, l.port, "/translate", bodies[k]);
        assert_non_null(strstr(answer, "HTTP/1.1 200"));
        snprintf(alone[k], sizeof alone[k], "%s", strstr(answer, "\r\n\r\n"));
    }
    for (int i = 0; i < THREADS; i++) {
        a[i] = (asker){ .port = l.port, .number = i, .rounds = 30, .alone = alone };
        assert_int_equal(pthread_create(&thread[i], NULL, ask_often, &a[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(a[i].wrong, 0);
    }
    end(&l);
    rg_translator_free(t);
}

static void twenty_lives_leave_no_memory_behind(void **state)
{
    char           answer[2048];
    rg_translator *t = make_translator();
    size_t         before = 0;
    (void)state;
    for (int i = 0; i < 20; i++) {
        life l;
        if (i == 1) before = rg_base__live_blocks();
        begin(&l, t);
        ask(answer, sizeof answer, l.port, "/translate", bodies[i % 3]);
        assert_non_null(strstr(answer, "HTTP/1.1 200"));
        end(&l);
    }
    assert_int_equal(rg_base__live_blocks(), before);
    rg_translator_free(t);
}

/* --------------------------------------------------------------------------------------- searches that are given up */

enum { EXPENSIVE = 8 };

/* A line of 900 subwords, and a model that knows no end. */
static const char *expensive(void)
{
    static char body[2048];
    strcpy(body, "{\"source\":\"en\",\"target\":\"fr\",\"q\":\"");
    for (int i = 0; i < 900; i++) strcat(body, i % 2 ? "a " : "b ");
    return strcat(body, "\"}");
}

typedef struct {
    int         port;
    const char *path, *body;
    char        answer[512];
} lone_asker;

static void *ask_once(void *context)
{
    lone_asker *a = context;
    ask(a->answer, sizeof a->answer, a->port, a->path, a->body);
    return NULL;
}

static void everybody_is_answered_when_the_server_is_stopped_or_the_deadline_passes(void **state)
{
    rg_translator    *t = make_translator();
    const char *const body = expensive();
    (void)state;
    assert_int_equal(rg_translator_set_languages(t, "en", "fr"), RG_OK);
    for (int late = 0; late < 2; late++) { /* the drain ends, or the deadline comes first */
        static lone_asker a[EXPENSIVE];
        pthread_t         thread[EXPENSIVE];
        life              l;
        begin_with(&l, t, late ? 0.3 : 30, late ? 10 : 0.4);
        for (int i = 0; i < EXPENSIVE; i++) {
            a[i] = (lone_asker){ .port = l.port, .path = i % 4 == 3 ? "/detect" : "/translate", .body = body };
            assert_int_equal(pthread_create(&thread[i], NULL, ask_once, &a[i]), 0);
        }
        usleep(100000);
        const double began = rg_now();
        end(&l);
        const double took = rg_now() - began;
        for (int i = 0; i < EXPENSIVE; i++) {
            pthread_join(thread[i], NULL);
            if (!strstr(a[i].answer, "HTTP/1.1 503") && !strstr(a[i].answer, "HTTP/1.1 200"))
                fail_msg("request %d: %.200s", i, a[i].answer);
        }
        if (took > 8) fail_msg("it took %.1f seconds to end", took); /* generous: sanitizers, a busy machine */
    }
    rg_translator_free(t);
}

static void clients_that_leave_leave_nothing_behind(void **state)
{
    rg_translator    *t = make_translator();
    const char *const body = expensive();
    size_t            before = 0;
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        char               request[4096], answer[2048];
        int                fd[EXPENSIVE];
        life               l;
        if (round == 1) before = rg_base__live_blocks();
        begin(&l, t);
        to.sin_port = htons((uint16_t)l.port);
        const int n =
            snprintf(request, sizeof request, "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
                     strlen(body), body);
        for (int i = 0; i < EXPENSIVE; i++) {
            fd[i] = socket(AF_INET, SOCK_STREAM, 0);
            assert_int_equal(connect(fd[i], (struct sockaddr *)&to, sizeof to), 0);
            assert_int_equal(send(fd[i], request, (size_t)n, MSG_NOSIGNAL), n);
        }
        usleep(50000);
        for (int i = 0; i < EXPENSIVE; i++) close(fd[i]);
        ask(answer, sizeof answer, l.port, "/translate", bodies[0]);
        assert_non_null(strstr(answer, "HTTP/1.1 200"));
        end(&l);
    }
    assert_int_equal(rg_base__live_blocks(), before);
    rg_translator_free(t);
}

/* ------------------------------------------------------------------------------------------------- several models */

enum { DIRECTIONS = 4 };
static const char *const directions[DIRECTIONS][2] = { { "en", "fr" }, { "fr", "de" }, { "de", "en" }, { "en", "cs" } };

typedef struct {
    int    port, number;
    char (*alone)[8192];
    size_t wrong;
} traveller;

/* Of every pair of the four languages: direct ones, pivots, and those that nothing leads to. */
static void body_of(char *out, size_t room, int k)
{
    static const char *const code[] = { "en", "fr", "de", "cs" };
    snprintf(out, room, "{\"q\":[\"a b\",\"c d e a\"],\"source\":\"%s\",\"target\":\"%s\",\"scores\":true}", code[k / 4],
             code[k % 4]);
}

static void *travel(void *context)
{
    traveller *t = context;
    char       body[256], answer[8192];
    for (int i = 0; i < 16; i++) {
        const int k = (7 * i + 5 * t->number) % 16;
        body_of(body, sizeof body, k);
        ask(answer, sizeof answer, t->port, "/translate", body);
        const char *text = strstr(answer, "\r\n\r\n");
        t->wrong += !text || strcmp(text, t->alone[k]) != 0;
    }
    return NULL;
}

/* One or two of four models in memory, clients in all directions: everybody gets what a server with all of them says. */
static void models_come_and_go_and_leave_nothing_behind(void **state)
{
    enum { THREADS = 6 };
    static char        alone[16][8192], answer[8192];
    static char        path[DIRECTIONS][32];
    rg_serve_direction served[DIRECTIONS];
    size_t             before = 0;
    (void)state;
    for (int i = 0; i < DIRECTIONS; i++) {
        rg_translator *t = make_with("transformer", i % 2 ? "dim-emb: 16\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: 1\n"
                                                          : "dim-emb: 16\ntransformer-heads: 4\nenc-depth: 2\ndec-depth: 1\n");
        snprintf(path[i], sizeof path[i], "model%d.safetensors", i);
        assert_int_equal(rg_translator_set_languages(t, directions[i][0], directions[i][1]), RG_OK);
        assert_int_equal(rg_translator_save(t, path[i]), RG_OK);
        rg_translator_free(t);
        served[i] = (rg_serve_direction){ .path = path[i] };
    }
    for (size_t resident = DIRECTIONS; resident; resident /= 2) {
        life      l = { .config = RG_SERVE_CONFIG_DEFAULT, .directions = served, .count = DIRECTIONS };
        pthread_t thread[THREADS];
        traveller t[THREADS];
        if (resident == DIRECTIONS / 2) before = rg_base__live_blocks();
        l.config.resident = resident;
        begin_life(&l);
        for (int k = 0; resident == DIRECTIONS && k < 16; k++) {
            char body[256];
            body_of(body, sizeof body, k);
            ask(answer, sizeof answer, l.port, "/translate", body);
            snprintf(alone[k], sizeof alone[k], "%s", strstr(answer, "\r\n\r\n"));
        }
        for (int i = 0; i < THREADS; i++) {
            t[i] = (traveller){ .port = l.port, .number = i, .alone = alone };
            assert_int_equal(pthread_create(&thread[i], NULL, travel, &t[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
            assert_int_equal(t[i].wrong, 0);
        }
        end(&l);
    }
    assert_int_equal(rg_base__live_blocks(), before);
}

/* Clients wait for models that are being loaded when the server is told to stop, or when their time is over. */
static void everybody_who_waits_for_a_model_is_answered_at_the_end(void **state)
{
    static char        path[DIRECTIONS][32];
    rg_serve_direction served[DIRECTIONS];
    (void)state;
    for (int i = 0; i < DIRECTIONS; i++) { /* the files of the test before */
        snprintf(path[i], sizeof path[i], "model%d.safetensors", i);
        served[i] = (rg_serve_direction){ .path = path[i] };
    }
    for (int late = 0; late < 2; late++) {
        static lone_asker a[EXPENSIVE];
        static char       body[EXPENSIVE][256];
        pthread_t         thread[EXPENSIVE];
        life              l = { .config = RG_SERVE_CONFIG_DEFAULT, .directions = served, .count = DIRECTIONS };
        l.config.resident = 1;
        l.config.request_seconds = late ? 0.05 : 30;
        l.config.drain_seconds = late ? 10 : 0.05;
        begin_life(&l);
        for (int i = 0; i < EXPENSIVE; i++) {
            body_of(body[i], sizeof body[i], (i * 5 + 1) % 16);
            a[i] = (lone_asker){ .port = l.port, .path = "/translate", .body = body[i] };
            assert_int_equal(pthread_create(&thread[i], NULL, ask_once, &a[i]), 0);
        }
        usleep(20000);
        end(&l);
        for (int i = 0; i < EXPENSIVE; i++) {
            pthread_join(thread[i], NULL);
            if (*a[i].answer && !strstr(a[i].answer, "HTTP/1.1 503") && !strstr(a[i].answer, "HTTP/1.1 200") &&
                !strstr(a[i].answer, "HTTP/1.1 400"))
                fail_msg("request %d: %.200s", i, a[i].answer);
        }
    }
}

static void a_model_that_names_no_languages_is_served_as_unknown(void **state)
{
    rg_translator *t = make_translator();
    char           answer[2048];
    (void)state;
    for (int named = 0; named < 2; named++) {
        life l;
        if (named) assert_int_equal(rg_translator_set_languages(t, "en", "fr"), RG_OK);
        begin_with(&l, t, 30, 10);
        ask(answer, sizeof answer, l.port, "/translate", "{\"q\":\"a b c\",\"source\":\"und\",\"target\":\"und\"}");
        assert_non_null(strstr(answer, named ? "HTTP/1.1 400" : "HTTP/1.1 200"));
        ask(answer, sizeof answer, l.port, "/translate", bodies[0]);
        assert_non_null(strstr(answer, named ? "HTTP/1.1 200" : "HTTP/1.1 400"));
        if (!named) assert_non_null(strstr(answer, "--source-lang"));
        end(&l);
    }
    rg_translator_free(t);
}

static void a_port_that_is_taken_is_named(void **state)
{
    life           l;
    rg_translator *t = make_translator();
    (void)state;
    begin(&l, t);
    const rg_serve_direction only = { .model = t->model };
    rg_serve_config          second = l.config;
    second.port = l.port;
    assert_int_equal(rg_serve__models(&second, &only, 1, l.stop[0], NULL, NULL), RG_EIO);
    assert_non_null(strstr(rg_message(), "127.0.0.1 port"));
    second.host = "no such host";
    assert_int_equal(rg_serve__models(&second, &only, 1, l.stop[0], NULL, NULL), RG_EIO);
    second.beam = 0;
    assert_int_equal(rg_serve__models(&second, &only, 1, l.stop[0], NULL, NULL), RG_EINVAL);
    end(&l);
    rg_translator_free(t);
}

/* The record of a text by a small Luong model of the same weights for any settings. */
static rg_record *record_by(const char *yaml, const char *body)
{
    static char    answer[65536];
    rg_translator *t = make_with("luong", yaml);
    rg_record     *record;
    life           l;
    begin(&l, t);
    ask(answer, sizeof answer, l.port, "/v1/attention", body);
    end(&l);
    rg_translator_free(t);
    const char *json = strstr(answer, "\r\n\r\n");
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    if (rg_record_from_json(&record, json + 4, strlen(json + 4)) != RG_OK) fail_msg("%s", rg_message());
    return record;
}

/* A model that reads backwards is the one that reads forwards given the mirrored text; each word has its own weight. */
static void attention_over_a_reversed_source_is_at_the_places_of_its_words(void **state)
{
    enum { WORDS = 5 };
    rg_record *back = record_by("dim-emb: 16\ndim-rnn: 16\nreverse: true\n",
                                "{\"q\":\"a b c d e\",\"source\":\"en\",\"target\":\"fr\"}");
    rg_record *ahead = record_by("dim-emb: 16\ndim-rnn: 16\n",
                                 "{\"q\":\"e d c b a\",\"source\":\"en\",\"target\":\"fr\"}");
    (void)state;
    assert_string_equal(back->title, ahead->title);
    assert_int_equal(back->maps, ahead->maps);
    assert_int_equal(back->maps, 2); /* searching; reading the answer */
    for (size_t m = 0; m < back->maps; m++) {
        const rg_record_map *x = &back->map[m], *y = &ahead->map[m];
        assert_int_equal(x->rows, y->rows);
        assert_int_equal(x->cols, WORDS + 1);
        for (size_t i = 0; i < x->rows; i++)
            for (size_t j = 0; j <= WORDS; j++) /* </s> is the last in both */
                assert_true(fabsf(rg_map_weight(x, i, j) - rg_map_weight(y, i, j < WORDS ? WORDS - 1 - j : j)) < 1e-4f);
    }
    rg_record_free(back);
    rg_record_free(ahead);
}

/* Whatever the text: put together again without a change, it is the text. HTML is the business of test_markup.c. */
static void cut_texts_join_to_the_same_text(void **state)
{
    static const char *const texts[] = { "",        "a", " a ", "\n", "a\r\n\r\n b\t\n", "<p>a</p>", "a < b &amp; c\n",
                                         "\n\n a\n" };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rg_segments s;
        rg_text     out = { 0 };
        size_t      n = 0;
        const rg_document_config c = { .format = rg_document_format_find("text"), .name = "q", .aligned = true };
        assert_int_equal(rg_segments_cut(&s, texts[i], strlen(texts[i]), &c), RG_OK);
        for (size_t k = 0; k < s.count; k++) {
            if (!s.part[k].line) continue;
            rg_translation      same = { .text = (char *)s.part[k].text };
            const rg_translated result = { .best = &same, .count = 1 };
            assert_int_equal(rg_segments_translated(&s.part[k], NULL, &result), RG_OK);
            n++;
        }
        assert_int_equal(n, s.lines);
        assert_int_equal(rg_segments_join(&out, &s, 0), RG_OK);
        assert_string_equal(rg_text_c(&out), texts[i]);
        rg_text_free(&out);
        rg_segments_free(&s);
    }
}

static void every_route_is_described_and_nothing_else(void **state)
{
    size_t          count;
    const rg_route *route = rg_serve__routes(&count);
    (void)state;
    for (int translates = 0; translates < 2; translates++) {
        json_t *spec = rg_serve__describe(translates), *paths = json_object_get(spec, "paths");
        size_t  described = 0;
        for (size_t i = 0; i < count; i++) {
            const bool    there = translates ? !route[i].others : !route[i].translators;
            const json_t *path = json_object_get(paths, route[i].path);
            if (there != (path != NULL)) fail_msg("%s is %sdescribed", route[i].path, path ? "" : "not ");
            if (path) assert_non_null(json_object_get(path, route[i].post ? "post" : "get"));
            described += path != NULL;
        }
        assert_int_equal(json_object_size(paths), described);
        json_decref(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described_and_nothing_else),
        cmocka_unit_test(cut_texts_join_to_the_same_text),
        cmocka_unit_test(every_thread_gets_the_answer_it_would_get_alone),
        cmocka_unit_test(twenty_lives_leave_no_memory_behind),
        cmocka_unit_test(everybody_is_answered_when_the_server_is_stopped_or_the_deadline_passes),
        cmocka_unit_test(clients_that_leave_leave_nothing_behind),
        cmocka_unit_test(models_come_and_go_and_leave_nothing_behind),
        cmocka_unit_test(everybody_who_waits_for_a_model_is_answered_at_the_end),
        cmocka_unit_test(a_model_that_names_no_languages_is_served_as_unknown),
        cmocka_unit_test(a_port_that_is_taken_is_named),
        cmocka_unit_test(attention_over_a_reversed_source_is_at_the_places_of_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
