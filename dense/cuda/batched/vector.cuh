/* dense/cuda/batched/vector.cuh: block scope: x := inv(L) b by two warps, for many triangles on an
 * SM at once
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     block row r:  x(r) = inv(L(r,r)) (b(r) - sum over j < r of L(r,j) x(j))
 *
 * A triangle alone is a chain of diagonal tiles, while which little is on its way from memory; what
 * hides it are other triangles.  So a block is small, eight of them fit on an SM (double
 * precision): what lies below the diagonal goes through registers, two shares of a thread on their
 * way while nothing is used, and of a diagonal tile only the lower triangle is in shared memory. */
#ifndef DENSE_CUDA_BATCHED_VECTOR_CUH
#define DENSE_CUDA_BATCHED_VECTOR_CUH

#include "dense/cuda/batched/solve.cuh"
#include <cstddef>

constexpr int VECTOR_THREADS = TILE; /* one for each row of a tile */
/* Blocks on an SM, as its registers allow. */
template <typename T>
constexpr int VECTOR_BLOCKS = sizeof(T) > 8           ? 4
                              : scalar<T>::is_complex ? 6
                                                      : 8;

/* What a thread has of 64 rows at a time: `SIZE` entries,
 *   by columns (contiguous in memory): of its row, thread t row t, SIZE columns;
 *   by rows: of eight rows of its warp's half, columns l, l + 32, ... of DEPTH, l its lane. */
template <typename T> struct vector_share {
    static constexpr int SIZE = sizeof(T) > 8 ? 8 : 16, DEPTH = 32 * SIZE / STEP;
    T entry[SIZE];
};

/* The lower triangle of a tile in 65 x 32: (i,j) at i + 1 + 65 j in the left half, and what is left
 * of the right half, transposed, above it: at j - 32 + 65 (i - 32).  Rows and columns are read
 * without bank conflicts. */
struct folded_tile {
    static constexpr int LD = TILE + 1, AREA = LD * TILE / 2, HALF = TILE / 2;
    static __device__ __forceinline__ int at(int i, int j)
    {
        return j < HALF ? i + 1 + j * LD : j - HALF + (i - HALF) * LD;
    }
};

/* s.x has room for all rows of L, in whole tiles. */
template <typename T> struct vector_shared {
    alignas(16) T D[folded_tile::AREA];
    T diagonal[TILE]; /* of D: reciprocals, or the entries where those are not safe */
    alignas(16) T x[1];

    static int64_t bytes(int64_t n)
    {
        return (int64_t)offsetof(vector_shared, x) +
               (n + TILE - 1) / TILE * TILE * (int64_t)sizeof(T);
    }
};

/* The shares of L below its diagonal tiles, row of tiles by row of tiles; by rows, eight rows of a
 * row of tiles after another. */
template <bool BY_ROWS, typename T> struct vector_stream {
    static constexpr int SIZE = vector_share<T>::SIZE, DEPTH = vector_share<T>::DEPTH;
    const triangle_view<T> &L;
    const T *p;
    int row, left, group; /* of the next: its row of tiles; shares left in its group of rows */

    __device__ __forceinline__ explicit vector_stream(const triangle_view<T> &L) : L(L), row(0)
    {
        begin_row();
    }
    /* Shares that a thread has of a group in row r: all of it, or eight rows of its warp's. */
    static __device__ __forceinline__ int shares(int r)
    {
        return r * TILE / (BY_ROWS ? DEPTH : SIZE);
    }
    __device__ __forceinline__ int first_row() const
    {
        const int t = threadIdx.x;
        return TILE * row + (BY_ROWS ? t / 32 * 32 + STEP * group : t);
    }
    __device__ __forceinline__ void begin_group()
    {
        left = shares(row);
        p = L.at(first_row(), BY_ROWS ? (int)threadIdx.x % 32 : 0);
    }
    __device__ __forceinline__ void begin_row()
    {
        row++;
        group = 0;
        begin_group();
    }
    /* The next one; past the end none. */
    __device__ __forceinline__ void load(vector_share<T> &a)
    {
        const int below = L.n - first_row();
        if (TILE * row >= L.n)
            return;
        if constexpr (BY_ROWS) {
            const T *q = p;
#pragma unroll
            for (int k = 0; k < STEP; k++, q += L.row)
#pragma unroll
                for (int h = 0; h < SIZE / STEP; h++)
                    a.entry[k + STEP * h] = k < below ? q[32 * h * L.column] : T{};
            p += DEPTH * L.column;
        } else {
#pragma unroll
            for (int k = 0; k < SIZE; k++, p += L.column)
                a.entry[k] = 0 < below ? *p : T{};
        }
        if (--left > 0)
            return;
        if (BY_ROWS && ++group < 32 / STEP)
            begin_group();
        else
            begin_row();
    }
};

