/* test_base_file.c - files through the seam, and replacements that appear whole or not at all (P3, P4). */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { BIG = 300000 };

static struct {
    char folder[64], path[96], temp[112];
    unsigned char old_bytes[1000], new_bytes[BIG];
} box;

static int make_folder(void **state)
{
    (void)state;
    strcpy(box.folder, "test_base_file.XXXXXX");
    if (mkdtemp(box.folder) == NULL) return -1;
    snprintf(box.path, sizeof box.path, "%s/file", box.folder);
    snprintf(box.temp, sizeof box.temp, "%s/file" RG_FILE_TEMP_END, box.folder);
    for (size_t i = 0; i < sizeof box.old_bytes; i++) box.old_bytes[i] = (unsigned char)(i * 7);
    for (size_t i = 0; i < sizeof box.new_bytes; i++) box.new_bytes[i] = (unsigned char)(i * i + i / 256);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    faults_off();
    unlink(box.path);
    unlink(box.temp);
    return rmdir(box.folder);
}

static rg_status write_file(const char *path, const unsigned char *bytes, size_t count)
{
    rg_file *file;
    RG_TRY(rg_file_open(&file, path, "wb"));
    rg_status status = rg_file_write(file, bytes, count);
    rg_status closed = rg_file_close(file);
    return status != RG_OK ? status : closed;
}

static bool holds(const char *path, const unsigned char *bytes, size_t count)
{
    static unsigned char buffer[BIG + 1];
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    size_t got = fread(buffer, 1, sizeof buffer, file);
    fclose(file);
    return got == count && memcmp(buffer, bytes, count) == 0;
}

static void what_is_written_is_read_and_positions_and_sizes_agree(void **state)
{
    (void)state;
    rg_file *file;
    unsigned char buffer[100];
    uint64_t size = 0;
    size_t got;
    assert_int_equal(rg_file_open(&file, box.path, "wb"), RG_OK);
    for (size_t at = 0, piece = 1; at < BIG; at += piece, piece = piece * 3 % 70001 + 1) {
        if (piece > BIG - at) piece = BIG - at;
        assert_int_equal(rg_file_write(file, box.new_bytes + at, piece), RG_OK);
    }
    assert_int_equal(rg_file_size(&size, file), RG_OK);
    assert_int_equal(size, BIG);
    assert_int_equal(rg_file_seek(file, 5), RG_OK);
    assert_int_equal(rg_file_write(file, "!", 1), RG_OK);
    assert_int_equal(rg_file_close(file), RG_OK);

    assert_int_equal(rg_file_open(&file, box.path, "rr"), RG_OK);
    assert_int_equal(rg_file_read(file, buffer, 6), RG_OK);
    assert_int_equal(buffer[5], '!');
    assert_int_equal(rg_file_seek(file, BIG - 10), RG_OK);
    assert_int_equal(rg_file_read_some(&got, file, buffer, 100), RG_OK);
    assert_int_equal(got, 10);
    assert_memory_equal(buffer, box.new_bytes + BIG - 10, 10);
    assert_int_equal(rg_file_read_some(&got, file, buffer, 100), RG_OK);
    assert_int_equal(got, 0);
    assert_int_equal(rg_file_seek(file, BIG - 10), RG_OK);
    assert_int_equal(rg_file_read(file, buffer, 11), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "cut short: 11 bytes wanted, 10 there"));
    assert_int_equal(rg_file_write(file, "x", 1), RG_EINVAL);
    assert_int_equal(rg_file_seek(file, UINT64_MAX), RG_EINVAL);
    assert_int_equal(rg_file_close(file), RG_OK);
    assert_int_equal(rg_file_close(NULL), RG_OK);
}

static void interrupted_and_short_calls_change_nothing(void **state)
{
    (void)state;
    static unsigned char buffer[BIG];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rg_file *file;
        faults_file_teasing(seed);
        assert_int_equal(rg_file_replace_begin(&file, box.path), RG_OK);
        assert_int_equal(rg_file_write(file, box.new_bytes, 1000), RG_OK);
        assert_int_equal(rg_file_write(file, box.new_bytes + 1000, BIG - 1000), RG_OK);
        assert_int_equal(rg_file_replace_commit(file), RG_OK);
        assert_int_equal(rg_file_open(&file, box.path, "rb"), RG_OK);
        assert_int_equal(rg_file_read(file, buffer, BIG), RG_OK);
        assert_int_equal(rg_file_close(file), RG_OK);
        faults_off();
        assert_memory_equal(buffer, box.new_bytes, BIG);
    }
}

