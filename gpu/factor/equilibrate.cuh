/* gpu/factor/equilibrate.cuh: grid scope: the values of A scaled as the CPU's L D L^T scales them,
 * in the order in which tasks read them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Scale factors are powers of two that make the largest entry of each row about one [Ruiz 2001].
 * They stay as they are from the sweep on that changes none of them, mostly the second or third, so
 * all sweeps are one launch, whose blocks wait for each other: with a launch for each, all of them
 * had to be made. */
#ifndef GPU_FACTOR_EQUILIBRATE_CUH
#define GPU_FACTOR_EQUILIBRATE_CUH

#include "gpu/factor/values.cuh"

enum {
    EQUILIBRATION_SWEEPS = 8, /* most that change a scale factor */
    EQUILIBRATION_THREADS = 1024
};

template <typename T> struct equilibration {
    value_arguments<T> values;   /* diagonal: largest entries of the rows of the scaled matrix */
    int32_t *row_of_entry;       /* of the number of a diagonal entry, its row of P A P^T */
    real_of<T> *scale, *largest; /* n of two and of three sweeps in turn */
};

/* An integer for the maximum of numbers that are not negative, in global or in shared memory. */
__device__ __forceinline__ void raise_to(double *largest, double v)
{
    atomicMax(reinterpret_cast<unsigned long long *>(largest),
              (unsigned long long)__double_as_longlong(v));
}
__device__ __forceinline__ void raise_to(float *largest, float v)
{
    atomicMax(reinterpret_cast<unsigned *>(largest), __float_as_uint(v));
}

/* all[i] becomes at least v, for each lane's own i and v; i < 0: nothing.  Lanes of the same row
 * that are next to each other ask for it once.  All lanes of a warp call. */
template <typename R> __device__ __forceinline__ void raise_neighbours(R *all, int i, R v)
{
    const int lane = (int)threadIdx.x % 32, before = __shfl_up_sync(~0u, i, 1);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const R other = __shfl_down_sync(~0u, v, step);
        const int row = __shfl_down_sync(~0u, i, step);
        if (lane + step < 32 && row == i && other > v)
            v = other;
    }
    if (i >= 0 && (lane == 0 || before != i))
        raise_to(all + i, v);
}

/* Largest entries of rows on their way from a block to global memory, in shared memory.  There are
 * rows that nearly all entries have, and what asks for one address of global memory, atomics or
 * not, comes one after the other: what a block has for such a row becomes one.  Rows that find
 * their place taken go to global memory themselves.  Columns of the lower triangle have few
 * entries, which are neighbours. */
template <typename R> struct row_maxima {
    static constexpr int PLACES = 1024;
    int row[PLACES]; /* -1: nobody's */
    R largest[PLACES];

    /* By all threads; no barrier. */
    __device__ __forceinline__ void begin()
    {
        for (int q = (int)threadIdx.x; q < PLACES; q += (int)blockDim.x) {
            row[q] = -1;
            largest[q] = 0;
        }
    }
    __device__ __forceinline__ void raise(R *all, int i, R v)
    {
        const int at = i % PLACES;
        int owner = *(volatile int *)(row + at);
        if (owner == -1)
            owner = atomicCAS(row + at, -1, i);
        if (owner == -1 || owner == i) {
            if (!(*(volatile R *)(largest + at) >= v)) /* atomics on one word wait for each other */
                raise_to(largest + at, v);
        } else
            raise_to(all + i, v);
    }
    /* Behind a barrier; nothing is left. */
    __device__ __forceinline__ void end(R *all)
    {
        for (int q = (int)threadIdx.x; q < PLACES; q += (int)blockDim.x)
            if (row[q] >= 0) {
                raise_to(all + row[q], largest[q]);
                row[q] = -1;
                largest[q] = 0;
            }
    }
};

/* An entry of P A P^T. */
template <typename T> struct placed_entry {
    int row, column;
    T value;
};

/* The entries of a thread that it keeps from sweep to sweep: first, first + step, ... */
template <typename T> struct kept_entries {
    static constexpr int MOST = 4;
    factor_source from[MOST];
    placed_entry<T> entry[MOST];
};

/* One system's, for some of its blocks, which are all resident: threads have the rows or entries
 * from `first` on in steps. */