/* Sums of eight rows over the lanes of a warp: lane l gets that of row l div 4. */
template <typename T> __device__ __forceinline__ T sum_of_rows(T (&sum)[STEP])
{
    const int lane = threadIdx.x % 32;
    /* halve the rows that a lane keeps at each step */
#pragma unroll
    for (int half = STEP / 2, bit = 16; half >= 1; half /= 2, bit /= 2) {
        const bool high = (lane & bit) != 0;
#pragma unroll
        for (int k = 0; k < half; k++) {
            const T keep = choose(high, sum[k + half], sum[k]),
                    give = choose(high, sum[k], sum[k + half]);
            sum[k] = keep + shuffle_xor(give, bit);
        }
    }
    sum[0] = sum[0] + shuffle_xor(sum[0], 2);
    return sum[0] + shuffle_xor(sum[0], 1);
}

/* x(r) -= sum over j < r of L(r,j) x(j), the shares a[0] and a[1] taken and the next two on their
 * way when it ends; by row of threads or of lanes, without barrier. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ void subtract_left(vector_stream<BY_ROWS, T> &stream, int r,
                                              vector_share<T> (&a)[2], T *x)
{
    using share = vector_share<T>;
    constexpr int SUMS = BY_ROWS ? STEP : STEP / 2;
    const int t = threadIdx.x, lane = t % 32, shares = vector_stream<BY_ROWS, T>::shares(r);
    T *to = x + TILE * r + (BY_ROWS ? t / 32 * 32 + lane / 4 : t);
    const T *from = x + (BY_ROWS ? lane : 0);
    T sum[SUMS] = {};
    int done = 0;
    /* shares of a row are even in number */
#pragma unroll 1
    for (int k = 0; k < shares * (BY_ROWS ? 32 / STEP : 1); k += 2)
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int e = 0; e < share::SIZE; e++)
                sum[e % SUMS] =
                    multiply_add(sum[e % SUMS], a[h].entry[e], from[BY_ROWS ? 32 * (e / STEP) : e]);
            from += BY_ROWS ? share::DEPTH : share::SIZE;
            stream.load(a[h]);
            if constexpr (BY_ROWS)
                if (++done == shares) {
                    const T all = sum_of_rows(sum);
                    if (lane % 4 == 0)
                        *to = *to - all;
                    to += STEP;
                    from = x + lane;
                    done = 0;
#pragma unroll
                    for (int e = 0; e < SUMS; e++)
                        sum[e] = T{};
                }
        }
    if (!BY_ROWS)
        *to = *to - ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* Starts copying the lower triangle of L(i0:i0+63, i0:i0+63) to a folded tile; rows past n become
 * zeros.  A thread has what lies before or behind it in memory: its row, or its column. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ void folded_fetch(T *D, const triangle_view<T> &L, int i0)
{
    constexpr int HALF = folded_tile::HALF;
    const int t = threadIdx.x, half = t / HALF * HALF, within = L.n - i0;
    /* by columns (i,j) = (t,k) for k <= t, by rows (k,t) for k >= t */
    const int first = BY_ROWS ? half : 0, end = BY_ROWS ? TILE : half + HALF;
    const T *p = BY_ROWS ? L.at(i0 + first, i0 + t) : L.at(i0 + t, i0);
#pragma unroll 8
    for (int k = first; k < end; k++, p += BY_ROWS ? L.row : L.column) {
        const int i = BY_ROWS ? k : t, j = BY_ROWS ? t : k;
        if (i >= j)
            __pipeline_memcpy_async(D + folded_tile::at(i, j), p, sizeof(T),
                                    i < within ? 0 : sizeof(T));
    }
}

