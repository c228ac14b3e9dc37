/* gpu/factor/small.cuh: block or warp scope: a front that fits in shared memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_SMALL_CUH
#define GPU_FACTOR_SMALL_CUH

#include "gpu/factor/by_rows.cuh"
#include "gpu/factor/pulls.cuh"

/* Shared memory for a front, beside which children's blocks lie: records of it and of the next one,
 * a table of children, entries, pivots, the diagonal entries that these started from. */
template <typename T> struct small_front {
    static constexpr int HEAD =
        2 * (int)sizeof(factor_front) + copied_child::TOGETHER * (int)sizeof(copied_child);

    /* Bytes for one of m rows. */
    __host__ __device__ static constexpr int bytes(int m)
    {
        const int columns = (m + 7) / 8 * 8;
        return HEAD + (padded_rows<T>(m) + 2) * columns * (int)sizeof(T);
    }
    __device__ __forceinline__ static T *entries(char *shared)
    {
        return reinterpret_cast<T *>(shared + HEAD);
    }
    /* P: of pivots; with signs there are the reciprocals of their roots in place of starts. */
    template <typename P> __device__ __forceinline__ static P *pivots(char *shared, int m)
    {
        return reinterpret_cast<P *>(entries(shared) + padded_rows<T>(m) * ((m + 7) / 8 * 8));
    }
    template <typename P> __device__ __forceinline__ static P *starts(char *shared, int m)
    {
        return pivots<P>(shared, m) + (m + 7) / 8 * 8;
    }
    /* Of the largest that a block factorizes. */
    static constexpr int MOST = HEAD + (padded_rows<T>(sizeof(T) == 16 ? 80 : 112) + 2) *
                                           (sizeof(T) == 16 ? 80 : 112) * (int)sizeof(T);
};

/* What a thread needs first of a front, asked for as the front before is stored. */
template <int WARPS, typename T> struct front_begin {
    factor_entry entry;
    T value;
    factor_child child; /* of each lane of the first warp */

    template <typename K>
    __device__ __forceinline__ void load_entry(const factor_arguments<T, K> &a,
                                               const factor_front &f)
    {
        const int rank = front_team<WARPS>::rank();
        if (rank < f.entries) {
            entry = a.entry[f.entry + rank];
            value = a.value[f.entry + rank];
        }
    }
    template <typename K>
    __device__ __forceinline__ void load_child(const factor_arguments<T, K> &a, int first, int end)
    {
        const int rank = front_team<WARPS>::rank();
        child = rank < min(end - first, 32) ? a.child[first + rank] : factor_child{};
    }
};

/* F := entries of A and what the children have; begins and ends with a barrier of the team.
 * behind: called behind the first one, when nobody is at the front before any more. */
template <int WARPS, typename T, typename K, typename Behind>
__device__ __forceinline__ void
assemble_small(const factor_arguments<T, K> &a, const factor_front &f,
               const front_begin<WARPS, T> &begin, char *shared, Behind &&behind)
{
    using team = front_team<WARPS>;
    const int rank = team::rank(), ld = padded_rows<T>(f.m), columns = (f.m + 7) / 8 * 8;
    T *const F = small_front<T>::entries(shared);
    const auto put_entries = [&] {
#pragma unroll 1
        for (int q = rank; q < f.entries; q += team::THREADS) { /* each place has one entry */
            const factor_entry e = q == rank ? begin.entry : a.entry[f.entry + q];
            F[e.row + e.column * ld] = q == rank ? begin.value : a.value[f.entry + q];
        }
    };
    if (WARPS == 1 && a.word && f.outside > 0) {
        if (rank < f.children)
            wait_for_child(a, begin.child);
        for (int c = rank + 32; c < f.children; c += 32)
            wait_for_child(a, a.child[f.child + c]);
    }
    team::sync();
    behind();
    for (int q = rank; q < f.k && !K::HAS_SIGNS; q += team::THREADS)
        copy_entry(small_front<T>::template starts<real_of<T>>(shared, f.m) + q,
                   a.diagonal + f.first + q, true);
#pragma unroll 4
    for (int q = rank; q < ld * columns; q += team::THREADS)
        F[q] = T{};
    if constexpr (WARPS == 1) {
        copies_commit();
        __syncwarp();
        put_entries();
        __syncwarp();
        pull_by_warp(a, f, begin.child, F, ld);
        __syncwarp();
    } else {
        pull_by_block(a, f, begin.child, F, ld,
                      reinterpret_cast<copied_child *>(shared + 2 * sizeof(factor_front)),
                      reinterpret_cast<T *>(shared + small_front<T>::bytes(f.m)),
                      (small_front<T>::MOST - small_front<T>::bytes(f.m)) / (int)sizeof(T),
                      put_entries);
    }
}

