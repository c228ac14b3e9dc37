/* solver/input/input.c: from the caller's views to the lower triangle by columns
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/input/input.h"
#include "base/hash.h"
#include <string.h>

static int64_t index_at(const void *indices, libsolver_index type, int64_t k)
{
    return type == LIBSOLVER_INT64 ? ((const int64_t *)indices)[k] : ((const int32_t *)indices)[k];
}

libsolver_status input_check(const libsolver_matrix *a, message *why)
{
    if (a->n < 0 || a->n >= INT32_MAX)
        return FAIL(why, LIBSOLVER_INVALID, "the order %lld is not between 0 and 2^31 - 2",
                    (long long)a->n);
    if ((unsigned)a->type > LIBSOLVER_C || (unsigned)a->symmetry > LIBSOLVER_HERMITIAN ||
        (unsigned)a->storage > LIBSOLVER_EITHER || (unsigned)a->format > LIBSOLVER_TRIPLETS ||
        (unsigned)a->pointer_type > LIBSOLVER_INT64 || (unsigned)a->index_type > LIBSOLVER_INT64 ||
        (unsigned)a->place > LIBSOLVER_DEVICE)
        return FAIL(why, LIBSOLVER_INVALID, "a field of the matrix view has no legal value");
    if (a->base != 0 && a->base != 1)
        return FAIL(why, LIBSOLVER_INVALID, "the index base %d is neither 0 nor 1", a->base);
    for (int i = 0; i < (int)(sizeof a->reserved / sizeof a->reserved[0]); i++)
        if (a->reserved[i] != 0)
            return FAIL(why, LIBSOLVER_INVALID, "reserved fields of the matrix view must be zero");
    return LIBSOLVER_OK;
}

#define WITHOUT_INDICES "%lld triplets without indices"

/* Number of entries, -1 if the pointers are not ascending from the base. */
static int64_t count_entries(const libsolver_matrix *a, message *why)
{
    if (a->format == LIBSOLVER_TRIPLETS) {
        if (a->nnz < 0 || (a->nnz > 0 && !a->pointers)) {
            FAIL(why, LIBSOLVER_INVALID, WITHOUT_INDICES, (long long)a->nnz);
            return -1;
        }
        return a->nnz;
    }
    if (!a->pointers) {
        FAIL(why, LIBSOLVER_INVALID, "the matrix has no pointers");
        return -1;
    }
    int64_t before = a->base;
    for (int64_t j = 0; j <= a->n; j++) {
        const int64_t here = index_at(a->pointers, a->pointer_type, j);
        if (here < before || (j == 0 && here != a->base)) {
            FAIL(why, LIBSOLVER_INVALID, "pointers[%lld] is %lld, expected %s %lld", (long long)j,
                 (long long)here, j == 0 ? "the base" : "at least", (long long)before);
            return -1;
        }
        before = here;
    }
    return before - a->base;
}

libsolver_status input_entries(const libsolver_matrix *a, int64_t *entries, message *why)
{
    *entries = count_entries(a, why);
    return *entries < 0 ? LIBSOLVER_INVALID : LIBSOLVER_OK;
}

/* Rows and columns of all entries, 0-based and checked.  What is not read counts as the diagonal
 * entry of its column, which is there anyway, and target tells. */
