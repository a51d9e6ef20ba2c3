/* extract.c - features of words that stand in the source (ABS+: Rush, Chopra, Weston 2015, section 5).
 *
 *     score(y_{i+1}) = log p(y_{i+1} | x, y) + sum_k alpha_k f_k(x, y_{i-1}, y_i, y_{i+1})
 *
 *     f_1  y_{i+1} is a word of x                    f_2  y_i y_{i+1} stand side by side in x
 *     f_3  so do y_{i-1} y_i y_{i+1}                 f_4  x has y_{i+1} somewhere before y_i: words were reordered
 *
 * Only words of the source have a feature, so that no more than those are touched. The paper's alpha_0, the weight of
 * log p, is 1: scores are compared, not measured. */
#include "decode/beam.h"

bool rg_extract_wanted(const rg_search_config *c)
{
    for (size_t k = 0; k < RG_EXTRACT; k++)
        if (c->extract[k] != 0) return true;
    return false;
}

static bool seen_before(const int32_t *x, size_t j)
{
    for (size_t i = 0; i < j; i++)
        if (x[i] == x[j]) return true;
    return false;
}

double rg_extract_bonus(const double *alpha, const int32_t *x, size_t n, int32_t before, int32_t last, int32_t next)
{
    bool f[RG_EXTRACT] = { false };
    bool passed = false; /* next was met further left */
    for (size_t j = 0; j < n; j++) {
        if (passed && x[j] == last) f[3] = true;
        if (x[j] != next) continue;
        f[0] = passed = true;
        if (j < 1 || x[j - 1] != last) continue;
        f[1] = true;
        if (j >= 2 && x[j - 2] == before) f[2] = true;
    }
    double sum = 0;
    for (size_t k = 0; k < RG_EXTRACT; k++) sum += f[k] ? alpha[k] : 0;
    return sum;
}

void rg_extract_add(rg_real *scores, const double *alpha, const int32_t *x, size_t n, size_t words, int32_t before,
                    int32_t last)
{
    for (size_t j = 0; j < n; j++)
        if (x[j] >= 0 && (size_t)x[j] < words && !seen_before(x, j))
            scores[x[j]] += (rg_real)rg_extract_bonus(alpha, x, n, before, last, x[j]);
}
