/* gpu/invert/tiles.cuh: block scope: inverses of large groups strip by strip
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_TILES_CUH
#define GPU_INVERT_TILES_CUH

#include "dense/cuda/device/invert.cuh"
#include "gpu/invert/arguments.cuh"

constexpr int STRIP_THREADS = 256, STRIP_WARPS = STRIP_THREADS / 32;
constexpr int SQUARE_AREA = SQUARE * SQUARE;
constexpr int SQUARE_SHARE = SQUARE_AREA / STRIP_THREADS;

template <typename T>
__device__ __forceinline__ T *tiles_l(const invert_arguments<T> &a, const tiled_group &g)
{
    return a.workspace + g.l;
}
template <typename T>
__device__ __forceinline__ T *tiles_t(const invert_arguments<T> &a, const tiled_group &g)
{
    return a.workspace + g.t;
}
template <typename T>
__device__ __forceinline__ T *tiles_x(const invert_arguments<T> &a, const tiled_group &g)
{
    return (g.root >= 0 || g.parts > 0 ? a.workspace : a.values) + g.x;
}

/* Thread's entries of a tile: number threadIdx.x + 256 u in memory are all in row strip_row(), in
 * columns warp + 8 u. */
__device__ __forceinline__ int strip_row()
{
    return (threadIdx.x % 32) ^ 4 * (threadIdx.x / 32 & 3);
}
__device__ __forceinline__ int strip_column(int u)
{
    return threadIdx.x / 32 + STRIP_WARPS * u;
}
/* v of row `row` of the same column, which another lane of the warp has */
template <typename T> __device__ __forceinline__ T of_row(T v, int row)
{
    return shuffle(v, row ^ 4 * (threadIdx.x / 32 & 3));
}

/* Each warp waits for its column of a part of a strip. */
template <typename T>
__device__ __forceinline__ void wait_for_part(const invert_arguments<T> &a, int part)
{
    const invert_strip strip = a.strip[part / INVERT_STRIP_PARTS];
    const int c = part % INVERT_STRIP_PARTS * STRIP_WARPS + (int)threadIdx.x / 32;
    if (c < strip.width)
        wait_for_column(a, a.tiled[strip.group].column_start + strip.column + c, threadIdx.x % 32,
                        32);
}

/* Entries of L from the panels to the tiles, zeros around them, in the columns of part `part` of a
 * strip, one for each warp. */