/* D(i,j) := D(i,j) / D(j,j), given the reciprocals; what is on the diagonal is not used. */
template <typename T> __device__ __forceinline__ void folded_scale(T *D, const T *reciprocal)
{
    constexpr int LD = folded_tile::LD, HALF = folded_tile::HALF;
    const int t = threadIdx.x;
    const T right = reciprocal[HALF + t % HALF];
#pragma unroll 8
    for (int k = 0; k < HALF; k++)
        D[t + k * LD] = multiply(D[t + k * LD], choose(t > k, reciprocal[k], right));
    if (t < HALF)
        D[TILE + t * LD] = multiply(D[TILE + t * LD], reciprocal[t]);
}

/* x := inv(D) x by a warp, D scaled by the reciprocals. */
template <typename T>
__device__ __forceinline__ void folded_substitute(const T *D, const T *reciprocal, T *x)
{
    constexpr int LD = folded_tile::LD, HALF = folded_tile::HALF;
    const int lane = threadIdx.x % 32;
    T upper = x[lane], lower = x[HALF + lane];
    substitute_half<1, LD>(D + 1, upper, lower);
    substitute_half<LD, 1>(D, lower);
    x[lane] = multiply(upper, reciprocal[lane]);
    x[HALF + lane] = multiply(lower, reciprocal[HALF + lane]);
}
/* The same by divisions, D as it is, where reciprocals would lose digits. */
template <typename T>
__device__ __noinline__ void folded_divide(const T *D, const T *diagonal, T *x)
{
    for (int k = 0; k < TILE; k++) {
        const T v = divide(x[k], diagonal[k]);
        __syncwarp(); /* all have read it */
        for (int i = k + (int)threadIdx.x % 32; i < TILE; i += 32)
            x[i] = i == k ? v : multiply_add(x[i], -v, D[folded_tile::at(i, k)]);
        __syncwarp();
    }
}

/* x := inv(L) b.  64 threads. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ void solve_vector(const triangle_view<T> &L, const vector_view<T> &x,
                                             vector_shared<T> &s)
{
    const int t = threadIdx.x, rows = (L.n + TILE - 1) / TILE;
    vector_share<T> a[2] = {};
    vector_stream<BY_ROWS, T> stream(L);
    folded_fetch<BY_ROWS>(s.D, L, 0);
    for (int i = t; i < TILE * rows; i += VECTOR_THREADS)
        __pipeline_memcpy_async(s.x + i, x.entry + i * x.step, sizeof(T), i < L.n ? 0 : sizeof(T));
    __pipeline_commit();
    stream.load(a[0]);
    stream.load(a[1]);
    if (scalar<T>::is_complex && x.conjugate) {
        __pipeline_wait_prior(0);
        for (int i = t; i < L.n; i += VECTOR_THREADS)
            s.x[i] = conjugate_if(s.x[i], true);
    }
    for (int r = 0; r < rows; r++) {
        /* s.x = [x(0:r-1); b(r:)], seen by all; the tile is on its way */
        if (r > 0)
            subtract_left(stream, r, a, s.x);
        __pipeline_wait_prior(0);
        __syncthreads();
        const bool given = !L.unit && TILE * r + t < L.n;
        const pivot<T> d(given ? s.D[folded_tile::at(t, t)] : from_real<T>(1));
        const bool safe = __syncthreads_and(d.safe && scales(d.d));
        s.diagonal[t] = safe ? d.reciprocal : d.d;
        __syncthreads();
        if (safe && !L.unit) {
            folded_scale(s.D, s.diagonal);
            __syncthreads();
        }
        if (t < 32 && safe)
            folded_substitute(s.D, s.diagonal, s.x + TILE * r);
        else if (t < 32)
            folded_divide(s.D, s.diagonal, s.x + TILE * r);
        __syncthreads();
        if (r + 1 < rows)
            folded_fetch<BY_ROWS>(s.D, L, TILE * (r + 1));
        __pipeline_commit();
    }
#pragma unroll 4
    for (int i = t; i < L.n; i += VECTOR_THREADS)
        x.store(i, s.x[i]);
}

#endif
