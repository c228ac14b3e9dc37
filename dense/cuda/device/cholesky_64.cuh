/* dense/cuda/device/cholesky_64.cuh: block scope: Cholesky and inverse of a block of 64 columns in
 * shared memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A symmetric sweep in steps of eight columns.  T is A at first.  Step p finds the Cholesky factor
 * of diagonal block p of T and its inverse X.  R is block column p of T with one in the place of
 * block p; above block p it is what row block p of T has there, conjugated and transposed.  Of
 *     S = R X^H
 * the rows below block p are columns of L, those from block p upwards rows of inv(L), conjugated
 * and transposed.  Then T := T - S S^H, where block column p of T counts as zero before.
 *
 * Warp 0 has the chain of diagonal blocks and nothing else: from one to the next it takes two
 * products of order 8, whose other operands were there before.  Six warps have T in registers, as
 * sums of the tensor cores.  With columns numbered as mma.m16n8k8 numbers those of a sum, a lane's
 * entries of a sum are its entries of either operand of the next product.  Warp 4 brings diagonal
 * blocks of L.
 *
 * Two barriers order what goes through shared memory: PUBLISHED, for which warp 0 alone waits, when
 * the others have put what step p reads and have read what step p - 1 left for them; FACTORIZED,
 * for which the others wait, when X is there.  What two steps in turn write is therefore there
 * twice. */
#ifndef DENSE_CUDA_DEVICE_CHOLESKY_64_CUH
#define DENSE_CUDA_DEVICE_CHOLESKY_64_CUH

#include "dense/cuda/device/barrier.cuh"
#include "dense/cuda/device/cholesky.cuh"
#include "dense/cuda/device/invert.cuh"

/* Two entries that are read and written together. */
template <typename T> struct alignas(2 * sizeof(T) < 16 ? 2 * sizeof(T) : 16) entry_pair {
    T v[2];
};

/* What tensor cores take and give: conversions on the way would take longer than they. */
template <typename T> using wide = std::conditional_t<scalar<T>::is_complex, complex_d, double>;
template <typename To, typename T> __device__ __forceinline__ To converted(T v)
{
    if constexpr (scalar<T>::is_complex)
        return {(real_of<To>)v.re, (real_of<To>)v.im};
    else
        return (To)v;
}

/* Shared memory beside the block and its inverse; [2]: of steps in turn.  Blocks of order 8 are by
 * rows. */
template <typename T> struct alignas(16) cholesky_room {
    static constexpr int N = CHOLESKY_STEP;
    using W = wide<T>;
    W R[2][TILE * N];
    W X[2][N * N];
    W ahead[2][N * N]; /* diagonal block of T but for the last product */
    W L[2][N * N + N]; /* by columns, past the banks of X */
    T one[N * N];
    T block[N * N]; /* diagonal block of T */
    W pivot[N];
    int grows[2];
    int last; /* step that was begun */
};

/* v times its mirror image: |v|^2, of complex symmetric matrices v^2 */
template <typename S, typename T> __device__ __forceinline__ pivot_type<T, S> square(T v)
{
    if constexpr (scalar<T>::is_complex && S::HERMITIAN)
        return v.re * v.re + v.im * v.im;
    else
        return multiply(v, v);
}
/* Far from the ends of the range: products that it comes from were normal numbers. */
__device__ __forceinline__ bool is_moderate(double v)
{
    return (unsigned)(__double2hiint(v) - (1023 - 900) * (1 << 20)) < 1800u * (1 << 20);
}
__device__ __forceinline__ bool is_moderate(float v)
{
    return __float_as_uint(v) - (127 - 90) * (1u << 23) < 180u * (1u << 23);
}
template <typename R> __device__ __forceinline__ bool is_moderate(complex_of<R> v)
{
    return is_moderate(fmax(fabs(v.re), fabs(v.im)));
}

/* Cholesky of a block A of order 8 by one full warp.  Each lane has all of A's lower triangle in a.
 * In x lane l has row l mod 16 of [I; A], which is multiplied by inv(L)^H: lanes 0 to 7 end with a
 * column of inv(L), conjugated, lanes 8 to 15 with a row of L, with the same bits as the entries of
 * L that the elimination used.  largest, in lanes 0 to 7: bits of the largest entry in a column of
 * inv(U), L = U D.
 *
 * Two columns at a time: the root of the second pivot, d1 - |b|^2 / d0, is that of d0 d1 - |b|^2
 * over that of d0, which need not wait for each other.  The result: whether these determinants were
 * all far from the ends of the range of numbers, without which nothing here is of use. */