template <typename T> __device__ __forceinline__ void gather(const invert_arguments<T> &a, int part)
{
    static_assert(INVERT_STRIP_PARTS * STRIP_WARPS == SQUARE, "a column for each warp");
    constexpr int AHEAD = 8;
    const invert_strip strip = a.strip[part / INVERT_STRIP_PARTS];
    const tiled_group g = a.tiled[strip.group];
    const int c = part % INVERT_STRIP_PARTS * STRIP_WARPS + threadIdx.x / 32,
              lane = threadIdx.x % 32;
    T *to = tiles_l(a, g);
    for (int row = strip.number; row < g.tile_rows; row++)
        to[tile_number(g.nb, row, strip.number) * SQUARE_AREA + c * SQUARE + lane] = T{};
    __syncwarp();
    if (c >= strip.width)
        return;
    const invert_piece piece = a.piece[a.column_piece[g.column_start + strip.column + c]];
    const int j = strip.column + c - piece.column;
    const T *from = a.panel + piece.panel + (int64_t)j * piece.ld;
    const int32_t *map = a.map + piece.map;
    for (int q = j + lane; q < piece.rows; q += 32 * AHEAD) {
        T v[AHEAD];
        int row[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const bool is_there = q + 32 * k < piece.rows;
            row[k] = is_there ? map[q + 32 * k] : -1;
            v[k] = is_there ? from[q + 32 * k] : T{};
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (row[k] >= 0)
                to[tile_number(g.nb, row[k] / SQUARE, strip.number) * SQUARE_AREA +
                   square_at(row[k] % SQUARE, c)] = v[k];
    }
}

/* Copies a tile of L to D, with ones on the diagonal past `width`, and on all of it where L is unit
 * triangular and its diagonal not stored; these ones are written to L too. */
template <typename T>
__device__ __forceinline__ void square_load(T *D, T *l, bool diagonal, bool unit, int width)
{
#pragma unroll
    for (int u = 0; u < SQUARE_SHARE; u++) {
        const int row = strip_row(), column = strip_column(u);
        const bool one = diagonal && row == column && (unit || column >= width);
        T v = l[threadIdx.x + STRIP_THREADS * u];
        if (one)
            v = l[threadIdx.x + STRIP_THREADS * u] = from_real<T>(1);
        D[row + column * TILE_LD<T>] = v;
    }
}

template <typename T> __device__ __forceinline__ void square_fill(T *D, bool identity)
{
#pragma unroll
    for (int u = 0; u < SQUARE_SHARE; u++)
        D[strip_row() + strip_column(u) * TILE_LD<T>] =
            from_real<T>(identity && strip_row() == strip_column(u));
}

template <typename T> __device__ __forceinline__ void square_store(const T *X, T *x)
{
#pragma unroll
    for (int u = 0; u < SQUARE_SHARE; u++)
        x[threadIdx.x + STRIP_THREADS * u] = X[strip_row() + strip_column(u) * TILE_LD<T>];
}

template <typename T> constexpr int DIAGONAL_BYTES = 2 * TILE_AREA<T> * (int)sizeof(T);

/* D := the diagonal block of L of strip s, whose number is even, and the next one, if there is one;
 * X := inv(D).  Ends with a barrier. */
template <typename T>
__device__ __forceinline__ void invert_pair(const invert_arguments<T> &a, const tiled_group &g,
                                            int s, T *D, T *X)
{
    static_assert(TILE == 2 * SQUARE && TILE_THREADS == STRIP_THREADS,
                  "two strips are a tile of dense/");
    const int b = s - g.first_strip;
    T *const l = tiles_l(a, g);
    T *D21 = D + SQUARE, *D12 = D + SQUARE * TILE_LD<T>, *D22 = D12 + SQUARE;
    const int64_t at = tile_number(g.nb, b, b) * SQUARE_AREA,
                  below = tile_number(g.nb, b + 1, b) * SQUARE_AREA;
    square_load(D, l + at, true, !a.cholesky, a.strip[s].width);
    square_fill(D12, false);
    if (b + 1 < g.nb) {
        square_load(D21, l + below, false, false, 0);
        square_load(D22, l + below + SQUARE_AREA, true, !a.cholesky, a.strip[s + 1].width);
    } else {
        square_fill(D21, false);
        square_fill(D22, true);
    }
    tile_clear(X);
    __syncthreads();
    invert_blocks(D, X);
    invert_64(D, X);
}

/* x := inv(l) of the diagonal block of strip s, whose number is even, and the next one. */
template <typename T>
__device__ __forceinline__ void invert_diagonal(const invert_arguments<T> &a, int s, char *shared)
{
    const tiled_group g = a.tiled[a.strip[s].group];
    const int b = s - g.first_strip;
    T *const D = reinterpret_cast<T *>(shared), *const X = D + TILE_AREA<T>,
             *const x = tiles_x(a, g) + tile_number(g.nb, b, b) * SQUARE_AREA;
    invert_pair(a, g, s, D, X);
    square_store(X, x);
    if (b + 1 < g.nb) {
        T *const below = tiles_x(a, g) + tile_number(g.nb, b + 1, b) * SQUARE_AREA;
        square_store(X + SQUARE, below);
        square_store(X + SQUARE * TILE_LD<T> + SQUARE, below + SQUARE_AREA);
    }
}

/* Sums over the warps of what each thread has for strip_row(); valid in the first 32 threads, for
 * row threadIdx.x. */
template <typename R> __device__ __forceinline__ R strip_sum(R mine)
{
    __shared__ R part[STRIP_WARPS][SQUARE];
    part[threadIdx.x / 32][strip_row()] = mine;
    __syncthreads();
    R sum = part[0][threadIdx.x % 32];
#pragma unroll
    for (int w = 1; w < STRIP_WARPS; w++)
        sum += part[w][threadIdx.x % 32];
    return sum;
}

/* Row sums of |M|; then its rows in the order of the values, and zeros past the width of a strip.
 * Tiles come some at a time. */
template <typename T>
__device__ __forceinline__ void finish_strip(const invert_arguments<T> &a, int s)
{
    constexpr int AHEAD = sizeof(T) == 16 ? 2 : 8;
    const invert_strip strip = a.strip[s];
    const tiled_group g = a.tiled[strip.group];
    const int row = strip_row();
    const int from = strip.reordered && row < strip.width
                         ? a.z_row[g.column_start + strip.column + row] - strip.column
                         : row;
    T *x = tiles_x(a, g) + tile_number(g.nb, strip.number, 0) * SQUARE_AREA + threadIdx.x;
    real_of<T> sum = 0;
    for (int b0 = 0; b0 <= strip.number; b0 += AHEAD, x += AHEAD * SQUARE_AREA) {
        T v[AHEAD][SQUARE_SHARE];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
#pragma unroll
            for (int u = 0; u < SQUARE_SHARE; u++)
                v[k][u] = b0 + k <= strip.number ? x[k * SQUARE_AREA + STRIP_THREADS * u] : T{};
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const int b = b0 + k;
            const bool cut = g.root < 0 && b == strip.number && strip.width < SQUARE;
#pragma unroll
            for (int u = 0; u < SQUARE_SHARE; u++)
                sum += modulus(v[k][u]);
            if (b > strip.number || (!strip.reordered && !cut))
                continue;
#pragma unroll
            for (int u = 0; u < SQUARE_SHARE; u++) {
                const T moved = of_row(v[k][u], from);
                const bool outside = cut && (row >= strip.width || strip_column(u) >= strip.width);
                x[k * SQUARE_AREA + STRIP_THREADS * u] = outside ? T{} : moved;
            }
        }
    }
    sum = strip_sum(sum);
    if (threadIdx.x < SQUARE)
        a.sums[(int64_t)s * SQUARE + threadIdx.x] = sum;
}

