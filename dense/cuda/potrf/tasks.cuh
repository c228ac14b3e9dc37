/* dense/cuda/potrf/tasks.cuh: grid scope: the Cholesky factorization of one matrix in one launch
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * L is made in place by tiles of 64 x 64; tile (i, j) is finished when panel j is.  One block of
 * threads has the chain, from one diagonal tile to the next:
 *     L(j,j) and its inverse X_j
 *     L(j+1,j) = A'(j+1,j) X_j^H, A' being A less the products of all panels before j
 *     A'(j+1,j+1) less L(j+1,j) L(j+1,j)^H
 * It takes A' from the workspace and puts L and X there, whole tiles as they are in shared memory,
 * by one copy each.  Six blocks, three for odd and three for even i, make what it waits for:
 *     NEAR (i,i-k), k = 0, 1  less the products of panels i-3 and i-2, the last but for the
 *                             chain's, to the workspace
 *     NEAR (i,i-2)            finished; the other two make it for themselves
 * All others draw tasks by ticket, column by column:
 *     COPY (j,j), (j+1,j)     from the workspace to the matrix
 *     PARTIAL (i,i), (i,i-1), (i,i-2), i = j+3, less the products of panels 0 to i-4
 *     FAR (i,j), i > j+2      finished
 * A task sums its products in registers, in the order of panels, as far as these are there.  It
 * waits for the chain, for NEAR and for tasks with smaller tickets, which blocks that run have
 * drawn.  So all goes on with any number of blocks from eight on, and sums do not depend on who
 * comes when.
 *
 * One warp of the chain tells how far it is, X_j before L(j+1,j), and brings tiles while all are in
 * cholesky_64.  From X_j on NEAR takes two products to have A'(j+2,j+2), and for A'(j+2,j+1) a
 * second one after L(j+1,j): a block that took all three would be slower than the chain. */
#ifndef DENSE_CUDA_POTRF_TASKS_CUH
#define DENSE_CUDA_POTRF_TASKS_CUH

#include "dense/cuda/device/cluster.cuh"
#include "dense/cuda/device/progress.cuh"
#include "dense/cuda/device/row_tiles.cuh"

/* Words in the workspace, zero before a launch. */
struct potrf_words {
    unsigned *ticket;
    unsigned *chain;   /* panels that it has finished */
    unsigned *inverse; /* panels whose X, L(j,j) and `grows` are there */
    unsigned *panels;  /* of row block i: panels 0, 1, ... of it that are in the matrix */
    unsigned *partial; /* [3 i + k]: tile (i,i-k) is made, k = 0, 1, 2 */
    unsigned *ready;   /* [2 i + k]: tile (i,i-k) is there for the chain, k = 0, 1 */
    unsigned *taken;   /* [2 i + k]: who makes (i,i-k) has read what (i,i-2) was */
    unsigned *grows;   /* block j's inverse is too large; need not be zero */

    __host__ __device__ potrf_words(unsigned *words, int tiles)
        : ticket(words), chain(words + 32), inverse(words + 64), panels(words + 96),
          partial(panels + tiles), ready(partial + 3 * tiles), taken(ready + 2 * tiles),
          grows(taken + 2 * tiles)
    {
    }
    __host__ __device__ static int64_t count(int64_t tiles) { return 96 + 9 * tiles; }
};

/* Tiles in the workspace, as they are in shared memory. */
template <typename T> struct potrf_tiles {
    enum kind { BELOW, DIAGONAL, INVERSE };
    enum { READY = 3 };
    T *first;

    /* A'(i,i), A'(i,i-1) for the chain: which = 0, 1.  Three of each: whoever sees X_{i-3} knows
     * that the chain has fetched those of i-3. */
    __device__ __forceinline__ T *ready(int i, int which) const
    {
        return first + (2 * (i % READY) + which) * TILE_AREA<T>;
    }
    /* L(j+1,j), L(j,j), X_j */
    __device__ __forceinline__ T *panel(int j, kind k) const
    {
        return first + (2 * READY + 3 * (int64_t)j + k) * TILE_AREA<T>;
    }
    static int64_t count(int64_t tiles) { return 2 * READY + 3 * tiles; }
};

