/* page.c - the page. */
#include "regard/view.h"

rg_status rg_page_save(const char *path, const rg_record *record, const rg_page_options *options)
{
    (void)record;
    (void)options;
    return rg_fail(RG_EINVAL, "%s: pages are not part of this build", path);
}