static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    rg_file *file;
    char pipe_path[128];
    assert_int_equal(rg_file_open(&file, "no/such/file", "rb"), RG_EIO);
    assert_null(file);
    assert_non_null(strstr(rg_message(), "no/such/file: cannot open: No such file"));
    assert_int_equal(rg_file_open(&file, box.path, "r+"), RG_EINVAL);
    assert_int_equal(rg_file_open(&file, box.folder, "rr"), RG_EIO);
    assert_int_equal(rg_file_open(&file, "/dev/zero", "rr"), RG_EIO);
    assert_non_null(strstr(rg_message(), "/dev/zero: is a pipe or a device"));
    uint64_t size;
    assert_int_equal(rg_file_open(&file, "/dev/zero", "rb"), RG_OK); /* readable, but of no size */
    assert_int_equal(rg_file_size(&size, file), RG_EIO);
    assert_int_equal(rg_file_close(file), RG_OK);
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", box.folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(rg_file_open(&file, pipe_path, "rr"), RG_EIO); /* and does not wait for a writer */
    unlink(pipe_path);
    assert_int_equal(rg_file_replace_begin(&file, "no/such/folder/file"), RG_EIO);
    assert_null(file);
}

static void a_failed_close_is_reported_but_not_an_interrupted_one(void **state)
{
    (void)state;
    static const struct {
        int error;
        rg_status status;
    } cases[] = { { EIO, RG_EIO }, { ENOSPC, RG_EIO }, { EINTR, RG_OK } };
    for (size_t i = 0; i < 3; i++) {
        rg_file *file;
        uint64_t size = 1;
        assert_int_equal(rg_file_open(&file, box.path, "wb"), RG_OK);
        assert_int_equal(rg_file_size(&size, file), RG_OK);
        assert_int_equal(size, 0);
        faults_fail_file(1, cases[i].error, false);
        rg_status status = rg_file_close(file);
        faults_off();
        assert_int_equal(status, cases[i].status);
    }
}

static void a_full_disk_is_reported_at_the_latest_by_close(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    rg_file *file;
    assert_int_equal(rg_file_open(&file, "/dev/full", "wb"), RG_OK);
    assert_int_equal(rg_file_write(file, "few bytes", 9), RG_OK); /* gathered */
    assert_int_equal(rg_file_close(file), RG_EIO);
    assert_non_null(strstr(rg_message(), "/dev/full"));
    assert_int_equal(rg_file_open(&file, "/dev/full", "wb"), RG_OK);
    assert_int_equal(rg_file_write(file, box.new_bytes, BIG), RG_EIO);
    assert_int_equal(rg_file_write(file, "x", 1), RG_EIO); /* and it stays failed */
    assert_int_equal(rg_file_close(file), RG_EIO);
}

/* ----------------------------------------------------------------------------------------------- replacements */

static rg_status replace(void *context)
{
    (void)context;
    rg_file *file;
    RG_TRY(rg_file_replace_begin(&file, box.path));
    rg_status status = rg_file_write(file, box.new_bytes, 10);
    if (status == RG_OK) status = rg_file_write(file, box.new_bytes + 10, BIG - 10);
    if (status == RG_OK) return rg_file_replace_commit(file);
    rg_file_replace_abandon(file);
    return status;
}

static rg_status replace_at_once(void *context)
{
    (void)context;
    return rg_file_replace(box.path, box.new_bytes, BIG);
}

static void file_is_old_or_new_and_whole(void *context, rg_status status)
{
    (void)context;
    bool is_new = holds(box.path, box.new_bytes, BIG), is_old = holds(box.path, box.old_bytes, sizeof box.old_bytes);
    if (status == RG_OK) assert_true(is_new);
    else assert_true(is_old || is_new);
    if (status != RG_OK) assert_true(rg_message()[0] != '\0');
    assert_int_equal(write_file(box.path, box.old_bytes, sizeof box.old_bytes), RG_OK);
}

static void a_replacement_is_whole_or_absent_after_any_failed_file_call(void **state)
{
    (void)state;
    assert_int_equal(write_file(box.path, box.old_bytes, sizeof box.old_bytes), RG_OK);
    faults_every_file_call(replace, NULL, file_is_old_or_new_and_whole);
    assert_int_equal(write_file(box.path, box.old_bytes, sizeof box.old_bytes), RG_OK);
    faults_every_file_call(replace_at_once, NULL, file_is_old_or_new_and_whole);
    assert_int_equal(replace(NULL), RG_OK); /* the leftovers of failed ones are not in the way */
    assert_int_not_equal(access(box.temp, F_OK), 0);
}