/* With signs: D of a factorized front. */
template <int WARPS, typename T, typename K>
__device__ __forceinline__ void store_pivots(const factor_arguments<T, K> &a, const factor_front &f,
                                             char *shared)
{
    const int rank = front_team<WARPS>::rank(), ld = padded_rows<T>(f.m);
    if constexpr (K::HAS_SIGNS)
        if (rank < f.k)
            a.put_pivot(a.panel, f.first + rank,
                        pivot_part<typename K::signs>(
                            small_front<T>::entries(shared)[rank * (ld + 1)]));
}

/* With signs: the sums of |L|^2 of a front's rows, a thread's to place `slot`, which it has asked
 * for before. */
template <int WARPS, typename T, typename K>
__device__ __forceinline__ uint32_t slot_of_row(const factor_arguments<T, K> &a,
                                                const factor_front &f)
{
    const int rank = front_team<WARPS>::rank();
    if constexpr (K::HAS_SIGNS)
        return rank < f.m && f.k > 0 ? a.slot[f.rows + rank] : 0;
    return 0;
}
template <int WARPS, typename T, typename K>
__device__ __forceinline__ void store_sums(const factor_arguments<T, K> &a, const factor_front &f,
                                           char *shared, uint32_t slot)
{
    if constexpr (K::HAS_SIGNS) {
        const int rank = front_team<WARPS>::rank(), ld = padded_rows<T>(f.m);
        const T *const row = small_front<T>::entries(shared) + rank;
        double sum = 0;
        if (rank >= f.m || f.k == 0)
            return;
#pragma unroll 4
        for (int j = 0; j < min(rank, f.k); j++)
            sum += squared_size(row[j * ld]);
        a.sum[slot] = sum;
    }
}

/* The factorized front to the panel and the arena, and what its pivots were. */
template <int WARPS, typename T, typename K>
__device__ __forceinline__ void store_small(const factor_arguments<T, K> &a, const factor_front &f,
                                            char *shared)
{
    using team = front_team<WARPS>;
    using P = pivot_of<T, K>;
    constexpr int TOGETHER = 4; /* columns, loaded before they are stored */
    const int m = f.m, k = f.k, r = m - k, ld = padded_rows<T>(m), lane = threadIdx.x % 32,
              rank = team::rank();
    const T *const F = small_front<T>::entries(shared);
    T *panel = a.panel + f.panel, *block = a.arena + f.block - k;
    const P *const reciprocal = small_front<T>::template starts<P>(shared, m);
    store_pivots<WARPS>(a, f, shared);
#pragma unroll 1
    for (int i = lane; i - lane < m; i += 32)
#pragma unroll 1
        for (int j0 = team::warp(); j0 < min(m, i - lane + 32); j0 += TOGETHER * WARPS) {
            T v[TOGETHER];
#pragma unroll
            for (int q = 0; q < TOGETHER; q++)
                if (i < m && j0 + q * WARPS <= i)
                    v[q] = F[i + (j0 + q * WARPS) * ld];
#pragma unroll
            for (int q = 0; q < TOGETHER; q++) {
                const int j = j0 + q * WARPS;
                if (i < m && j <= i)
                    (j < k ? panel + j * m : block + (j - k) * r)[i] =
                        K::HAS_SIGNS && j < k && j < i ? times_pivot(v[q], reciprocal[j]) : v[q];
            }
        }
    if constexpr (WARPS == 1) {
        copies_wait<0>();
        __syncwarp();
    }
    if (32 * team::warp() < k) {
        const int own = min(rank, k - 1);
        judge_pivot<T>(rank < k, judged(small_front<T>::template pivots<P>(shared, m)[own]),
                       K::HAS_SIGNS ? 0
                                    : small_front<T>::template starts<real_of<T>>(shared, m)[own],
                       f.first + rank, rule_of(a));
    }
}

