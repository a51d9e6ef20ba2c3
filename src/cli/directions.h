/* directions.h - the models of a server: files, folders of them, and languages that stand before a file. */
#ifndef RG_CLI_DIRECTIONS_H
#define RG_CLI_DIRECTIONS_H

#include "regard/options.h"
#include "regard/serve.h"

typedef struct rg_directions {
    rg_serve_direction *direction;
    size_t              count, room;
} rg_directions;

/* What the words of -m stand for: FILE, SOURCE:TARGET=FILE, or FOLDER, whose *.safetensors that are models are taken
 * in the order of their names. rg_directions_free also after a failure. */
rg_status rg_directions_find(rg_directions *out, const rg_list *words);
void      rg_directions_free(rg_directions *directions);

#endif
