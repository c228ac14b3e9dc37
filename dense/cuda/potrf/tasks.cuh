/* dense/cuda/potrf/tasks.cuh: grid scope: the Cholesky factorization of one matrix in one launch
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * L is made in place by tiles of 64 x 64; tile (i, j) is finished when panel j is.  One block of
 * threads has the chain, from a diagonal tile to the tile below it and on to the next diagonal
 * tile, which stays in its shared memory: L(j,j) and its inverse X_j          cholesky_64 L(j+1,j)
 * = A'(j+1,j) X_j^H          A': A less the products of all panels before j A'(j+1,j+1) less
 * L(j+1,j) L(j+1,j)^H All others draw tasks by ticket, column by column: PARTIAL (i,i), (i,i-1)
 * less the products of panels 0 to i-3 NEAR (i,i-2)            finished; then (i,i) and (i,i-1)
 * less the product of panel i-2, the last but for the chain's FAR (i,j), i > j+2      finished A
 * task sums its products in registers, in the order of panels, as far as these are there.  It waits
 * for the chain and for tasks with smaller tickets, which blocks that run have drawn.  So all goes
 * on with any number of blocks from two on, and sums do not depend on who comes when. */
#ifndef DENSE_CUDA_POTRF_TASKS_CUH
#define DENSE_CUDA_POTRF_TASKS_CUH

#include "dense/cuda/device/progress.cuh"
#include "dense/cuda/device/row_tiles.cuh"

/* Words in the workspace, zero before a launch. */
struct potrf_words {
    unsigned *ticket;
    unsigned *panels;  /* of row block i: panels of it that are finished, its diagonal tile with its
                          inverse too */
    unsigned *partial; /* [2 i], [2 i + 1]: tiles (i,i) and (i,i-1) lack panel i-2 and the chain's
                        */
    unsigned *near;    /* they lack the chain's product */
    unsigned *grows;   /* block j's inverse is too large; need not be zero */

    __host__ __device__ potrf_words(unsigned *words, int tiles)
        : ticket(words), panels(words + 32), partial(panels + tiles), near(partial + 2 * tiles),
          grows(near + tiles)
    {
    }
    __host__ __device__ static int64_t count(int64_t tiles) { return 32 + 5 * tiles; }
};

template <typename T> struct potrf_arguments {
    T *a; /* L(i,j) at a[i row + j column] */
    int64_t row, column;
    int n, tiles;
    copying how;
    unsigned *words;
    T *inverse; /* of diagonal tile j at 64^2 j */
    int *info;
};

