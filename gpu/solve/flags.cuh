/* gpu/solve/flags.cuh: thread scope: flags of published rows, which consumers poll before they load
 * the rows
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVE_FLAGS_CUH
#define GPU_SOLVE_FLAGS_CUH

/* The flags of EACH rows that a thread needs.  A row may be loaded once look(), an acquire, has
 * seen its flag; poll() does not order loads and only tells when to look. */
template <int EACH> struct row_flags {
    int row[EACH]; /* -1: none, or it was seen */

    __device__ __forceinline__ bool is_missing() const
    {
        bool missing = false;
#pragma unroll
        for (int u = 0; u < EACH; u++)
            missing = missing || row[u] >= 0;
        return missing;
    }
    __device__ __forceinline__ void look(const unsigned *flag, unsigned epoch)
    {
        unsigned seen[EACH];
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (row[u] >= 0)
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                             : "=r"(seen[u])
                             : "l"(flag + row[u])
                             : "memory");
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (row[u] >= 0 && seen[u] == epoch)
                row[u] = -1;
    }
    __device__ __forceinline__ bool poll(const unsigned *flag, unsigned epoch) const
    {
        bool missing = false;
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (row[u] >= 0) {
                unsigned seen;
                asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                             : "=r"(seen)
                             : "l"(flag + row[u])
                             : "memory");
                missing = missing || seen != epoch;
            }
        return missing;
    }
};

#endif
