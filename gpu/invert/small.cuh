/* gpu/invert/small.cuh: block or warp scope: inverses of groups that fit in shared memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * WARPS: of the team that inverts a group, a warp or all of a block's. */
#ifndef GPU_INVERT_SMALL_CUH
#define GPU_INVERT_SMALL_CUH

#include "dense/cuda/device/cholesky.cuh"
#include "dense/cuda/device/row_product.cuh"
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
template <typename T, int SHARE>
constexpr int SMALL_COLUMNS = (SHARE == 1 ? 2 : 1) * (sizeof(T) == 16 ? 2 : 4);

/* A group whose [L_K; L_R] is k columns of m rows in shared memory.  The pivot of column c is in
 * row c; those from column `first` on in rows from SQUARE on: see invert_whole. */
struct shared_group {
    int k, m, first, column_start;

    __device__ __forceinline__ int row_of(int c) const
    {
        return c < first ? c : SQUARE + c - first;
    }
    /* Rows up to the last pivot's. */
    __device__ __forceinline__ int pivot_rows() const { return row_of(k - 1) + 1; }
    __device__ __forceinline__ bool is_pivot_row(int row) const
    {
        return row < first || (row >= SQUARE && row < pivot_rows());
    }
    /* The first column whose row is in block `block` of 32, and one past the last. */
    __device__ __forceinline__ int block_begin(int block) const
    {
        return block > 0 ? first + SQUARE * (block - 1) : 0;
    }
    __device__ __forceinline__ int block_end(int block) const
    {
        return min(k, first + SQUARE * block);
    }
};

/* Where a column of L lies: entries q of the piece, from < q < rows, behind its diagonal entry. */
struct small_column {
    int64_t panel, map; /* of entry 0 */
    int32_t from, rows;
};

/* Shared memory: columns of L in the panels; L, of roots with G also M and D^-1 M; by columns
 * 1/L(c,c) and |L(c,c)|; by rows sums of |M|, their parts, and where they go in the tile. */
template <typename T, int WARPS> struct small_shape {
    /* columns: pivot_rows() */
    __host__ __device__ static constexpr int bytes(int scalars, int columns)
    {
        return ((columns + 1) / 2 * 2 * (int)sizeof(small_column) +
                (scalars + columns) * (int)sizeof(T) +
                columns * ((2 + WARPS) * (int)sizeof(real_of<T>) + (int)sizeof(int)) + 15) /
               16 * 16;
    }
};

template <typename T, int WARPS> struct small_parts {
    small_column *column;
    T *l, *m, *y, *reciprocal;
    real_of<T> *diagonal, *sum, *part;
    int *place;

    __device__ __forceinline__ small_parts(char *shared, const shared_group &s, bool root)
    {
        const int area = s.k * s.m, rows = s.pivot_rows();
        column = reinterpret_cast<small_column *>(shared);
        l = reinterpret_cast<T *>(column + (rows + 1) / 2 * 2);
        m = l + area;
        y = m + area;
        reciprocal = root ? y + area : m;
        diagonal = reinterpret_cast<real_of<T> *>(reciprocal + rows);
        sum = diagonal + rows;
        part = sum + rows;
        place = reinterpret_cast<int *>(part + WARPS * rows);
    }
};

/* l := [L_K; L_R] but for its diagonal, which is zero there.  Entries of L are copied without a
 * wait until all are on their way.  Ends with a barrier. */
