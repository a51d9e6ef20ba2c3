/* base.h - what every other module stands on: status, memory, files, time, random numbers, threads, progress.
 *
 * Nothing here knows what a tensor is. The library never exits, aborts or prints; it returns a status and keeps the
 * reason, with the numbers in it, for the thread that asked. */
#ifndef REGARD_BASE_H
#define REGARD_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What stands between these two is the public API: C names, also for C++, and exported by the shared library, which
 * hides all others. */
#ifdef __cplusplus
#define RG_C_BEGIN extern "C" {
#define RG_C_END }
#else
#define RG_C_BEGIN
#define RG_C_END
#endif
#if defined(__GNUC__)
#define RG_API_BEGIN _Pragma("GCC visibility push(default)") RG_C_BEGIN
#define RG_API_END RG_C_END _Pragma("GCC visibility pop")
#else
#define RG_API_BEGIN RG_C_BEGIN
#define RG_API_END RG_C_END
#endif

RG_API_BEGIN

/* float everywhere; -DRG_REAL=double builds the second library that gradient tests link. Files hold float32. */
#ifdef RG_REAL
typedef RG_REAL rg_real;
#else
typedef float rg_real;
#endif

#if defined(__GNUC__)
#define RG_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define RG_MUST_USE __attribute__((warn_unused_result))
#else
#define RG_PRINTF(fmt, args)
#define RG_MUST_USE
#endif

/* ---------------------------------------------------------------------------------------------------- status */

typedef enum rg_status {
    RG_OK = 0,
    RG_ENOMEM,  /* an allocation failed                                     */
    RG_ESHAPE,  /* sizes that do not fit together                           */
    RG_EINVAL,  /* an argument, option or name that makes no sense here     */
    RG_EIO,     /* the system refused to open, read, write, sync or rename  */
    RG_EFORMAT, /* a file that is not what it should be                     */
    RG_ELIMIT,  /* well formed, but past a stated limit or memory budget    */
    RG_ENUMBER, /* a value that is not finite                               */
    RG_EMATCH,  /* parts that do not belong together: model and vocabulary  */
    RG_ESTOP    /* asked to stop: a signal, a deadline, the user            */
} rg_status;

/* Record why, for this thread, and return `status`:  return rg_fail(RG_ESHAPE, "keys are %zu wide, queries %zu", ...). */
rg_status rg_fail(rg_status status, const char *format, ...) RG_PRINTF(2, 3);
rg_status rg_failv(rg_status status, const char *format, va_list args) RG_PRINTF(2, 0);

/* Put words in front of the message that is there: "corpus.en: line 12: " + message. Returns `status` for chaining. */
rg_status rg_fail_in(rg_status status, const char *format, ...) RG_PRINTF(2, 3);

/* The last failure of this thread, one line without a newline; "" before any. Borrowed until the next failure. */
const char *rg_message(void);

/* "RG_ESHAPE" and so on. */
const char *rg_status_name(rg_status status);

/* Return early where nothing needs freeing. */
#define RG_TRY(call)                                        \
    do {                                                    \
        rg_status rg_try_status = (call);                   \
        if (rg_try_status != RG_OK) return rg_try_status;   \
    } while (0)

/* --------------------------------------------------------------------------------------------- checked sizes */

/* Sums and products of numbers that came from outside. False when the result does not fit; *out is then unchanged. */
bool rg_size_add(size_t *out, size_t a, size_t b) RG_MUST_USE;
bool rg_size_mul(size_t *out, size_t a, size_t b) RG_MUST_USE;
/* a rounded up to a multiple of `align`, a power of two. */
bool rg_size_align(size_t *out, size_t a, size_t align) RG_MUST_USE;

/* strtod with a point in every locale: a program that embeds the library may have chosen one whose point is a comma. */
double rg_real_parse(const char *text, char **end);

/* ---------------------------------------------------------------------------------------------------- memory */

