/* records.c - writes the records that page.sh opens in a browser:  page_records FOLDER */
#include "support/records.h"

#include <stdio.h>
#include <stdlib.h>

static int put(rg_record *r, const char *folder, const char *name)
{
    char      path[4096];
    rg_status status;

    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    status = rg_record_save(r, path);
    if (status != RG_OK) fprintf(stderr, "%s\n", rg_message());
    rg_record_free(r);
    return status != RG_OK;
}

int main(int argc, char **argv)
{
    rg_record *empty = NULL;

    if (argc == 3 && atoi(argv[2]) > 0) return put(test_record_tokens((size_t)atoi(argv[2]), 1), argv[1], "tokens"); /* FOLDER TOKENS */
    if (argc != 2 || rg_record_new(&empty, "Nothing yet", "") != RG_OK) return 2;
    return put(empty, argv[1], "empty") | put(test_record_translation(), argv[1], "translation") |
           put(test_record_picture(), argv[1], "picture") | put(test_record_graph(), argv[1], "graph") |
           put(test_record_curves(), argv[1], "curves") | put(test_record_scripts(), argv[1], "scripts") |
           put(test_record_memory(), argv[1], "memory") | put(test_record_boxes(), argv[1], "boxes") |
           put(test_record_rings(), argv[1], "rings") | put(test_record_tokens(200, 4), argv[1], "tokens200") |
           put(test_record_tokens(1000, 2), argv[1], "tokens1000");
}