/* The front whose begin is there; `behind` is called when nobody is at the front before any more,
 * `then` when F is done with but for stores.  What is in shared memory is read again by each part,
 * so that registers hold little between them. */
template <int WARPS, typename T, typename K, typename Behind, typename Then>
__device__ __forceinline__ void
factorize_small(const factor_arguments<T, K> &a, const factor_front &f,
                const front_begin<WARPS, T> &begin, char *shared, Behind &&behind, Then &&then)
{
    using P = pivot_of<T, K>;
    assemble_small(a, f, begin, shared, behind);
    cholesky_by_rows<WARPS>(small_front<T>::entries(shared), padded_rows<T>(f.m), f.m, f.k,
                            small_front<T>::template pivots<P>(shared, f.m),
                            small_front<T>::template starts<P>(shared, f.m), a.signs_at(f.first));
    then();
    store_small<WARPS>(a, f, shared);
}

/* Entries of leaves on their way to a warp, from number t of all of them on, and where their rows
 * go: in the sums of rows, with signs, and in the group that these leaves have.  Leaves that follow
 * one another have them all next to each other. */
template <typename T> struct leaf_entries {
    static constexpr int COUNT = 4, STEP = 32 * COUNT;
    T v[COUNT];
    uint32_t slot[COUNT];
    int position[COUNT];

    /* first_entry, first_row: before those of the first leaf. */
    template <bool IS_GROUP, typename K>
    __device__ __forceinline__ void load(const factor_arguments<T, K> &a, int64_t first_entry,
                                         int64_t first_row, int t, int entries)
    {
#pragma unroll
        for (int q = 0; q < COUNT; q++) {
            const int e = t + 32 * q + (int)threadIdx.x % 32;
            v[q] = e < entries ? a.value[first_entry + e] : T{};
            if constexpr (K::HAS_SIGNS)
                slot[q] = e < entries ? a.slot[first_row + e] : 0;
            if constexpr (IS_GROUP)
                position[q] = e < entries ? a.position[first_row + e] : 0;
        }
    }
};

/* The last of the lanes whose `begin`, ascending, is at most t. */
__device__ __forceinline__ int last_begun(int begin, int t)
{
    int last = 0;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        last += __shfl_sync(~0u, begin, last + step) <= t ? step : 0;
    return last;
}

/* What lanes have of leaves that a warp has factorized. */
template <typename T> struct factorized_leaf {
    factor_front front;
    real_of<T> sign; /* of its pivot */
};

/* Leaves [first, end) of a warp, at most 32: pivots are a lane's each, and so are then entries of
 * their columns.  X, in shared memory: of each leaf a column of L below its pivot; of a group's,
 * row by row as the group has them. */
