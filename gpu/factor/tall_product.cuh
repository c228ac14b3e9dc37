/* gpu/factor/tall_product.cuh: block scope: products A B^H of rows of matrices, 128 x 64 at
 * a time on the tensor cores, by warps that do not wait for one another at each stage
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A third less comes from memory for an operation than with 64 x 64, and a warp has two sums of
 * 16 x 32.  Copies of a stage say by a barrier in shared memory that they are there, and warps by
 * another that they have read it; a stage is written once more two stages later, so that warps may
 * be apart by one.  Entries of eight bytes that are not complex; 256 threads. */
#ifndef GPU_FACTOR_TALL_PRODUCT_CUH
#define GPU_FACTOR_TALL_PRODUCT_CUH

#include "dense/cuda/device/row_product.cuh"

constexpr int TALL_ROWS = 2 * TILE, TALL_COLUMNS = 16, /* of a stage */
    TALL_STAGES = 4, TALL_AHEAD = TALL_STAGES - 2;     /* stages on their way */
template <typename T> constexpr int TALL_LD = TALL_ROWS + TILE_LD<T> - TILE;
template <typename T> constexpr int TALL_AREA = (TALL_LD<T> + TILE_LD<T>)*TALL_COLUMNS;
/* Entries of shared memory: stages, then barriers of eight bytes. */
template <typename T>
constexpr int TALL_ROOM = TALL_STAGES * (TALL_AREA<T> + 2 * 8 / (int)sizeof(T));

/* A barrier in shared memory: a phase ends when `count` threads have arrived, who need not wait for
 * it. */
struct stage_barrier {
    unsigned at;

    __device__ __forceinline__ void begin(unsigned count) const
    {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
    }
    __device__ __forceinline__ void end() const
    {
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    }
    __device__ __forceinline__ void arrive() const
    {
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
    }
    /* Once this thread's copies so far are there. */
    __device__ __forceinline__ void arrive_copied() const
    {
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
    }
    /* Until the phase of that parity has ended; that before the first one has. */
    __device__ __forceinline__ void wait(unsigned parity) const
    {
        asm volatile("{\n"
                     ".reg .pred ended;\n"
                     "again:\n"
                     "mbarrier.try_wait.parity.shared.b64 ended, [%0], %1;\n"
                     "@!ended bra again;\n"
                     "}\n" ::"r"(at),
                     "r"(parity)
                     : "memory");
    }
};

/* A value that the compiler may not look through: what hangs on it is computed where it is wanted,
 * and not kept in registers from stage to stage, which have none left for it. */
__device__ __forceinline__ int64_t as_it_is(int64_t v)
{
    asm volatile("" : "+l"(v));
    return v;
}
__device__ __forceinline__ int as_it_is(int v)
{
    asm volatile("" : "+r"(v));
    return v;
}

/* This thread's share of the copies of two operands' columns, stage after stage; pointers go on
 * with them, so that a copy is an addition and an instruction.  Rows past an operand's are not
 * copied: what stands there counts for nothing but rows and columns of the product that nobody
 * wants. */
