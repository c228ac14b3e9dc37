/* gpu/batch/substitute.cuh: warp or block scope: solves with the factor of one item, front by front
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     forward    x_K := L_K^-1 x_K,  x_R -= L_R x_K       children before parents
 *     backward   x_K := L_K^-H (x_K - L_R^H x_R)          parents before children
 *
 * 32 pivots at a time: their triangle by the lanes of a warp, a row or a column each, the rest by
 * all warps of the item.  L D L^T: L has a unit diagonal, and x_K is divided by D before it is
 * solved for backwards; of a complex symmetric matrix with ^T for ^H.  Where a block has an item
 * its warps have subtrees, and what is left at the top is worked on by all of them (batch_share).
 * Sums have fixed orders. */
#ifndef GPU_BATCH_SUBSTITUTE_CUH
#define GPU_BATCH_SUBSTITUTE_CUH

#include "gpu/batch/arguments.cuh"

/* Those who solve for one item: a warp, or all of a block. */
template <int WARPS> struct item_team {
    static constexpr int THREADS = 32 * WARPS;
    __device__ __forceinline__ static int rank() { return (int)threadIdx.x % THREADS; }
    __device__ __forceinline__ static int warp() { return WARPS == 1 ? 0 : (int)threadIdx.x / 32; }
    __device__ __forceinline__ static void sync()
    {
        if constexpr (WARPS == 1)
            __syncwarp();
        else
            __syncthreads();
    }
};

/* Where row i of a front is. */
__device__ __forceinline__ int place_of(const batch_front &f, const int32_t *row, int i)
{
    return i < f.k ? f.first + i : row[f.rows + i - f.k];
}

/* Of a triangle of `width` pivots with its first entry at `at`: x of this lane's pivot from what it
 * is to be solved for; FORWARD: L x = f, from the first on; otherwise L^H x = f, from the last on,
 * L^T if not hermitian.  FORWARD: lanes up to `rows` have rows below it, whose v is less their
 * products with x.  is_unit: the diagonal is one, whatever stands there. */
template <bool FORWARD, int AHEAD, typename T>
__device__ __forceinline__ T solve_triangle(const T *at, int ld, int width, int rows, bool is_unit,
                                            bool hermitian, T v)
{
    using R = real_of<T>;
    const int lane = (int)threadIdx.x % 32;
    const R diagonal = is_unit || lane >= width ? R(1) : real_part(at[lane + (int64_t)lane * ld]),
            inverse = lane < width ? 1 / diagonal : R(0);
#pragma unroll 1
    for (int begin = 0; begin < width; begin += AHEAD) {
        T entry[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const int j = FORWARD ? begin + u : width - 1 - begin - u;
            entry[u] = T{};
            if (FORWARD ? lane > j && lane < rows && j < width : lane < j)
                entry[u] = FORWARD ? at[lane + (int64_t)j * ld]
                                   : conjugate_if(at[j + (int64_t)lane * ld], hermitian);
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const int j = FORWARD ? begin + u : width - 1 - begin - u;
            if (begin + u >= width)
                break;
            const T mine = times_real(v, inverse), z = shuffle(mine, j);
            v = lane == j ? mine : multiply_add(v, -entry[u], z);
        }
    }
    return v;
}