static libsolver_status expand(const libsolver_matrix *a, int64_t entries, int32_t *row,
                               int32_t *column, int64_t *target, message *why)
{
    const int64_t first = a->base, last = a->n - 1 + a->base;
    int64_t j = first - 1, end = 0;
    for (int64_t e = 0; e < entries; e++) {
        const int64_t i = index_at(a->indices, a->index_type, e);
        if (a->format == LIBSOLVER_TRIPLETS)
            j = index_at(a->pointers, a->pointer_type, e);
        else
            while (e >= end)
                end = index_at(a->pointers, a->pointer_type, ++j - first + 1) - first;
        if (i < first || i > last || j < first || j > last)
            return FAIL(why, LIBSOLVER_INVALID,
                        "entry %lld has row %lld and column %lld, outside the order %lld",
                        (long long)e, (long long)i, (long long)j, (long long)a->n);
        if ((a->storage == LIBSOLVER_LOWER && i < j) || (a->storage == LIBSOLVER_UPPER && i > j))
            return FAIL(why, LIBSOLVER_INVALID,
                        "entry %lld (row %lld, column %lld) is not in the %s triangle",
                        (long long)e, (long long)i, (long long)j,
                        a->storage == LIBSOLVER_LOWER ? "lower" : "upper");
        const int is_ignored = (a->storage == LIBSOLVER_LOWER_OF_FULL && i < j) ||
                               (a->storage == LIBSOLVER_UPPER_OF_FULL && i > j);
        row[e] = (int32_t)((is_ignored ? j : i) - first);
        column[e] = (int32_t)(j - first);
        target[e] = is_ignored ? INPUT_IGNORED : 0;
    }
    return LIBSOLVER_OK;
}

static int32_t lower_row(int32_t i, int32_t j)
{
    return i > j ? i : j;
}
static int32_t lower_column(int32_t i, int32_t j)
{
    return i > j ? j : i;
}

/* How far the entries are sorted by columns of the lower triangle with ascending rows: 2 fully, 1
 * rows ascend in each column, 0 not at all. */
static int order_of_entries(int64_t entries, const int32_t *row, const int32_t *column)
{
    int by_row = 1, by_column = 1;
    for (int64_t e = 1; e < entries && (by_row || by_column); e++) {
        const int32_t i0 = lower_row(row[e - 1], column[e - 1]),
                      j0 = lower_column(row[e - 1], column[e - 1]);
        const int32_t i = lower_row(row[e], column[e]), j = lower_column(row[e], column[e]);
        by_row &= i >= i0;
        by_column &= j > j0 || (j == j0 && i >= i0);
    }
    return by_column ? 2 : by_row;
}

/* sorted := the entries by column of the lower triangle, rows ascending inside: two stable counting
 * sorts.  count: n + 1 workspace, half: entries workspace, NULL when rows ascend already. */
static void sort_entries(int32_t n, int64_t entries, const int32_t *row, const int32_t *column,
                         int64_t *count, int64_t *half, int64_t *sorted)
{
    for (int by_column = !half; by_column < 2; by_column++) {
        memset(count, 0, sizeof(int64_t) * ((size_t)n + 1));
        for (int64_t e = 0; e < entries; e++)
            count[1 +
                  (by_column ? lower_column(row[e], column[e]) : lower_row(row[e], column[e]))]++;
        for (int32_t j = 0; j < n; j++)
            count[j + 1] += count[j];
        for (int64_t k = 0; k < entries; k++) {
            const int64_t e = by_column && half ? half[k] : k;
            const int32_t key =
                by_column ? lower_column(row[e], column[e]) : lower_row(row[e], column[e]);
            (by_column ? sorted : half)[count[key]++] = e;
        }
    }
}

/* The pattern from sorted entries (sorted NULL: they came so): duplicates get one place, every
 * column begins with its diagonal.  Without places to write to (a->row and target NULL) only the
 * entries are counted. */
static int64_t merge(const input *in, const int32_t *row, const int32_t *column,
                     const int64_t *sorted, pattern *a, int64_t *target)
{
    int64_t next = 0, k = 0;
    for (int32_t j = 0; j < a->n; j++) {
        a->start[j] = next;
        if (a->row)
            a->row[next] = j;
        int32_t last = j; /* row of the place at next - 1 */
        next++;
        for (; k < in->entries; k++) {
            const int64_t e = sorted ? sorted[k] : k;
            if (lower_column(row[e], column[e]) != j)
                break;
            const int32_t i = lower_row(row[e], column[e]);
            if (i != last) {
                if (a->row)
                    a->row[next] = i;
                last = i;
                next++;
            }
            if (target && target[e] != INPUT_IGNORED) {
                const int is_mirrored = (in->full || in->scattered) && row[e] < column[e];
                target[e] = is_mirrored && !in->upper ? -next : next - 1; /* -1 - (next - 1) */
            }
        }
    }
    a->start[a->n] = next;
    return next;
}