template <int WARPS, typename T>
__device__ __forceinline__ void small_gather(const invert_arguments<T> &a, const shared_group &s,
                                             const small_parts<T, WARPS> &p, bool root)
{
    using team = front_team<WARPS>;
    constexpr int AHEAD = 8; /* columns of a warp whose rows are looked up at once */
    const int warp = team::warp(), lane = threadIdx.x % 32;
    if (a.word)
        for (int c = team::rank(); c < s.k; c += team::THREADS)
            wait_for_column(a, s.column_start + c, 0, 1);
    for (int c = team::rank(); c < s.k; c += team::THREADS) {
        const invert_piece piece = a.piece[a.column_piece[s.column_start + c]];
        const int j = c - piece.column;
        p.column[c] = {piece.panel + (int64_t)j * piece.ld, piece.map, j, piece.rows};
        p.place[root ? c : s.row_of(a.z_row[s.column_start + c])] = s.row_of(c);
        p.reciprocal[c] = from_real<T>(1);
    }
    for (int q = team::rank(); q < s.m * s.k; q += team::THREADS)
        p.l[q] = T{};
    team::sync();
#pragma unroll 1
    for (int c0 = warp; c0 < s.k; c0 += AHEAD * WARPS)
#pragma unroll 1
        for (int row0 = 0; row0 < s.m; row0 += 32) {
            int row[AHEAD];
#pragma unroll
            for (int q = 0; q < AHEAD; q++) {
                const int c = c0 + q * WARPS;
                row[q] = -1;
                if (c >= s.k)
                    continue;
                const small_column at = p.column[c];
                const int entry = at.from + row0 + lane;
                if (entry < at.rows)
                    row[q] = a.map[at.map + entry];
            }
            const bool is_diagonal = row0 + lane == 0;
#pragma unroll
            for (int q = 0; q < AHEAD; q++) {
                const int c = c0 + q * WARPS;
                if (row[q] < 0 || (is_diagonal && !a.cholesky))
                    continue;
                const small_column at = p.column[c];
                copy_entry(is_diagonal ? p.reciprocal + c : p.l + row[q] + c * s.m,
                           a.panel + at.panel + at.from + row0 + lane, true);
            }
        }
    copies_commit();
    copies_wait<0>();
    team::sync();
    for (int c = team::rank(); c < s.k; c += team::THREADS) {
        const T d = p.reciprocal[c];
        p.reciprocal[c] = divide(from_real<T>(1), d);
        p.diagonal[c] = modulus(d);
    }
    team::sync();
}

/* Columns c0, c0 + 1, ... of [M; W] = inv([L_K 0; L_R I]): column by column of L, x := inv x from x
 * = unit vectors.  A row of M is divided by its pivot at the end: behind its own column, in which L
 * has a zero here, nothing is taken from it. */
template <int SHARE, int WARPS, typename T>
__device__ __forceinline__ void small_columns(const shared_group &s, const small_parts<T, WARPS> &p,
                                              int c0, T (&x)[SMALL_COLUMNS<T, SHARE>][SHARE])
{
    constexpr int COLUMNS = SMALL_COLUMNS<T, SHARE>;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < COLUMNS; n++)
#pragma unroll
        for (int q = 0; q < SHARE; q++)
            x[n][q] = from_real<T>(c0 + n < s.k && 32 * q + lane == s.row_of(c0 + n));
#pragma unroll
    for (int block = 0; block < small_pivots(SHARE); block++) {
        const int begin = s.block_begin(block), end = s.block_end(block);
#pragma unroll 1
        for (int c = max(c0, begin); c < end; c++) {
            const T reciprocal = p.reciprocal[c];
            T pivot[COLUMNS];
#pragma unroll
            for (int n = 0; n < COLUMNS; n++) /* of the lane that has its row */
                pivot[n] = multiply(shuffle(x[n][block], c - begin), reciprocal);
#pragma unroll
            for (int q = block; q < SHARE; q++)
                if (32 * q < s.m) {
                    const T l = 32 * q + lane < s.m ? p.l[32 * q + lane + c * s.m] : T{};
#pragma unroll
                    for (int n = 0; n < COLUMNS; n++)
                        x[n][q] = multiply_add(x[n][q], -l, pivot[n]);
                }
        }
        if (begin + lane < end) {
            const T reciprocal = p.reciprocal[begin + lane];
#pragma unroll
            for (int n = 0; n < COLUMNS; n++)
                x[n][block] = multiply(x[n][block], reciprocal);
        }
    }
}