template <typename T> struct potrf_arguments {
    T *a; /* L(i,j) at a[i row + j column] */
    int64_t row, column;
    int n, tiles;
    copying how;
    unsigned *words;
    potrf_tiles<T> kept;
    int *info;
};

/* Shared memory: the stages of a product or three tiles, 64 pivots; for the chain the next two
 * tiles as well, if there is room. */
template <typename T> struct potrf_room {
    static constexpr bool AHEAD = sizeof(T) <= 8;
    static constexpr int BYTES =
        tile_room<T>::BYTES + (AHEAD ? 2 * TILE_AREA<T> * (int)sizeof(T) : 0);
};

/* Blocks of threads with a place of their own: the chain's and NEAR's. */
constexpr int POTRF_LEADERS = 7;
/* Tasks of column j, to the last but one: COPY; PARTIAL of row j+3 where there is one and something
 * to do; FAR. */
__host__ __device__ inline int potrf_partials(int j, int tiles)
{
    return j > 0 && j + 3 < tiles ? 3 : 0;
}
__host__ __device__ inline int potrf_tasks(int j, int tiles)
{
    const int far = tiles - 3 - j;
    return 1 + potrf_partials(j, tiles) + (far > 0 ? far : 0);
}

template <typename T> struct potrf_block {
    static constexpr int LD = TILE_LD<T>, TILE_BYTES = TILE_AREA<T> * (int)sizeof(T);
    const potrf_arguments<T> &a;
    const potrf_words words;
    T *const stages;
    T *const tile[3]; /* where the stages are */
    unsigned *const seen;
    uint64_t *const inbox; /* two, of the chain */

    __device__ __forceinline__ potrf_block(const potrf_arguments<T> &a, T *shared, unsigned *seen,
                                           uint64_t *inbox)
        : a(a), words(a.words, a.tiles), stages(shared),
          tile{shared, shared + TILE_AREA<T>, shared + 2 * TILE_AREA<T>}, seen(seen), inbox(inbox)
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
    __device__ __forceinline__ tile_part<T> part_of(int i, int j) const
    {
        return {at(i, j), a.row, a.column, rows_of(i), rows_of(j)};
    }
    /* Tile (i, j) of the matrix := tile.  Neighbours in memory by neighbouring lanes. */
    __device__ __forceinline__ void put(int i, int j, const T *tile) const
    {
        const bool by_rows = a.how == copying::BY_ROWS;
        const int rows = rows_of(i), columns = rows_of(j);
        T *const to = at(i, j);
#pragma unroll 4
        for (int q = 0; q < TILE_SHARE; q++) {
            const int r = tile_row(q, by_rows), c = tile_column(q, by_rows);
            if (r < rows && c < columns && (i > j || r >= c))
                to[r * a.row + c * a.column] = tile[r + c * LD];
        }
    }
    /* A tile of the workspace to shared memory. */
    __device__ __forceinline__ static void fetch(T *to, const T *kept)
    {
        tile_fetch(to, row_operand<T>{kept, LD, TILE, 0}, TILE);
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
    __device__ __forceinline__ static void tell(unsigned *word, unsigned value)
    {
        if (threadIdx.x == 0)
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
    /* B := B X^H as multiplied, when nobody reads B any more.  Ends with a barrier. */
    __device__ __forceinline__ static void put_scaled(T *B, const product_sum<T, 4> &scaled)
    {
        __syncthreads();
        multiply_put(B + sum_row() + sum_column() * LD, LD, scaled, false);
        __syncthreads();
    }
    /* The same by substitution with L, which lies as tiles do. */
    __device__ __forceinline__ static void substitute(T *B, const T *L, int columns, T *room)
    {
        substitute_rows(B, L, B, 1, LD, TILE, columns, room);
        __syncthreads();
    }
    __device__ __forceinline__ void copy(int j) const
    {
        wait_for(words.chain, (unsigned)j + 1);
        fetch(tile[0], a.kept.panel(j, a.kept.DIAGONAL));
        fetch(tile[1], a.kept.panel(j, a.kept.BELOW));
        /* The chain has not waited for L(j+1,j-1) in the matrix.  While copies come this costs
         * nothing. */
        if (threadIdx.x == 0)
            progress_wait(words.panels + j + 1, (unsigned)j);
        arrive();
        put(j + 1, j, tile[1]);
        put(j, j, tile[0]);
        __syncthreads();
        tell(words.panels + j + 1, (unsigned)j + 1);
    }
    /* tile[1] := tile[1] X_j^H, when it is there; X_j to tile[2]. */
    __device__ __forceinline__ void scale_or_substitute(int j) const
    {
        wait_for(words.inverse, (unsigned)j + 1);
        const bool grows = words.grows[j];
        fetch(tile[2], a.kept.panel(j, a.kept.INVERSE));
        arrive();
        if (grows) {
            substitute(tile[1], a.kept.panel(j, a.kept.DIAGONAL), TILE, tile[2]);
        } else {
            product_sum<T, 4> scaled;
            multiply_by_inverse(scaled, tile[1], tile[2]);
            put_scaled(tile[1], scaled);
        }
    }
    /* PARTIAL: tile (i, j) less the products of the panels before `to`; otherwise FAR. */
    __device__ __forceinline__ void make(int i, int j, int to, bool partial) const
    {
        product_sum<T, 4> sum;
        add_panels(sum, i, j, to);
        part_of(i, j).put_less(tile[1], sum, rows_of(i), rows_of(j), i == j);
        if (partial) {
            __syncthreads();
        } else {
            scale_or_substitute(j);
        }
        put(i, j, tile[1]);
        __syncthreads();
        if (partial)
            tell(words.partial + 3 * i + (i - j), 1);
        else
            tell(words.panels + i, (unsigned)j + 1);
    }
    /* Tile (i, i-k) as PARTIAL has left it, or as it was. */
    __device__ __forceinline__ tile_part<T> take(int i, int k) const
    {
        if (i > 3)
            wait_for(words.partial + 3 * i + k, 1);
        return part_of(i, i - k);
    }
    /* tile[k] := L(i, j), when it is there */
    __device__ __forceinline__ void fetch_finished(int k, int i, int j) const
    {
        wait_for(words.panels + i, (unsigned)j + 1);
        tile_fetch(tile[k], rows_from(i, j), TILE, a.how);
    }
    /* The copies of all are there. */
    __device__ __forceinline__ static void arrive()
    {
        copies_commit();
        copies_wait<0>();
        __syncthreads();
    }
    /* k = 0, 1: tile (i, i-k) for the chain; 2: L(i,i-2), which all three make. */
    __device__ __forceinline__ void make_near(int i, int k) const
    {
        const int j = i - 2, rows = rows_of(i);
        product_sum<T, 4> sum;
        if (i == 1 && k == 2)
            return;
        if (i > 1) {
            product_sum<T, 4> last;
            const tile_part<T> own = take(i, 2);
            if (i > 2) { /* somebody has seen X_{j-1}: the places for the chain are free */
                fetch_finished(0, i, j - 1);
                if (k == 1)
                    fetch_finished(1, i - 1, j - 1);
                wait_for(words.chain, (unsigned)j);
                fetch(tile[2], a.kept.panel(j - 1, a.kept.BELOW));
                arrive();
                multiply_tiles(last, tile[0], tile[2]);
                if (k < 2)
                    multiply_tiles(sum, tile[0], tile[k]);
                __syncthreads();
            }
            own.put_less(tile[1], last, rows, TILE, false);
            if (k < 2) {
                __syncthreads();
                tell(words.taken + 2 * i + k, 1);
            }
        }
        if (k == 2) {
            scale_or_substitute(j);
            wait_for(words.taken + 2 * i, 1);
            wait_for(words.taken + 2 * i + 1, 1);
            put(i, j, tile[1]);
            __syncthreads();
            tell(words.panels + i, (unsigned)j + 1);
            return;
        }
        const tile_part<T> goal = take(i, k);
        if (i > 1) {
            scale_or_substitute(j);
            if (k == 1) {
                wait_for(words.chain, (unsigned)j + 1);
                fetch(tile[0], a.kept.panel(j, a.kept.BELOW));
                arrive();
            }
            multiply_tiles(sum, tile[1], tile[1 - k]);
        }
        goal.put_less(a.kept.ready(i, k), sum, rows, k == 0 ? rows : TILE, k == 0);
        __syncthreads();
        tell(words.ready + 2 * i + k, 1);
    }
    /* Of row blocks 1, 2, ... by turns. */
    __device__ __forceinline__ void stay_near(int leader) const
    {
#pragma unroll 1
        for (int i = 1 + (leader - 1) / 3; i < a.tiles; i += 2) {
            __syncthreads();
            make_near(i, leader % 3);
        }
    }

    /* ---- The chain ---- */

    /* A thread of the warp that cholesky_64 leaves time and subtract_square leaves out. */
    enum { MESSENGER = 4 * 32 };

    /* By the messenger: tile (i, i) or (i, i-1) on its way; a tile to the workspace. */
    __device__ __forceinline__ void bring(int i, int which, T *to) const
    {
        copies_follow();
        inbox_expect(inbox + which, TILE_BYTES);
        inbox_copy(to, a.kept.ready(i, which), TILE_BYTES, inbox + which);
    }
    __device__ __forceinline__ void send(int j, typename potrf_tiles<T>::kind kind,
                                         const T *from) const
    {
        outbox_copy(a.kept.panel(j, kind), from, TILE_BYTES);
    }
    /* What it has sent is there, and where that lay is free. */
    __device__ __forceinline__ void tell_inverse(int j) const
    {
        outbox_wait();
        progress_tell(words.inverse, (unsigned)j + 1);
    }
    __device__ __forceinline__ void lead(real_of<T> *pivot, real_of<T> *size) const
    {
        using kept = potrf_tiles<T>;
        constexpr bool AHEAD = potrf_room<T>::AHEAD;
        T *const D = tile[0], *const X = tile[2],
                 *const more = stages + tile_room<T>::BYTES / sizeof(T),
                 *const B = AHEAD ? more : tile[1], *const next = AHEAD ? more + TILE_AREA<T> : D;
        /* The herald tells X_j.  Where products are shorter than copies, all would wait for one who
         * does so before L(j+1,j) is there; where they are longer, one in a warp with half a
         * product has time. */
        constexpr bool LONG = scalar<T>::is_complex;
        const bool is_messenger = threadIdx.x == MESSENGER,
                   is_herald = threadIdx.x == (LONG ? 3 * 32 : MESSENGER);
        int info = 0, told = 0;
        const auto tell_chain = [&](int panels) {
            if (told < panels)
                progress_tell(words.chain, (unsigned)panels);
            told = panels;
        };
        bool clear = true; /* X is not zero above its diagonal */
        if (is_messenger)
            for (int k = 0; k < 2; k++)
                inbox_open(inbox + k);
        part_of(0, 0).put_less(D, {}, rows_of(0), rows_of(0), true);
        for (int k = TILE + threadIdx.x / 4; k < LD; k += CHOLESKY_THREADS / 4) /* is sent too */
            for (int j = threadIdx.x % 4; j < TILE; j += 4)
                D[k + j * LD] = X[k + j * LD] = B[k + j * LD] = T{};
#pragma unroll 1
        for (int j = 0;; j++) {
            const int k = rows_of(j);
            const bool last = j + 1 == a.tiles;
            const unsigned *const ready = words.ready + 2 * (j + 1);
            int brought = 0; /* by the messenger: first `next`, then B */
            if (clear || last)
                begin_block(D, X, k);
            else
                __syncthreads();
            clear = false;
            cholesky_64(D, k, X, *reinterpret_cast<cholesky_room<T> *>(tile[1]), pivot,
                        [&](int step) {
                            if (step == 0)
                                for (int i = threadIdx.x % 32; i < TILE; i += 32) {
                                    size[i] = sqrt(real_part(D[i * (LD + 1)]));
                                    size[TILE + i] = 1 / size[i];
                                }
                            if (is_messenger && step == 0)
                                outbox_wait();
                            else if (is_messenger && step == 1)
                                tell_chain(j);
                            else if (AHEAD && is_messenger && !last && brought < 2 &&
                                     progress_seen(ready + brought)) {
                                bring(j + 1, brought, brought ? B : next);
                                brought++;
                            }
                            __syncwarp();
                        });
            if (is_messenger)
                tell_chain(j);
            if (threadIdx.x < 32 && info == 0) {
                const int pivots = first_refused(pivot, k);
                info = pivots ? TILE * j + pivots : 0;
            }
            if (last)
                break;
            /* as if rows and columns had been scaled for ones on the diagonal: products with X do
             * not depend on that */
            const int grows = __syncthreads_or(look_at_inverse(
                X,
                [&](int i, int j) { return real_part(D[i * (LD + 1)]) * size[TILE + i] * size[j]; },
                [](int, int, T) {}));
            if (is_herald) {
                words.grows[j] = (unsigned)grows;
                copies_follow();
                send(j, kept::INVERSE, X);
                send(j, kept::DIAGONAL, D);
            }
            if (is_messenger && brought < 2) {
                progress_wait(ready + 1, 1);
                bring(j + 1, 1, B);
            }
            __syncwarp();
            inbox_wait(inbox + 1, j % 2);
            if (grows) {
                if (is_herald) {
                    tell_inverse(j);
                    copies_follow();
                }
                __syncthreads();
                substitute(B, a.kept.panel(j, kept::DIAGONAL), TILE, X);
                clear = true;
            } else {
                product_sum<T, 4> scaled;
                multiply_by_inverse(scaled, B, X);
                if (LONG && is_herald)
                    tell_inverse(j);
                put_scaled(B, scaled);
            }
            if (is_messenger) {
                if (!LONG && !grows)
                    tell_inverse(j);
                copies_follow();
                send(j, kept::BELOW, B);
                if (brought == 0) {
                    progress_wait(ready, 1);
                    bring(j + 1, 0, next);
                }
                if (!AHEAD) { /* cholesky_64 has its room where that lies */
                    outbox_wait();
                    tell_chain(j + 1);
                }
            }
            __syncwarp();
            inbox_wait(inbox, j % 2);
            subtract_square<true>(D, next, B);
        }
        put(a.tiles - 1, a.tiles - 1, D);
        if (threadIdx.x == 0)
            *a.info = info;
    }
    /* By a warp: the number, from one, of the first of k pivots that is refused, or zero. */
    __device__ __forceinline__ static int first_refused(const real_of<T> *pivot, int k)
    {
        const auto refused = [&](int i) {
            return __ballot_sync(~0u, i < k && !(pivot[i] >= least_normal<real_of<T>>()));
        };
        const int lane = (int)threadIdx.x % 32;
        const unsigned near = refused(lane), far = refused(lane + 32);
        return near ? __ffs((int)near) : far ? 32 + __ffs((int)far) : 0;
    }

    /* In shared memory, for the chain.  pivot: 64; size: 128. */
    __device__ __forceinline__ void run(real_of<T> *pivot, real_of<T> *size) const
    {
        int column = 0, first = POTRF_LEADERS; /* that column's first ticket */
        for (;;) {
            __syncthreads();
            int number = (int)wait([&] { return atomicAdd(words.ticket, 1u); });
            if (number == 0)
                return lead(pivot, size);
            if (number < POTRF_LEADERS)
                return stay_near(number);
            for (;; column++) {
                if (column + 1 >= a.tiles)
                    return;
                const int count = potrf_tasks(column, a.tiles);
                if (number < first + count)
                    break;
                first += count;
            }
            number -= first;
            __syncthreads();
            if (number-- == 0) {
                copy(column);
                continue;
            }
            const int partials = potrf_partials(column, a.tiles), i = column + 3;
            if (number < partials)
                make(i, i - number, column, true);
            else
                make(i + number - partials, column, column, false);
        }
    }
};

template <typename T>
__global__ void __launch_bounds__(CHOLESKY_THREADS, 1)
    potrf_kernel(const __grid_constant__ potrf_arguments<T> a)
{
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ unsigned seen;
    __shared__ uint64_t inbox[2];
    __shared__ real_of<T> size[2 * TILE];
    T *const shared = reinterpret_cast<T *>(memory);
    const potrf_block<T> block(a, shared, &seen, inbox);
    block.run(reinterpret_cast<real_of<T> *>(shared + tile_room<T>::STAGES), size);
}

#endif