/* The sum over j < count of entry(j) and lane j's x. */
template <int AHEAD, typename T, typename F>
__device__ __forceinline__ T sum_of(T sum, int count, T x, F entry)
{
#pragma unroll 1
    for (int begin = 0; begin < count; begin += AHEAD) {
        T a[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
            a[u] = begin + u < count ? entry(begin + u) : T{};
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
            sum = multiply_add(sum, a[u], shuffle(x, begin + u));
    }
    return sum;
}

template <int WARPS, int AHEAD, typename T>
__device__ __forceinline__ void forward_front(const batch_front &f, const int32_t *row,
                                              const T *panel, bool is_unit, T *x)
{
    using team = item_team<WARPS>;
    const int lane = (int)threadIdx.x % 32;
    const T *const P = panel + f.panel;
    for (int p = 0; p < f.k; p += 32) {
        const int width = min(32, f.k - p), rows = f.m - p <= 32 ? f.m - p : width;
        if (team::warp() == 0) {
            T v = {};
            if (lane < width)
                v = x[f.first + p + lane];
            v = solve_triangle<true, AHEAD>(P + p + (int64_t)p * f.ld, f.ld, width, rows, is_unit,
                                            false, v);
            if (lane < width)
                x[f.first + p + lane] = v;
            else if (lane < rows) {
                T *const to = x + place_of(f, row, p + lane);
                *to = *to + v;
            }
        }
        team::sync();
        if (p + rows == f.m)
            return; /* with the last pivots go all rows behind them */
        T z = {};
        if (lane < width)
            z = x[f.first + p + lane];
        for (int first = p + width; first < f.m; first += team::THREADS) {
            const int i = first + team::rank();
            const T *const from = P + (int64_t)p * f.ld + (i < f.m ? i : f.m - 1);
            const T sum =
                sum_of<AHEAD>(T{}, width, z, [&](int j) { return from[(int64_t)j * f.ld]; });
            if (i < f.m) {
                T *const to = x + place_of(f, row, i);
                *to = *to - sum;
            }
        }
        team::sync();
    }
}

/* v / d */
template <typename T> __device__ __forceinline__ T over_pivot(T v, T d, bool hermitian)
{
    if constexpr (scalar<T>::is_complex)
        if (!hermitian)
            return divide(v, d);
    return times_real(v, 1 / real_part(d));
}

/* d: the diagonal of D, NULL: Cholesky.  GROUPS: the rows below are summed in so many groups,
 * whoever has them, and the groups in their order.  part: where each group's sums are put, unused
 * where a warp has the front. */
template <int WARPS, int AHEAD, int GROUPS, typename T>
__device__ __forceinline__ void backward_front(const batch_front &f, const int32_t *row,
                                               const T *panel, const T *d, bool hermitian, T *x,
                                               T (*part)[32])
{
    using team = item_team<WARPS>;
    const int lane = (int)threadIdx.x % 32, warp = team::warp();
    const T *const P = panel + f.panel;
    for (int p = (f.k - 1) / 32 * 32; p >= 0; p -= 32) {
        const int width = min(32, f.k - p), groups = min(GROUPS, (f.m - p - width + 31) / 32);
        const T *const column = P + (int64_t)(p + min(lane, width - 1)) * f.ld;
        T all = {};
        for (int group = warp; group < groups; group += WARPS) {
            T sum = {};
            for (int first = p + width + 32 * group; first < f.m; first += 32 * groups) {
                const int rows = min(32, f.m - first);
                T below = {};
                if (lane < rows)
                    below = x[place_of(f, row, first + lane)];
                sum = sum_of<AHEAD>(sum, rows, below, [&](int i) {
                    return conjugate_if(column[first + i], hermitian);
                });
            }
            if constexpr (WARPS > 1)
                part[group][lane] = sum;
            else
                all = all + sum;
        }
        if constexpr (WARPS > 1) {
            __syncthreads();
            for (int group = 0; group < groups && warp == 0; group++)
                all = all + part[group][lane];
        }
        if (warp == 0) {
            T v = {};
            if (lane < width) {
                v = x[f.first + p + lane];
                if (d)
                    v = over_pivot(v, d[f.first + p + lane], hermitian);
                v = v - all;
            }
            v = solve_triangle<false, AHEAD>(P + p + (int64_t)p * f.ld, f.ld, width, width,
                                             d != nullptr, hermitian, v);
            if (lane < width)
                x[f.first + p + lane] = v;
        }
        team::sync();
    }
}

/* Asks for the panel of a front, up to 4 kB of it, which is read next. */
template <typename T>
__device__ __forceinline__ void ask_for_panel(const batch_front &f, const T *panel)
{
    constexpr int LINE = 128 / sizeof(T);
    const int at = (int)threadIdx.x % 32 * LINE;
    if (at < (int64_t)f.k * f.ld)
        asm volatile("prefetch.global.L1 [%0];" ::"l"(panel + f.panel + at));
}

/* Fronts [first, end) forwards; the next one's record comes while one is worked on. */
template <int WARPS, int AHEAD, typename T>
__device__ __forceinline__ void forward_fronts(const batch_arguments<T> &a, const int32_t *row,
                                               int first, int end, const T *panel, T *x)
{
    if (first >= end)
        return;
    batch_front next = a.front[first];
    for (int s = first; s < end; s++) {
        const batch_front f = next;
        next = a.front[min(s + 1, end - 1)];
        ask_for_panel(next, panel);
        forward_front<WARPS, AHEAD>(f, row, panel, a.pivots >= 0, x);
    }
}

/* The same backwards, from the last one on. */
template <int WARPS, int AHEAD, int GROUPS, typename T>
__device__ __forceinline__ void backward_fronts(const batch_arguments<T> &a, const int32_t *row,
                                                int first, int end, const T *panel, T *x,
                                                T (*part)[32])
{
    if (first >= end)
        return;
    const T *const d = a.pivots >= 0 ? panel + a.pivots : nullptr;
    batch_front next = a.front[end - 1];
    for (int s = end - 1; s >= first; s--) {
        const batch_front f = next;
        next = a.front[max(s - 1, first)];
        ask_for_panel(next, panel);
        backward_front<WARPS, AHEAD, GROUPS>(f, row, panel, d, a.hermitian, x, part);
    }
}

/* x := A^-1 of it, a.places() scalars in the order of P A P^T, of the scaled matrix.  Begins and
 * ends with a barrier of the team.  The same bits for any number of warps.  part: BATCH_PARTS,
 * unused by a warp. */
template <int WARPS, int AHEAD, typename T>
__device__ __forceinline__ void solve_item(const batch_arguments<T> &a, const T *panel, T *x,
                                           T (*part)[32])
{
    using team = item_team<WARPS>;
    const int warp = team::warp(), top = a.share.top, parts = a.share.parts,
              top_front = a.share.begin[BATCH_PARTS];
    T *const copies = x + a.n;
    for (int t = team::rank(); t < parts * top; t += team::THREADS)
        copies[t] = T{};
    team::sync();
    for (int q = warp; q < parts; q += WARPS)
        forward_fronts<1, AHEAD>(a, a.shared, a.share.begin[q], a.share.begin[q + 1], panel, x);
    team::sync();
    for (int t = team::rank(); t < top; t += team::THREADS) {
        T *const at = x + a.top_row[t];
        T sum = *at;
#pragma unroll 4
        for (int q = 0; q < parts; q++)
            sum = sum + copies[q * top + t];
        *at = sum;
    }
    team::sync();
    forward_fronts<WARPS, AHEAD>(a, a.row, top_front, a.fronts, panel, x);
    backward_fronts<WARPS, AHEAD, BATCH_PARTS>(a, a.row, top_front, a.fronts, panel, x, part);
    for (int t = team::rank(); t < top; t += team::THREADS) {
        const T v = x[a.top_row[t]];
#pragma unroll 4
        for (int q = 0; q < parts; q++)
            copies[q * top + t] = v;
    }
    team::sync();
    for (int q = warp; q < parts; q += WARPS)
        backward_fronts<1, AHEAD, 1, T>(a, a.shared, a.share.begin[q], a.share.begin[q + 1], panel,
                                        x, nullptr);
    team::sync();
}

/* Entries of L that a lane has on their way: few where many blocks share the registers. */
template <typename T, int WARPS>
constexpr int LOADS_AHEAD = (WARPS > 4 ? 128 : 32) / (int)sizeof(T);

/* x := A^-1 b of each item, by so many warps each.  TEAMS: items of a block; BLOCKS: on a
 * multiprocessor, by their registers.  SHARED: x is in shared memory meanwhile. */
template <typename T, int WARPS, int TEAMS, int BLOCKS, bool SHARED>
__global__ void __launch_bounds__(32 * WARPS * TEAMS, BLOCKS)
    batch_solve_kernel(const __grid_constant__ batch_arguments<T> a)
{
    using team = item_team<WARPS>;
    static_assert(WARPS == 1 || TEAMS == 1, "a team of several warps is a block");
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ T part[WARPS == 1 ? 1 : BATCH_PARTS][32];
    const int own = (int)threadIdx.x / team::THREADS;
    const int64_t number = (int64_t)blockIdx.x * TEAMS + own;
    if (number >= a.items)
        return; /* a warp, or the block */
    const int64_t item = a.item[number];
    const T *const panel = a.panel_of(item);
    const real_of<T> *const scale = a.scale_of(item);
    T *const work =
        SHARED ? reinterpret_cast<T *>(memory) + own * a.places() : a.work + item * a.places();
    for (int64_t q = 0; q < a.columns; q++) {
        const T *const b = a.b.of(item) + q * a.b.column;
        T *const x = a.x.of(item) + q * a.x.column;
        for (int k = team::rank(); k < a.n; k += team::THREADS) {
            const int i = a.row_of[k];
            work[k] = times_real(b[i * a.b.row], scale[i]);
        }
        solve_item<WARPS, LOADS_AHEAD<T, WARPS>>(a, panel, work, part);
        for (int k = team::rank(); k < a.n; k += team::THREADS) {
            const int i = a.row_of[k];
            x[i * a.x.row] = times_real(work[k], scale[i]);
        }
        team::sync();
    }
}

#endif
