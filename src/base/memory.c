/* memory.c - the one place the library gets memory from.
 *
 * Every block is aligned to a cache line (64 bytes), large ones to a huge page (2 MiB), so that matrices start where
 * vector loads and the page tables like it. The live counts exist for leak tests; they cost two relaxed atomic adds. */
#define _GNU_SOURCE 1
#include "regard/base.h"
#include "base/seams.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE_BYTES ((size_t)64)
#define HUGE_BYTES ((size_t)2 << 20)
#define PAGE_BYTES ((size_t)4096)

static struct {
    bool (*refuse)(void *context, size_t bytes);
    void *context;
} seam;

static atomic_size_t live_blocks, live_bytes, alloc_calls;

void rg_base__seam_alloc(bool (*refuse)(void *context, size_t bytes), void *context)
{
    seam.refuse = refuse;
    seam.context = context;
}

size_t rg_base__live_blocks(void)
{
    return atomic_load(&live_blocks);
}

size_t rg_base__live_bytes(void)
{
    return atomic_load(&live_bytes);
}

size_t rg_base__alloc_calls(void)
{
    return atomic_load(&alloc_calls);
}

static void *refused(size_t bytes)
{
    rg_fail(RG_ENOMEM, "no memory for %zu bytes", bytes);
    return NULL;
}

void *rg_alloc(size_t bytes)
{
    void *block = NULL;
    atomic_fetch_add_explicit(&alloc_calls, 1, memory_order_relaxed);
    if (bytes > PTRDIFF_MAX - HUGE_BYTES) return refused(bytes);
    if (seam.refuse != NULL && seam.refuse(seam.context, bytes)) return refused(bytes);

    bool huge = bytes >= HUGE_BYTES;
    if (posix_memalign(&block, huge ? HUGE_BYTES : LINE_BYTES, bytes == 0 ? 1 : bytes) != 0) return refused(bytes);
    if (huge) (void)madvise(block, bytes & ~(PAGE_BYTES - 1), MADV_HUGEPAGE); /* a wish; the kernel may lack it */
    atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&live_bytes, malloc_usable_size(block), memory_order_relaxed);
    return block;
}

void rg_free(void *block)
{
    if (block == NULL) return;
    atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&live_bytes, malloc_usable_size(block), memory_order_relaxed);
    free(block);
}

void *rg_alloc_zero(size_t bytes)
{
    void *block = rg_alloc(bytes);
    if (block != NULL) memset(block, 0, bytes);
    return block;
}

void *rg_alloc_array(size_t count, size_t bytes_each)
{
    size_t bytes;
    if (!rg_size_mul(&bytes, count, bytes_each)) {
        rg_fail(RG_ENOMEM, "no memory for %zu times %zu bytes", count, bytes_each);
        return NULL;
    }
    return rg_alloc(bytes);
}

void *rg_realloc(void *block, size_t bytes)
{
    void *moved = rg_alloc(bytes); /* realloc() would lose the alignment */
    if (moved == NULL || block == NULL) return moved;
    size_t old_bytes = malloc_usable_size(block);
    memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
    rg_free(block);
    return moved;
}

char *rg_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rg_alloc(bytes);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}

char *rg_format(const char *format, ...)
{
    va_list args, again;
    char *text = NULL;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) rg_fail(RG_EINVAL, "text that cannot be formatted: \"%s\"", format);
    else if ((text = rg_alloc((size_t)length + 1)) != NULL) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}