/* x of a group of middle size from the workspace to the values: parts from `first` on, one for each
 * warp. */
template <typename T>
__device__ __forceinline__ void pack_parts(const invert_arguments<T> &a, int group, int first)
{
    static_assert(INVERT_PARTS == STRIP_WARPS, "a part for each warp");
    const tiled_group g = a.tiled[group];
    const int number = first + (int)threadIdx.x / 32;
    if (number >= g.part + g.parts)
        return;
    const invert_part q = a.part[number];
    const T *from = tiles_x(a, g) + (int64_t)q.tile * SQUARE_AREA;
    T *to = a.values + q.to;
    const bool by_rows = q.column_step == 1;
    const int length = (by_rows ? q.columns : q.rows) + q.zeros,
              lines = by_rows ? q.rows : q.columns;
    for (int e = threadIdx.x % 32; e < length * lines; e += 32) {
        const int along = e % length, line = e / length, row = by_rows ? line : along,
                  column = by_rows ? along : line;
        to[row * (int64_t)q.row_step + column * (int64_t)q.column_step] =
            row < q.rows && column < q.columns ? from[square_at(q.row + row, q.column + column)]
                                               : T{};
    }
}

/* The largest row sum of |L_K| |M| in a strip; of_root: of |L_K| |D| |L_K^T| |G|. */
template <typename T>
__device__ __forceinline__ void find_growth(const invert_arguments<T> &a, int s, bool of_root)
{
    const invert_strip strip = a.strip[s];
    const tiled_group g = a.tiled[strip.group];
    const T *l = tiles_l(a, g) + tile_number(g.nb, strip.number, 0) * SQUARE_AREA;
    const real_of<T> *sums = (of_root ? a.turned : a.sums) + (int64_t)g.first_strip * SQUARE;
    real_of<T> product = 0;
#pragma unroll 8
    for (int b = 0; b <= strip.number; b++, l += SQUARE_AREA, sums += SQUARE)
#pragma unroll
        for (int u = 0; u < SQUARE_SHARE; u++)
            product += modulus(l[threadIdx.x + STRIP_THREADS * u]) * sums[strip_column(u)];
    product = strip_sum(product);
    const double worst = worst_of_warp((double)product);
    if (threadIdx.x > 0)
        return;
    (of_root ? a.root_growth : a.growth)[a.smalls + s] = worst;
    gather_growth(of_root ? &a.gathered->of_root : &a.gathered->of_group, worst);
}

/* Row sums of |G| in part `part` of a strip, a row for each warp, whose lanes share the blocks of
 * columns: one has one and more, or several have one. */
