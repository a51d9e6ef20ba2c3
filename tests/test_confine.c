/* Confinement tried from the inside: every test confines a child process, which then tries to get out and reports by
 * its exit code what it could do. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "regard/confine.h"

/* -------------------------------------------------------------------------------------------------- what is tried */

static int opened, listening, port; /* made before the confinement */

/* Each gives 0 when it was kept from it, 1 when it could. */
static int reads(const char *path)
{
    char      byte;
    const int fd = open(path, O_RDONLY);
    return fd >= 0 && read(fd, &byte, 1) == 1;
}
static int writes(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    return fd >= 0 && write(fd, "x", 1) == 1;
}

static int read_another_file(void) { return reads("outside/secret"); }
static int read_through_a_link(void) { return reads("inside/link"); }
static int read_by_parent_folder(void) { return reads("inside/../outside/secret"); }
static int read_by_proc_root(void) { return reads("/proc/self/cwd/outside/secret"); }
static int read_a_users_file(void) { return reads("/etc/passwd"); }
static int write_a_new_file(void) { return writes("outside/new"); }
static int write_over_a_file(void) { return writes("outside/secret"); }
static int write_inside(void) { return writes("inside/new"); }
static int create_temporary(void)
{
    return open("outside", O_TMPFILE | O_RDWR, 0600) >= 0;
}
static int open_by_openat2(void)
{
    struct {
        uint64_t flags, mode, resolve;
    } how = { O_WRONLY | O_CREAT, 0600, 0 };
    return syscall(SYS_openat2, AT_FDCWD, "outside/new", &how, sizeof how) >= 0;
}
static int remove_a_file(void) { return unlink("outside/secret") == 0; }
static int rename_a_file(void) { return rename("outside/secret", "outside/other") == 0; }
static int move_out(void) { return rename("inside/file", "outside/moved") == 0; }
static int link_a_file(void) { return link("outside/secret", "inside/hard") == 0; }
static int make_a_link(void) { return symlink("/", "inside/root") == 0; }
static int make_a_folder(void) { return mkdir("inside/folder", 0700) == 0; }
static int make_a_pipe(void) { return mkfifo("inside/pipe", 0600) == 0; }
static int truncate_a_file(void) { return truncate("outside/secret", 0) == 0; }
static int change_permissions(void) { return chmod("outside/secret", 0777) == 0; }

static int make_a_socket(void) { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }
static int make_a_datagram_socket(void) { return socket(AF_INET6, SOCK_DGRAM, 0) >= 0; }
static int make_a_local_socket(void) { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }
static int connect_an_old_socket(void)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    return connect(opened, (const struct sockaddr *)&to, sizeof to) == 0;
}
static int bind_an_old_socket(void)
{
    const struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    return bind(opened, (const struct sockaddr *)&at, sizeof at) == 0;
}

static int run_a_program(void)
{
    const pid_t child = fork();
    int         status = 1;
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(99);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) != 99;
}
static int run_a_shell(void) { return system("exit 0") == 0; }
static int run_from_memory(void)
{
    char *const none[] = { NULL };
    const int   fd = (int)syscall(SYS_memfd_create, "x", 0), from = open("/proc/self/exe", O_RDONLY);
    if (fd < 0) return 0;
    if (from >= 0) close(from);
    syscall(SYS_execveat, fd, "", none, none, AT_EMPTY_PATH);
    return errno != EPERM;
}
static int look_into_the_parent(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return 0; /* the leak checker needs it: see confine.c */
#else
    return ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0;
#endif
}
static int new_namespace(void) { return unshare(CLONE_NEWUSER) == 0; }
static int clone_into_a_namespace(void)
{
    const long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return child > 0;
}
static int ring_of_calls(void)
{
    char settings[256] = { 0 };
    return syscall(SYS_io_uring_setup, 4, settings) >= 0;
}
static int widen_by_a_second_confinement(void)
{
    static const char *const all[] = { "/" };
    const rg_confinement     c = { .read = all, .reads = 1, .write = all, .writes = 1 };
    unsigned                 how;
    (void)rg_confine(&how, &c);
    return reads("outside/secret") || writes("outside/new");
}

