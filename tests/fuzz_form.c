/* fuzz_form.c - bodies and queries of every kind through the reader of fields: the first byte chooses the type, the
 * rest is the body. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MHD_lookup_connection_value fake_lookup
#define MHD_get_connection_values   fake_values
#define rg_serve__fields            fuzzed_fields
#define rg_serve__error             fuzzed_error
#include "serve/fields.c"

static const char *type, *argument;

const char *fake_lookup(struct MHD_Connection *connection, enum MHD_ValueKind kind, const char *key)
{
    (void)connection, (void)kind, (void)key;
    return type;
}

int fake_values(struct MHD_Connection *connection, enum MHD_ValueKind kind, MHD_KeyValueIterator iterator,
                void *context)
{
    (void)connection, (void)kind;
    if (argument) iterator(context, MHD_GET_ARGUMENT_KIND, "api_key", argument);
    return 1;
}

void fuzzed_error(rg_reply *reply, unsigned code, const char *format, ...)
{
    (void)format;
    reply->code = code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = { NULL,
                                         "application/json",
                                         "application/x-www-form-urlencoded",
                                         "multipart/form-data; boundary=x",
                                         "multipart/form-data; boundary=\"--x y\"; charset=utf-8",
                                         "multipart/form-data",
                                         "text/plain",
                                         "application/a+json; q=1" };
    rg_request r = { 0 };
    if (!size) return 0;
    type = types[data[0] % 8];
    argument = data[0] & 8 ? "key" : NULL;
    if (size > 1 && rg_text_add(&r.body, (const char *)data + 1, size - 1) != RG_OK) return 0;
    json_t *fields = rg_serve__fields(&r);
    if (!fields != (r.reply.code != 0)) __builtin_trap(); /* either fields or a reason */
    json_decref(fields);
    rg_text_free(&r.body);
    return 0;
}
