/* gpu/factor/places.cuh: host side: what is on the device for a program, and where
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_PLACES_CUH
#define GPU_FACTOR_PLACES_CUH

#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/factor/device_factorizer.h"
#include "gpu/factor/quasi_definite.cuh"
#include <new>

/* What a factorization with signs has beside the program: parts of panels, a bit for each row.  In
 * host memory. */
struct sign_tables {
    panel_part *part = nullptr;
    uint32_t *word = nullptr;
    int64_t parts = 0;

    static int64_t words(int32_t n) { return (int64_t)n / 32 + 4; }

    /* Calls visit(part) for each. */
    template <typename F>
    static void each_part(const factor_program *g, const factor_pattern *p, F &&visit)
    {
        for (int32_t s = 0; s < g->nodes; s++)
            for (int32_t c = 0; c < g->front[s].k; c += PART_COLUMNS)
                for (int32_t i = c; i < g->front[s].m; i += PART_ROWS)
                    visit(panel_part{p->row_start[s], s, i, c});
    }
    /* parts alone */
    sign_tables(const factor_program *g, const factor_pattern *p)
    {
        if (p->signs)
            each_part(g, p, [&](const panel_part &) { parts++; });
    }
    explicit sign_tables(int64_t parts) : parts(parts) {}
    ~sign_tables()
    {
        delete[] part;
        delete[] word;
    }
    sign_tables(const sign_tables &) = delete;
    sign_tables &operator=(const sign_tables &) = delete;
    /* false: no memory */
    bool fill(const factor_program *g, const factor_pattern *p)
    {
        part = new (std::nothrow) panel_part[(size_t)parts];
        word = new (std::nothrow) uint32_t[(size_t)words(g->n)]();
        if (!part || !word)
            return false;
        int64_t q = 0;
        each_part(g, p, [&](const panel_part &v) { part[q++] = v; });
        for (int32_t k = 0; k < g->n; k++)
            word[k / 32] |= (uint32_t)(p->signs[k] < 0) << k % 32;
        return true;
    }
};

/* What is on the device for a program: tables, then the workspace.  V: see value_arguments. */
template <typename T, typename V = T> struct factor_places {
    factor_arguments<T> tasks = {};
    value_arguments<T, V> values = {};
    quasi_arguments<T> quasi = {};

    /* p: arrays are NULL where nothing is copied */
    void put_tables(uploader *u, const factor_program *g, const factor_pattern &p,
                    int64_t positions, const sign_tables &signs)
    {
        tasks.front = u->put(g->front, g->nodes);
        tasks.child = u->put(g->child, g->children);
        tasks.begin = u->put(g->begin, g->begins);
        tasks.tile_end = u->put(g->tile_end, g->tiles);
        tasks.entry = u->put(g->entry, g->entries);
        tasks.range = u->put(g->range, g->ranges);
        tasks.task = u->put(g->task, g->tasks);
        tasks.by_level = u->put(g->by_level, g->tasks);
        tasks.front_words = (int)g->tiles;
        values.source = u->put(g->source, g->entries);
        values.diagonal_at = u->put(g->diagonal, g->n);
        values.row_of = u->put(p.row_of, g->n);
        tasks.position = u->put(p.position, positions);
        if (!signs.parts)
            return;
        quasi.front = tasks.front;
        quasi.index = u->put(p.index, positions);
        quasi.part = u->put(signs.part, signs.parts);
        quasi.parts = signs.parts;
        quasi.signs.sign_word = u->put(signs.word, sign_tables::words(g->n));
    }
    int64_t place_workspace(char *base, const factor_program *g, bool has_signs)
    {
        parts all;
        const auto part = [&](int64_t count, size_t size) {
            return base + all.place(count * (int64_t)size);
        };
        values.outcome = reinterpret_cast<gathered_outcome *>(part(1, sizeof(gathered_outcome)));
        values.scale = reinterpret_cast<real_of<V> *>(part(g->n, sizeof(real_of<V>)));
        values.diagonal = reinterpret_cast<real_of<T> *>(part(g->n, sizeof(real_of<T>)));
        values.value = reinterpret_cast<T *>(part(g->entries, sizeof(T)));
        tasks.arena = reinterpret_cast<T *>(part(g->arena_scalars, sizeof(T)));
        tasks.inverse = reinterpret_cast<T *>(part(g->inverses * TILE * TILE, sizeof(T)));
        tasks.grows = reinterpret_cast<int32_t *>(part(g->inverses, sizeof(int32_t)));
        values.word = reinterpret_cast<unsigned *>(part(g->words, sizeof(unsigned)));
        values.words = g->words;
        tasks.tasks = (int)g->tasks;
        tasks.ahead = g->crowd == FACTOR_DENSE;
        tasks.value = values.value;
        tasks.diagonal = values.diagonal;
        tasks.outcome = values.outcome;
        values.entries = g->entries;
        values.n = g->n;
        if (has_signs) {
            using R = real_of<T>;
            quasi.row_of_entry = reinterpret_cast<int32_t *>(part(g->entries, sizeof(int32_t)));
            quasi.scale = reinterpret_cast<R *>(part(2 * (int64_t)g->n, sizeof(R)));
            quasi.largest = reinterpret_cast<R *>(part(3 * (int64_t)g->n, sizeof(R)));
            quasi.sum = reinterpret_cast<double *>(part(g->n, sizeof(double)));
        }
        return all.bytes;
    }
};

/* call(T{}, V{}), see value_arguments; is_mixed: T is in single and V in double precision. */
template <typename Call> libsolver_status with_types(libsolver_type type, int is_mixed, Call call)
{
    if (is_mixed)
        return type == LIBSOLVER_S ? call(float{}, double{}) : call(complex_s{}, complex_d{});
    return with_type(type, [&](auto one) { return call(one, one); });
}

/* Bytes of the tables and of the workspace. */
struct factor_bytes {
    int64_t tables = 0, workspace = 0;
    factor_bytes(const factor_program *g, const factor_pattern *p, libsolver_type type,
                 int is_mixed)
    {
        const sign_tables signs(g, p);
        with_types(type, is_mixed, [&](auto one, auto given) {
            factor_places<decltype(one), decltype(given)> there;
            uploader measured;
            there.put_tables(&measured, g, {}, p->row_start[g->nodes], signs);
            tables = measured.all.bytes + 256;
            workspace = there.place_workspace(nullptr, g, signs.parts > 0) + 256; /* a multiple of
                                                                                     256 */
            return LIBSOLVER_OK;
        });
    }
};

#endif