template <typename T> struct tall_copies {
    static constexpr int LD = TALL_LD<T>, LDB = TILE_LD<T>, A_AREA = LD * TALL_COLUMNS,
                         BYTES = (int)sizeof(T), A_LANES = TALL_ROWS / 2, B_LANES = TILE / 2,
                         A_STEP = TILE_THREADS / A_LANES, B_STEP = TILE_THREADS / B_LANES;
    /* Extra: of a shifted operand the row behind its last pair, of a column for each thread. */
    enum { HAS_A = 1, HAS_B = 2, A_EXTRA = 4, B_EXTRA = 8 };
    const char *a, *b;
    int64_t ld;          /* bytes */
    unsigned a_to, b_to; /* in the first stage */
    int has, left;       /* columns */

    __device__ __forceinline__ tall_copies(const row_operand<T> &A, const row_operand<T> &B,
                                           int depth, T *stages)
        : ld(A.ld * BYTES), left(depth)
    {
        const int t = threadIdx.x, a_row = 2 * (t % A_LANES), b_row = 2 * (t % B_LANES);
        const unsigned to = (unsigned)__cvta_generic_to_shared(stages);
        a = reinterpret_cast<const char *>(A.at - A.shift + a_row + t / A_LANES * A.ld);
        b = reinterpret_cast<const char *>(B.at - B.shift + b_row + t / B_LANES * B.ld);
        a_to = (unsigned)as_it_is((int)(to + (unsigned)((a_row + t / A_LANES * LD) * BYTES)));
        b_to = (unsigned)as_it_is(
            (int)(to + (unsigned)((A_AREA + b_row + t / B_LANES * LDB) * BYTES)));
        has = (a_row < A.rows + A.shift ? HAS_A : 0) | (b_row < B.rows + B.shift ? HAS_B : 0);
        if (t < TALL_COLUMNS && A.shift && A.rows == TALL_ROWS)
            has |= A_EXTRA;
        if (t < TALL_COLUMNS && B.shift && B.rows == TILE)
            has |= B_EXTRA;
        has = as_it_is(has);
    }
    /* Sixteen bytes, or zeros. */
    static __device__ __forceinline__ void copy(unsigned to, const char *from, bool is_there = true)
    {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                     "r"(is_there ? 16 : 0)
                     : "memory");
    }
    static __device__ __forceinline__ void copy_all(unsigned to, const char *from)
    {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    }
    /* From a thread's pair in the first column to the row behind the last pair of the column that
     * has its number. */
    __device__ __forceinline__ void copy_extra(unsigned to, const char *from, int rows,
                                               int distance) const
    {
        const int t = as_it_is((int)threadIdx.x);
        copy(to + (unsigned)((rows - 2 * t + t * distance) * BYTES),
             from + (rows - 2 * t) * BYTES + t * ld, t < left);
    }
    /* The next stage, to the one so many bytes behind the first. */
    __device__ __forceinline__ void next(unsigned behind)
    {
        const int64_t column = as_it_is(ld);
        if (left >= TALL_COLUMNS) {
            const char *from = a;
            if (has & HAS_A) {
#pragma unroll
                for (int q = 0; q < TALL_COLUMNS; q += A_STEP, from += A_STEP * column)
                    copy_all(a_to + behind + q * LD * BYTES, from);
            }
            from = b;
            if (has & HAS_B) {
#pragma unroll
                for (int q = 0; q < TALL_COLUMNS; q += B_STEP, from += B_STEP * column)
                    copy_all(b_to + behind + q * LDB * BYTES, from);
            }
        } else {
            const int t = as_it_is((int)threadIdx.x);
#pragma unroll 1
            for (int q = 0; q < TALL_COLUMNS; q += A_STEP)
                copy(a_to + behind + q * LD * BYTES, a + q * column,
                     has & HAS_A && t / A_LANES + q < left);
#pragma unroll 1
            for (int q = 0; q < TALL_COLUMNS; q += B_STEP)
                copy(b_to + behind + q * LDB * BYTES, b + q * column,
                     has & HAS_B && t / B_LANES + q < left);
        }
        if (has & A_EXTRA)
            copy_extra(a_to + behind, a, TALL_ROWS, LD);
        if (has & B_EXTRA)
            copy_extra(b_to + behind, b, TILE, LDB);
        a += TALL_COLUMNS * column;
        b += TALL_COLUMNS * column;
        left -= TALL_COLUMNS;
    }
};

/* This warp's part of a product. */
template <typename T> struct tall_sum {
    product_sum<T, 4> half[2];

    /* Where a half begins. */
    static __device__ __forceinline__ int row(int h)
    {
        return 32 * ((int)threadIdx.x / 32 % 4) + 16 * h;
    }
    static __device__ __forceinline__ int column() { return 32 * ((int)threadIdx.x / 128); }
    /* Entry k of this thread's 16 of a half, in the product. */
    static __device__ __forceinline__ int2 place(int h, int k)
    {
        const int lane = threadIdx.x % 32;
        return make_int2(row(h) + lane / 4 + 8 * (k % 4 / 2),
                         column() + 2 * (lane % 4) + 8 * (k / 4) + k % 2);
    }
};

