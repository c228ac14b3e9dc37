/* dense/cuda/trsv/panels.cuh: block scope: a whole triangle of order <= 128 in shared memory,
 * solved by panels of 16 columns
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads 0..127 own a row each and carry the chain: a panel's 16 entries of x are the product of
 * the inverted 16 x 16 diagonal block with what its rows have become, then all rows below are
 * updated; one barrier of four warps a panel. Meanwhile threads 128..255 verify that the inverses
 * may be trusted; if not, the chain runs again by substitution. */
#ifndef DENSE_CUDA_TRSV_PANELS_CUH
#define DENSE_CUDA_TRSV_PANELS_CUH

#include "dense/cuda/device/barrier.cuh"
#include "dense/cuda/device/invert.cuh"
#include <cuda_pipeline_primitives.h>

constexpr int PANEL = 16;
constexpr int PANELS = 8;
constexpr int PANEL_THREADS = 256;
constexpr int PANEL_ROWS = PANEL * PANELS; /* 128: largest order */

/* Panel k holds rows 16 k .. padded-1 with an odd leading dimension; padded: the order rounded up
 * to 16. */
struct panel_shape {
    int padded;

    INLINE explicit panel_shape(int n) : padded((n + PANEL - 1) / PANEL * PANEL) {}
    INLINE int ld(int k) const { return padded - PANEL * k + 1; }
    INLINE int start(int k) const
    {
        return PANEL * k * (padded + 1) - PANEL * PANEL * k * (k - 1) / 2;
    }
    /* the place of L(i,j), i >= 16 (j div 16) */
    INLINE int at(int i, int j) const
    {
        const int k = j / PANEL;
        return start(k) + j % PANEL * ld(k) + i - PANEL * k;
    }
};

template <typename T> struct panels_shared {
    T X[PANELS][PANEL * (PANEL + 1)]; /* inverted diagonal blocks */
    T y[PANEL_ROWS];
    T L[1]; /* the panels: panel_shape(n).start(steps) entries */
};

template <typename T> inline int panels_shared_bytes(int n)
{
    const panel_shape shape(n);
    return (int)(sizeof(panels_shared<T>) + sizeof(T) * (size_t)shape.start(shape.padded / PANEL));
}

/* Starts copying L, n <= 128, into s.L; identity past n and on the diagonal when unit.  Without
 * barrier: all threads then call __pipeline_wait_prior(0) and __syncthreads. */
template <typename T>
__device__ __forceinline__ void panels_load(panels_shared<T> &s, const triangle_view<T> &L)
{
    const panel_shape shape(L.n);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    /* 32 rows (or columns, where these are contiguous) at a time, and for each the columns (rows)
     * of the triangle */
    for (int first = 0; first < shape.padded; first += 32) {
        const int from = L.transposed ? first : 0,
                  to = L.transposed ? shape.padded : min(first + 32, shape.padded);
#pragma unroll 4
        for (int other = from + warp; other < to; other += PANEL_THREADS / 32) {
            const int i = L.transposed ? other : first + lane,
                      j = L.transposed ? first + lane : other;
            if (i >= shape.padded || j >= shape.padded || i < PANEL * (j / PANEL))
                continue;
            T *to_entry = &s.L[shape.at(i, j)];
            if (i == j && (L.unit || i >= L.n))
                *to_entry = from_real<T>(1);
            else if (i < j || i >= L.n)
                *to_entry = T{};
            else
                __pipeline_memcpy_async(to_entry, L.at(i, j), sizeof(T));
        }
    }
    __pipeline_commit();
}

/* Threads 0..127: solves with the panels for y = this thread's entry of the right-hand side;
 * returns its x.
 */
