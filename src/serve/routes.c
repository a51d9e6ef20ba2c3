/* routes.c - which address is answered by which function. */
#include "serve/serve.h"

#include <string.h>

static bool answer_page(rg_request *r)
{
    if (!(r->reply.text = rg_alloc(r->server->page_bytes + 1))) {
        rg_serve__error(&r->reply, 503, "No memory");
        return false;
    }
    memcpy(r->reply.text, r->server->page, r->server->page_bytes);
    r->reply.bytes = r->server->page_bytes;
    r->reply.type = "text/html; charset=utf-8";
    r->reply.code = 200;
    return false;
}

static bool answer_health(rg_request *r)
{
    return rg_serve__answer(&r->reply, 200, json_pack("{s:s}", "status", "ok")), false;
}

static const rg_route routes[] = {
    { "/", false, answer_page, false },
    { "/translate", true, rg_serve__translate, true },
    { "/detect", true, rg_serve__detect, true },
    { "/v1/predict", true, rg_serve__predict, false, true },
    { "/classify", true, rg_serve__classify, false, true },
    { "/v1/attention", true, rg_serve__attention, true },
    { "/translate_file", true, rg_serve__translate_file, true }, /* no path from a request to a file */
    { "/suggest", true, rg_serve__suggest, true },
    { "/languages", false, rg_serve__languages, true },
    { "/frontend/settings", false, rg_serve__settings, true },
    { "/health", false, answer_health, false },
    { "/metrics", false, rg_serve__metrics, false },
    { "/spec", false, rg_serve__spec, false },
};

const rg_route *rg_serve__routes(size_t *out_count)
{
    *out_count = sizeof routes / sizeof *routes;
    return routes;
}

bool rg_serve__route(rg_request *r, const char *url, const char *method)
{
    const bool get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0, post = strcmp(method, "POST") == 0;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(url, routes[i].path) != 0 || (routes[i].translators && !r->server->translates)) continue;
        if (routes[i].post ? post : get) return routes[i].answer(r);
        r->allow = routes[i].post ? "OPTIONS, POST" : "GET, HEAD, OPTIONS";
        if (strcmp(method, "OPTIONS") == 0) { /* a browser asks before it asks */
            r->reply.type = "text/plain; charset=utf-8";
            r->reply.code = 200;
        } else rg_serve__error(&r->reply, 405, "The method is not allowed for the requested URL.");
        return false;
    }
    if (get && r->server->translates && rg_serve__download(r, url)) return false;
    rg_serve__error(&r->reply, 404, "Not Found");
    return false;
}