/* All memory of the library comes through these. A failure returns NULL and records RG_ENOMEM with the number of
 * bytes. rg_free takes NULL. Blocks are aligned to 64 bytes; a size of 0 gives a valid block.
 * Blocks of 2 MiB and more are aligned to, and asked for as, huge pages. */
void *rg_alloc(size_t bytes);
void *rg_alloc_zero(size_t bytes);
void *rg_alloc_array(size_t count, size_t bytes_each); /* the product is checked */
void *rg_realloc(void *block, size_t bytes);           /* on failure the old block stays as it was */
void  rg_free(void *block);
char *rg_strdup(const char *text);
char *rg_format(const char *format, ...) RG_PRINTF(1, 2); /* a new string, to be freed with rg_free */
/* A word as it can be typed: itself, or in quotes where the shell would do something with it. A new string for
 * rg_free; NULL: no memory. */
char *rg_shell_quote(const char *word);

/* An arena hands out 64-byte aligned pieces that are dropped together. When it had to grow, the next reset joins its
 * chunks into one, so a loop that repeats itself stops allocating after its first round. */
typedef struct rg_arena rg_arena;
typedef struct rg_arena_point { /* where an arena stood */
    size_t chunk, used;
} rg_arena_point;

rg_status      rg_arena_new(rg_arena **out, size_t first_chunk_bytes);
void           rg_arena_free(rg_arena *arena);
void          *rg_arena_get(rg_arena *arena, size_t bytes);      /* NULL and RG_ENOMEM on failure; not zeroed */
void          *rg_arena_get_zero(rg_arena *arena, size_t bytes);
rg_arena_point rg_arena_mark(const rg_arena *arena);
void           rg_arena_rewind(rg_arena *arena, rg_arena_point point); /* debug builds poison what is dropped */
void           rg_arena_reset(rg_arena *arena);
size_t         rg_arena_used(const rg_arena *arena);
size_t         rg_arena_peak(const rg_arena *arena); /* most bytes in use at once since rg_arena_new */

/* ------------------------------------------------------------------------------------------------------ time */

double rg_now(void); /* seconds of a clock that only goes forward */

/* ----------------------------------------------------------------------------------------------------- files */

/* Plain files through one seam: short counts and EINTR are looped, every failure names the path. */
typedef struct rg_file rg_file;

rg_status rg_file_open(rg_file **out, const char *path, const char *mode); /* "rb", "wb", "ab"; "rr" reads regular files only */
rg_status rg_file_read(rg_file *file, void *buffer, size_t bytes);         /* exactly; less is RG_EFORMAT "cut short" */
rg_status rg_file_read_some(size_t *out_bytes, rg_file *file, void *buffer, size_t bytes); /* 0 at the end */
rg_status rg_file_write(rg_file *file, const void *bytes, size_t count);
rg_status rg_file_flush(rg_file *file); /* writes are gathered into blocks: pass on what is there */
rg_status rg_file_seek(rg_file *file, uint64_t offset);
rg_status rg_file_size(uint64_t *out, rg_file *file);
rg_status rg_file_size_at(uint64_t *out, const char *path); /* of a file that is not open */
rg_status rg_file_sync(rg_file *file);
rg_status rg_file_close(rg_file *file); /* NULL is fine; a write error found here is reported */

/* A file that appears whole or not at all: written beside `path`, synced, renamed, directory synced. It keeps the
 * permissions of the one it replaces. Behind a symbolic link the file it points to is replaced and the link stays.
 * Devices, FIFOs and descriptors (/dev/stdout) are written to as the bytes come. A folder, or a file that may not be
 * written, is RG_EIO. Every output of the program goes this way. */
rg_status rg_file_replace_begin(rg_file **out, const char *path);
rg_status rg_file_replace_commit(rg_file *file); /* closes it in every case; on failure `path` is the old file, or the whole new one */
void      rg_file_replace_abandon(rg_file *file);
rg_status rg_file_replace(const char *path, const void *bytes, size_t count); /* all of it at once */

