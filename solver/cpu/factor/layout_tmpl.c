/* solver/cpu/factor/layout_tmpl.c: where fronts and contribution blocks lie
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything has a planned place, with room for as many delayed columns as the last factorization
 * had (and a quarter more). A front that needs more takes memory of its own; the next factorization
 * plans for it. */
#include "solver/cpu/factor/numeric.h"
#include <string.h>

/* Bytes up to which panels are packed: they are made in the scratch of a thread, which stays in the
 * caches. */
#define PACKED_BYTES ((int64_t)131072)

/* Whether Cholesky packs a panel: where the triangle above L is an eighth of it.  lap2d:300, one
 * core of an AMD EPYC 9004, ms of a refactorization and of a solve with one right-hand side: no
 * panel packed 15.3 and 3.5, these 15.6 and 3.1, all 16.1 and 2.9. */
static int packs(const cpu_plan *plan, int64_t m, int64_t k)
{
    return plan->packs && 4 * (k - 1) >= m && m * k * (int64_t)sizeof(scalar) <= PACKED_BYTES;
}

static int64_t block_bytes(const numeric *f, int64_t m, int64_t k)
{
    const int64_t above = f->cholesky && packs(f->plan, m, k) ? k * (k - 1) / 2 : 0;
    int64_t bytes = (m * k - above) * (int64_t)sizeof(scalar);
    if (!f->cholesky)
        bytes += 2 * k * (int64_t)sizeof(scalar) + 2 * m * (int64_t)sizeof(int32_t);
    return round_up(bytes, MEMORY_ALIGNMENT);
}

/* Contribution block of order r and, for LDL^T, its magnitudes. */
static int64_t slot_entries(int cholesky, int64_t r)
{
    return round_up(cb_entries(r) + (cholesky ? 0 : r), MEMORY_ALIGNMENT / (int64_t)sizeof(real));
}

/* Columns that children are expected to delay to s. */
static int64_t room_below(const numeric *f, int32_t s)
{
    int64_t room = 0;
    for (int32_t c = f->plan->child[s]; c >= 0; c = f->plan->sibling[c])
        room += f->node[c].room;
    return room;
}

/* Makes *block at least `bytes` large; its contents are lost when it grows. */
static libsolver_status reserve(numeric *f, void **block, int64_t *held, int64_t bytes)
{
    memory *m = &f->plan->env->memory;
    if (bytes <= *held && *block)
        return LIBSOLVER_OK;
    memory_free(m, *block);
    *held = 0;
    *block = memory_new_in(f->pool, m, bytes, 1);
    if (!*block)
        return LIBSOLVER_OUT_OF_MEMORY;
    *held = bytes;
    return LIBSOLVER_OK;
}

/* Entries of a thread's scratch for L D L^T, for fronts of m rows and k candidates. */
static void list_scratch(scratch *t, int64_t m, int64_t k, memory_part part[3])
{
    part[0] = (memory_part){&t->work, front_ldlt_work(m, k), sizeof(scalar), 0};
    part[1] = (memory_part){&t->magnitude, m, sizeof(real), 0};
    part[2] = (memory_part){&t->permutation, 3 * m, sizeof(int32_t), 0};
}

static memory_part tile_scratch_part(numeric *f)
{
    return (memory_part){&f->tile_scratch, (int64_t)f->threads * FRONT_TASK_SCRATCH, sizeof(scalar),
                         0};
}

/* Finds places for all, and for as many columns as were delayed to each node; without nodes, none
 * has been.  p: to be freed. */
