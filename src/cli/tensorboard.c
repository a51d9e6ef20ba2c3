/* tensorboard.c - event files that TensorBoard reads: records of small protocol buffers.
 *
 *     record   length (8 bytes, little endian), masked CRC-32C of those, data, masked CRC-32C of the data
 *     masked   ((crc >> 15) | (crc << 17)) + 0xa282ead8
 *     event    1: wall time (double)  2: step  3: file version (the first record)  5: summary  7: session log
 *     summary  1: value { 1: tag  2: number (float) }
 *
 * CRC-32C is that of Castagnoli et al. 1993, reflected polynomial 0x82f63b78. */
#include "cli/tensorboard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct rg_events {
    FILE *file;
    bool  failed;
};

enum { ROOM = 512, TAG = 128 };

/* ----------------------------------------------------------------------------------------------------- bytes */

typedef struct {
    unsigned char byte[ROOM];
    size_t        count;
} bytes;

static void put(bytes *b, const void *data, size_t count)
{
    if (count > ROOM - b->count) count = ROOM - b->count; /* tags are cut before it comes to that */
    memcpy(b->byte + b->count, data, count);
    b->count += count;
}

static void put_little(bytes *b, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char c = (unsigned char)(value >> (8 * i));
        put(b, &c, 1);
    }
}

static void put_varint(bytes *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) put_little(b, 0x80 | (value & 0x7f), 1);
    put_little(b, value, 1);
}

typedef enum { VARINT, FIXED64, LENGTH, FIXED32 = 5 } wire;

static void put_key(bytes *b, unsigned field, wire type) { put_varint(b, (uint64_t)field << 3 | (unsigned)type); }

static void put_block(bytes *b, unsigned field, const void *data, size_t count)
{
    put_key(b, field, LENGTH);
    put_varint(b, count);
    put(b, data, count);
}

/* --------------------------------------------------------------------------------------------------- records */

static uint32_t masked_crc(const unsigned char *data, size_t count)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void write_record(rg_events *e, const bytes *data)
{
    bytes head = { .count = 0 }, tail = { .count = 0 };
    put_little(&head, data->count, 8);
    put_little(&head, masked_crc(head.byte, 8), 4);
    put_little(&tail, masked_crc(data->byte, data->count), 4);
    if (fwrite(head.byte, 1, head.count, e->file) != head.count ||
        fwrite(data->byte, 1, data->count, e->file) != data->count ||
        fwrite(tail.byte, 1, tail.count, e->file) != tail.count || fflush(e->file) != 0)
        e->failed = true;
}

/* Wall time and step; the caller adds what happened. */
static bytes begin_event(uint64_t step)
{
    bytes           b = { .count = 0 };
    struct timespec now = { 0 };
    uint64_t        bits;
    clock_gettime(CLOCK_REALTIME, &now);
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    memcpy(&bits, &seconds, sizeof bits);
    put_key(&b, 1, FIXED64);
    put_little(&b, bits, 8);
    put_key(&b, 2, VARINT);
    put_varint(&b, step);
    return b;
}

/* ---------------------------------------------------------------------------------------------------- events */

rg_status rg_events_open(rg_events **out, const char *folder)
{
    static const char version[] = "brain.Event:2";
    char              host[65] = "host";
    *out = NULL;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return rg_fail(RG_EIO, "--tensorboard %s: cannot make the folder: %s", folder, strerror(errno));
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "host");
    for (char *c = host; *c; c++)
        if (*c == '/') *c = '-';
    char *path = rg_format("%s/events.out.tfevents.%010lld.%s.%ld", folder, (long long)time(NULL), host, (long)getpid());
    rg_events *e = path ? rg_alloc_zero(sizeof *e) : NULL;
    rg_status  status = e ? RG_OK : RG_ENOMEM;
    if (e && !(e->file = fopen(path, "wb")))
        status = rg_fail(RG_EIO, "--tensorboard: %s: cannot write: %s", path, strerror(errno));
    rg_free(path);
    if (status != RG_OK) {
        rg_free(e);
        return status;
    }
    bytes b = begin_event(0);
    put_block(&b, 3, version, sizeof version - 1);
    write_record(e, &b);
    *out = e;
    return RG_OK;
}

void rg_events_close(rg_events *e)
{
    if (!e) return;
    fclose(e->file);
    rg_free(e);
}

bool rg_events_failed(const rg_events *e) { return e->failed; }

void rg_events_start(rg_events *e, uint64_t step)
{
    static const unsigned char started[] = { 1 << 3 | VARINT, 1 };
    bytes                      b = begin_event(step);
    put_block(&b, 7, started, sizeof started);
    write_record(e, &b);
}

void rg_events_scalar(rg_events *e, uint64_t step, const char *tag, double value)
{
    const float number = (float)value;
    uint32_t    bits;
    bytes       one = { .count = 0 }, summary = { .count = 0 }, b = begin_event(step);
    memcpy(&bits, &number, sizeof bits);
    put_block(&one, 1, tag, strnlen(tag, TAG));
    put_key(&one, 2, FIXED32);
    put_little(&one, bits, 4);
    put_block(&summary, 1, one.byte, one.count);
    put_block(&b, 5, summary.byte, summary.count);
    write_record(e, &b);
}
