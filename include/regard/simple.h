/* simple.h - the library for other languages: names and text in, JSON out; no struct whose layout a caller must know.
 *
 *     rg_simple_translator *t;
 *     char                 *json;
 *     if (rg_simple_open(&t, "model.safetensors", 2) == RG_OK) {
 *         const char *lines[] = { "the red house" };
 *         rg_simple_translate(&json, t, lines, 1, "{\"beam-size\": 4, \"attention\": true}");   rg_free(json)
 *     }
 *     rg_simple_train("{\"type\": \"transformer\", \"train-sets\": [\"a.en\", \"a.fr\"], ...}", NULL, NULL);
 *
 * Settings are YAML, of which JSON is a part, with the names of the command line. bindings/python is made of this. */
#ifndef REGARD_SIMPLE_H
#define REGARD_SIMPLE_H

#include "regard/translate.h"

RG_API_BEGIN

typedef struct rg_simple_translator rg_simple_translator;

/* threads 0: one per core. */
rg_status rg_simple_open(rg_simple_translator **out, const char *path, int threads);
void      rg_simple_close(rg_simple_translator *translator);
/* "en" (side 0: read, 1: written); "" when it is not known. Borrowed. */
const char *rg_simple_language(const rg_simple_translator *translator, int side);

/* A JSON array, an object per line as `regard translate --json` prints it. Settings: beam-size, normalize,
 * max-length, max-length-factor, n-best, allow-unk, sampling, temperature, top, seed, attention. The text is the
 * caller's to rg_free. */
rg_status rg_simple_translate(char **out, rg_simple_translator *translator, const char *const *lines, size_t n,
                              const char *settings);

/* A whole training: `regard train` with these settings. `tell`, which may be NULL, gets one JSON object per event: a
 * remark, a log line, a validation, the end; it may ask to stop by returning true, and everything is saved
 * (RG_ESTOP). */
rg_status rg_simple_train(const char *settings, bool (*tell)(void *context, const char *json), void *context);

/* One line's translation as a JSON object, appended. `number` counts from 0. */
rg_status rg_translated_json(rg_text *out, const rg_translator *translator, const rg_translated *translated,
                             uint64_t number);

RG_API_END
#endif