typedef struct {
    const char *name;
    int (*attempt)(void);
    bool by_path; /* it takes Landlock to keep it from this */
} escape;

#define ESCAPE(name, ...) { #name, name, __VA_ARGS__ }
static const escape escapes[] = {
    ESCAPE(read_another_file, true), ESCAPE(read_through_a_link, true),
    ESCAPE(read_by_parent_folder, true), ESCAPE(read_by_proc_root, true),
    ESCAPE(read_a_users_file, true), ESCAPE(widen_by_a_second_confinement, true),
    ESCAPE(write_a_new_file, false), ESCAPE(write_over_a_file, false), ESCAPE(write_inside, false),
    ESCAPE(create_temporary, false), ESCAPE(open_by_openat2, false),
    ESCAPE(remove_a_file, false), ESCAPE(rename_a_file, false), ESCAPE(move_out, false),
    ESCAPE(truncate_a_file, false), ESCAPE(change_permissions, false),
    ESCAPE(link_a_file, false), ESCAPE(make_a_link, false), ESCAPE(make_a_folder, false),
    ESCAPE(make_a_pipe, false), ESCAPE(make_a_socket, false),
    ESCAPE(make_a_datagram_socket, false), ESCAPE(make_a_local_socket, false),
    ESCAPE(connect_an_old_socket, false), ESCAPE(bind_an_old_socket, false),
    ESCAPE(run_a_program, false), ESCAPE(run_a_shell, false), ESCAPE(run_from_memory, false),
    ESCAPE(look_into_the_parent, false), ESCAPE(new_namespace, false),
    ESCAPE(clone_into_a_namespace, false), ESCAPE(ring_of_calls, false),
};
enum { ESCAPES = sizeof escapes / sizeof *escapes };

/* ------------------------------------------------------------------------------------------------------- children */

enum { CANNOT_CONFINE = 50, NOT_THERE = 51 };
typedef enum { BOTH, CALLS_ONLY, NOTHING } kind;
typedef rg_status confiner(unsigned *how, const rg_confinement *c);

static rg_status no_confinement(unsigned *how, const rg_confinement *c) { return (void)c, *how = 7, RG_OK; }
static confiner *const confiners[] = { rg_confine, rg_confine__calls, no_confinement };

static const char *const inside[] = { "inside" };
static const rg_confinement reading = { .read = inside, .reads = 1 };

static int in_child(kind k, const rg_confinement *c, int (*attempt)(void))
{
    int         status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        unsigned how = 0;
        if (confiners[k](&how, c) != RG_OK) _exit(CANNOT_CONFINE);
        if (!(how & RG_CONFINED_CALLS) || (k == BOTH && !(how & RG_CONFINED_FILES))) _exit(NOT_THERE);
        _exit(attempt());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) fail_msg("the child was ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == CANNOT_CONFINE) fail_msg("it cannot be confined");
    return WEXITSTATUS(status);
}

static int nothing(void) { return 0; }

/* Does the kernel have it? */
static void skip_without(kind k)
{
    if (in_child(k, &reading, nothing) == NOT_THERE) skip();
}

static void write_file(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("secret\n", f);
    fclose(f);
}

static int set_up(void **state)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t          size = sizeof at;
    (void)state;
    mkdir("inside", 0700);
    mkdir("outside", 0700);
    write_file("inside/file");
    write_file("outside/secret");
    unlink("inside/link");
    if (symlink("../outside/secret", "inside/link") != 0) return -1;
    if ((opened = socket(AF_INET, SOCK_STREAM, 0)) < 0 || (listening = socket(AF_INET, SOCK_STREAM, 0)) < 0 ||
        bind(listening, (struct sockaddr *)&at, size) != 0 || listen(listening, 5) != 0 ||
        getsockname(listening, (struct sockaddr *)&at, &size) != 0)
        return -1;
    port = ntohs(at.sin_port);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- tests */