template <typename T>
__device__ __forceinline__ T panels_chain(panels_shared<T> &s, panel_shape shape, T y,
                                          bool substitute)
{
    const int i = threadIdx.x, mine = i / PANEL, l = i % PANEL, steps = shape.padded / PANEL;
    const bool active = i < shape.padded;
    const pivot<T> diagonal(active ? s.L[shape.at(i, i)] : from_real<T>(1));
    T inverse[PANEL], row[PANEL];
#pragma unroll
    for (int c = 0; c < PANEL; c++)
        inverse[c] = s.X[mine][l + c * (PANEL + 1)];
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int c = 0; c < PANEL; c++)
            row[c] = mine > k && active ? s.L[shape.at(i, PANEL * k + c)] : T{};
        if (substitute) {
            if (mine / 2 == k / 2) /* the warp of panel k; its other half goes along unchanged */
                with_pivots(diagonal.safe, [&](auto safe) {
                    for (int c = 0; c < PANEL; c++) {
                        const T x =
                            shuffle(diagonal.template quotient<decltype(safe)::value>(y), c, PANEL);
                        if (mine == k && active)
                            y = choose(l > c, multiply_add(y, -x, s.L[shape.at(i, PANEL * k + c)]),
                                       y);
                    }
                    if (mine == k && active)
                        y = diagonal.template quotient<decltype(safe)::value>(y);
                });
            if (mine == k)
                s.y[i] = y;
        } else {
            if (mine == k)
                s.y[i] = y;
            __syncwarp();
            T part[4] = {};
            if (mine == k) {
#pragma unroll
                for (int c = 0; c < PANEL; c++)
                    part[c % 4] = multiply_add(part[c % 4], inverse[c], s.y[PANEL * k + c]);
            }
            __syncwarp();
            if (mine == k) {
                y = (part[0] + part[1]) + (part[2] + part[3]);
                s.y[i] = y;
            }
        }
        barrier_wait(1, PANEL_ROWS);
        if (mine > k) {
            T part[4] = {};
#pragma unroll
            for (int c = 0; c < PANEL; c++)
                part[c % 4] = multiply_add(part[c % 4], row[c], s.y[PANEL * k + c]);
            y = y - ((part[0] + part[1]) + (part[2] + part[3]));
        }
    }
    return y;
}

/* Threads 128..255: true where a diagonal block grows beyond the limit. */
template <typename T>
__device__ __forceinline__ bool panels_distrusted(const panels_shared<T> &s, panel_shape shape)
{
    const int l = threadIdx.x % PANEL, lane = threadIdx.x % 32;
    const int k = (threadIdx.x - PANEL_ROWS) / PANEL; /* half a warp for a block */
    real_of<T> sum = 0, growth = 0;
#pragma unroll
    for (int c = 0; c < PANEL; c++)
        sum += magnitude(s.X[k][l + c * (PANEL + 1)]);
    for (int c = 0; c < PANEL; c++) {
        const real_of<T> other = shuffle(sum, lane / 16 * 16 + c);
        if (PANEL * k < shape.padded && c <= l)
            growth += magnitude(s.L[shape.at(PANEL * k + l, PANEL * k + c)]) * other;
    }
    return PANEL * k < shape.padded && !((double)growth <= GROWTH_LIMIT);
}

/* x := inv(L) x, n <= 128.  256 threads. */
template <typename T>
__device__ __forceinline__ void panels_solve(panels_shared<T> &s, const triangle_view<T> &L,
                                             const vector_view<T> &x)
{
    const panel_shape shape(L.n);
    const int i = threadIdx.x, warp = threadIdx.x / 32;
    const T b = i < L.n ? x.load(i) : T{};
    panels_load(s, L);
    __pipeline_wait_prior(0);
    __syncthreads();
    if (PANEL * warp < shape.padded) /* both halves of a warp do the same */
        invert_small<PANEL>(s.L + shape.start(warp), shape.ld(warp), s.X[warp], PANEL + 1);
    __syncthreads();
    T solved = T{};
    bool again = false;
    if (i < PANEL_ROWS)
        solved = panels_chain(s, shape, b, false);
    else
        again = panels_distrusted(s, shape);
    if (__syncthreads_or(again) && i < PANEL_ROWS)
        solved = panels_chain(s, shape, b, true);
    if (i < L.n)
        x.store(i, solved);
}

#endif