static int has_negative(int64_t count, const int64_t *target)
{
    int64_t e = 0;
    while (e < count && target[e] >= 0)
        e++;
    return e < count;
}

/* FULL: every place off the diagonal is met from both sides. */
static libsolver_status check_mirrored(memory *m, const input *in, message *why)
{
    unsigned char *sides = memory_zeroed(m, in->a.start[in->a.n], 1);
    if (!sides)
        return LIBSOLVER_OUT_OF_MEMORY;
    libsolver_status status = LIBSOLVER_OK;
    for (int64_t e = 0; e < in->entries; e++)
        sides[in->target[e] < 0 ? -1 - in->target[e] : in->target[e]] |= in->target[e] < 0 ? 2 : 1;
    for (int32_t j = 0; j < in->a.n && status == LIBSOLVER_OK; j++)
        for (int64_t p = in->a.start[j] + 1; p < in->a.start[j + 1] && status == LIBSOLVER_OK; p++)
            if (sides[p] != 3)
                status = FAIL(why, LIBSOLVER_INVALID,
                              "not symmetric: of the entries (%d, %d) and (%d, %d), 0-based, only "
                              "one is stored",
                              in->a.row[p], j, j, in->a.row[p]);
    memory_free(m, sides);
    return status;
}

/* Whether entry e, the next one, is in column j. */
static inline int is_in_column(const libsolver_matrix *a, libsolver_index type, int64_t e,
                               int64_t entries, int64_t j)
{
    return a->format == LIBSOLVER_TRIPLETS
               ? e < entries && index_at(a->pointers, type, e) - a->base == j
               : e < index_at(a->pointers, type, j + 1) - a->base;
}

/* Columns [first, last) of the pattern of a view whose entries are those of the lower triangle by
 * columns, each from its diagonal on with ascending rows: a copy; e: where they begin.  0: they are
 * not so, and p is not defined; otherwise *end is where they end.  The types are constants where
 * this is inlined. */
static inline int copy_typed(const libsolver_matrix *a, libsolver_index pointers,
                             libsolver_index indices, int32_t first, int32_t last, int64_t e,
                             int64_t entries, pattern *p, int64_t *end)
{
    for (int32_t j = first; j < last; j++) {
        int64_t expected = j; /* the least row that may come; the first is the diagonal */
        p->start[j] = e;
        for (; is_in_column(a, pointers, e, entries, j); e++) {
            const int64_t i = index_at(a->indices, indices, e) - a->base;
            if (i < expected || i >= p->n || (e == p->start[j] && i != j))
                return 0;
            p->row[e] = (int32_t)i;
            expected = i + 1;
        }
        if (e == p->start[j])
            return 0;
    }
    *end = e;
    return 1;
}

static int copy_columns(const libsolver_matrix *a, int32_t first, int32_t last, int64_t e,
                        int64_t entries, pattern *p, int64_t *end)
{
    const libsolver_index pointers = a->pointer_type, indices = a->index_type;
    if (pointers != indices)
        return copy_typed(a, pointers, indices, first, last, e, entries, p, end);
    return indices == LIBSOLVER_INT64
               ? copy_typed(a, LIBSOLVER_INT64, LIBSOLVER_INT64, first, last, e, entries, p, end)
               : copy_typed(a, LIBSOLVER_INT32, LIBSOLVER_INT32, first, last, e, entries, p, end);
}