template <bool IS_GROUP, typename T, typename K>
__device__ __forceinline__ factorized_leaf<T> factorize_leaves(const factor_arguments<T, K> &a,
                                                               int first, int end, T *X, int ld)
{
    using R = real_of<T>;
    using S = typename K::signs;
    using P = pivot_of<T, K>;
    using entries_of = leaf_entries<T>;
    const int lane = threadIdx.x % 32, leaves = end - first;
    const factor_front f = a.front[min(first + lane, end - 1)];
    const int64_t first_entry = __shfl_sync(~0u, f.entry, 0),
                  first_row = __shfl_sync(~0u, f.rows, 0);
    const int offset = (int)(f.entry - first_entry), begin = lane < leaves ? offset : INT_MAX,
              entries = __shfl_sync(~0u, offset + f.m, leaves - 1);
    const auto sign = a.signs_at(f.first).at(0);
    const T top = a.value[f.entry];
    entries_of next;
    next.template load<IS_GROUP>(a, first_entry, first_row, 0, entries);
    const P pivot = sign.flip(pivot_part<S>(top), 0);
    const R start = K::HAS_SIGNS ? 0 : a.diagonal[f.first];
    const T times = from_pivot<T>(sign.flip(reciprocal_root(pivot), 0));
    const P root = pivot_part<S>(multiply(top, times)), reciprocal = reciprocal_of(root);
    judge_pivot<T>(lane < leaves, judged(pivot), start, f.first, rule_of(a));
    if constexpr (K::HAS_SIGNS)
        if (lane < leaves)
            a.put_pivot(a.panel, f.first, root);
#pragma unroll 1
    for (int t0 = 0; t0 < entries; t0 += entries_of::STEP) {
        const entries_of now = next;
        next.template load<IS_GROUP>(a, first_entry, first_row, t0 + entries_of::STEP, entries);
#pragma unroll
        for (int q = 0; q < entries_of::COUNT; q++) {
            const int t = t0 + 32 * q + lane;
            if (t - lane >= entries)
                break;
            const int leaf = last_begun(begin, t), row = t - __shfl_sync(~0u, begin, leaf);
            const T x = multiply(now.v[q], shuffle(times, leaf));
            const P divide = shuffle(reciprocal, leaf);
            T *const panel = a.panel + __shfl_sync(~0u, f.panel, leaf);
            if (t >= entries)
                continue;
            panel[row] = row == 0       ? from_pivot<T>(pivot_part<S>(x))
                         : K::HAS_SIGNS ? times_pivot(x, divide)
                                        : x;
            if constexpr (K::HAS_SIGNS)
                a.sum[now.slot[q]] = row == 0 ? 0 : squared_size(x);
            if (row > 0)
                X[(IS_GROUP ? now.position[q] : row - 1) + leaf * ld] = x;
        }
    }
    __syncwarp();
    return {f, sign.flip(R(1), 0)};
}

/* The contribution block of a leaf, r x r, whose column of L below its pivot is x; what is above
 * its diagonal too. */
template <typename S, typename T>
__device__ __forceinline__ void store_leaf_block(T *block, int r, const T *x, real_of<T> sign)
{
    const float part = 1.0f / (float)r;
    for (int e = threadIdx.x % 32; e < r * r; e += 32) {
        const int j = (int)(((float)e + 0.5f) * part), i = e - j * r;
        block[e] = -multiply(x[i], mirrored<S>(times_real(x[j], sign)));
    }
}

/* Leaves [first, end) of a warp, at most 32, and their contribution blocks. */
template <typename T, typename K>
__device__ __forceinline__ void factorize_leaves_apart(const factor_arguments<T, K> &a, int first,
                                                       int end, char *shared)
{
    T *const X = small_front<T>::entries(shared);
    const int ld = padded_rows<T>(FACTOR_TINY_ROWS);
    const factorized_leaf<T> mine = factorize_leaves<false>(a, first, end, X, ld);
    for (int q = 0; q < end - first; q++)
        store_leaf_block<typename K::signs>(a.arena + __shfl_sync(~0u, mine.front.block, q),
                                            __shfl_sync(~0u, mine.front.m, q) - 1, X + q * ld,
                                            shuffle(mine.sign, q));
    __syncwarp();
}

/* The block of a group of leaves: minus the product of their columns, which X has, r rows of up to
 * 32 of the group's, with itself. */
template <typename T, typename S>
__device__ __forceinline__ void store_sum_of_leaves(T *block, int r, const T *X, int ld, int leaves,
                                                    S signs)
{
#pragma unroll 1
    for (int j = 0; j < r; j += 8)
#pragma unroll 1
        for (int i = j / 16 * 16; i < r; i += 16) {
            product_sum<T, 1> sum;
            for (int p = 0; p < leaves; p += 8)
                multiply_8_turned(sum, X + i + p * ld, ld, X + j + p * ld, ld, min(8, leaves - p),
                                  signs.at(p).first(min(8, leaves - p)));
            each_entry_of(sum, [&](int row, int column, T v) {
                if (i + row < r && j + column <= i + row)
                    block[i + row + (j + column) * r] = -v;
            });
        }
}