/* sum += A S B^H of 16 columns, of which this lane's entries begin at `a` and `b`. */
template <typename T, typename S>
__device__ __forceinline__ void multiply_tall_stage(tall_sum<T> &sum, const T *a, const T *b,
                                                    S signs)
{
    constexpr int LD = TALL_LD<T>, LDB = TILE_LD<T>;
    const int l = threadIdx.x % 4;
#pragma unroll
    for (int c = 0; c < TALL_COLUMNS; c += 8) {
        T x[2][4];
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                x[h][e] =
                    signs.flip(a[16 * h + 8 * (e % 2) + (c + e / 2 * 4) * LD], c + l + e / 2 * 4);
#pragma unroll
        for (int t = 0; t < 4; t++) {
            const T y[2] = {b[8 * t + c * LDB], b[8 * t + (c + 4) * LDB]};
            multiply_entries<S::HERMITIAN>(sum.half[0], t, x[0], y);
            multiply_entries<S::HERMITIAN>(sum.half[1], t, x[1], y);
        }
    }
}

/* The product of A's rows, up to 128, and B's, up to 64, A S B^H.  same: they begin with the same
 * rows, and only entries at or below the diagonal are wanted.  meanwhile(): while the first stages
 * come; all threads are called.  Ends with a barrier, the stages are free then. */
template <typename T, typename S, typename F>
__device__ __forceinline__ void multiply_tall(tall_sum<T> &sum, const row_operand<T> &a,
                                              const row_operand<T> &b, int depth, bool same,
                                              T *stages, S signs, F &&meanwhile)
{
    constexpr unsigned STAGE = TALL_AREA<T> * sizeof(T);
    const int lane = threadIdx.x % 32, row = sum.row(0), column = sum.column();
    const bool counts = row < a.rows && column < b.rows && !(same && row + 31 < column);
    const char *const left =
        reinterpret_cast<const char *>(stages + row + a.shift + lane / 4 + lane % 4 * TALL_LD<T>);
    const char *const right = reinterpret_cast<const char *>(
        stages + tall_copies<T>::A_AREA + column + b.shift + lane / 4 + lane % 4 * TILE_LD<T>);
    const unsigned barriers = (unsigned)__cvta_generic_to_shared(stages) + TALL_STAGES * STAGE;
    const auto is_full = [&](int n) { return stage_barrier{barriers + n % TALL_STAGES * 8}; };
    const auto is_read = [&](int n) {
        return stage_barrier{barriers + (TALL_STAGES + n % TALL_STAGES) * 8};
    };
    const auto parity = [](int n) { return (unsigned)n / TALL_STAGES % 2; };
    if ((int)threadIdx.x < 2 * TALL_STAGES)
        stage_barrier{barriers + threadIdx.x * 8}.begin(
            (int)threadIdx.x < TALL_STAGES ? TILE_THREADS : TILE_THREADS / 32);
    tall_copies<T> copies(a, b, depth, stages);
    __syncthreads();
#pragma unroll
    for (int n = 0; n < TALL_AHEAD; n++)
        if (copies.left > 0) {
            copies.next(n * STAGE);
            is_full(n).arrive_copied();
        }
    meanwhile();
    for (int n = 0; n * TALL_COLUMNS < depth; n++) {
        if (copies.left > 0) {
            const int next = n + TALL_AHEAD;
            is_read(next).wait(parity(next) ^ 1);
            copies.next(next % TALL_STAGES * STAGE);
            is_full(next).arrive_copied();
        }
        is_full(n).wait(parity(n));
        const unsigned behind = n % TALL_STAGES * STAGE;
        if (counts)
            multiply_tall_stage(sum, reinterpret_cast<const T *>(left + behind),
                                reinterpret_cast<const T *>(right + behind),
                                signs.at(n * TALL_COLUMNS));
        __syncwarp();
        if (lane == 0)
            is_read(n).arrive();
    }
    __syncthreads();
    if ((int)threadIdx.x < 2 * TALL_STAGES)
        stage_barrier{barriers + threadIdx.x * 8}.end();
}

#endif