static libsolver_status find_places(const numeric *f, cpu_places *p)
{
    const cpu_plan *plan = f->plan;
    memory *m = &plan->env->memory;
    const int32_t n = plan->part.supernodes;
    const int knows_delays = f->node && !f->cholesky;
    int64_t *all = memory_new(m, 4 * (int64_t)n, sizeof(int64_t)), entries = 0, most_below = 0;
    if (!all)
        return LIBSOLVER_OUT_OF_MEMORY;
    *p = (cpu_places){.cholesky = f->cholesky,
                      .type = SCALAR_TYPE,
                      .block = all,
                      .slot = all + n,
                      .slot_entries = all + 2 * (int64_t)n,
                      .solve_slot = all + 3 * (int64_t)n};
    for (int32_t s = 0; s < n; s++) {
        const int64_t below = knows_delays ? room_below(f, s) : 0,
                      waiting = knows_delays ? f->node[s].room : 0;
        const int64_t rows = plan_rows(plan, s) + below, candidates = plan_pivots(plan, s) + below;
        p->block[s] = p->blocks_bytes;
        p->blocks_bytes += block_bytes(f, rows, candidates);
        const int64_t panel = (int64_t)plan_rows(plan, s) * plan_pivots(plan, s);
        if (packs(plan, plan_rows(plan, s), plan_pivots(plan, s)) && panel > p->unpacked_bytes)
            p->unpacked_bytes = panel; /* Cholesky may come to the places of L D L^T */
        p->slot_entries[s] = slot_entries(f->cholesky, rows - candidates + waiting);
        p->solve_slot[s] = solve_slot_rows(rows); /* their number, for now */
        most_below = most_below > below ? most_below : below;
    }
    p->unpacked_bytes = round_up(p->unpacked_bytes * (int64_t)sizeof(scalar), MEMORY_ALIGNMENT);
    p->largest_front = plan->largest_front + most_below;
    libsolver_status status =
        slots_plan(m, &plan->part, &plan->tasks, p->slot_entries, p->slot, &entries);
    p->slots_bytes = entries * (int64_t)sizeof(scalar);
    if (status == LIBSOLVER_OK)
        status = slots_plan(m, &plan->part, &plan->solves, p->solve_slot, p->solve_slot,
                            &p->solve_entries);
    if (status != LIBSOLVER_OK)
        cpu_places_free(m, p);
    return status;
}

/* The nodes get these places. */
static void use_places(numeric *f, const cpu_places *p)
{
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        node *v = &f->node[s];
        v->block = p->block[s];
        v->slot = p->slot[s];
        v->slot_entries = p->slot_entries[s];
        v->planned_m = (int32_t)(plan_rows(f->plan, s) + (f->cholesky ? 0 : room_below(f, s)));
    }
    memcpy(f->solve_slot, p->solve_slot, sizeof(int64_t) * (size_t)f->plan->part.supernodes);
    f->solve_entries = p->solve_entries;
    f->layout.wanted_blocks = p->blocks_bytes;
    f->layout.wanted_slots = p->slots_bytes;
    f->layout.largest_front = p->largest_front;
    f->layout.wanted_unpacked = p->unpacked_bytes;
}

/* Whether the plan knows them from its prediction: no factorization has delayed columns yet. */
static int knows_places(const numeric *f)
{
    const cpu_places *p = &f->plan->places;
    return p->block && p->type == SCALAR_TYPE && p->cholesky == f->cholesky &&
           !f->layout.was_planned;
}

/* Takes what is not there yet. */
static libsolver_status take_room(numeric *f)
{
    memory *m = &f->plan->env->memory;
    numeric_layout *l = &f->layout;
    TRY(reserve(f, (void **)&l->blocks, &l->blocks_bytes, l->wanted_blocks));
    TRY(reserve(f, (void **)&l->slots, &l->slots_bytes, l->wanted_slots));
    TRY(reserve(f, (void **)&l->unpacked, &l->unpacked_bytes, f->threads * l->wanted_unpacked));
    for (int t = 0; t < f->threads; t++)
        f->scratch[t].panel = (void *)(l->unpacked + t * l->wanted_unpacked);
    if (f->cholesky)
        return LIBSOLVER_OK;
    for (int t = 0; t < f->threads; t++)
        TRY(NAME(cpu_scratch_reserve)(f, &f->scratch[t], l->largest_front, l->largest_front));
    const memory_part tile_scratch = tile_scratch_part(f);
    return f->tile_scratch || memory_take_in(f->pool, m, &tile_scratch, 1)
               ? LIBSOLVER_OK
               : LIBSOLVER_OUT_OF_MEMORY;
}

/* Whether the places that are planned will do. */
static int layout_serves(const numeric *f, int cholesky)
{
    return f->layout.is_planned && (cholesky || (f->layout.is_ldlt && !f->layout.lacks_room));
}

libsolver_status NAME(cpu_plan_layout)(numeric *f, int cholesky, backend_report *report)
{
    NAME(cpu_release_own)(f);
    f->cholesky = cholesky;
    if (layout_serves(f, cholesky))
        return LIBSOLVER_OK;
    /* the first plan of a factor is no growth, unless there is a factor by columns already */
    report->growths += f->layout.was_planned || f->first_plan->simplicial;
    cpu_places found = {.block = NULL};
    const int is_known = knows_places(f);
    f->layout.was_planned = 1;
    f->layout.is_ldlt = !cholesky;
    f->layout.is_planned = f->layout.lacks_room = 0;
    if (!is_known)
        TRY(find_places(f, &found));
    use_places(f, is_known ? &f->plan->places : &found);
    cpu_places_free(&f->plan->env->memory, &found);
    f->layout.is_planned = 1;
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_layout)(numeric *f, int cholesky, backend_report *report)
{
    TRY(NAME(cpu_plan_layout)(f, cholesky, report));
    return take_room(f);
}