/* All columns, some at a time by each warp, which calls take(c, x) for each; sums of |M|. */
template <int SHARE, int WARPS, typename T, typename Take>
__device__ __forceinline__ void small_invert(const shared_group &s, const small_parts<T, WARPS> &p,
                                             Take &&take)
{
    constexpr int COLUMNS = SMALL_COLUMNS<T, SHARE>;
    const int warp = front_team<WARPS>::warp(), lane = threadIdx.x % 32, rows = s.pivot_rows();
    real_of<T> sum[small_pivots(SHARE)] = {};
    for (int c0 = warp * COLUMNS; c0 < s.k; c0 += WARPS * COLUMNS) {
        T x[COLUMNS][SHARE];
        small_columns<SHARE, WARPS>(s, p, c0, x);
#pragma unroll
        for (int n = 0; n < COLUMNS; n++) {
            if (c0 + n >= s.k)
                continue;
#pragma unroll
            for (int q = 0; q < small_pivots(SHARE); q++)
                sum[q] += modulus(x[n][q]);
            take(c0 + n, x[n]);
        }
    }
#pragma unroll
    for (int q = 0; q < small_pivots(SHARE); q++)
        if (32 * q + lane < rows)
            p.part[warp * rows + 32 * q + lane] = sum[q];
}

/* Where a lane's rows of a column go: those of M in their order, zeros after the last. */
template <int SHARE, typename T> struct small_target {
    T *to;                   /* of column 0 */
    int ld, m, place[SHARE]; /* -1: the tile has no such row */

    template <int WARPS>
    __device__ __forceinline__ small_target(const invert_arguments<T> &a, const small_group &s,
                                            const small_parts<T, WARPS> &p)
        : to(a.values + s.at16 * (int64_t)(16 / sizeof(T))), ld(s.ld), m(s.k + s.r)
    {
#pragma unroll
        for (int q = 0; q < SHARE; q++) {
            const int row = 32 * q + (int)threadIdx.x % 32;
            place[q] = row >= s.ld ? -1 : row < s.k ? p.place[row] : row;
        }
    }
    __device__ __forceinline__ void put(int c, const T (&x)[SHARE]) const
    {
#pragma unroll
        for (int q = 0; q < SHARE; q++)
            if (place[q] >= 0)
                to[place[q] + (int64_t)c * ld] = 32 * q + (int)threadIdx.x % 32 < m ? x[q] : T{};
    }
};

/* The greatest of a team's values, a NaN stays; valid in its first thread.  Two barriers. */
template <int WARPS> __device__ __forceinline__ double worst_of_team(double mine)
{
    mine = worst_of_warp(mine);
    if constexpr (WARPS > 1) {
        __shared__ double of_warp[WARPS];
        __syncthreads(); /* what was there before has been read */
        if (threadIdx.x % 32 == 0)
            of_warp[threadIdx.x / 32] = mine;
        __syncthreads();
        for (int w = 1; w < WARPS; w++)
            mine = worse_growth(mine, of_warp[w]);
    }
    return mine;
}

/* The largest row sum of |L_K| |M|, valid in the team's first thread. */
template <int WARPS, typename T>
__device__ __forceinline__ double small_growth(const shared_group &s,
                                               const small_parts<T, WARPS> &p)
{
    using team = front_team<WARPS>;
    using R = real_of<T>;
    const int rows = s.pivot_rows();
    team::sync();
    for (int row = team::rank(); row < rows; row += team::THREADS) {
        R sum = p.part[row];
        for (int w = 1; w < WARPS; w++)
            sum += p.part[w * rows + row];
        p.sum[row] = sum;
    }
    team::sync();
    double mine = 0;
    for (int own = team::rank(); own < s.k; own += team::THREADS) {
        const int row = s.row_of(own);
        R product = p.diagonal[own] * p.sum[row];
        for (int c = 0; c < own; c++)
            product += modulus(p.l[row + c * s.m]) * p.sum[s.row_of(c)];
        mine = worse_growth(mine, (double)product);
    }
    return worst_of_team<WARPS>(mine);
}

/* G := M^T D^-1 M of a root.  Ends with a barrier. */
template <typename T>
__device__ __forceinline__ void small_root(const invert_arguments<T> &a, const small_group &s,
                                           const small_parts<T, SMALL_WARPS> &p)
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
                                                    const small_group &s,
                                                    const small_parts<T, SMALL_WARPS> &p)
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
    return worst_of_team<SMALL_WARPS>((double)product);
}

/* Small group `number`, of one column and at most 32 rows, by a warp: M = 1 / L_K, W = -L_R M. Wide
 * trees have very many; the bits are those of any group. */