template <typename T> struct equilibration_share {
    using R = real_of<T>;
    const equilibration<T> &a;
    unsigned blocks; /* of the system */
    int64_t first, step;
    row_maxima<R> &maxima; /* in shared memory */
    kept_entries<T> kept;

    __device__ __forceinline__ equilibration_share(const equilibration<T> &a, int number,
                                                   int blocks, row_maxima<R> &maxima)
        : a(a), blocks((unsigned)blocks), first((int64_t)number * blockDim.x + threadIdx.x),
          step((int64_t)blocks * blockDim.x), maxima(maxima)
    {
    }
    __device__ __forceinline__ bool has(int64_t e) const { return e < a.values.entries; }
    __device__ __forceinline__ int64_t number_of_kept(int q) const { return first + q * step; }
    __device__ __forceinline__ placed_entry<T> place_of(const factor_source &from) const
    {
        return {a.row_of_entry[from.row], a.row_of_entry[from.column], T{}};
    }
    __device__ __forceinline__ T value_of(const factor_source &from) const
    {
        return conjugate_if(a.values.given[from.value >> 1], from.value & 1);
    }
    /* What a pivot only divides, in a row of a Schur complement, makes no rounding errors in it. */
    __device__ __forceinline__ bool counts_for_column(const placed_entry<T> &v) const
    {
        return v.row < a.values.eliminated || v.column >= a.values.eliminated;
    }
    /* What is of the pattern alone. */
    __device__ __forceinline__ void find_places()
    {
#pragma unroll
        for (int q = 0; q < kept.MOST; q++)
            if (has(number_of_kept(q)))
                kept.from[q] = a.values.source[number_of_kept(q)];
#pragma unroll
        for (int q = 0; q < kept.MOST; q++)
            if (has(number_of_kept(q)))
                kept.entry[q] = place_of(kept.from[q]);
    }
    __device__ __forceinline__ void load_values()
    {
#pragma unroll
        for (int q = 0; q < kept.MOST; q++)
            if (has(number_of_kept(q)))
                kept.entry[q].value = value_of(kept.from[q]);
    }
    /* visit(number, entry, there) for each of the thread's, and, not there, as long as another of
     * its warp has one. */
    template <typename Visit> __device__ __forceinline__ void each_entry(Visit &&visit) const
    {
        const int lane = (int)threadIdx.x % 32;
#pragma unroll
        for (int q = 0; q < kept.MOST; q++)
            if (has(number_of_kept(q) - lane))
                visit(number_of_kept(q), kept.entry[q], has(number_of_kept(q)));
        for (int64_t e = number_of_kept(kept.MOST); has(e - lane); e += step) {
            placed_entry<T> entry = {};
            if (has(e)) {
                const factor_source from = a.values.source[e];
                entry = place_of(from);
                entry.value = value_of(from);
            }
            visit(e, entry, has(e));
        }
    }
    /* All blocks of the system come here the time-th time, from 1 on, before any goes on; the word
     * `changed` is then at least `sweep`, if that is so of a thread. */
    __device__ __forceinline__ void meet(unsigned time, bool changed = false, int sweep = 0)
    {
        gathered_outcome *const o = a.values.outcome;
        changed = __syncthreads_or(changed);
        if (threadIdx.x == 0) {
            if (changed)
                atomicMax(&o->changed, sweep);
            progress_count(&o->met);
            progress_wait(&o->met, time * blocks);
        }
        __syncthreads();
    }
    /* Sweep number q: scale factors of the sweep before and its largest entries give the next ones,
     * and these largest entries again.  Returns whether one of the thread's has changed. */
    __device__ __forceinline__ bool sweep(int q, bool equilibrates)
    {
        const int64_t n = a.values.n;
        const R *const before = a.scale + (q + 1) % 2 * n, *const seen =
                                                               a.largest + (q + 2) % 3 * n;
        R *const largest = a.largest + q % 3 * n;
        const auto scale_of = [&](int64_t k) -> R {
            if (q == 0)
                return 1;
            const R most = seen[k];
            return equilibrates && most > 0 ? (R)scale_over_root(before[k], most, sizeof(R) == 4)
                                            : before[k];
        };
        bool changed = false;
        each_entry([&](int64_t, const placed_entry<T> &v, bool there) {
            const R size =
                there ? scale_of(v.row) * scale_of(v.column) * (R)size_of(v.value) : R(0);
            if (there && v.row != v.column)
                maxima.raise(largest, v.row, size);
            raise_neighbours(largest, there && counts_for_column(v) ? v.column : -1, size);
        });
        for (int64_t k = first; k < n; k += step) {
            const R own = scale_of(k);
            changed |= q > 0 && own != before[k];
            a.scale[q % 2 * n + k] = own;
            a.largest[(q + 1) % 3 * n + k] = 0;
        }
        __syncthreads();
        maxima.end(largest);
        return changed;
    }
    /* Values and scale factors as the last sweep, q, has left them. */
    __device__ __forceinline__ void put_values(int q) const
    {
        const value_arguments<T> &v = a.values;
        const int64_t n = v.n;
        const R *const scale = a.scale + q % 2 * n;
        each_entry([&](int64_t e, const placed_entry<T> &entry, bool there) {
            if (there)
                v.value[e] = times_real(entry.value, scale[entry.column] * scale[entry.row]);
        });
        for (int64_t k = first; k < n; k += step) {
            v.scale[v.row_of[k]] = scale[k];
            v.diagonal[k] = a.largest[q % 3 * n + k];
        }
    }
    /* All of it, once places are found and all that it reads is there.  Words become zero. */
    __device__ __forceinline__ void run()
    {
        const bool equilibrates = scaling_of(a.values).equilibrates;
        maxima.begin();
        for (int64_t k = first; k < a.values.n; k += step)
            a.largest[k] = 0;
        load_values();
        for (int64_t w = first; w < a.values.words; w += step)
            a.values.word[w] = 0;
        meet(1);
        int q = 0;
        for (;; q++) {
            const bool changed = sweep(q, equilibrates);
            meet(q + 2, changed, q);
            if (!equilibrates || q == EQUILIBRATION_SWEEPS ||
                (q > 0 && *(volatile int *)&a.values.outcome->changed < q))
                break;
        }
        put_values(q);
    }
};

/* Of the pattern alone, once. */
template <typename T>
static __global__ void name_rows_kernel(const __grid_constant__ equilibration<T> a)
{
    for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < a.values.n;
         k += (int)(gridDim.x * blockDim.x))
        a.row_of_entry[a.values.diagonal_at[k]] = k;
}

/* Blocks that are all resident. */
template <typename T>
static __global__ void __launch_bounds__(EQUILIBRATION_THREADS)
    equilibrate_kernel(const __grid_constant__ equilibration<T> a)
{
    __shared__ row_maxima<real_of<T>> maxima;
    equilibration_share<T> share(a, (int)blockIdx.x, (int)gridDim.x, maxima);
    share.find_places();
    wait_for_kernel_before();
    share.run();
}

#endif
