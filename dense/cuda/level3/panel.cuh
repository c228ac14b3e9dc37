/* dense/cuda/level3/panel.cuh: block scope: operands of products come to shared memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An operand lies in shared memory in the direction that it has in memory, so that copies are of
 * sixteen bytes; whoever reads it has strides. */
#ifndef DENSE_CUDA_LEVEL3_PANEL_CUH
#define DENSE_CUDA_LEVEL3_PANEL_CUH

#include "dense/cuda/device/row_product.cuh"

/* rows x depth: entry (i, k) at entry[i + k ld], by rows at entry[i ld + k].  wide: columns, or
 * rows, begin at multiples of sixteen bytes. */
template <typename T> struct panel {
    const T *entry;
    int64_t ld;
    int rows, depth;
    bool by_rows, conjugate, wide;
};

/* Entries behind a column, or a row, of shared memory.  A load's lanes that are served together, as
 * many as have 128 bytes, read parts of 8 x 4 entries: with these gaps they meet at no bank. */
template <typename T> constexpr int COLUMN_GAP = sizeof(T) == 16 ? 2 : sizeof(T) == 8 ? 4 : 8;
constexpr int ROW_GAP = 4;

/* Shared memory for ROWS x DEPTH of a panel, and strides in it. */
template <typename T, int ROWS, int DEPTH> struct panel_room {
    static constexpr int DOWN = ROWS + COLUMN_GAP<T>, ALONG = DEPTH + ROW_GAP;
    static constexpr int AREA = DOWN * DEPTH > ALONG *ROWS ? DOWN *DEPTH : ALONG *ROWS;
};

/* LINES lines of LINE neighbours, LD apart, of which `lines` with `have` entries are there; zeros
 * for others.  V entries a copy. */
template <int V, int LINE, int LD, int LINES, int THREADS, typename T>
__device__ __forceinline__ void copy_lines(T *to, const T *from, int64_t ld, int have, int lines,
                                           const T *safe)
{
    constexpr int PER_LINE = LINE / V, STEP = THREADS / PER_LINE;
    static_assert(LINE % V == 0 && THREADS % PER_LINE == 0, "whole lines");
    const int at = (int)threadIdx.x % PER_LINE * V, first = (int)threadIdx.x / PER_LINE;
    const int entries = max(0, min(V, have - at));
    const T *p = from + at + first * ld;
    T *q = to + at + first * LD;
#pragma unroll
    for (int line = 0; line < LINES; line += STEP, p += STEP * ld, q += STEP * LD) {
        if (LINES % STEP != 0 && line + first >= LINES)
            break;
        const bool there = entries > 0 && line + first < lines;
        if constexpr (V * sizeof(T) == 16)
            copy_pair(q, there ? p : safe, there ? entries * (int)sizeof(T) : 0);
        else
            copy_entry(q, there ? p : safe, there);
    }
}

/* stage := ROWS x DEPTH of a panel from (i, k) on, asynchronously; zeros beyond it.  A call keeps
 * its code from between what is frequent. */
template <int ROWS, int DEPTH, int THREADS, typename T>
__device__ __noinline__ void panel_fetch(T *stage, panel<T> p, int i, int k)
{
    using room = panel_room<T, ROWS, DEPTH>;
    constexpr int V = 16 / (int)sizeof(T), DOWN = room::DOWN, ALONG = room::ALONG;
    const T *const from = p.entry + (p.by_rows ? i * p.ld + k : i + k * p.ld);
    if (p.by_rows && p.wide)
        copy_lines<V, DEPTH, ALONG, ROWS, THREADS>(stage, from, p.ld, p.depth - k, p.rows - i,
                                                   p.entry);
    else if (p.by_rows)
        copy_lines<1, DEPTH, ALONG, ROWS, THREADS>(stage, from, p.ld, p.depth - k, p.rows - i,
                                                   p.entry);
    else if (p.wide)
        copy_lines<V, ROWS, DOWN, DEPTH, THREADS>(stage, from, p.ld, p.rows - i, p.depth - k,
                                                  p.entry);
    else
        copy_lines<1, ROWS, DOWN, DEPTH, THREADS>(stage, from, p.ld, p.rows - i, p.depth - k,
                                                  p.entry);
}

/* A thread's copies of a panel's rows [i, i + ROWS): where they are all there, and begin at
 * multiples of sixteen bytes, of few instructions, since products wait for those, not for bytes. */
template <int ROWS, int DEPTH, int THREADS, typename T> class panel_copies
{
    using room = panel_room<T, ROWS, DEPTH>;
    static constexpr int V = 16 / (int)sizeof(T), EACH = ROWS * DEPTH / V / THREADS;
    static_assert(EACH * V * THREADS == ROWS * DEPTH, "all have as many copies");
    const panel<T> &p;
    const int i;
    const T *from; /* of the first one, for columns from 0 on */
    int to;

    /* alike in all threads, so they need no registers */
    __device__ __forceinline__ int lines_between() const
    {
        return p.by_rows ? THREADS / (DEPTH / V) : THREADS / (ROWS / V);
    }
    __device__ __forceinline__ int ld() const { return p.by_rows ? room::ALONG : room::DOWN; }

  public:
    __device__ __forceinline__ panel_copies(const panel<T> &p, int i) : p(p), i(i)
    {
        const int per_line = (p.by_rows ? DEPTH : ROWS) / V, at = (int)threadIdx.x % per_line * V,
                  line = (int)threadIdx.x / per_line;
        from = p.entry + (p.by_rows ? i * p.ld : i) + at + line * p.ld;
        to = at + line * ld();
    }
    /* stage := columns [k, k + DEPTH), asynchronously; zeros beyond the panel */
    __device__ __forceinline__ void fetch(T *stage, int k) const
    {
        if (!p.wide || i + ROWS > p.rows || k + DEPTH > p.depth) {
            panel_fetch<ROWS, DEPTH, THREADS>(stage, p, i, k);
            return;
        }
        const T *source = from + k * (p.by_rows ? 1 : p.ld);
        T *target = stage + to;
        const int64_t next = lines_between() * p.ld;
#pragma unroll
        for (int e = 0; e < EACH; e++, source += next, target += lines_between() * ld())
            copy_pair(target, source, 16);
    }
};

#endif