/* Give a file another name, replacing what had it; the directory is synced. */
rg_status rg_file_rename(const char *from, const char *to);
rg_status rg_file_remove(const char *path); /* RG_OK when it was not there */
rg_status rg_file_exists(bool *out, const char *path); /* a file that is there but cannot be opened is RG_EIO */

/* ---------------------------------------------------------------------------------------------------- random */

/* Philox4x32-10 (Salmon et al. 2011): a block of four numbers from a counter and a key, no state. */
void rg_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* A stream of random numbers for initialisers, shuffles and generators: plain data, copy it to branch. */
typedef struct rg_random {
    uint64_t seed, stream, position; /* position counts 32-bit draws */
} rg_random;

rg_random rg_random_new(uint64_t seed, uint64_t stream);
uint32_t  rg_random_u32(rg_random *random);
uint64_t  rg_random_below(rg_random *random, uint64_t bound); /* 0 .. bound-1 without bias; bound > 0 */
double    rg_random_uniform(rg_random *random);               /* [0, 1) */
double    rg_random_normal(rg_random *random);                /* mean 0, deviation 1 */

/* --------------------------------------------------------------------------------------------------- threads */

/* A team is the calling thread and its helpers; together they split the *outputs* of one piece of work, so the team's
 * size never changes a bit of the result. Each member has scratch memory of its own. A team belongs to one caller at a
 * time. */
typedef struct rg_team rg_team;
typedef void rg_team_work(void *context, int member, size_t begin, size_t end);

rg_status rg_team_new(rg_team **out, int members); /* members >= 1, the caller among them */
void      rg_team_free(rg_team *team);
int       rg_team_size(const rg_team *team); /* NULL counts as 1 */

/* Call work(context, member, begin, end) on contiguous shares of 0 .. n, each a multiple of `grain` but the last;
 * returns when all are done. The calling thread runs its own share and then those that no helper has begun, in that
 * member's name: work must not wait for another member's. A NULL team, a team of one or n <= grain runs on the caller
 * as member 0; a call from inside work of the same team runs on that member alone. n = 0 calls nothing. */
void rg_team_for(rg_team *team, size_t n, size_t grain, rg_team_work *work, void *context);

/* At least `bytes` of memory of this member, 64-byte aligned, kept (not its content) until a larger request of the same
 * member. Only that member may call it while work runs. NULL and RG_ENOMEM on failure. */
void *rg_team_scratch(rg_team *team, int member, size_t bytes);

/* --------------------------------------------------------------------------------------------- log, progress */

typedef enum rg_log_level { RG_LOG_ERROR, RG_LOG_WARN, RG_LOG_INFO, RG_LOG_DEBUG } rg_log_level;
typedef void rg_log_sink(void *context, rg_log_level level, const char *line);

/* Where the library's remarks go; silent until the program sets it, once, before other threads exist. */
void rg_log_to(rg_log_sink *sink, void *context);
void rg_log(rg_log_level level, const char *format, ...) RG_PRINTF(2, 3);

/* A bar with rate and time left, drawn on `stream` only when that is a terminal (and at most ten times a second). */
typedef struct rg_progress rg_progress;
rg_status rg_progress_new(rg_progress **out, FILE *stream, const char *title, uint64_t total);
void      rg_progress_set(rg_progress *progress, uint64_t done, const char *note); /* note may be NULL */
/* By share instead of by count. `part` 0 to 1 gives a bar and the time left, counted from the first part that was
 * seen: a resumed run is not faster for what was done before. Below 0: nobody knows how much it is; the time that
 * has passed. `title` replaces the one before. */
void      rg_progress_part(rg_progress *progress, double part, const char *title, const char *note);
void      rg_progress_clear(rg_progress *progress); /* for something else to be printed; the next call draws it at once. NULL is fine */
void      rg_progress_end(rg_progress *progress);                                 /* clears the line and frees; NULL is fine */

RG_API_END
#endif
