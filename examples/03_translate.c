/* Load a translator, translate a line, show which source piece each target piece looked at.
 *
 *     cc 03_translate.c -lregard && ./a.out model.safetensors "the red house is big"
 *
 * Without a model it says how to make one: `regard demo` writes regard-demo/model.safetensors in about a minute. */
#include <regard/translate.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "regard-demo/model.safetensors",
               *line = argc > 2 ? argv[2] : "the red house is big";
    rg_translator       *translator = NULL; /* never changes: threads may share it */
    rg_session          *session = NULL;    /* one a thread */
    const rg_translated *result;
    rg_session_config    config = RG_SESSION_CONFIG_DEFAULT;
    config.search.beam = 4;
    config.search.attention = true;
    if (rg_translator_load(&translator, path) != RG_OK) {
        printf("%s\n`regard demo` makes a model.\n", rg_message());
        return argc > 1; /* only a model that was asked for is missed */
    }
    rg_status status = rg_session_new(&session, &translator, 1, 1);
    if (status == RG_OK) status = rg_session_run(&result, session, &config, &line, 1, 0, NULL);
    if (status == RG_OK && result->count) {
        const rg_answer *a = result->best[0].answer;
        printf("%s\n(log p %.3f)\n", result->best[0].text, a->log_p);
        for (size_t i = 0; i < a->length; i++) {
            size_t best = 0;
            for (size_t j = 1; j < a->source_length; j++)
                if (a->attention[i * a->source_length + j] > a->attention[i * a->source_length + best]) best = j;
            printf("  %-12s %s\n", rg_vocab_piece(translator->target, a->tokens[i]),
                   rg_vocab_piece(translator->source, result->source[best]));
        }
    }
    if (status != RG_OK) fprintf(stderr, "%s\n", rg_message());
    rg_session_free(session);
    rg_translator_free(translator);
    return status != RG_OK;
}