static void a_failed_write_or_sync_keeps_the_old_file(void **state)
{
    (void)state;
    assert_int_equal(write_file(box.path, box.old_bytes, sizeof box.old_bytes), RG_OK);
    for (size_t nth = 1; nth <= 4; nth++) { /* open, write, write, sync */
        faults_fail_file(nth, ENOSPC, false);
        rg_status status = replace(NULL);
        faults_off();
        assert_int_equal(status, RG_EIO);
        assert_true(holds(box.path, box.old_bytes, sizeof box.old_bytes));
        assert_int_not_equal(access(box.temp, F_OK), 0);
    }
}

static void a_failed_allocation_keeps_the_old_file_until_the_rename(void **state)
{
    (void)state;
    assert_int_equal(write_file(box.path, box.old_bytes, sizeof box.old_bytes), RG_OK);
    faults_every_alloc(replace, NULL, file_is_old_or_new_and_whole, false);
}

static void an_abandoned_replacement_leaves_nothing(void **state)
{
    (void)state;
    rg_file *file;
    assert_int_equal(write_file(box.path, box.old_bytes, sizeof box.old_bytes), RG_OK);
    assert_int_equal(rg_file_replace_begin(&file, box.path), RG_OK);
    assert_int_equal(rg_file_write(file, box.new_bytes, BIG), RG_OK);
    rg_file_replace_abandon(file);
    rg_file_replace_abandon(NULL);
    assert_int_not_equal(access(box.temp, F_OK), 0);
    assert_true(holds(box.path, box.old_bytes, sizeof box.old_bytes));
}

static void two_writers_of_one_file_are_not_mixed(void **state)
{
    (void)state;
    rg_file *first, *second;
    assert_int_equal(rg_file_replace_begin(&first, box.path), RG_OK);
    assert_int_equal(rg_file_replace_begin(&second, box.path), RG_EIO);
    assert_non_null(strstr(rg_message(), "another program is writing"));
    assert_int_equal(rg_file_write(first, "first", 5), RG_OK);
    assert_int_equal(rg_file_replace_commit(first), RG_OK);
    assert_true(holds(box.path, (const unsigned char *)"first", 5));
    assert_int_equal(rg_file_replace_begin(&second, box.path), RG_OK);
    assert_int_equal(rg_file_replace_commit(second), RG_OK);
    assert_true(holds(box.path, (const unsigned char *)"", 0));
}

static void a_leftover_of_a_killed_program_is_overwritten_and_links_are_not_followed(void **state)
{
    (void)state;
    rg_file *file;
    assert_int_equal(write_file(box.temp, box.new_bytes, BIG), RG_OK);
    assert_int_equal(rg_file_replace_begin(&file, box.path), RG_OK);
    assert_int_equal(rg_file_write(file, box.old_bytes, sizeof box.old_bytes), RG_OK);
    assert_int_equal(rg_file_replace_commit(file), RG_OK);
    assert_true(holds(box.path, box.old_bytes, sizeof box.old_bytes));
    assert_int_equal(symlink("file", box.temp), 0); /* would empty the file itself */
    assert_int_equal(rg_file_replace_begin(&file, box.path), RG_EIO);
    assert_true(holds(box.path, box.old_bytes, sizeof box.old_bytes));
    unlink(box.temp);
}

/* ---------------------------------------------------------------------------------------- what an output may meet */

static bool is_link(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
}

/* relative, absolute, dangling and of two steps: what the link points to is written, the link stays */
static void behind_a_link_the_file_is_replaced_and_the_link_stays(void **state)
{
    (void)state;
    char here[200], whole[400], folder[96], link[112], second[112], dangling[112], made[112];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(folder, sizeof folder, "%s/links", box.folder);
    snprintf(link, sizeof link, "%s/a", folder);
    snprintf(second, sizeof second, "%s/b", folder);
    snprintf(dangling, sizeof dangling, "%s/c", folder);
    snprintf(made, sizeof made, "%s/made", folder);
    snprintf(whole, sizeof whole, "%s/%s", here, box.path);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink("../file", link), 0);
    assert_int_equal(symlink("a", second), 0);
    assert_int_equal(symlink("made", dangling), 0);
    const char *const links[] = { link, second };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(write_file(box.path, box.old_bytes, sizeof box.old_bytes), RG_OK);
        assert_int_equal(rg_file_replace(links[i], box.new_bytes, BIG), RG_OK);
        assert_true(is_link(link) && is_link(second));
        assert_true(holds(box.path, box.new_bytes, BIG));
    }
    unlink(link);
    assert_int_equal(symlink(whole, link), 0);
    assert_int_equal(rg_file_replace(second, box.old_bytes, 10), RG_OK);
    assert_true(is_link(link) && holds(box.path, box.old_bytes, 10));
    assert_int_equal(rg_file_replace(dangling, box.old_bytes, 20), RG_OK);
    assert_true(is_link(dangling) && holds(made, box.old_bytes, 20));
    unlink(link);
    assert_int_equal(symlink("b", link), 0); /* a -> b -> a */
    assert_int_equal(rg_file_replace(link, "x", 1), RG_EIO);
    assert_non_null(strstr(rg_message(), "circle"));
    unlink(link), unlink(second), unlink(dangling), unlink(made), rmdir(folder);
}

