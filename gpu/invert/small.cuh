/* gpu/invert/small.cuh: block scope: inverses of groups that fit in shared memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_SMALL_CUH
#define GPU_INVERT_SMALL_CUH

#include "gpu/device/waits.cuh"
#include "gpu/invert/arguments.cuh"

constexpr int SMALL_THREADS = 128, SMALL_WARPS = SMALL_THREADS / 32;
constexpr int SMALL_MOST_SHARE = 8;  /* rows of a lane: gpu/plan/layout.c gives small groups at most
                                        240, ... */
constexpr int SMALL_MOST_PIVOTS = 3; /* ... and at most 74 columns: blocks of 32 */
/* Blocks of columns of groups with so many rows for a lane. */
constexpr int small_pivots(int share)
{
    return share < SMALL_MOST_PIVOTS ? share : SMALL_MOST_PIVOTS;
}
/* Blocks on a multiprocessor that have the registers they want. */
constexpr int small_blocks_each(int share)
{
    return share <= 2 ? 8 : share <= 4 ? 6 : 4;
}
/* Columns that a warp has in its registers. */
template <typename T> constexpr int SMALL_COLUMNS = sizeof(T) == 16 ? 2 : 4;

/* Where a column of L lies: entries q of the piece, from < q < rows, behind its diagonal entry. */
struct small_column {
    int64_t panel, map; /* of entry 0 */
    int32_t from, rows;
};

/* Shared memory: columns of L in the panels; L, of roots with G also M and D^-1 M; by columns
 * 1/L(c,c), |L(c,c)|, sums of |M|, their parts, places of rows. */
template <typename T> struct small_shape {
    static constexpr int bytes(int scalars, int columns)
    {
        return (columns + 1) / 2 * 2 * (int)sizeof(small_column) +
               (scalars + columns) * (int)sizeof(T) +
               columns * ((2 + SMALL_WARPS) * (int)sizeof(real_of<T>) + (int)sizeof(int));
    }
};

template <typename T> struct small_parts {
    small_column *column;
    T *l, *m, *y, *reciprocal;
    real_of<T> *diagonal, *sum, *part;
    int *place;

    __device__ __forceinline__ small_parts(char *shared, const small_group &s, bool root)
    {
        const int area = s.k * (s.k + s.r);
        column = reinterpret_cast<small_column *>(shared);
        l = reinterpret_cast<T *>(column + (s.k + 1) / 2 * 2);
        m = l + area;
        y = m + area;
        reciprocal = root ? y + area : m;
        diagonal = reinterpret_cast<real_of<T> *>(reciprocal + s.k);
        sum = diagonal + s.k;
        part = sum + s.k;
        place = reinterpret_cast<int *>(part + SMALL_WARPS * s.k);
    }
};

/* l := [L_K; L_R] but for its diagonal, which is zero there.  Ends with a barrier. */
template <typename T>
__device__ __forceinline__ void small_gather(const invert_arguments<T> &a, const small_group &s,
                                             const small_parts<T> &p, bool root)
{
    constexpr int AHEAD = 4; /* columns of a warp that are on their way */
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, m = s.k + s.r;
    for (int c = threadIdx.x; c < s.k; c += SMALL_THREADS) {
        const invert_piece piece = a.piece[a.column_piece[s.column_start + c]];
        const int j = c - piece.column;
        p.column[c] = {piece.panel + (int64_t)j * piece.ld, piece.map, j, piece.rows};
        p.place[root ? c : a.z_row[s.column_start + c]] = c;
    }
    for (int q = threadIdx.x; q < m * s.k; q += SMALL_THREADS)
        p.l[q] = T{};
    __syncthreads();
    for (int c0 = warp; c0 < s.k; c0 += AHEAD * SMALL_WARPS)
        for (int row0 = 0; row0 < m; row0 += 32) {
            T v[AHEAD] = {};
            int row[AHEAD];
#pragma unroll
            for (int q = 0; q < AHEAD; q++) {
                const int c = c0 + q * SMALL_WARPS;
                row[q] = -1;
                if (c >= s.k)
                    continue;
                const small_column at = p.column[c];
                const int entry = at.from + row0 + lane;
                if (entry < at.rows) {
                    row[q] = a.map[at.map + entry];
                    v[q] = a.panel[at.panel + entry];
                }
            }
#pragma unroll
            for (int q = 0; q < AHEAD; q++) {
                const int c = c0 + q * SMALL_WARPS;
                if (row[q] >= 0 && row0 + lane > 0)
                    p.l[row[q] + c * m] = v[q];
                else if (row[q] >= 0) {
                    const T d = a.cholesky ? v[q] : from_real<T>(1);
                    p.reciprocal[c] = divide(from_real<T>(1), d);
                    p.diagonal[c] = modulus(d);
                }
            }
        }
    __syncthreads();
}

