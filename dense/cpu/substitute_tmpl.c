/* dense/cpu/substitute_tmpl.c: triangular solves with one panel, large ones by tasks
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/substitute_sets.h"

/* Large panels are cut into block columns, and these into tiles of about so many entries, a task
 * each.  A tile is read in about 20 us from memory, a task costs about one.  `libsolver
 * bench lap3d:50`, two cores of an AMD EPYC 9004. */
#define TILE_ENTRIES 65536
#define BLOCK_COLUMNS 128

static int least(int a, int b)
{
    return a < b ? a : b;
}

const substitution *NAME(substitution_kernels)(int width, int ahead)
{
#ifdef HAVE_avx512
    if (here_is_avx512())
        return width == 1 ? &NAME(single_substitution_avx512)[ahead]
                          : &NAME(block_substitution_avx512);
#endif
#ifdef HAVE_avx2
    if (here_is_avx2())
        return width == 1 ? &NAME(single_substitution_avx2)[ahead] : &NAME(block_substitution_avx2);
#endif
    return width == 1 ? &NAME(single_substitution_plain)[ahead] : &NAME(block_substitution_plain);
}

void NAME(substitute_forward)(const substitution *kernels, int m, int p, int packed, int unit,
                              const scalar *panel, int width, scalar *z)
{
    if ((int64_t)m * p <= SUBSTITUTE_LARGE) {
        kernels->forward(m, p, m, packed, unit, panel, width, z);
        return;
    }
    for (int j = 0; j < p; j += BLOCK_COLUMNS) {
        const int columns = least(BLOCK_COLUMNS, p - j), tile = TILE_ENTRIES / BLOCK_COLUMNS;
        const scalar *l = panel + (int64_t)j * m;
        kernels->forward(columns, columns, m, 0, unit, l + j, width, z + (int64_t)j * width);
        for (int i = j + columns; i < m; i += tile) {
#pragma omp task firstprivate(i, j, columns, l)
            kernels->product(least(tile, m - i), columns, m, l + i, width, z + (int64_t)j * width,
                             z + (int64_t)i * width);
        }
#pragma omp taskwait
    }
}

void NAME(substitute_backward)(const substitution *kernels, int m, int p, int packed, int unit,
                               const scalar *panel, int width, scalar *z)
{
    if ((int64_t)m * p <= SUBSTITUTE_LARGE) {
        kernels->backward(m, p, m, packed, unit, panel, width, z);
        return;
    }
    for (int j = (p - 1) / BLOCK_COLUMNS * BLOCK_COLUMNS; j >= 0; j -= BLOCK_COLUMNS) {
        const int end = least(j + BLOCK_COLUMNS, p), rows = m - end;
        const int tile = (TILE_ENTRIES / (rows + 1) / 4 + 1) * 4;
        for (int i = j; i < end && rows > 0; i += tile) {
#pragma omp task firstprivate(i, end, rows, tile)
            kernels->product_transposed(rows, least(tile, end - i), m, panel + (int64_t)i * m + end,
                                        width, z + (int64_t)end * width, z + (int64_t)i * width);
        }
#pragma omp taskwait
        kernels->backward(end - j, end - j, m, 0, unit, panel + (int64_t)j * m + j, width,
                          z + (int64_t)j * width);
    }
}
