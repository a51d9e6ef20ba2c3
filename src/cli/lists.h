/* lists.h - the tables of the library, printed. */
#ifndef RG_CLI_LISTS_H
#define RG_CLI_LISTS_H

/* One table: `regard list NAME` prints it. */
typedef struct rg_list_kind {
    const char *name, *summary;
    void (*print)(void);
} rg_list_kind;

const rg_list_kind *rg_list_kinds(void); /* ends with a row without a name */

void rg_list_scores(void);
void rg_list_reaches(void);
void rg_list_systems(void);
void rg_list_tasks(void);

#endif
