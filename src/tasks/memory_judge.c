/* memory_judge.c - how well a model answers puzzles it has never seen: surprise, wrong bits, lost sequences. */
#include "tasks/memory_task.h"

#include <math.h>

size_t rg_memory_wrong(const rg_tensor *y, const rg_puzzle_batch *b)
{
    size_t wrong = 0;
    for (size_t i = 0; i < b->sequences * b->answers; i++)
        for (size_t j = 0; j < b->out; j++) wrong += (rg_tensor_at(y, i, j) > 0) != (b->target[i * b->out + j] > 0);
    return wrong;
}

/* Among the inputs with neither a mark nor an answer to give. */
bool rg_memory_has_zeros(const rg_puzzle_batch *b)
{
    for (size_t i = 0; i < b->steps - b->answers; i++) {
        const rg_real *x = b->input + i * b->in;
        size_t         j = 0;
        while (j < b->in && x[j] == 0) j++;
        if (j == b->in) return true;
    }
    return false;
}

static rg_status judge_one(rg_memory_judgement *sums, size_t *all, rg_tape *t, const rg_model *m,
                           const rg_puzzle_batch *b)
{
    rg_tape_reset(t, 0);
    rg_tensor       *y = m->system->predict(t, m, b);
    const rg_tensor *loss = rg_binary_cross_entropy(t, y, b->target);
    RG_TRY(rg_tape_status(t));
    const size_t wrong = rg_memory_wrong(y, b);
    const bool   zeros = rg_memory_has_zeros(b);
    sums->bits += (double)rg_tensor_at(loss, 0, 0) / log(2);
    sums->wrong += (double)wrong;
    sums->lost += wrong > 0;
    sums->sequences++;
    sums->with_zeros += zeros;
    sums->zeros_lost += zeros && wrong;
    *all += b->answers * b->out;
    return RG_OK;
}

rg_status rg_memory_judge(rg_memory_judgement *out, const rg_model *m, const rg_puzzle_config *puzzle, size_t length,
                          size_t count, uint64_t seed, rg_team *team, const rg_train_report *report)
{
    rg_puzzle_config     config = *puzzle;
    const rg_tape_config judging = { .record = false, .team = team };
    rg_puzzle_batch      batch = { 0 };
    rg_tape             *t;
    size_t               all = 0;
    *out = (rg_memory_judgement){ 0 };
    config.min_length = config.max_length = length;
    RG_TRY(rg_puzzle_check(&config));
    RG_TRY(rg_tape_new(&t, &judging));
    rg_status status = RG_OK;
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        const uint64_t number = UINT64_MAX / 4 + i; /* training never reaches it */
        status = rg_check_stop(report);
        if (status == RG_OK) status = rg_puzzle_draw(&batch, &config, seed, number, 0, 1);
        if (status == RG_OK) status = judge_one(out, &all, t, m, &batch);
    }
    out->bits /= count ? (double)count : 1;
    out->lost /= count ? (double)count : 1;
    out->wrong /= all ? (double)all : 1;
    rg_puzzle_free(&batch);
    rg_tape_free(t);
    return status;
}