template <typename T, typename S>
__device__ __forceinline__ bool cholesky_by_pairs(T (&a)[CHOLESKY_STEP][CHOLESKY_STEP],
                                                  T (&x)[CHOLESKY_STEP], unsigned &largest, S signs)
{
    using P = pivot_type<T, S>;
    constexpr int N = CHOLESKY_STEP;
    bool moderate = true;
    largest = 0;
#pragma unroll
    for (int j = 0; j < N; j += 2) {
        const P d0 = signs.flip(pivot_part<S>(a[j][j]), j),
                d1 = signs.flip(pivot_part<S>(a[j + 1][j + 1]), j + 1),
                product = signs.flip(signs.flip(square<S>(a[j + 1][j]), j), j + 1),
                determinant = multiply_add(-product, d0, d1), r0 = reciprocal_root(d0),
                r[2] = {signs.flip(r0, j),
                        signs.flip(multiply(reciprocal_root(determinant), multiply(d0, r0)),
                                   j + 1)};
        moderate = moderate && is_moderate(determinant);
        a[j + 1][j] = times_pivot(a[j + 1][j], r[0]);
#pragma unroll
        for (int i = j + 2; i < N; i++) {
            a[i][j] = times_pivot(a[i][j], r[0]);
            a[i][j + 1] = times_pivot(
                multiply_add(a[i][j + 1], -signs.flip(a[i][j], j), mirrored<S>(a[j + 1][j])), r[1]);
        }
#pragma unroll
        for (int h = j; h < j + 2; h++) {
#pragma unroll
            for (int c = j + 2; c < N; c++)
#pragma unroll
                for (int i = c; i < N; i++)
                    a[i][c] = multiply_add(a[i][c], -signs.flip(a[i][h], h), mirrored<S>(a[c][h]));
            largest = max(largest, size_bits(x[h]));
            x[h] = times_pivot(x[h], r[h - j]);
#pragma unroll
            for (int i = h + 1; i < N; i++)
                x[i] = multiply_add(x[i], -signs.flip(x[h], h), mirrored<S>(a[i][h]));
        }
    }
    return moderate;
}

/* cholesky_8 of a block by rows, for when that was of no use; L by columns, X by rows. */
template <typename T, typename S>
__device__ __noinline__ void cholesky_8_again(const T *block, wide<T> *L, wide<T> *X,
                                              pivot_type<wide<T>, S> *pivot, int *grows, S signs)
{
    constexpr int N = CHOLESKY_STEP;
    for (int k = threadIdx.x % 32; k < N * N; k += 32)
        L[k] = converted<wide<T>>(block[k % N * N + k / N]);
    __syncwarp();
    cholesky_8(L, N, N, X, N, 1, pivot, grows, signs);
}

/* c += A B^H, without S::HERMITIAN A B^T, of order 8, of which a lane has the entries (g, 2t) and
 * (g, 2t+1): two sums, since for products this small the wait for one instruction counts. */
template <typename S, typename W>
__device__ __forceinline__ void multiply_8(pair_sum<W> &c, const W (&x)[2], const W (&y)[2])
{
    pair_sum<W> other = {};
#pragma unroll
    for (int e = 0; e < 2; e++) {
        pair_sum<W> &sum = e == 0 ? c : other;
        if constexpr (scalar<W>::is_complex) {
            multiply_8x8x4(sum.part[0], x[e].re, y[e].re);
            const double im = S::HERMITIAN ? y[e].im : -y[e].im;
            multiply_8x8x4(sum.part[0], x[e].im, im);
            multiply_8x8x4(sum.part[1], x[e].im, y[e].re);
            multiply_8x8x4(sum.part[1], x[e].re, -im);
        } else
            multiply_8x8x4(sum.part[0], x[e], y[e]);
    }
#pragma unroll
    for (int q = 0; q < product_sum<W, 1>::PARTS; q++)
#pragma unroll
        for (int e = 0; e < 2; e++)
            c.part[q][e] += other.part[q][e];
}