template <typename T> struct potrf_block {
    static constexpr int LD = TILE_LD<T>;
    const potrf_arguments<T> &a;
    const potrf_words words;
    T *const stages;
    T *const tile[3]; /* where the stages are */
    unsigned *const seen;

    __device__ __forceinline__ potrf_block(const potrf_arguments<T> &a, T *shared, unsigned *seen)
        : a(a), words(a.words, a.tiles), stages(shared),
          tile{shared, shared + TILE_AREA<T>, shared + 2 * TILE_AREA<T>}, seen(seen)
    {
    }

    /* ---- Where things are ---- */

    __device__ __forceinline__ int rows_of(int i) const { return min(TILE, a.n - TILE * i); }
    __device__ __forceinline__ T *at(int i, int j) const
    {
        return a.a + TILE * (i * a.row + j * a.column);
    }
    /* Row block i from panel c on. */
    __device__ __forceinline__ row_operand<T> rows_from(int i, int c) const
    {
        return {at(i, c), a.how == copying::BY_ROWS ? a.row : a.column, rows_of(i), 0};
    }
    __device__ __forceinline__ row_operand<T> inverse_of(int j) const
    {
        return {a.inverse + (int64_t)j * TILE * TILE, TILE, TILE, 0};
    }
    __device__ __forceinline__ tile_part<T> part_of(int i, int j) const
    {
        return {at(i, j), a.row, a.column, rows_of(i), rows_of(j)};
    }
    __device__ __forceinline__ void put(int i, int j, int r, int c, T v) const
    {
        at(i, j)[r * a.row + c * a.column] = v;
    }

    /* ---- Waiting and telling ---- */

    /* What thread 0 has seen, to all; a barrier stands before. */
    template <typename F> __device__ __forceinline__ unsigned wait(F look) const
    {
        if (threadIdx.x == 0)
            *seen = look();
        __syncthreads();
        return *seen;
    }
    __device__ __forceinline__ static void wait_for(const unsigned *word, unsigned least)
    {
        if (threadIdx.x == 0)
            progress_wait(word, least);
        __syncthreads();
    }
    /* A warp that is not that of the chain. */
    __device__ __forceinline__ static void tell(unsigned *word, unsigned value)
    {
        if (threadIdx.x == CHOLESKY_THREADS - 1)
            progress_tell(word, value);
    }

    /* ---- Tasks ---- */

    /* sum += L(i, 0:to-1) L(j, 0:to-1)^H.  Ends with a barrier. */
    __device__ __forceinline__ void add_panels(product_sum<T, 4> &sum, int i, int j, int to) const
    {
        for (int c = 0; c < to;) {
            const int end = (int)wait([&] {
                const unsigned least = (unsigned)c + 1;
                return min(min((int)progress_wait(words.panels + i, least),
                               (int)progress_wait(words.panels + j, least)),
                           to);
            });
            multiply_rows(sum, rows_from(i, c), rows_from(j, c), TILE * (end - c), i == j, stages,
                          a.how);
            c = end;
        }
    }
    /* Tile (i, j) less a sum. */
    __device__ __forceinline__ void subtract(int i, int j, const tile_part<T> &before,
                                             const product_sum<T, 4> &sum) const
    {
        const int lane = threadIdx.x % 32, g = sum_row() + lane / 4,
                  l = sum_column() + 2 * (lane % 4), rows = rows_of(i), columns = rows_of(j);
#pragma unroll
        for (int t = 0; t < 4; t++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int r = g + 8 * (e / 2), c = l + 8 * t + e % 2;
                if (r < rows && c < columns && (i != j || r >= c))
                    put(i, j, r, c, before.v[t][e] - sum.entry(t, e));
            }
    }
    __device__ __forceinline__ void make_partial(int i, int j) const
    {
        product_sum<T, 4> sum;
        add_panels(sum, i, j, i - 2);
        subtract(i, j, part_of(i, j), sum);
        __syncthreads();
        tell(words.partial + 2 * i + (i - j), 1);
    }
    /* Tile (i, j) of L to memory and to tile[1], tile[1] (before) X_j^H. */
    __device__ __forceinline__ void scale(int i, int j) const
    {
        if (words.grows[j]) {
            substitute_rows(tile[1], at(j, j), at(i, j), a.row, a.column, rows_of(i), rows_of(j),
                            tile[2]);
            __syncthreads();
            return;
        }
        product_sum<T, 4> scaled;
        multiply_tiles(scaled, tile[1], tile[2]);
        __syncthreads();
        multiply_put(tile[1] + sum_row() + sum_column() * LD, LD, scaled, false);
        each_entry(scaled, rows_of(i), rows_of(j), [&](int r, int c, T v) { put(i, j, r, c, v); });
        __syncthreads();
    }
    __device__ __forceinline__ void finish(int i, int j) const
    {
        product_sum<T, 4> sum;
        add_panels(sum, i, j, j);
        part_of(i, j).put_less(tile[1], sum, rows_of(i), rows_of(j), false);
        wait_for(words.panels + j, (unsigned)j + 1);
        tile_fetch(tile[2], inverse_of(j), TILE);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        scale(i, j);
        tell(words.panels + i, (unsigned)j + 1);
    }
    /* The rest of what tiles (i, i) and (i, i-1) lack, but for the chain's: L(i, i-2) is in
     * tile[1]. */
    __device__ __forceinline__ void prepare_near(int i) const
    {
        product_sum<T, 4> own, other;
        multiply_tiles(own, tile[1], tile[1]);
        if (i > 2) {
            wait_for(words.partial + 2 * i, 1);
            wait_for(words.partial + 2 * i + 1, 1);
        }
        const tile_part<T> diagonal = part_of(i, i), below = part_of(i, i - 1);
        wait_for(words.panels + i - 1, (unsigned)i - 1);
        tile_fetch(tile[0], rows_from(i - 1, i - 2), TILE, a.how);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        multiply_tiles(other, tile[1], tile[0]);
        subtract(i, i, diagonal, own);
        subtract(i, i - 1, below, other);
        __syncthreads();
        tell(words.near + i, 1);
    }

    /* ---- The chain ---- */

    __device__ __forceinline__ void lead(real_of<T> *pivot) const
    {
        T *const D = tile[0], *const X = tile[2];
        int info = 0;
        part_of(0, 0).put_less(D, {}, rows_of(0), rows_of(0), true);
#pragma unroll 1
        for (int j = 0;; j++) {
            const int k = rows_of(j);
            begin_block(D, X, k);
            cholesky_64(D, k, X, *reinterpret_cast<cholesky_room<T> *>(tile[1]), pivot);
            if (threadIdx.x < 32 && info == 0) {
                const int lane = threadIdx.x;
                const unsigned near = __ballot_sync(~0u, lane < k && refused(pivot[lane])),
                               far = __ballot_sync(~0u, lane + 32 < k && refused(pivot[lane + 32]));
                if (near | far)
                    info = TILE * j + (near ? __ffs((int)near) : 32 + __ffs((int)far));
            }
            put_diagonal(j, k);
            if (j + 1 == a.tiles)
                break;
            const bool grows = put_inverse(a.inverse + (int64_t)j * TILE * TILE, D, X);
            const int any = __syncthreads_or(grows);
            if (threadIdx.x == CHOLESKY_THREADS - 1) {
                words.grows[j] = (unsigned)any;
                progress_tell(words.panels + j, (unsigned)j + 1);
            }
            if (j > 0)
                wait_for(words.near + j + 1, 1);
            const tile_part<T> next = part_of(j + 1, j + 1);
            part_of(j + 1, j).put_less(tile[1], {}, rows_of(j + 1), k, false);
            __syncthreads();
            scale(j + 1, j);
            tell(words.panels + j + 1, (unsigned)j + 1);
            product_sum<T, 4> sum;
            multiply_tiles(sum, tile[1], tile[1]);
            next.put_less(D, sum, rows_of(j + 1), rows_of(j + 1), true);
        }
        if (threadIdx.x == 0)
            *a.info = info;
    }
    __device__ __forceinline__ static bool refused(real_of<T> pivot)
    {
        return !(pivot >= least_normal<real_of<T>>());
    }
    __device__ __forceinline__ void put_diagonal(int j, int k) const
    {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const bool by_rows = a.how == copying::BY_ROWS;
        for (int far = warp; far < k; far += CHOLESKY_THREADS / 32)
            for (int near = lane; near < k; near += 32) {
                const int r = by_rows ? far : near, c = by_rows ? near : far;
                if (r >= c)
                    put(j, j, r, c, tile[0][r + c * LD]);
            }
    }

    __device__ __forceinline__ void run(real_of<T> *pivot) const
    {
        int column = 0, first = 1; /* that column's first ticket */
        for (;;) {
            __syncthreads();
            int number = (int)wait([&] { return atomicAdd(words.ticket, 1u); });
            if (number == 0)
                return lead(pivot);
            for (;; column++) { /* two partial tiles but for column 0, near, far */
                const int count = (column > 0 ? 2 : 0) + a.tiles - 2 - column;
                if (column + 2 >= a.tiles)
                    return;
                if (number < first + count)
                    break;
                first += count;
            }
            const int i = column + 2;
            number -= first;
            __syncthreads();
            if (column > 0 && number < 2) {
                make_partial(i, i - number);
                continue;
            }
            number -= column > 0 ? 2 : 0;
            finish(i + number, column);
            if (number == 0)
                prepare_near(i);
        }
    }
};

template <typename T>
__global__ void __launch_bounds__(CHOLESKY_THREADS, 1)
    potrf_kernel(const __grid_constant__ potrf_arguments<T> a)
{
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ unsigned seen;
    T *const shared = reinterpret_cast<T *>(memory);
    const potrf_block<T> block(a, shared, &seen);
    block.run(reinterpret_cast<real_of<T> *>(shared + tile_room<T>::STAGES));
}

#endif
