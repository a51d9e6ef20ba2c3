/* confine.c - which system calls are refused, by a seccomp filter (man 2 seccomp), and both halves of a confinement.
 *
 * The filter is a list of refusals, not of what is allowed: the C library of tomorrow must still run. Calls whose
 * arguments lie in memory, where a filter cannot look, are answered ENOSYS, so that the caller takes the older one
 * (clone for clone3, openat for openat2). */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE

#define CALL(name) SYS_##name

/* Never needed again. */
static const int refused[] = {
    CALL(execve), CALL(execveat), CALL(socket), CALL(connect), CALL(bind), CALL(listen), /* programs, network */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    CALL(ptrace), /* the leak checker stops its own threads by it */
#endif
    CALL(process_vm_readv), CALL(process_vm_writev), CALL(kcmp), CALL(pidfd_getfd), CALL(personality), /* others */
    CALL(unshare), CALL(setns), CALL(mount), CALL(umount2), CALL(pivot_root), CALL(chroot), /* namespaces, mounts */
    CALL(open_tree), CALL(move_mount), CALL(fsopen), CALL(fsconfig), CALL(fsmount), CALL(fspick),
    CALL(open_by_handle_at), CALL(name_to_handle_at), CALL(quotactl), CALL(swapon), CALL(swapoff), CALL(acct),
    CALL(init_module), CALL(finit_module), CALL(delete_module), CALL(kexec_load), CALL(reboot), /* the machine */
    CALL(settimeofday), CALL(clock_settime), CALL(adjtimex), CALL(clock_adjtime), CALL(sethostname),
    CALL(setdomainname),
    CALL(bpf), CALL(perf_event_open), CALL(userfaultfd), CALL(fanotify_init), /* the kernel's own tools */
    CALL(io_uring_setup), CALL(io_uring_enter), CALL(io_uring_register),
    CALL(add_key), CALL(request_key), CALL(keyctl),
    CALL(linkat), CALL(symlinkat), CALL(mknodat), CALL(mkdirat), /* files that are no plain files */
    CALL(fchmodat), CALL(fchownat), CALL(utimensat), /* facts of files, which Landlock does not look at */
    CALL(setxattr), CALL(lsetxattr), CALL(fsetxattr), CALL(removexattr), CALL(lremovexattr), CALL(fremovexattr),
    /* newer than headers: mount_setattr, fchmodat2, setxattrat, removexattrat, open_tree_attr, file_setattr */
    442, 452, 463, 466, 467, 469,
#ifdef __x86_64__
    CALL(link), CALL(symlink), CALL(mknod), CALL(mkdir), CALL(rmdir), CALL(iopl), CALL(ioperm),
    CALL(modify_ldt), CALL(uselib),
    CALL(kexec_file_load), CALL(chmod), CALL(chown), CALL(lchown), CALL(utime), CALL(utimes),
#endif
};

/* Where nothing is written. */
static const int changes[] = {
    CALL(renameat), CALL(renameat2), CALL(unlinkat), CALL(truncate),
#ifdef __x86_64__
    CALL(rename), CALL(unlink), CALL(creat),
#endif
};

/* Arguments in memory. */
static const int unseen[] = { CALL(clone3), CALL(openat2) };

enum {
    ROOM = 256,
    WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND,
    NAMESPACES = 0x7E020000 /* CLONE_NEW* of clone's flags */
};

typedef struct {
    struct sock_filter line[ROOM];
    unsigned short     count;
} program;

#define RETURN(what)    ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (what)))
#define ERROR(number)   (SECCOMP_RET_ERRNO | ((uint32_t)(number) & SECCOMP_RET_DATA))
#define AT(field)       ((uint32_t)offsetof(struct seccomp_data, field))
#define LOAD(field)     ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(field)))
/* The next line if it holds, else the one behind it. */
#define UNLESS(op, k)   ((struct sock_filter)BPF_JUMP(BPF_JMP | (op) | BPF_K, (uint32_t)(k), 0, 1))

static void add(program *p, struct sock_filter line)
{
    if (p->count < ROOM) p->line[p->count++] = line;
}

static void refuse(program *p, const int *call, size_t count, int error)
{
    for (size_t i = 0; i < count; i++) {
        add(p, UNLESS(BPF_JEQ, call[i]));
        add(p, RETURN(ERROR(error)));
    }
}

/* A call whose argument number `at` has any of these bits. The low half is at the lower address on both machines. */
static void refuse_bits(program *p, int call, int at, uint32_t bits, int error)
{
    const uint32_t offset = (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)at);
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4));
    add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
    add(p, UNLESS(BPF_JSET, bits));
    add(p, RETURN(ERROR(error)));
    add(p, RETURN(SECCOMP_RET_ALLOW));
}

static void write_filter(program *p, const rg_confinement *c)
{
    add(p, LOAD(arch));
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0));
    add(p, RETURN(ERROR(EPERM))); /* calls of another machine have other numbers */
    add(p, LOAD(nr));
#ifdef __x86_64__
    add(p, UNLESS(BPF_JGE, 0x40000000)); /* x32 */
    add(p, RETURN(ERROR(EPERM)));
#endif
    refuse(p, refused, sizeof refused / sizeof *refused, EPERM);
    refuse(p, unseen, sizeof unseen / sizeof *unseen, ENOSYS);
    if (!c->writes) {
        refuse(p, changes, sizeof changes / sizeof *changes, EPERM);
        refuse_bits(p, CALL(openat), 2, WRITING, EACCES);
#ifdef __x86_64__
        refuse_bits(p, CALL(open), 1, WRITING, EACCES);
#endif
    }
    refuse_bits(p, CALL(clone), 0, NAMESPACES, EPERM);
    add(p, RETURN(SECCOMP_RET_ALLOW));
}

rg_status rg_confine__calls(unsigned *how, const rg_confinement *c)
{
    program p = { .count = 0 };
    write_filter(&p, c);
    if (p.count == ROOM) return rg_fail(RG_ELIMIT, "the filter of system calls has more than %d lines", ROOM);
    const struct sock_fprog filter = { .len = p.count, .filter = p.line };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return rg_fail(RG_EIO, "privileges cannot be given up: %s", strerror(errno));
    const long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    if (result == 0) *how |= RG_CONFINED_CALLS;
    if (result == 0 || errno == ENOSYS || errno == EINVAL) return RG_OK; /* done, or a kernel without it */
    return rg_fail(RG_EIO, "the kernel refuses a filter of system calls: %s", strerror(errno));
}

#else
rg_status rg_confine__calls(unsigned *how, const rg_confinement *c)
{
    (void)how;
    (void)c;
    return RG_OK;
}
#endif

rg_status rg_confine(unsigned *out_how, const rg_confinement *c)
{
    *out_how = 0;
    RG_TRY(rg_confine__files(out_how, c));
    return rg_confine__calls(out_how, c);
}