/* X := S X; begins and ends with what is visible to all. */
template <typename T, typename S> __device__ __forceinline__ void flip_rows(T *X, S signs)
{
    if constexpr (S::ANY) {
        for (int k = threadIdx.x; k < TILE * TILE; k += CHOLESKY_THREADS) {
            T *const x = X + k % TILE + k / TILE * TILE_LD<T>;
            *x = signs.flip(*x, k % TILE);
        }
        __syncthreads();
    }
}

/* From column `from` on with substitution for rows below blocks whose inverse is large, which is
 * rare: a call keeps its code from between what is not. */
template <typename T, typename S>
__device__ __noinline__ void cholesky_and_inverse(T *D, T *X, int k, int from,
                                                  pivot_type<T, S> *pivot, int *grows, S signs)
{
    constexpr int LD = TILE_LD<T>;
    cholesky_columns<8, true>(D, LD, TILE, k, X, LD + 1, LD, pivot, grows, from, signs);
    flip_rows(X, signs); /* inv(L) is made of those of its blocks */
    invert_64(D, X);
    flip_rows(X, signs);
}

template <typename T, typename S> struct cholesky_sweep {
    static constexpr int N = CHOLESKY_STEP, LD = TILE_LD<T>;
    enum { PUBLISHED = 1, FACTORIZED };
    using W = wide<T>;
    using pair = entry_pair<W>;
    using P = pivot_type<T, S>;

    T *const D, *const X;
    cholesky_room<T> &room;
    P *const pivot;
    const S signs; /* of the 64 columns */
    const int steps, g = threadIdx.x % 32 / 4, l = 2 * (threadIdx.x % 4);

    /* What a worker has of T: 16 rows of a strip, two blocks of columns of strip `other`. */
    struct tile_pair {
        product_sum<W, 2> sum;
        int strip, other;
    };

    /* Entry (i, j) of the symmetric or Hermitian A, of which D has the lower triangle. */
    __device__ __forceinline__ W lower(int i, int j) const
    {
        return converted<W>(conjugate_if(D[max(i, j) + min(i, j) * LD], S::HERMITIAN && i < j));
    }
    /* Rows of R, 8 apart, times X^H. */
    __device__ __forceinline__ static product_sum<W, 1> scale(const pair &near, const pair &far,
                                                              const pair &x)
    {
        const W a[4] = {near.v[0], far.v[0], near.v[1], far.v[1]};
        product_sum<W, 1> s;
        multiply_entries<S::HERMITIAN>(s, 0, a, x.v);
        return s;
    }
    /* sum -= S(strip) S(block h of another strip)^H, with the signs of the step's columns */
    __device__ __forceinline__ void subtract(product_sum<W, 2> &sum, int t,
                                             const product_sum<W, 1> &rows,
                                             const product_sum<W, 1> &columns, int h, S own) const
    {
        const W a[4] = {-own.flip(rows.entry(0, 0), l), -own.flip(rows.entry(0, 2), l),
                        -own.flip(rows.entry(0, 1), l + 1), -own.flip(rows.entry(0, 3), l + 1)},
                b[2] = {columns.entry(0, 2 * h), columns.entry(0, 2 * h + 1)};
        multiply_entries<S::HERMITIAN>(sum, t, a, b);
    }
    __device__ __forceinline__ pair pair_at(const W *block, int row) const
    {
        return *reinterpret_cast<const pair *>(block + row * N + l);
    }
    __device__ __forceinline__ void put_pair(W *block, int row, const pair &v) const
    {
        *reinterpret_cast<pair *>(block + row * N + l) = v;
    }

    /* ---- The warp of the chain ---- */

    /* Diagonal block p: inv(L), for which the others wait, and L.  Lanes 16 to 31 write the same
     * values as lanes 0 to 15, which is faster than a branch. */
    __device__ __forceinline__ void factorize(int p) const
    {
        const int lane = threadIdx.x % 16, own = lane % N;
        W *const X = room.X[p % 2], *const L = room.L[p % 2];
        T a[N][N], x[N];
        const T *const begin = lane < N ? room.one : room.block;
        unsigned largest;
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int j = 0; j <= i; j += 2) {
                const auto v = *reinterpret_cast<const entry_pair<T> *>(room.block + i * N + j);
                a[i][j] = v.v[0];
                if (j < i)
                    a[i][j + 1] = v.v[1];
            }
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = mirrored<S>(begin[i * N + own]);
        const S step = signs.at(p * N);
        if (!cholesky_by_pairs(a, x, largest, step))
            return cholesky_8_again(room.block, L, X,
                                    reinterpret_cast<pivot_type<W, S> *>(room.pivot),
                                    room.grows + p % 2, step);
        W *const to = lane < N ? X : L;
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i * N + own] = converted<W>(conjugate_if(x[i], S::HERMITIAN && lane < N));
        if (lane < N && largest > size_bits((real_of<T>)ROWS_GROWTH_LIMIT))
            room.grows[p % 2] = 1;
    }
    /* Diagonal block p + 1, after step p.  Its rows of S by the same instruction as for the others,
     * with the same bits: where pivots are small S is not accurate, and what is subtracted has to
     * be what is written to L. */
    __device__ __forceinline__ void go_on(int p) const
    {
        const pair before = pair_at(room.ahead[(p + 1) % 2], g),
                   own = pair_at(room.R[p % 2] + (p + 1) * N * N, g);
        pair_sum<W> t;
        t.set(0, before.v[0]);
        t.set(1, before.v[1]);
        const product_sum<W, 1> s = scale(own, {}, pair_at(room.X[p % 2], g));
        const S step = signs.at(p * N);
        const W rows[2] = {s.entry(0, 0), s.entry(0, 1)},
                minus[2] = {-step.flip(rows[0], l), -step.flip(rows[1], l + 1)};
        multiply_8<S>(t, minus, rows);
        put_block({{t.entry(0), t.entry(1)}});
    }
    __device__ __forceinline__ void put_block(const pair &v) const
    {
        if constexpr (!scalar<T>::is_complex)
            *reinterpret_cast<entry_pair<T> *>(room.block + g * N + l) = {{(T)v.v[0], (T)v.v[1]}};
        else /* whose sums are not to the last bit Hermitian, or symmetric */
#pragma unroll
            for (int e = 0; e < 2; e++)
                if (g >= l + e) {
                    const T entry = converted<T>(v.v[e]);
                    room.block[(l + e) * N + g] = mirrored<S>(entry);
                    room.block[g * N + l + e] = entry;
                }
    }
    __device__ __forceinline__ void lead() const
    {
        room.grows[0] = 0;
#pragma unroll
        for (int e = 0; e < 2; e++)
            room.one[g * N + l + e] = from_real<T>(g == l + e);
        put_block({{lower(g, l), lower(g, l + 1)}});
        __syncwarp();
        int p = 0;
#pragma unroll 1
        for (;; p++) {
            factorize(p);
            barrier_wait(PUBLISHED, CHOLESKY_THREADS);
            barrier_arrive(FACTORIZED, CHOLESKY_THREADS);
            if (p + 1 == steps)
                break;
            const bool grows = room.grows[p % 2];
            go_on(p);
            room.grows[(p + 1) % 2] = 0;
            __syncwarp();
            if (grows)
                break;
        }
        room.last = p;
    }
    __device__ __forceinline__ static void set(product_sum<W, 2> &sum, int t, int e, W v)
    {
        sum.part[0][t][e] = real_part(v);
        if constexpr (scalar<T>::is_complex)
            sum.part[1][t][e] = v.im;
    }

    /* ---- The others ---- */

    __device__ __forceinline__ void load(tile_pair &t, int number) const
    {
        t.strip = number < 4 ? 3 : number < 7 ? 2 : number < 9 ? 1 : 0;
        t.other = number < 4 ? number : number < 7 ? number - 4 : number < 9 ? number - 7 : 0;
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                set(t.sum, h, e,
                    lower(16 * t.strip + g + 8 * (e / 2), 16 * t.other + 8 * h + l + e % 2));
    }
    /* Writes back to D the columns that are not finished at step p. */
    __device__ __forceinline__ void give_back(const tile_pair &t, int p) const
    {
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (2 * t.other + h >= p)
                    D[16 * t.strip + g + 8 * (e / 2) + (16 * t.other + 8 * h + l + e % 2) * LD] =
                        converted<T>(t.sum.entry(h, e));
    }
    /* Two entries of a row of block (half, h). */
    __device__ __forceinline__ static pair entries(const tile_pair &t, int h, int half)
    {
        pair v;
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const W near = h ? t.sum.entry(1, e) : t.sum.entry(0, e),
                    far = h ? t.sum.entry(1, 2 + e) : t.sum.entry(0, 2 + e);
            v.v[e] = half ? far : near;
        }
        return v;
    }
    /* Puts what others read of a tile at step `next`. */
    __device__ __forceinline__ void publish(const tile_pair &t, int next) const
    {
        W *const R = room.R[next % 2];
        const int side = next % 2, ahead = next + 1;
        if (t.other == next / 2)
#pragma unroll
            for (int half = 0; half < 2; half++)
                if (2 * t.strip + half > next)
                    put_pair(R, (2 * t.strip + half) * N + g, entries(t, side, half));
        if (t.strip == next / 2)
#pragma unroll
            for (int h = 0; h < 2; h++)
                if (2 * t.other + h < next) {
                    const pair v = entries(t, h, side);
#pragma unroll
                    for (int e = 0; e < 2; e++)
                        R[((2 * t.other + h) * N + l + e) * N + g] = mirrored<S>(v.v[e]);
                }
        if (t.strip == t.other && t.strip == ahead / 2)
            put_pair(room.ahead[ahead % 2], g, entries(t, ahead % 2, ahead % 2));
    }
    /* L := S below block p, inv(L) := S^H from it upwards, of a strip. */
    __device__ __forceinline__ void put(const product_sum<W, 1> &s, int strip, int p) const
    {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int row = 16 * strip + g + 8 * (e / 2), column = p * N + l + e % 2;
            const T v = converted<T>(s.entry(0, e));
            if (2 * strip + e / 2 > p)
                D[row + column * LD] = v;
            else
                X[column + row * LD] = mirrored<S>(v);
        }
    }
    /* Step p of the first COUNT tiles, false if it is not to be done; puts: this worker puts the
     * strip of the first one's columns. */
    template <int COUNT, int ALL>
    __device__ __forceinline__ bool step(tile_pair (&tile)[ALL], int p, bool puts) const
    {
        const bool goes_on = p + 1 < steps;
        const int grows = room.grows[p % 2]; /* comes while there is other work */
        const W *const R = room.R[p % 2];
        const pair x = pair_at(room.X[p % 2], g);
        product_sum<W, 1> rows[COUNT], columns[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            const int i = 16 * tile[k].strip + g, j = 16 * tile[k].other + g;
            columns[k] = scale(pair_at(R, j), pair_at(R, j + 8), x);
            rows[k] = scale(pair_at(R, i), pair_at(R, i + 8), x);
        }
        if (goes_on) {
            if (grows)
                return false;
#pragma unroll
            for (int k = 0; k < COUNT; k++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    if (2 * tile[k].other + h == p)
#pragma unroll
                        for (int e = 0; e < 4; e++)
                            set(tile[k].sum, h, e, W{});
                    subtract(tile[k].sum, h, rows[k], columns[k], h, signs.at(p * N));
                }
#pragma unroll
            for (int k = 0; k < COUNT; k++)
                publish(tile[k], p + 1);
            barrier_arrive(PUBLISHED, CHOLESKY_THREADS);
        }
        if (puts)
            put(columns[0], tile[0].other, p);
        return true;
    }
    /* One as block p of R. */
    __device__ __forceinline__ void put_one(int p) const
    {
        put_pair(room.R[p % 2], p * N + g, {{from_real<W>(g == l), from_real<W>(g == l + 1)}});
    }
    /* Diagonal block p of L, read and put apart.  Its diagonal is one over that of the inverse,
     * with which rows below were multiplied: from the sum of which it is a root it would differ by
     * what cancels there. */
    struct factor_part {
        W below[2];
        pivot_type<W, S> reciprocal;
    };
    __device__ __forceinline__ factor_part get_factor(int p) const
    {
        const W *L = room.L[p % 2] + g;
        return {{L[l * N], L[(l + 1) * N]},
                signs.flip(pivot_part<S>(room.X[p % 2][g * (N + 1)]), p * N + g)};
    }
    __device__ __forceinline__ void put_factor(int p, const factor_part &f) const
    {
        T *L = D + p * N * (LD + 1);
#pragma unroll
        for (int e = 0; e < 2; e++)
            if (g > l + e)
                L[g + (l + e) * LD] = converted<T>(f.below[e]);
        if (g / 2 == l / 2) {
            const P root = converted<P>(quick_reciprocal(f.reciprocal));
            L[g * (LD + 1)] = from_pivot<T>(root);
            pivot[p * N + g] = multiply(root, root);
        }
    }
    template <int COUNT> __device__ __forceinline__ void work(int worker) const
    {
        /* numbers of tiles, so that nobody has much more to do than others at any step */
        const int first = 0x634210 >> 4 * worker & 15, second = 0x5879 >> 4 * worker & 15;
        const bool puts = first < 4;
        tile_pair tile[COUNT];
        load(tile[0], first);
        if (COUNT == 2)
            load(tile[COUNT - 1], second);
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            publish(tile[k], 0);
        barrier_arrive(PUBLISHED, CHOLESKY_THREADS);
#pragma unroll 1
        for (int p = 0; p < steps; p++) {
            barrier_wait(FACTORIZED, CHOLESKY_THREADS);
            bool done = true;
            if (COUNT == 2 && p <= 2 * tile[COUNT - 1].strip)
                done = step<COUNT>(tile, p, puts);
            else if (puts || p <= 2 * tile[0].strip)
                done = step<1>(tile, p, puts);
            else if (p + 1 < steps) {
                done = !room.grows[p % 2];
                if (done)
                    barrier_arrive(PUBLISHED, CHOLESKY_THREADS);
            }
            if (!done) {
#pragma unroll
                for (int k = 0; k < COUNT; k++)
                    give_back(tile[k], p);
                return;
            }
        }
    }
    template <typename F> __device__ __forceinline__ void assist(F &meanwhile) const
    {
        put_one(0);
        barrier_arrive(PUBLISHED, CHOLESKY_THREADS);
        meanwhile(0);
#pragma unroll 1
        for (int p = 0; p < steps; p++) {
            barrier_wait(FACTORIZED, CHOLESKY_THREADS);
            const factor_part factor = get_factor(p);
            if (p + 1 < steps) {
                if (room.grows[p % 2])
                    return;
                put_one(p + 1);
                barrier_arrive(PUBLISHED, CHOLESKY_THREADS);
            }
            put_factor(p, factor);
            meanwhile(p + 1);
        }
    }

    /* All threads; ends with a barrier.  Warp 4 has little to do, since it shares a quarter of the
     * multiprocessor with the chain. */
    template <typename F> __device__ __forceinline__ void run(F &meanwhile) const
    {
        const int warp = threadIdx.x / 32, worker = warp - 1 - (warp > 4);
        if (warp == 0)
            lead();
        else if (warp == 4)
            assist(meanwhile);
        else if (worker < 4)
            work<2>(worker);
        else
            work<1>(worker);
        __syncthreads();
        const int last = room.last;
        if (last + 1 < steps)
            cholesky_and_inverse(D, X, steps * N, last * N, pivot, room.grows, signs);
    }
};