template <typename T>
__device__ __forceinline__ void invert_column(const invert_arguments<T> &a, const small_group &g,
                                              int number, T *l)
{
    const int lane = threadIdx.x % 32, m = g.k + g.r;
    if (a.word && lane == 0)
        wait_for_column(a, g.column_start, 0, 1);
    const invert_piece piece = a.piece[a.column_piece[g.column_start]];
    const int from = -piece.column, entry = from + lane;
    const T *const panel = a.panel + piece.panel + (int64_t)from * piece.ld;
    const bool is_there = entry < piece.rows && (lane > 0 || a.cholesky);
    const int row = is_there && lane > 0 ? a.map[piece.map + entry] : -1;
    if (lane < m)
        l[lane] = T{};
    __syncwarp();
    const T own = is_there ? panel[entry] : from_real<T>(1);
    if (row >= 0)
        l[row] = own;
    __syncwarp();
    const T diagonal = shuffle(own, 0), reciprocal = divide(from_real<T>(1), diagonal);
    T x = lane > 0 && lane < m ? multiply_add(T{}, -l[lane], reciprocal) : T{};
    if (lane == 0)
        x = reciprocal;
    if (lane < g.ld)
        (a.values + g.at16 * (int64_t)(16 / sizeof(T)))[lane] = x;
    if (lane == 0) {
        const double growth = (double)(modulus(diagonal) * modulus(reciprocal));
        a.growth[number] = growth;
        gather_growth(&a.gathered->of_group, growth);
    }
}

/* Small group `number`. */
template <int SHARE, bool ROOT, int WARPS, typename T>
__device__ __forceinline__ void invert_small(const invert_arguments<T> &a, int number, char *shared)
{
    const small_group g = a.small[number];
    const shared_group s = {g.k, g.k + g.r, SQUARE, g.column_start};
    const small_parts<T, WARPS> p(shared, s, ROOT);
    const int lane = threadIdx.x % 32;
    const bool tells = front_team<WARPS>::rank() == 0;
    if constexpr (SHARE == 1 && WARPS == 1)
        if (s.k == 1)
            return invert_column(a, g, number, p.l);
    small_gather(a, s, p, ROOT);
    if constexpr (ROOT)
        small_invert<SHARE>(s, p, [&](int c, const T(&x)[SHARE]) {
#pragma unroll
            for (int q = 0; q < small_pivots(SHARE); q++)
                if (32 * q + lane < s.k)
                    p.m[32 * q + lane + c * s.k] = x[q];
        });
    else {
        const small_target<SHARE, T> target(a, g, p);
        small_invert<SHARE>(s, p, [&](int c, const T(&x)[SHARE]) { target.put(c, x); });
    }
    const double growth = small_growth(s, p);
    if (tells) {
        a.growth[number] = growth;
        gather_growth(&a.gathered->of_group, growth);
    }
    if constexpr (ROOT) {
        small_root(a, g, p);
        const double root_growth = small_root_growth(a, g, p);
        if (tells) {
            a.root_growth[number] = root_growth;
            gather_growth(&a.gathered->of_root, root_growth);
        }
    }
}

/* Small groups from `first` on, of at most 32 SHARE rows, one for each team, to each of which
 * `bytes` of shared memory belong.  ROOT: roots whose G is stored.  follows: what the kernel before
 * did is wanted here; otherwise that one lets the next one begin only when what both read is there,
 * and they run side by side. */
template <typename T, int SHARE, bool ROOT, int WARPS>
__global__ void __launch_bounds__(SMALL_THREADS, small_blocks_each(SHARE))
    invert_small_kernel(const __grid_constant__ invert_arguments<T> a, int32_t first, int32_t count,
                        int32_t bytes, bool follows)
{
    static_assert(!ROOT || WARPS == SMALL_WARPS, "roots are inverted by blocks");
    extern __shared__ __align__(128) char shared[];
    constexpr int TEAMS = SMALL_WARPS / WARPS;
    const int team = (int)threadIdx.x / 32 / WARPS, number = (int)(blockIdx.x * TEAMS) + team;
    if (follows)
        wait_for_grid_before();
    let_next_grid_begin();
    if (number < count)
        invert_small<SHARE, ROOT, WARPS>(a, first + number, shared + team * bytes);
    stay_for_grid_before(!follows);
}

#endif