libsolver_status NAME(cpu_predict_layout)(numeric *f, cpu_places *places, int64_t *bytes)
{
    scratch t;
    memory_part part[3];
    const memory_part tile_scratch = tile_scratch_part(f);
    TRY(find_places(f, places));
    f->solve_entries = places->solve_entries;
    list_scratch(&t, places->largest_front, places->largest_front, part);
    *bytes = memory_counted(places->blocks_bytes, 1) + memory_counted(places->slots_bytes, 1) +
             memory_counted(f->threads * places->unpacked_bytes, 1) +
             (f->cholesky ? 0 : f->threads * memory_sum(part, 3) + memory_sum(&tile_scratch, 1));
    return LIBSOLVER_OK;
}

/* Memory of its own for a front or a contribution block.  kept: it stays for the life of the
 * factor. */
static libsolver_status grow(numeric *f, int64_t bytes, int kept, void **block)
{
    /* what is kept adds up to the same sum in whatever order; contribution blocks come and go and
     * are looked at one by one */
    const int64_t grown = kept ? atomic_fetch_add(&f->attempt.grown, bytes) + bytes : bytes;
    if (f->attempt.growth_limit > 0 && grown > f->attempt.growth_limit)
        return TOO_MANY_DELAYS;
    f->attempt.growths++;
    *block = memory_new(&f->plan->env->memory, bytes, 1);
    return *block ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
}

libsolver_status NAME(cpu_place_node)(numeric *f, int32_t s, int m, int k)
{
    node *v = &f->node[s];
    if (m > v->planned_m)
        TRY(grow(f, block_bytes(f, m, k), 1, &v->own_block));
    v->m = m;
    v->k = k;
    v->packed = f->cholesky && packs(f->plan, m, k);
    v->panel = v->own_block ? v->own_block : (void *)(f->layout.blocks + v->block);
    if (f->cholesky) {
        v->d = v->e = NULL;
        v->index = f->plan->part.row + f->plan->part.row_start[s];
        v->up = NULL;
    } else {
        v->d = v->panel + (int64_t)m * k;
        v->e = v->d + k;
        v->index = (int32_t *)(v->e + k);
        v->up = (int32_t *)(v->e + k) + m;
    }
    return LIBSOLVER_OK;
}

/* Columns are too short for a call of memcpy each. */
static inline void copy_entries(const scalar *restrict from, int count, scalar *restrict to)
{
    int i = 0;
    for (; i + 4 <= count; i += 4)
        memcpy(to + i, from + i, 4 * sizeof(scalar));
    for (; i < count; i++)
        memcpy(to + i, from + i, sizeof(scalar));
}

void NAME(cpu_pack_node)(numeric *f, int32_t s)
{
    node *v = &f->node[s];
    if (!v->packed)
        return;
    const scalar *from = v->panel;
    v->panel = (void *)(f->layout.blocks + v->block);
    for (int j = 0; j < v->k; j++)
        copy_entries(from + j + (int64_t)j * v->m, v->m - j, v->panel + node_place(v, j, j));
}

libsolver_status NAME(cpu_place_contribution)(numeric *f, int32_t s)
{
    node *v = &f->node[s];
    const int64_t r = v->m - v->p, entries = slot_entries(f->cholesky, r);
    if (entries > v->slot_entries)
        TRY(grow(f, entries * (int64_t)sizeof(scalar), 0, &v->own_cb));
    v->cb = v->own_cb ? v->own_cb : (void *)(f->layout.slots + v->slot);
    v->cb_magnitude = (real *)(v->cb + cb_entries(r));
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_scratch_reserve)(numeric *f, scratch *t, int64_t m, int64_t k)
{
    if (m <= t->m && k <= t->k)
        return LIBSOLVER_OK;
    memory_part part[3];
    list_scratch(t, m, k, part);
    memory_release(&f->plan->env->memory, part, 3);
    t->m = t->k = 0;
    if (!memory_take_in(f->pool, &f->plan->env->memory, part, 3))
        return LIBSOLVER_OUT_OF_MEMORY;
    t->m = m;
    t->k = k;
    return LIBSOLVER_OK;
}

void NAME(cpu_release_own)(numeric *f)
{
    memory *m = &f->plan->env->memory;
    if (atomic_load(&f->attempt.growths) == 0)
        return;
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        node *v = &f->node[s];
        memory_free(m, v->own_block);
        memory_free(m, v->own_cb);
        v->own_block = v->own_cb = NULL;
    }
    atomic_store(&f->attempt.growths, 0);
}
