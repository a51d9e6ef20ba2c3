/* wire.c - a cable of a given length, where the kernel has no netem: two network devices (taps), one in each of two
 * namespaces, and between them this program, which hands on what the first sends after a delay, and what the second
 * sends at once.
 *
 *     wire NAMESPACE DEVICE NAMESPACE DEVICE MICROSECONDS
 *
 * For bench/ranks/hosts. Prints a line when both devices are there; runs until it is killed. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { FRAME = 9100,
       FRAMES = 4096 }; /* bytes of one; on their way in one direction */

typedef struct frame {
    double due;
    size_t bytes;
    char   data[FRAME];
} frame;

typedef struct direction {
    int    from, to;
    double delay;
    frame *ring;
    size_t first, count;
} direction;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A tap in a namespace: the device stays there when this process has left it. */
static int tap(const char *space, const char *device)
{
    char         path[256];
    struct ifreq r = { .ifr_flags = IFF_TAP | IFF_NO_PI };
    snprintf(path, sizeof path, "/var/run/netns/%s", space);
    const int at = open(path, O_RDONLY | O_CLOEXEC);
    if (at < 0 || setns(at, CLONE_NEWNET)) return -1;
    close(at);
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", device);
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 || ioctl(fd, TUNSETIFF, &r) ? -1 : fd;
}

static void take(direction *d)
{
    while (d->count < FRAMES) {
        frame        *f = &d->ring[(d->first + d->count) % FRAMES];
        const ssize_t got = read(d->from, f->data, sizeof f->data);
        if (got <= 0) return;
        f->bytes = (size_t)got;
        f->due = now() + d->delay;
        d->count++;
    }
}

static void hand_on(direction *d)
{
    for (; d->count && d->ring[d->first].due <= now(); d->count--) {
        const frame *f = &d->ring[d->first];
        if (write(d->to, f->data, f->bytes) < 0 && errno == EAGAIN) return;
        d->first = (d->first + 1) % FRAMES; /* what a device that is down refuses is lost, as on any cable */
    }
}

int main(int argc, char **argv)
{
    if (argc != 6) return fprintf(stderr, "wire NAMESPACE DEVICE NAMESPACE DEVICE MICROSECONDS\n"), 2;
    const int a = tap(argv[1], argv[2]), b = tap(argv[3], argv[4]);
    direction d[2] = { { .from = a, .to = b, .delay = 1e-6 * atof(argv[5]) }, { .from = b, .to = a } };
    for (int i = 0; i < 2; i++) d[i].ring = calloc(FRAMES, sizeof(frame));
    if (a < 0 || b < 0 || !d[0].ring || !d[1].ring) return perror("wire"), 1;
    prctl(PR_SET_TIMERSLACK, 1000);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        double        wait = 1;
        struct pollfd p[2];
        for (int i = 0; i < 2; i++) {
            take(&d[i]);
            hand_on(&d[i]);
            const double left = d[i].count ? d[i].ring[d[i].first].due - now() : 1;
            if (left < wait) wait = left > 0 ? left : 0;
            p[i] = (struct pollfd){ .fd = d[i].from, .events = d[i].count < FRAMES ? POLLIN : 0 };
        }
        const long ns = (long)(wait * 1e9);
        ppoll(p, 2, &(struct timespec){ ns / 1000000000, ns % 1000000000 }, NULL);
    }
}