/* The block of 64 columns at D, lower triangle, of which the first k count, behind them it is one:
 * D := L, X := inv(L), which was zero, with ones on its diagonal from k rounded up to 8 on.  D's
 * upper triangle holds numbers and is overwritten.  pivot: 64, for judge_pivot.  256 threads; D and
 * X, with the leading dimension of tiles, are visible to all; ends with a barrier.
 *
 * Rows below a diagonal block of order 8 are products with its inverse while that is not large
 * (ROWS_GROWTH_LIMIT); from the first such block on the rest is done by cholesky_columns.
 *
 * signs: of the columns, positive behind k: X := S inv(L), and a pivot is that times its sign.
 *
 * meanwhile(step): called by warp 4, which has time, once before the first step and once after each
 * until there is a large inverse; a thousand cycles in it delay nobody. */
template <typename T, typename F, typename S = no_signs>
__device__ __forceinline__ void cholesky_64(T *D, int k, T *X, cholesky_room<T> &room,
                                            pivot_type<T, S> *pivot, F meanwhile, S signs = {})
{
    const cholesky_sweep<T, S> sweep{D,     X,     room,
                                     pivot, signs, (k + CHOLESKY_STEP - 1) / CHOLESKY_STEP};
    sweep.run(meanwhile);
}
template <typename T>
__device__ __forceinline__ void cholesky_64(T *D, int k, T *X, cholesky_room<T> &room,
                                            real_of<T> *pivot)
{
    cholesky_64(D, k, X, room, pivot, [](int) {});
}

#endif