static void devices_and_pipes_are_written_to_and_stay(void **state)
{
    (void)state;
    char          pipe_path[128];
    unsigned char got[16] = { 0 };
    struct stat   after;
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", box.folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(rg_file_replace(pipe_path, "through", 7), RG_OK);
    assert_int_equal(read(reader, got, sizeof got), 7);
    assert_memory_equal(got, "through", 7);
    close(reader);
    assert_int_equal(lstat(pipe_path, &after), 0);
    assert_true(S_ISFIFO(after.st_mode));
    unlink(pipe_path);
    for (unsigned minor_number = 3; minor_number <= 7; minor_number += 4) { /* null and full, as nodes of our own */
        snprintf(pipe_path, sizeof pipe_path, "%s/device", box.folder);
        const bool made = mknod(pipe_path, S_IFCHR | 0600, makedev(1, minor_number)) == 0;
        const int  fd = made ? open(pipe_path, O_WRONLY) : -1;
        if (fd >= 0) { /* neither without the right to make nodes nor where they do not work */
            assert_int_equal(rg_file_replace(pipe_path, box.new_bytes, BIG), minor_number == 3 ? RG_OK : RG_EIO);
            assert_int_equal(lstat(pipe_path, &after), 0);
            assert_true(S_ISCHR(after.st_mode));
            close(fd);
        }
        unlink(pipe_path);
    }
}

/* As /dev/stdout is: what was written before stays in front. */
static void a_descriptor_is_written_on(void **state)
{
    (void)state;
    char      name[64];
    const int fd = open(box.path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, "one ", 4), 4);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_int_equal(rg_file_replace(name, "two ", 4), RG_OK);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    assert_int_equal(rg_file_replace(name, "three", 5), RG_OK);
    close(fd);
    assert_true(holds(box.path, (const unsigned char *)"one two three", 13));
    assert_int_equal(rg_file_replace("/dev/fd/999", "x", 1), RG_EIO);
}

static void permissions_are_kept_and_folders_refused(void **state)
{
    (void)state;
    struct stat s;
    assert_int_equal(write_file(box.path, box.old_bytes, 10), RG_OK);
    assert_int_equal(chmod(box.path, 0640), 0);
    assert_int_equal(rg_file_replace(box.path, box.new_bytes, 10), RG_OK);
    assert_int_equal(stat(box.path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0640);
    assert_int_equal(rg_file_replace(box.folder, "x", 1), RG_EIO);
    assert_non_null(strstr(rg_message(), "folder"));
    if (geteuid() == 0) return; /* who may write everything */
    assert_int_equal(chmod(box.path, 0440), 0);
    assert_int_equal(rg_file_replace(box.path, "x", 1), RG_EIO);
    assert_true(holds(box.path, box.new_bytes, 10));
    assert_int_equal(chmod(box.path, 0640), 0);
}

static void without_descriptors_opening_fails_cleanly(void **state)
{
    (void)state;
    struct rlimit before, none;
    rg_file *file;
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    rg_status status = rg_file_open(&file, box.path, "wb");
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(status, RG_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_and_positions_and_sizes_agree),
        cmocka_unit_test(interrupted_and_short_calls_change_nothing),
        cmocka_unit_test(what_cannot_be_opened_is_named),
        cmocka_unit_test(a_failed_close_is_reported_but_not_an_interrupted_one),
        cmocka_unit_test(a_full_disk_is_reported_at_the_latest_by_close),
        cmocka_unit_test(a_replacement_is_whole_or_absent_after_any_failed_file_call),
        cmocka_unit_test(a_failed_write_or_sync_keeps_the_old_file),
        cmocka_unit_test(a_failed_allocation_keeps_the_old_file_until_the_rename),
        cmocka_unit_test(an_abandoned_replacement_leaves_nothing),
        cmocka_unit_test(two_writers_of_one_file_are_not_mixed),
        cmocka_unit_test(a_leftover_of_a_killed_program_is_overwritten_and_links_are_not_followed),
        cmocka_unit_test(behind_a_link_the_file_is_replaced_and_the_link_stays),
        cmocka_unit_test(devices_and_pipes_are_written_to_and_stay),
        cmocka_unit_test(a_descriptor_is_written_on),
        cmocka_unit_test(permissions_are_kept_and_folders_refused),
        cmocka_unit_test(without_descriptors_opening_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
