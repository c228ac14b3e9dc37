/* gpu/factor/places.cuh: host side: what is on the device for a program, and where
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_PLACES_CUH
#define GPU_FACTOR_PLACES_CUH

#include "base/type.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/factor/device_factorizer.h"
#include "gpu/factor/equilibrate.cuh"
#include "gpu/factor/quasi_definite.cuh"
#include <new>

/* What a factorization with signs has beside the program, in host memory: see quasi_arguments. */
struct sign_tables {
    uint32_t *word = nullptr; /* a bit for each row */
    uint32_t *slot = nullptr;
    int64_t *row_sums = nullptr;
    int32_t *long_row = nullptr;
    factor_sign_counts count = {};

    static int64_t words(int32_t n) { return (int64_t)n / 32 + 4; }

    /* Counts alone. */
    sign_tables(const factor_program *g, const factor_pattern *p, libsolver_type type)
    {
        if (!p->signs || g->n == 0)
            return;
        count.has_signs = 1;
        count.is_symmetric = !g->hermitian && type_is_complex(type);
        count.expects_signs = p->signs[0] != 0;
        count.rows = p->row_start[g->nodes];
        count.long_room = count.rows / LONG_ROW < g->n ? count.rows / LONG_ROW : g->n;
    }
    explicit sign_tables(const factor_sign_counts &count) : count(count) {}
    ~sign_tables()
    {
        delete[] word;
        delete[] slot;
        delete[] row_sums;
        delete[] long_row;
    }
    sign_tables(const sign_tables &) = delete;
    sign_tables &operator=(const sign_tables &) = delete;
    /* Also counts long rows.  false: no memory */
    bool fill(const factor_program *g, const factor_pattern *p)
    {
        const int32_t n = g->n;
        word = new (std::nothrow) uint32_t[(size_t)words(n)]();
        slot = new (std::nothrow) uint32_t[(size_t)count.rows];
        row_sums = new (std::nothrow) int64_t[(size_t)n + 2]();
        long_row = new (std::nothrow) int32_t[(size_t)count.long_room]();
        if (!word || !slot || !row_sums || !long_row)
            return false;
        /* row_sums[k + 2]: how many there are; then [k + 1]: where the next one of row k goes */
        for (int64_t q = 0; q < count.rows; q++)
            row_sums[p->index[q] + 2]++;
        for (int32_t k = 1; k <= n; k++)
            row_sums[k + 1] += row_sums[k];
        for (int64_t q = 0; q < count.rows; q++)
            slot[q] = (uint32_t)row_sums[p->index[q] + 1]++;
        count.long_rows = 0;
        for (int32_t k = 0; k < n - g->schur_size; k++) {
            word[k / 32] |= (uint32_t)(p->signs[k] < 0) << k % 32;
            if (row_sums[k + 1] - row_sums[k] > LONG_ROW)
                long_row[count.long_rows++] = k;
        }
        return true;
    }
};

/* What is on the device for a program: tables, then the workspace.  V: see value_arguments. */
template <typename T, typename V = T> struct factor_places {
    factor_arguments<T> tasks = {};
    value_arguments<T, V> values = {};
    const factor_schur_entry *schur = nullptr;
    quasi_arguments<T> quasi = {}; /* and below: with signs */
    equilibration<T> scaling = {};

    /* p: arrays are NULL where nothing is copied */
    void put_tables(uploader *u, const factor_program *g, const factor_pattern &p,
                    const sign_tables &signs)
    {
        tasks.front = u->put(g->front, g->fronts);
        tasks.child = u->put(g->child, g->children);
        tasks.begin = u->put(g->begin, g->begins);
        tasks.tile_end = u->put(g->tile_end, g->tiles);
        tasks.entry = u->put(g->entry, g->entries);
        tasks.range = u->put(g->range, g->ranges);
        tasks.task = u->put(g->task, g->tasks);
        tasks.by_level = u->put(g->by_level, g->tasks);
        tasks.front_words = (int)g->tiles;
        tasks.end_word = (int)(g->words - FACTOR_END_WORDS);
        values.source = u->put(g->source, g->entries);
        values.diagonal_at = u->put(g->diagonal, g->n);
        values.row_of = u->put(p.row_of, g->n);
        tasks.position = u->put(g->position, g->positions);
        schur = u->put(g->schur, g->schur_entries);
        if (!signs.count.has_signs)
            return;
        quasi.signs.slot = u->put(signs.slot, signs.count.rows);
        quasi.row_sums = u->put(signs.row_sums, (int64_t)g->n + 1);
        quasi.long_row = u->put(signs.long_row, signs.count.long_room);
        quasi.long_rows = (int)signs.count.long_rows;
        quasi.signs.sign_word = u->put(signs.word, sign_tables::words(g->n));
        quasi.signs.pivot = g->panel_scalars;
        quasi.signs.n = g->n;
        quasi.is_symmetric = signs.count.is_symmetric != 0;
        quasi.expects_signs = signs.count.expects_signs != 0;
    }
    int64_t place_workspace(char *base, const factor_program *g, const factor_sign_counts &signs)
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
        values.eliminated = g->n - g->schur_size;
        if (signs.has_signs) {
            using R = real_of<T>;
            scaling.row_of_entry = reinterpret_cast<int32_t *>(part(g->entries, sizeof(int32_t)));
            scaling.scale = reinterpret_cast<R *>(part(2 * (int64_t)g->n, sizeof(R)));
            scaling.largest = reinterpret_cast<R *>(part(3 * (int64_t)g->n, sizeof(R)));
            quasi.signs.sum = reinterpret_cast<double *>(part(signs.rows, sizeof(double)));
        }
        return all.bytes;
    }
};

/* Where those of the program that was loaded last are. */
template <typename T, typename V = T>
factor_places<T, V> loaded_places(const device_factorizer *f, const factor_program *g)
{
    factor_places<T, V> there;
    uploader tables;
    tables.base = static_cast<char *>(f->tables.at);
    there.put_tables(&tables, g, {}, sign_tables(f->signs));
    there.place_workspace(static_cast<char *>(f->workspace.at), g, f->signs);
    return there;
}

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
        const sign_tables signs(g, p, type);
        with_types(type, is_mixed, [&](auto one, auto given) {
            factor_places<decltype(one), decltype(given)> there;
            uploader measured;
            there.put_tables(&measured, g, {}, signs);
            tables = measured.all.bytes + 256;
            workspace = there.place_workspace(nullptr, g, signs.count) + 256; /* a multiple of 256
                                                                               */
            return LIBSOLVER_OK;
        });
    }
};

#endif
