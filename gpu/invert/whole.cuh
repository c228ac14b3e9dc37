/* gpu/invert/whole.cuh: block scope: inverses of tiled groups that fit in shared memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A group of one or two strips wants four steps and more in tiles, each a handful of short tasks:
 * here it is one task. */
#ifndef GPU_INVERT_WHOLE_CUH
#define GPU_INVERT_WHOLE_CUH

#include "gpu/invert/small.cuh"
#include "gpu/invert/tiles.cuh"

/* Shared memory for any group that invert_is_whole. */
template <typename T>
constexpr int WHOLE_BYTES =
    small_shape<T, STRIP_WARPS>::bytes(INVERT_WHOLE_SCALARS, INVERT_WHOLE_STRIPS *SQUARE);

/* The columns of the group's tiles; zeros where a strip has fewer than SQUARE. */
template <int SHARE, typename T>
__device__ __forceinline__ void invert_whole_columns(const invert_arguments<T> &a,
                                                     const tiled_group &g, const shared_group &s,
                                                     const small_parts<T, STRIP_WARPS> &p)
{
    const int lane = threadIdx.x % 32;
    T *const x = tiles_x(a, g);
    /* v to row `row` of tile q of padded column `padded` */
    const auto put = [&](int padded, int q, int row, T v) {
        const int strip = padded / SQUARE;
        if (q >= strip && q < g.tile_rows)
            x[tile_number(g.nb, q, strip) * SQUARE_AREA + square_at(row, padded % SQUARE)] = v;
    };
    small_invert<SHARE>(s, p, [&](int c, const T(&v)[SHARE]) {
#pragma unroll
        for (int q = 0; q < SHARE; q++) {
            const int row = 32 * q + lane;
            put(s.row_of(c), q, s.is_pivot_row(row) ? p.place[row] % SQUARE : lane, v[q]);
        }
    });
    for (int padded = (int)threadIdx.x / 32; padded < SQUARE * g.nb; padded += STRIP_WARPS)
        for (int q = 0; q < g.tile_rows && !s.is_pivot_row(padded); q++)
            put(padded, q, lane, T{});
}

/* M and W of a group of up to two strips, as they are stored, and how much M has grown.  Called, so
 * that other tasks keep their registers. */
template <typename T>
static __device__ __noinline__ void invert_whole(const invert_arguments<T> &a, int group,
                                                 char *shared)
{
    static_assert(INVERT_WHOLE_STRIPS == 2 && INVERT_WHOLE_ROWS <= SMALL_MOST_SHARE,
                  "what shared_group and a warp's registers have room for");
    const tiled_group g = a.tiled[group];
    const shared_group s = {g.k, SQUARE * g.tile_rows, a.strip[g.first_strip].width,
                            g.column_start};
    const small_parts<T, STRIP_WARPS> p(shared, s, false);
    small_gather(a, s, p, false);
    if (g.tile_rows <= INVERT_WHOLE_ROWS / 2)
        invert_whole_columns<INVERT_WHOLE_ROWS / 2>(a, g, s, p);
    else
        invert_whole_columns<INVERT_WHOLE_ROWS>(a, g, s, p);
    const double growth = small_growth(s, p);
    if (threadIdx.x > 0)
        return;
    for (int q = 0; q < g.nb; q++)
        a.growth[a.smalls + g.first_strip + q] = growth;
    gather_growth(&a.gathered->of_group, growth);
}

#endif
