/* palette.c - colours from low to high, the same in the terminal, in figures and on the page (page/draw.js has the
 * stops too). Each ramp rises or falls in lightness all the way, so that it survives gray printing and colour-blind
 * eyes. */
#include "regard/view.h"

enum { STOPS = 7 };

static const unsigned char stops[][STOPS][3] = {
    { { 255, 255, 255 }, { 225, 236, 247 }, { 180, 211, 236 }, { 112, 174, 217 }, { 52, 126, 186 }, { 17, 77, 143 },
      { 8, 36, 78 } }, /* blue: paper to ink */
    { { 22, 24, 31 }, { 45, 33, 82 }, { 94, 38, 126 }, { 165, 48, 122 }, { 226, 83, 92 }, { 250, 158, 94 },
      { 253, 240, 190 } }, /* fire: night to flame */
    { { 0, 0, 0 }, { 43, 43, 43 }, { 85, 85, 85 }, { 128, 128, 128 }, { 170, 170, 170 }, { 213, 213, 213 },
      { 255, 255, 255 } }, /* gray: as printed in the first papers */
    { { 255, 255, 255 }, { 252, 231, 224 }, { 248, 198, 182 }, { 236, 143, 120 }, { 209, 86, 71 }, { 158, 36, 44 },
      { 88, 10, 28 } }, /* red: below 0 on paper */
    { { 22, 24, 31 }, { 24, 44, 76 }, { 26, 75, 116 }, { 37, 118, 150 }, { 80, 166, 180 }, { 148, 211, 213 },
      { 222, 246, 240 } }, /* ice: below 0 at night */
};

void rg_palette_colour(double out[3], rg_palette palette, double value)
{
    int    which = palette == RG_PALETTE_FIRE ? 1 : palette == RG_PALETTE_GRAY ? 2 : 0;
    if (value < 0 && which < 2) value = -value, which += 3;
    double at = (value > 0 ? value < 1 ? value : 1 : 0) * (STOPS - 1);
    int    i = at >= STOPS - 1 ? STOPS - 2 : (int)at;

    for (int k = 0; k < 3; k++) {
        double low = stops[which][i][k], high = stops[which][i + 1][k];
        out[k] = (low + (high - low) * (at - i)) / 255.0;
    }
}