/* All columns, by threads where pointers tell where each begins. */
static int copy_in_order(const libsolver_matrix *a, int64_t entries, int threads, pattern *p)
{
    const int parts =
        a->format == LIBSOLVER_TRIPLETS || entries <= INPUT_OF_ONE_THREAD ? 1 : threads;
    int in_order = 1;
#pragma omp parallel for num_threads(parts) if (parts > 1) reduction(&& : in_order)
    for (int q = 0; q < parts; q++) {
        const int32_t first = equal_cut(p->n, parts, q), last = equal_cut(p->n, parts, q + 1);
        const int64_t e = q == 0 ? 0 : index_at(a->pointers, a->pointer_type, first) - a->base;
        int64_t end;
        const int copied = copy_columns(a, first, last, e, entries, p, &end);
        if (copied && last == p->n)
            p->start[last] = end;
        in_order = in_order && copied;
    }
    return in_order && p->start[p->n] == entries;
}

/* All columns, where duplicates may follow each other and diagonals be missing, with the place of
 * each entry; without constant types it takes 2 ns an entry more.  p->row: entries + n. */
static inline int complete_typed(const libsolver_matrix *a, libsolver_index pointers,
                                 libsolver_index indices, int64_t entries, pattern *p,
                                 int64_t *target)
{
    int64_t e = 0, next = 0;
    for (int32_t j = 0; j < p->n; j++) {
        int64_t last = j; /* row of the place at next - 1 */
        p->start[j] = next;
        p->row[next++] = j;
        for (; is_in_column(a, pointers, e, entries, j); e++) {
            const int64_t i = index_at(a->indices, indices, e) - a->base;
            if (i < last || i >= p->n)
                return 0;
            if (i > last)
                p->row[next++] = (int32_t)i;
            target[e] = next - 1;
            last = i;
        }
    }
    p->start[p->n] = next;
    return e == entries;
}

static int copy_completed(const libsolver_matrix *a, int64_t entries, pattern *p, int64_t *target)
{
    const libsolver_index pointers = a->pointer_type, indices = a->index_type;
    if (pointers != indices)
        return complete_typed(a, pointers, indices, entries, p, target);
    return indices == LIBSOLVER_INT64
               ? complete_typed(a, LIBSOLVER_INT64, LIBSOLVER_INT64, entries, p, target)
               : complete_typed(a, LIBSOLVER_INT32, LIBSOLVER_INT32, entries, p, target);
}

/* Whether each column of a view by columns begins with its diagonal; triplets would have to be read
 * for that. */
static int may_be_in_order(const libsolver_matrix *a)
{
    const libsolver_index pointers = a->pointer_type, indices = a->index_type;
    for (int64_t j = 0; j < a->n && a->format != LIBSOLVER_TRIPLETS; j++) {
        const int64_t e = index_at(a->pointers, pointers, j) - a->base;
        if (e + a->base == index_at(a->pointers, pointers, j + 1) ||
            index_at(a->indices, indices, e) - a->base != j)
            return 0;
    }
    return 1;
}

/* Reads the view if copy_in_order or copy_completed can; *done tells. */
static libsolver_status read_by_columns(memory *m, const libsolver_matrix *a, input *in, int *done)
{
    *done = 0;
    if (in->full || in->upper)
        return LIBSOLVER_OK;
    if (may_be_in_order(a)) {
        in->a.row = memory_new(m, in->entries, sizeof(int32_t));
        if (!in->a.row)
            return LIBSOLVER_OUT_OF_MEMORY;
        *done = in->in_order = copy_in_order(a, in->entries, in->threads, &in->a);
    }
    if (!*done) {
        memory_free(m, in->a.row);
        in->a.row = memory_new(m, in->entries + a->n, sizeof(int32_t));
        in->target = memory_new(m, in->entries, sizeof(int64_t));
        if (!in->a.row || !in->target)
            return LIBSOLVER_OUT_OF_MEMORY;
        *done = copy_completed(a, in->entries, &in->a, in->target);
    }
    if (*done) {
        in->scattered = 0;
        return LIBSOLVER_OK;
    }
    memory_free(m, in->a.row);
    memory_free(m, in->target);
    in->a.row = NULL;
    in->target = NULL;
    return LIBSOLVER_OK;
}

