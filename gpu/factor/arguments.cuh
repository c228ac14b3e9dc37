/* gpu/factor/arguments.cuh: what the tasks of a factorization share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_ARGUMENTS_CUH
#define GPU_FACTOR_ARGUMENTS_CUH

#include "dense/cuda/device/cholesky.cuh"
#include "dense/cuda/device/invert.cuh"
#include "gpu/device/waits.cuh"
#include "gpu/factor/outcome.h"
#include "gpu/factor/waits.h"

/* cholesky_outcome while it is gathered, and what blocks share beside it. */
struct gathered_outcome {
    int failed, uncertain, nonpositive;
    unsigned drawn;              /* tasks */
    int gave_up;                 /* a block waited too long, and all others have stopped waiting */
    unsigned long long smallest; /* bits of a positive double, which are in order; ... */
    unsigned long long most, least; /* ... of entries, see factor_range_kernel */
    unsigned met; /* blocks that have come to where those of an equilibration wait for each other;
                     of that, ... */
    int changed;  /* ... the last sweep that has changed a scale factor */
};

/* The signs of the columns of a factor: none, for Cholesky, or a bit for each row of P A P^T.  With
 * signs L gets a unit diagonal, which is not written, and D its pivots: by the task that stores a
 * small front, of tiled ones by FACTOR_DIVIDE, as products want what there was before. */
struct definite {
    static constexpr bool HAS_SIGNS = false;
    using signs = no_signs;
    __device__ __forceinline__ no_signs signs_at(int) const { return {}; }
};
/* The arrays that go with signs. */
struct sign_places {
    const uint32_t *sign_word; /* bits that are set: negative */
    double *sum;               /* of |L|^2, by rows: see quasi_arguments; where that of ... */
    const uint32_t *slot;      /* ... each row of each front, counted as in factor_front.rows, is */
    int64_t pivot;             /* scalars before the diagonal of D in the panels, ... */
    int n;                     /* ... which has n, and so has what is beside it */
};
/* HERMITIAN: of Hermitian and real matrices; otherwise of complex symmetric ones (signs.cuh). */
template <bool HERMITIAN> struct quasi_definite : sign_places {
    static constexpr bool HAS_SIGNS = true;
    using signs = column_signs<HERMITIAN>;
    /* Of the rows from that one on. */
    __device__ __forceinline__ sign_table<HERMITIAN> signs_at(int row) const
    {
        return {sign_word, row};
    }
    /* The pivot of a row of P A P^T, whose column was divided by that root. */
    template <typename T>
    __device__ __forceinline__ void put_pivot(T *panel, int row, pivot_type<T, signs> root) const
    {
        T *const d = panel + pivot;
        d[row] = from_pivot<T>(signs_at(row).at(0).flip(multiply(root, root), 0));
        d[n + row] = T{};
    }
};
/* The type of the pivots of a kind of factor. */
template <typename T, typename K> using pivot_of = pivot_type<T, typename K::signs>;

/* The arrays of a program and what it works on, all on the device.  Nothing here is read through
 * the cache for constants: blocks of one launch write what those of the next read. */
template <typename T> struct common_arguments {
    const factor_front *front;
    const factor_child *child;
    const int32_t *begin, *position;
    const int64_t *tile_end;
    const factor_entry *entry;
    const factor_range *range;
    const factor_task *task;
    const int32_t *by_level;    /* of a launch for each level */
    int front_words;            /* the word of front 0 */
    int end_word;               /* that counts blocks that have ended */
    const T *value;             /* of the scaled matrix */
    const real_of<T> *diagonal; /* n */
    T *panel, *arena, *inverse;
    int32_t *grows; /* of each inverse: whether substitution is to stand for it */
    unsigned *word; /* see waits.h; NULL: by levels, nothing waits */
    int tasks;
    bool ahead; /* blocks draw the next task while they are at one */
    gathered_outcome *outcome;
    double refuse, doubt;
    uint64_t patience; /* ns that a block waits */
    uint64_t *trace;   /* NULL, or of each task when it began and ended, in ns */
};
template <typename T, typename K = definite> struct factor_arguments : common_arguments<T>, K {
};

template <typename T> __device__ __forceinline__ double squared_size(T v)
{
    if constexpr (scalar<T>::is_complex)
        return (double)v.re * (double)v.re + (double)v.im * (double)v.im;
    else
        return (double)v * (double)v;
}

/* A thread waits until a word is at least that; what was written before it was told is there for
 * all threads of the block, or the warp, behind their next barrier. */
template <typename T, typename K>
__device__ __forceinline__ void wait_for_word(const factor_arguments<T, K> &a, int word,
                                              unsigned least)
{
    wait_until(a.word + word, least, &a.outcome->gave_up, a.patience);
}

template <typename T, typename K>
__device__ __forceinline__ void wait_for_child(const factor_arguments<T, K> &a,
                                               const factor_child &c)
{
    if (c.word >= 0)
        wait_for_word(a, c.word, c.tells);
}

template <typename T, typename K>
__device__ __forceinline__ cholesky_rule<T> rule_of(const factor_arguments<T, K> &a)
{
    return {a.refuse, a.doubt, &a.outcome->failed, &a.outcome->uncertain, &a.outcome->smallest};
}

/* Distance of columns in shared memory: an odd number of times four entries of eight bytes, so that
 * multiply_16_turned reads without bank conflicts. */
template <typename T> __host__ __device__ constexpr int padded_rows(int rows)
{
    return (rows + 15) / 16 * 16 + (sizeof(T) == 16 ? 2 : 4);
}

/* Rows [i0, i1) and columns [j0, j1) of a child's block. */
struct child_part {
    factor_child child;
    int i0, i1, j0, j1;
};

/* to += a part of a child's block, what is at or below its diagonal; row and column: of the front
 * at to's begin.  Lanes have rows, warps columns, eight of them on their way at a time; no barrier.
 */
template <typename T, typename K>
__device__ __forceinline__ void pull_part(const factor_arguments<T, K> &a, const child_part &part,
                                          T *to, int ld, int row, int column)
{
    constexpr int AHEAD = sizeof(T) == 16 ? 4 : 8, WARPS = CHOLESKY_THREADS / 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const factor_child &c = part.child;
    const int32_t *position = a.position + c.position;
    const T *block = a.arena + c.block;
    const int i1 = part.i1, j1 = part.j1;
    for (int i = part.i0 + lane; i - lane < i1; i += 32) {
        const int own = i < i1 ? position[i] - row : 0;
        for (int j = part.j0 + warp; j < j1 && j < i - lane + 32; j += WARPS * AHEAD) {
            T v[AHEAD];
            int at[AHEAD];
#pragma unroll
            for (int q = 0; q < AHEAD; q++) {
                const int from = j + q * WARPS;
                const bool is_there = from < j1 && i >= from && i < i1;
                at[q] = is_there ? position[from] - column : -1;
                v[q] = is_there ? block[i + (int64_t)from * c.r] : T{};
            }
#pragma unroll
            for (int q = 0; q < AHEAD; q++)
                if (at[q] >= 0)
                    v[q] = to[own + at[q] * ld] + v[q];
#pragma unroll
            for (int q = 0; q < AHEAD; q++)
                if (at[q] >= 0)
                    to[own + at[q] * ld] = v[q];
        }
    }
}

#endif
