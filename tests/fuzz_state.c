/* fuzz_state.c - any bytes as a checkpoint: refused with its file, or a training that can go on from it and save again
 * (P1, P4).
 *
 * The parameters must have the toy's names and shapes, so mutations that pass change numbers, metadata and the saved
 * state. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/seams.h"
#include "support/faults.h"
#include "support/toy.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static const char *const place = "fuzz-state.file";

static void must(bool condition)
{
    if (!condition) abort();
}

static void put(const uint8_t *bytes, size_t count)
{
    FILE *f = fopen(place, "wb");
    must(f && fwrite(bytes, 1, count, f) == count && fclose(f) == 0);
}

static rg_trainer_config config(uint64_t steps)
{
    rg_trainer_config c = RG_TRAINER_CONFIG_DEFAULT;
    c.checkpoint = place;
    c.steps = steps;
    c.patience = 3;
    c.validate_every = 1;
    c.keep_best = true;
    c.average = 2;
    return c;
}

static void resume(void)
{
    toy_task          task;
    rg_trainer_config c = config(3);
    uint64_t          step = 0;
    must(toy_open(&task, &c, NULL) == RG_OK);
    const rg_status status = rg_trainer_resume(&step, task.trainer);
    if (status == RG_OK && step) (void)rg_trainer_run(task.trainer); /* at most two steps; a refusal is fine, a crash is not */
    else must(status == RG_OK || *rg_message());
    toy_close(&task);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const size_t blocks = rg_base__live_blocks();
    rg_state    *state = NULL;
    faults_no_sync();
    put(bytes, count);
    must(rg_state_new(&state) == RG_OK);
    if (rg_checkpoint_state(place, state) != RG_OK) must(strstr(rg_message(), place) != NULL);
    rg_state_free(state);
    resume();
    must(rg_base__live_blocks() == blocks);
    return 0;
}

/* A checkpoint after a step; the second has no checksum in its header, so that mutations get further. */
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    toy_task          task;
    rg_trainer_config c = config(1);
    if (index > 1) return 0;
    remove(place);
    must(toy_open(&task, &c, NULL) == RG_OK && rg_trainer_run(task.trainer) == RG_OK);
    toy_close(&task);
    FILE        *f = fopen(place, "rb");
    const size_t count = f ? fread(bytes, 1, room, f) : 0;
    must(f && !fclose(f) && count < room);
    for (size_t i = 8; index && i + 8 < count; i++)
        if (memcmp(bytes + i, "checksum", 8) == 0) bytes[i] = 'C';
    return count;
}