#define LANES 4 /* chains of multiplications side by side, as one alone waits for each product */
#define PART (INT64_C(1) << 16) /* indices that are hashed together */

/* A hash of indices [begin, end), less the base, in their order, two at a time. */
static uint64_t hash_part(const void *indices, libsolver_index type, int64_t begin, int64_t end,
                          int64_t base, uint64_t all)
{
    uint64_t lane[LANES];
    int64_t k = begin;
    for (int i = 0; i < LANES; i++)
        lane[i] = 1469598103934665603u + (uint64_t)i;
    for (; k + 2 * LANES <= end; k += 2 * LANES)
        for (int i = 0; i < LANES; i++) {
            const uint64_t x = (uint64_t)(index_at(indices, type, k + 2 * i) - base);
            const uint64_t y = (uint64_t)(index_at(indices, type, k + 2 * i + 1) - base);
            lane[i] = (lane[i] ^ x ^ (y << 32 | y >> 32)) * 1099511628211u + (lane[i] >> 29);
        }
    for (; k < end; k++)
        lane[0] = (lane[0] ^ (uint64_t)(index_at(indices, type, k) - base)) * 1099511628211u +
                  (lane[0] >> 29);
    for (int i = 0; i < LANES; i++)
        all = (all ^ lane[i]) * 1099511628211u + (all >> 29);
    return hash64_number(all);
}

/* That of part q: of the pointers, then of the indices. */
static uint64_t hash_of(const libsolver_matrix *a, int64_t pointers, int64_t entries, int64_t q)
{
    const int64_t first = (pointers + PART - 1) / PART;
    const int of_pointers = q < first;
    const int64_t begin = PART * (of_pointers ? q : q - first),
                  count = of_pointers ? pointers : entries,
                  end = begin + PART < count ? begin + PART : count;
    return hash_part(of_pointers ? a->pointers : a->indices,
                     of_pointers ? a->pointer_type : a->index_type, begin, end, a->base,
                     (uint64_t)q);
}

/* A hash of the indices in their order: the sum of those of parts, which know their number. */
static uint64_t fingerprint(const libsolver_matrix *a, int64_t entries, int threads)
{
    const int64_t pointers = a->format == LIBSOLVER_TRIPLETS ? entries : a->n + 1,
                  parts = (pointers + PART - 1) / PART + (entries + PART - 1) / PART;
    uint64_t all = (uint64_t)a->format ^ (uint64_t)a->storage << 8;
    if (threads > 1 && parts > 4) {
#pragma omp parallel for num_threads(threads) reduction(+ : all)
        for (int64_t q = 0; q < parts; q++)
            all += hash_of(a, pointers, entries, q);
    } else
        for (int64_t q = 0; q < parts; q++)
            all += hash_of(a, pointers, entries, q);
    return all;
}

/* The same for a view whose indices are read. */
static libsolver_status count_indices(const libsolver_matrix *a, int64_t *entries, message *why)
{
    TRY(input_entries(a, entries, why));
    if (*entries == 0 || a->indices)
        return LIBSOLVER_OK;
    return a->format == LIBSOLVER_TRIPLETS
               ? FAIL(why, LIBSOLVER_INVALID, WITHOUT_INDICES, (long long)*entries)
               : FAIL(why, LIBSOLVER_INVALID, "the matrix has no indices");
}

