/* faults.h - make memory and files fail on purpose, through the seams of the base.
 *
 *     faults_every_alloc(scenario, context)     runs it failing call 1, 2, 3, ... alone, then with all later calls failing
 *                                               too; each run must return RG_ENOMEM and leave no block behind
 *     faults_every_file_call(...)               the same for the file calls, once for each error number
 *
 * Include after cmocka.h. Runs are spread over at most FAULTS_POINTS points (all of them when CAMPAIGN is set). */
#ifndef TESTS_SUPPORT_FAULTS_H
#define TESTS_SUPPORT_FAULTS_H

#include "regard/base.h"
#include "base/seams.h"

enum { FAULTS_POINTS = 300 };

typedef rg_status faults_scenario(void *context);

/* Fail allocation number `nth` (from 1) and, with `later`, all after it. 0 only counts. */
void   faults_fail_alloc(size_t nth, bool later);
size_t faults_allocs(void); /* seen since */

/* Fail file call number `nth` with `error`; with `later`, all after it too (but close and unlink). 0 only counts. */
void   faults_fail_file(size_t nth, int error, bool later);
size_t faults_file_calls(void);

/* Every second read and write gives EINTR, the others one byte or a few: nothing may come of it. */
void faults_file_teasing(uint64_t seed);

/* Syncs do nothing: they would be nearly all of the time of tests that write many files. */
void faults_no_sync(void);

/* Put memory and files back to normal. */
void faults_off(void);

/* `after` may be NULL; it runs with faults off behind each failing run and can look at what was left. `tolerated`: a
 * failed call may also go unnoticed (it only saved work). */
typedef void faults_after(void *context, rg_status status);
void faults_every_alloc(faults_scenario *scenario, void *context, faults_after *after, bool tolerated);
void faults_every_file_call(faults_scenario *scenario, void *context, faults_after *after);

#endif