template <typename T>
__device__ __forceinline__ void sum_root(const invert_arguments<T> &a, int part)
{
    static_assert(INVERT_STRIP_PARTS * STRIP_WARPS == SQUARE, "a row for each warp");
    const invert_strip strip = a.strip[part / INVERT_STRIP_PARTS];
    const tiled_group g = a.tiled[strip.group];
    const int q = part % INVERT_STRIP_PARTS * STRIP_WARPS + threadIdx.x / 32,
              row = strip.column + q;
    int sharing = 32; /* lanes that have a block */
    while (sharing > 1 && 32 / sharing < g.root_blocks)
        sharing /= 2;
    const int lane = threadIdx.x % 32;
    real_of<T> sum = 0;
    for (int b = lane / sharing; b < g.root_blocks && q < strip.width; b += 32 / sharing) {
        const root_tile t = a.root[g.root + row / g.root_rows * g.root_blocks + b];
        const T *from =
            a.values + t.at16 * (int64_t)(16 / sizeof(T)) + (int64_t)(row - t.row) * t.ld;
#pragma unroll 8
        for (int c = lane % sharing; c < t.ld; c += sharing)
            sum += modulus(from[c]);
    }
    for (int mask = 16; mask > 0; mask /= 2)
        sum += __shfl_xor_sync(~0u, sum, mask);
    if (lane == 0)
        a.root_sums[(int64_t)(part / INVERT_STRIP_PARTS) * SQUARE + q] = sum;
}

/* turned := |D| |L_K^T| times the row sums of |G|, by strips of columns. */
template <typename T>
__device__ __forceinline__ void turn_root_sums(const invert_arguments<T> &a, int s)
{
    __shared__ real_of<T> y[SQUARE + 2]; /* y[1 + c], zeros around */
    const invert_strip strip = a.strip[s];
    const tiled_group g = a.tiled[strip.group];
    real_of<T> sum[SQUARE_SHARE] = {};
#pragma unroll 4
    for (int b = strip.number; b < g.nb; b++) {
        const T *l = tiles_l(a, g) + tile_number(g.nb, b, strip.number) * SQUARE_AREA;
        const real_of<T> x = a.root_sums[((int64_t)g.first_strip + b) * SQUARE + strip_row()];
#pragma unroll
        for (int u = 0; u < SQUARE_SHARE; u++)
            sum[u] += modulus(l[threadIdx.x + STRIP_THREADS * u]) * x;
    }
#pragma unroll
    for (int u = 0; u < SQUARE_SHARE; u++) {
        for (int mask = 16; mask > 0; mask /= 2)
            sum[u] += __shfl_xor_sync(~0u, sum[u], mask);
        if (threadIdx.x % 32 == 0)
            y[1 + strip_column(u)] = sum[u];
    }
    if (threadIdx.x < 2)
        y[threadIdx.x * (SQUARE + 1)] = 0;
    __syncthreads();
    const int c = threadIdx.x;
    if (c < SQUARE)
        a.turned[(int64_t)s * SQUARE + c] =
            c < strip.width ? pivot_magnitude(a, a.column[g.column_start + strip.column + c], y[c],
                                              y[1 + c], y[2 + c])
                            : 0;
}

/* t := D^-1 M of a root, in a strip. */
template <typename T>
__device__ __forceinline__ void scale_strip(const invert_arguments<T> &a, int s)
{
    const invert_strip strip = a.strip[s];
    const tiled_group g = a.tiled[strip.group];
    const int row = strip_row();
    pivot_row<T> p = {};
    if (row < strip.width)
        p = inverse_pivot(a.d, a.e, a.hermitian, a.column[g.column_start + strip.column + row]);
    const int64_t at = tile_number(g.nb, strip.number, 0) * SQUARE_AREA;
    const T *x = tiles_x(a, g) + at;
    T *t = tiles_t(a, g) + at;
    for (int b = 0; b <= strip.number; b++, x += SQUARE_AREA, t += SQUARE_AREA)
#pragma unroll
        for (int u = 0; u < SQUARE_SHARE; u++) {
            const T v = x[threadIdx.x + STRIP_THREADS * u], other = of_row(v, row + p.neighbour);
            const T scaled = multiply(p.diagonal, v);
            t[threadIdx.x + STRIP_THREADS * u] =
                p.neighbour != 0 ? multiply_add(scaled, p.off, other) : scaled;
        }
}

#endif