/* Columns c0, c0 + 1, ... of [M; W] = inv([L_K 0; L_R I]): column by column of L, x := inv x from x
 * = unit vectors. */
template <int SHARE, typename T>
__device__ __forceinline__ void small_columns(const small_group &s, const small_parts<T> &p, int c0,
                                              T (&x)[SMALL_COLUMNS<T>][SHARE])
{
    const int lane = threadIdx.x % 32, m = s.k + s.r;
#pragma unroll
    for (int n = 0; n < SMALL_COLUMNS<T>; n++)
#pragma unroll
        for (int q = 0; q < SHARE; q++)
            x[n][q] = from_real<T>(32 * q + lane == c0 + n);
#pragma unroll
    for (int block = 0; block < small_pivots(SHARE); block++)
        for (int at = c0 > 32 * block ? c0 - 32 * block : 0; at < 32 && 32 * block + at < s.k;
             at++) {
            const int c = 32 * block + at;
            const T reciprocal = p.reciprocal[c];
            T pivot[SMALL_COLUMNS<T>];
#pragma unroll
            for (int n = 0; n < SMALL_COLUMNS<T>; n++)
                pivot[n] = multiply(shuffle(x[n][block], at), reciprocal);
#pragma unroll
            for (int q = block; q < SHARE; q++)
                if (32 * q < m) {
                    const T l = 32 * q + lane < m ? p.l[32 * q + lane + c * m] : T{};
#pragma unroll
                    for (int n = 0; n < SMALL_COLUMNS<T>; n++)
                        x[n][q] = multiply_add(x[n][q], -l, pivot[n]);
                }
#pragma unroll
            for (int n = 0; n < SMALL_COLUMNS<T>; n++)
                x[n][block] = lane == at ? pivot[n] : x[n][block];
        }
}

/* Column c of the tile, rows of M in their order and zeros after the last. */
template <int SHARE, typename T>
__device__ __forceinline__ void small_store(const invert_arguments<T> &a, const small_group &s,
                                            const small_parts<T> &p, int c, const T (&x)[SHARE])
{
    T *to = a.values + s.at16 * (int64_t)(16 / sizeof(T)) + (int64_t)c * s.ld;
    const int lane = threadIdx.x % 32, m = s.k + s.r;
#pragma unroll
    for (int q = 0; q < SHARE; q++) {
        const int row = 32 * q + lane;
        if (row < s.ld)
            to[row < s.k ? p.place[row] : row] = row < m ? x[q] : T{};
    }
}

/* The greatest of a block's values, a NaN stays; valid in thread 0.  Two barriers. */
__device__ __forceinline__ double worst_of_block(double mine)
{
    __shared__ double of_warp[SMALL_WARPS];
    mine = worst_of_warp(mine);
    __syncthreads(); /* what was there before has been read */
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    for (int w = 1; w < SMALL_WARPS; w++)
        mine = worse_growth(mine, of_warp[w]);
    return mine;
}

/* The largest row sum of |L_K| |M|, valid in thread 0. */
template <typename T>
__device__ __forceinline__ double small_growth(const small_group &s, const small_parts<T> &p)
{
    using R = real_of<T>;
    const int m = s.k + s.r;
    __syncthreads();
    if (threadIdx.x < s.k) {
        R sum = p.part[threadIdx.x];
        for (int w = 1; w < SMALL_WARPS; w++)
            sum += p.part[w * s.k + threadIdx.x];
        p.sum[threadIdx.x] = sum;
    }
    __syncthreads();
    double mine = 0;
    if (threadIdx.x < s.k) {
        R product = p.diagonal[threadIdx.x] * p.sum[threadIdx.x];
        for (int c = 0; c < (int)threadIdx.x; c++)
            product += modulus(p.l[threadIdx.x + c * m]) * p.sum[c];
        mine = (double)product;
    }
    return worst_of_block(mine);
}