/* The same from any view. */
static libsolver_status read_any(memory *m, const libsolver_matrix *a, input *in, message *why)
{
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int32_t *row = memory_new(m, in->entries, sizeof(int32_t)),
            *column = memory_new(m, in->entries, sizeof(int32_t));
    int64_t *half = NULL, *sorted = NULL;
    in->target = memory_new(m, in->entries, sizeof(int64_t));
    if (!row || !column || !in->target)
        goto done;
    TRY_DONE(expand(a, in->entries, row, column, in->target, why));
    const int ordered = order_of_entries(in->entries, row, column);
    status = LIBSOLVER_OUT_OF_MEMORY;
    if (ordered < 2 && !(sorted = memory_new(m, in->entries, sizeof(int64_t))))
        goto done;
    if (ordered < 1 && !(half = memory_new(m, in->entries, sizeof(int64_t))))
        goto done;
    if (sorted)
        sort_entries(in->a.n, in->entries, row, column, in->a.start, half, sorted);
    const int64_t nnz = merge(in, row, column, sorted, &in->a, NULL);
    in->a.row = memory_new(m, nnz, sizeof(int32_t));
    if (!in->a.row)
        goto done;
    merge(in, row, column, sorted, &in->a, in->target);
    in->scattered = in->scattered && has_negative(in->entries, in->target);
    status = in->full ? check_mirrored(m, in, why) : LIBSOLVER_OK;
done:
    memory_free(m, row);
    memory_free(m, column);
    memory_free(m, half);
    memory_free(m, sorted);
    return status;
}

libsolver_status input_read(memory *m, const libsolver_matrix *a, int threads, input *in,
                            message *why)
{
    memset(in, 0, sizeof *in);
    in->threads = threads;
    TRY(input_check(a, why));
    TRY(count_indices(a, &in->entries, why));
    in->a.n = (int32_t)a->n;
    in->full = a->storage == LIBSOLVER_FULL;
    in->upper = a->storage == LIBSOLVER_UPPER || a->storage == LIBSOLVER_UPPER_OF_FULL;
    in->hermitian = a->symmetry == LIBSOLVER_HERMITIAN;
    in->scattered = a->storage == LIBSOLVER_LOWER_OF_FULL ||
                    a->storage == LIBSOLVER_UPPER_OF_FULL ||
                    (a->storage == LIBSOLVER_EITHER && in->hermitian);
    int done = 0;
    in->a.start = memory_new(m, a->n + 1, sizeof(int64_t));
    libsolver_status status =
        in->a.start ? read_by_columns(m, a, in, &done) : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK && !done)
        status = read_any(m, a, in, why);
    in->fingerprint = status == LIBSOLVER_OK ? fingerprint(a, in->entries, in->threads) : 0;
    if (status == LIBSOLVER_OUT_OF_MEMORY)
        FAIL(why, status, "reading the pattern wanted %lld more bytes", (long long)m->wanted);
    if (status != LIBSOLVER_OK)
        input_free(m, in);
    return status;
}

void input_free(memory *m, input *in)
{
    memory_free(m, in->a.start);
    memory_free(m, in->a.row);
    memory_free(m, in->target);
    memset(in, 0, sizeof *in);
}

libsolver_status input_matches(const input *in, const libsolver_matrix *a, message *why)
{
    TRY(input_check(a, why));
    if (a->n != in->a.n)
        return FAIL(why, LIBSOLVER_PATTERN_MISMATCH, "the order is %lld, %d was analysed",
                    (long long)a->n, in->a.n);
    if (!a->pointers && !a->indices) {
        if (a->format == LIBSOLVER_TRIPLETS && a->nnz != in->entries)
            return FAIL(why, LIBSOLVER_PATTERN_MISMATCH,
                        "%lld values of triplets, %lld were analysed", (long long)a->nnz,
                        (long long)in->entries);
        return LIBSOLVER_OK;
    }
    int64_t entries;
    TRY(count_indices(a, &entries, why));
    if (entries != in->entries || fingerprint(a, entries, in->threads) != in->fingerprint)
        return FAIL(why, LIBSOLVER_PATTERN_MISMATCH,
                    "the indices are not those that were analysed");
    return LIBSOLVER_OK;
}