/* The leaves of a range and the group that they are the children of, by a warp: the group's block
 * is a product of all their columns. */
template <typename T, typename K>
__device__ __forceinline__ void factorize_group_of_leaves(const factor_arguments<T, K> &a,
                                                          const factor_range &range, char *shared)
{
    T *const X = small_front<T>::entries(shared);
    const int ld = padded_rows<T>(FACTOR_TINY_ROWS);
    const factor_front &group = a.front[range.group];
    for (int q = threadIdx.x % 32; q < ld * FACTOR_TINY_ROWS; q += 32)
        X[q] = T{};
    __syncwarp();
    const factorized_leaf<T> mine = factorize_leaves<true>(a, range.first, range.end, X, ld);
    const int first_row = __shfl_sync(~0u, mine.front.first, 0);
    store_sum_of_leaves(a.arena + group.block, group.m, X, ld, range.leaves, a.signs_at(first_row));
}

/* The record of front s to shared memory, asynchronously. */
template <typename T, typename K>
__device__ __forceinline__ void copy_record(const factor_arguments<T, K> &a, int s,
                                            factor_front *to, int rank)
{
    static_assert(sizeof *to % sizeof(double) == 0 && sizeof *to / sizeof(double) <= 32);
    if (rank < (int)(sizeof *to / sizeof(double)))
        copy_entry(reinterpret_cast<double *>(to) + rank,
                   reinterpret_cast<const double *>(a.front + s) + rank, true);
    copies_commit();
}

/* All that the team has stored is there, in one launch. */
template <int WARPS, typename T, typename K>
__device__ __forceinline__ void tell_run(const factor_arguments<T, K> &a, int word)
{
    using team = front_team<WARPS>;
    if (a.word == nullptr)
        return;
    team::sync();
    if (team::rank() == 0)
        progress_tell(a.word + word, 1);
}

/* Numbers [first, end). */
struct number_range {
    int first, end;
};

/* Fronts of a run, which may have none, one after the other; the next one's record comes while one
 * is worked on, its begin while it is stored.  children: of the first, if they are known.  word: to
 * be told at the end. */
template <int WARPS, typename T, typename K>
__device__ __forceinline__ void factorize_run(const factor_arguments<T, K> &a, number_range run,
                                              number_range children, int word, char *shared)
{
    using team = front_team<WARPS>;
    factor_front *const record = reinterpret_cast<factor_front *>(shared);
    front_begin<WARPS, T> begin;
    const auto have = [&](int s) {
        const factor_front &f = record[s % 2];
        copies_wait<0>();
        team::sync();
        begin.load_entry(a, f);
        if (WARPS == 1 || s > run.first)
            begin.load_child(a, f.child, f.child + f.children);
    };
    if (WARPS == 1 && run.first == run.end)
        return tell_run<WARPS>(a, word);
    copy_record(a, run.first, record + run.first % 2, team::rank());
    if (WARPS > 1)
        begin.load_child(a, children.first, children.end);
    have(run.first);
#pragma unroll 1
    for (int s = run.first; s < run.end; s++) {
        const front_begin<WARPS, T> now = begin;
        const bool goes_on = s + 1 < run.end;
        const auto ask = [&] { /* where the record of the front before was */
                               if (goes_on)
                                   copy_record(a, s + 1, record + (s + 1) % 2, team::rank());
        };
        uint32_t slot = 0;
        factorize_small<WARPS>(a, record[s % 2], now, shared, ask, [&] {
            if (goes_on)
                have(s + 1);
            slot = slot_of_row<WARPS>(a, record[s % 2]);
        });
        if (!goes_on)
            tell_run<WARPS>(a, word);
        store_sums<WARPS>(a, record[s % 2], shared, slot);
    }
}

#endif