/* G := M^T D^-1 M of a root.  Ends with a barrier. */
template <typename T>
__device__ __forceinline__ void small_root(const invert_arguments<T> &a, const small_group &s,
                                           const small_parts<T> &p)
{
    const int k = s.k;
    for (int q = threadIdx.x; q < k * k; q += SMALL_THREADS) {
        const int row = q % k;
        if (a.cholesky) {
            p.y[q] = p.m[q];
            continue;
        }
        const pivot_row<T> d = inverse_pivot(a.d, a.e, a.hermitian, a.column[s.column_start + row]);
        const T v = multiply(d.diagonal, p.m[q]);
        p.y[q] = d.neighbour != 0 ? multiply_add(v, d.off, p.m[q + d.neighbour]) : v;
    }
    __syncthreads();
    T *to = a.values + s.at16 * (int64_t)(16 / sizeof(T));
    for (int q = threadIdx.x; q < s.ld * k; q += SMALL_THREADS) {
        const int row = q % s.ld, column = q / s.ld;
        T sum{};
        if (row < k) /* M is zero above its diagonal, D^-1 M above the diagonal but one */
            for (int c = row > column - 1 ? row : column - 1; c < k; c++)
                sum = multiply_add(sum, conjugate_if(p.m[c + row * k], a.hermitian),
                                   p.y[c + column * k]);
        to[q] = sum;
    }
    __syncthreads();
}

/* The largest row sum of |L_K| |D| |L_K^T| |G|, valid in thread 0. */
template <typename T>
__device__ __forceinline__ double small_root_growth(const invert_arguments<T> &a,
                                                    const small_group &s, const small_parts<T> &p)
{
    using R = real_of<T>;
    const int k = s.k, c = threadIdx.x;
    const T *square = a.values + s.at16 * (int64_t)(16 / sizeof(T));
    R *x = p.part, *y = x + k, *z = y + k, product = 0;
    if (c < k) {
        R sum = 0;
        for (int j = 0; j < k; j++)
            sum += modulus(square[c + (int64_t)j * s.ld]);
        x[c] = sum;
    }
    __syncthreads();
    if (c < k) {
        R sum = p.diagonal[c] * x[c];
        for (int j = c + 1; j < k; j++)
            sum += modulus(p.l[j + c * k]) * x[j];
        y[c] = sum;
    }
    __syncthreads();
    if (c < k)
        z[c] = pivot_magnitude(a, a.column[s.column_start + c], c > 0 ? y[c - 1] : 0, y[c],
                               c + 1 < k ? y[c + 1] : 0);
    __syncthreads();
    if (c < k) {
        product = p.diagonal[c] * z[c];
        for (int j = 0; j < c; j++)
            product += modulus(p.l[c + j * k]) * z[j];
    }
    return worst_of_block((double)product);
}

/* One block a group, from `first` on, of at most 32 SHARE rows.  ROOT: roots whose G is stored.
 * follows: what the kernel before did is wanted here; otherwise that one lets the next one begin
 * only when what both read is there, and they run side by side. */
template <typename T, int SHARE, bool ROOT>
__global__ void __launch_bounds__(SMALL_THREADS, small_blocks_each(SHARE))
    invert_small_kernel(const __grid_constant__ invert_arguments<T> a, int32_t first, bool follows)
{
    extern __shared__ __align__(128) char shared[];
    if (follows)
        wait_for_grid_before();
    let_next_grid_begin();
    const small_group s = a.small[first + blockIdx.x];
    const small_parts<T> p(shared, s, ROOT);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    small_gather(a, s, p, ROOT);
    real_of<T> sum[small_pivots(SHARE)] = {};
    for (int c0 = warp * SMALL_COLUMNS<T>; c0 < s.k; c0 += SMALL_WARPS * SMALL_COLUMNS<T>) {
        T x[SMALL_COLUMNS<T>][SHARE];
        small_columns(s, p, c0, x);
#pragma unroll
        for (int n = 0; n < SMALL_COLUMNS<T>; n++) {
            if (c0 + n >= s.k)
                continue;
#pragma unroll
            for (int q = 0; q < small_pivots(SHARE); q++) {
                sum[q] += modulus(x[n][q]);
                if (ROOT && 32 * q + lane < s.k)
                    p.m[32 * q + lane + (c0 + n) * s.k] = x[n][q];
            }
            if (!ROOT)
                small_store(a, s, p, c0 + n, x[n]);
        }
    }
#pragma unroll
    for (int q = 0; q < small_pivots(SHARE); q++)
        if (32 * q + lane < s.k)
            p.part[warp * s.k + 32 * q + lane] = sum[q];
    const double growth = small_growth(s, p);
    if (threadIdx.x == 0) {
        a.growth[first + blockIdx.x] = growth;
        gather_growth(&a.gathered->of_group, growth);
    }
    if (ROOT) {
        small_root(a, s, p);
        const double root_growth = small_root_growth(a, s, p);
        if (threadIdx.x == 0) {
            a.root_growth[first + blockIdx.x] = root_growth;
            gather_growth(&a.gathered->of_root, root_growth);
        }
    }
    if (!follows)
        wait_for_grid_before(); /* what follows this one follows that one too */
}

#endif
