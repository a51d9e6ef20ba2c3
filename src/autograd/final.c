/* final.c - first uses of parameters, and the marks of those whose gradient is final. */
#include "autograd/final.h"

#include <string.h>

rg_status rg_final_new(rg_final **out, size_t entries)
{
    rg_final *f = *out = rg_alloc_zero(sizeof *f);
    if (!f) return RG_ENOMEM;
    f->entries = entries;
    f->entry = rg_alloc_array(entries + 1, sizeof *f->entry);
    f->nodes = rg_alloc_array(entries + 1, sizeof *f->nodes);
    f->is_used = rg_alloc_zero((entries + 1) * sizeof *f->is_used);
    f->mark = rg_alloc_array(entries + 1, sizeof *f->mark);
    if (f->entry && f->nodes && f->is_used && f->mark) {
        for (size_t i = 0; i < entries; i++) atomic_init(&f->mark[i], false);
        return RG_OK;
    }
    rg_final_free(f);
    *out = NULL;
    return RG_ENOMEM;
}

void rg_final_free(rg_final *f)
{
    if (!f) return;
    rg_free(f->entry);
    rg_free(f->nodes);
    rg_free(f->is_used);
    rg_free(f->mark);
    rg_free(f);
}

void rg_final_forget_uses(rg_final *f)
{
    f->used = 0;
    memset(f->is_used, 0, f->entries * sizeof *f->is_used);
}

void rg_final_note_use(rg_final *f, size_t entry, size_t nodes)
{
    if (f->is_used[entry]) return;
    f->is_used[entry] = true;
    f->entry[f->used] = entry;
    f->nodes[f->used++] = nodes;
}

bool rg_final_next(size_t *out_entry, rg_final *f, size_t nodes)
{
    if (!f->used || f->nodes[f->used - 1] < nodes) return false;
    *out_entry = f->entry[--f->used];
    return true;
}

void rg_final_mark(rg_final *f, size_t entry) { atomic_store_explicit(&f->mark[entry], true, memory_order_release); }

void rg_final_mark_unused(rg_final *f)
{
    for (size_t i = 0; i < f->entries; i++)
        if (!f->is_used[i]) rg_final_mark(f, i);
}

void rg_final_mark_all(rg_final *f, bool final)
{
    for (size_t i = 0; i < f->entries; i++) atomic_store_explicit(&f->mark[i], final, memory_order_release);
}

bool rg_final_is(const rg_final *f, size_t entry)
{
    return atomic_load_explicit(&f->mark[entry], memory_order_acquire);
}