/* Attempts that fail for another reason would prove nothing. */
static void what_is_tried_succeeds_without_confinement(void **state)
{
    static const char *const may_be_forbidden[] = { "look_into_the_parent", "new_namespace", "clone_into_a_namespace",
                                                    "ring_of_calls", "widen_by_a_second_confinement", "create_temporary",
                                                    "open_by_openat2" }; /* in containers, on some file systems */
    (void)state;
    for (size_t i = 0; i < ESCAPES; i++) {
        bool skipped = false;
        for (size_t k = 0; k < sizeof may_be_forbidden / sizeof *may_be_forbidden; k++)
            skipped |= strcmp(escapes[i].name, may_be_forbidden[k]) == 0;
        if (!skipped && in_child(NOTHING, &reading, escapes[i].attempt) != 1)
            fail_msg("%s does not work in the first place", escapes[i].name);
        set_up(NULL); /* what it removed or renamed */
        unlink("outside/moved"), unlink("outside/other"), unlink("outside/new"), unlink("inside/new");
        unlink("inside/hard"), unlink("inside/root"), unlink("inside/pipe"), rmdir("inside/folder");
    }
}

static void nothing_gets_out_of_both(void **state)
{
    (void)state;
    skip_without(BOTH);
    for (size_t i = 0; i < ESCAPES; i++)
        if (in_child(BOTH, &reading, escapes[i].attempt) != 0) fail_msg("%s succeeded", escapes[i].name);
}

/* On a kernel without Landlock: everything but what depends on paths. */
static void seccomp_alone_keeps_what_does_not_depend_on_paths(void **state)
{
    (void)state;
    skip_without(CALLS_ONLY);
    for (size_t i = 0; i < ESCAPES; i++)
        if (!escapes[i].by_path && in_child(CALLS_ONLY, &reading, escapes[i].attempt) != 0)
            fail_msg("%s succeeded", escapes[i].name);
}

static int replace_the_output(void)
{
    return rg_file_replace("output/model", "bytes", 5) == RG_OK && reads("output/model") && reads("inside/file");
}
static int replace_beside_the_output(void) { return rg_file_replace("outside/model", "bytes", 5) == RG_OK; }

static void what_is_named_can_be_read_and_replaced(void **state)
{
    static const char *const output[] = { "output/model" };
    const rg_confinement     c = { .read = inside, .reads = 1, .write = output, .writes = 1 };
    (void)state;
    mkdir("output", 0700);
    for (kind k = BOTH; k <= CALLS_ONLY; k++) {
        const int could = in_child(k, &c, replace_the_output);
        if (could == NOT_THERE) continue;
        assert_int_equal(could, 1);
    }
    if (in_child(BOTH, &c, nothing) == NOT_THERE) skip();
    assert_int_equal(in_child(BOTH, &c, replace_beside_the_output), 0);
    for (size_t i = 0; i < ESCAPES; i++)
        if (in_child(BOTH, &c, escapes[i].attempt) != 0) fail_msg("%s succeeded", escapes[i].name);
}

static void *take_connection(void *context) { return accept(listening, NULL, NULL) >= 0 ? context : NULL; }

/* What a server needs: threads, and connections that come in. */
static int serve_one(void)
{
    pthread_t thread;
    void     *result = NULL;
    if (pthread_create(&thread, NULL, take_connection, &listening) != 0) return 0;
    pthread_join(thread, &result);
    return result != NULL;
}

static void a_confined_server_still_takes_connections(void **state)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int          fd = socket(AF_INET, SOCK_STREAM, 0);
    (void)state;
    skip_without(CALLS_ONLY);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(in_child(CALLS_ONLY, &reading, serve_one), 1);
    close(fd);
    const int second = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(second, (struct sockaddr *)&to, sizeof to), 0);
    const int could = in_child(BOTH, &reading, serve_one);
    if (could != NOT_THERE) assert_int_equal(could, 1);
    close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_tried_succeeds_without_confinement),
        cmocka_unit_test(nothing_gets_out_of_both),
        cmocka_unit_test(seccomp_alone_keeps_what_does_not_depend_on_paths),
        cmocka_unit_test(what_is_named_can_be_read_and_replaced),
        cmocka_unit_test(a_confined_server_still_takes_connections),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
