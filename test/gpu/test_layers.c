/* test/gpu/test_layers.c: the layers chosen for a tree, against all layers that it can be cut into
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * No subtree here has more columns than there are even cuts, so that cuts are tried at every
 * number of columns from the first cut on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu/tree/groups.h"
#include "random.h"
#include <math.h>
#include <string.h>

enum { LARGEST = 28, FIRST_CUT = 8, TREES = 3, MOST = TREES * LARGEST, MOST_CUTS = 9 };

/* As gpu/tree/layers.c has them. */
#define GROUP_BYTES 200
#define ROW_BYTES 40

/* A forest whose nodes are its pieces. */
typedef struct forest {
    factor_tree tree;
    pieces p;
    int32_t first[MOST + 1], above[MOST], node[MOST], zero[MOST], columns[MOST], subtree[MOST];
    int64_t row_start[MOST + 1];
    unsigned char alone[MOST], without_inverse[MOST];
    int32_t largest;   /* columns of a subtree */
    int cuts;          /* that make a difference: */
    int32_t cut[MOST]; /* above subtrees of these many columns, ascending */
} forest;

/* A tree of at most LARGEST columns. */
static void add_tree(random_stream *r, int32_t most_columns, forest *f)
{
    const int32_t begin = f->p.count;
    int32_t left = 1 + random_below(r, LARGEST);
    while (left > 0) {
        int32_t k = 1 + random_below(r, most_columns);
        k = k < left ? k : left;
        f->columns[f->p.count++] = k;
        left -= k;
    }
    for (int32_t i = begin; i < f->p.count; i++) {
        const int is_root = i + 1 == f->p.count;
        const int32_t later = f->p.count - i - 1; /* the next one is often above */
        f->above[i] = is_root ? -1 : i + 1 + (random_below(r, 2) ? 0 : random_below(r, later));
        f->row_start[i + 1] = f->row_start[i] + (is_root ? 0 : 1 + random_below(r, 30));
    }
}

static void draw_forest(random_stream *r, forest *f)
{
    int seen[LARGEST + 1] = {0};
    memset(f, 0, sizeof *f);
    const int32_t most_columns = 1 + random_below(r, 5), trees = 1 + random_below(r, TREES);
    for (int32_t t = 0; t < trees; t++)
        add_tree(r, most_columns, f);
    const int has_alone = random_below(r, 3) == 0;
    for (int32_t i = 0; i < f->p.count; i++) {
        f->node[i] = i;
        f->first[i + 1] = f->first[i] + f->columns[i];
        f->alone[i] = has_alone && random_below(r, 8) == 0;
        f->subtree[i] += f->columns[i];
        if (f->above[i] >= 0)
            f->subtree[f->above[i]] += f->subtree[i];
        seen[f->subtree[i]] = 1;
        f->largest = f->subtree[i] > f->largest ? f->subtree[i] : f->largest;
    }
    for (int32_t c = FIRST_CUT; c < f->largest; c++) /* the first has all below it */
        if (c == FIRST_CUT || seen[c])
            f->cut[f->cuts++] = c;
    f->tree = (factor_tree){.n = f->first[f->p.count],
                            .nodes = f->p.count,
                            .first = f->first,
                            .above = f->above,
                            .row_start = f->row_start};
    f->p.node = f->node;
    f->p.begin = f->zero;
    f->p.end = f->columns;
    f->p.above = f->above;
    f->p.alone = f->alone;
    f->p.without_inverse = f->without_inverse;
}

/* With so few cuts that all sets of them can be tried. */
static void make_forest(random_stream *r, forest *f)
{
    do
        draw_forest(r, f);
    while (f->cuts > MOST_CUTS);
}

/* What a solve takes by the forecast, and what its inverses hold. */
typedef struct forecast {
    double seconds, entries;
} forecast;

static forecast forecast_of(const forest *f, const layer_costs *costs, const int32_t *layer)
{
    int32_t k[MOST], layers = 0;
    double bytes = 0, entries = 0, operations = 0;
    memcpy(k, f->columns, sizeof k);
    for (int32_t i = 0; i < f->p.count; i++) {
        const int32_t up = f->above[i];
        layers = layer[i] >= layers ? layer[i] + 1 : layers;
        if (up >= 0 && layer[up] == layer[i] && !f->alone[i] && !f->alone[up]) {
            k[up] += k[i];
            continue;
        }
        const double rows = (double)(f->row_start[i + 1] - f->row_start[i]);
        const double held = rows > 0 ? k[i] * (k[i] + 1) / 2 + k[i] * rows : k[i] * k[i];
        const int times = rows > 0 ? 2 : 1; /* read forward and backward, a root once */
        entries += held;
        operations += pow(k[i], 3) / (rows > 0 ? 3 : 1.5) + k[i] * k[i] * rows;
        bytes += times * held * (double)costs->scalar_bytes;
        bytes += GROUP_BYTES + ROW_BYTES * (k[i] + rows);
    }
    const double forming =
        costs->solves > 0 ? operations / costs->operations_per_second / costs->solves : 0;
    return (forecast){(2 * layers - 1) * costs->step + bytes / costs->bytes_per_second + forming,
                      entries};
}

/* Of all cuts: bit c of `which` is that at cut[c]. */
static forecast forecast_of_cuts(const forest *f, const layer_costs *costs, int which)
{
    int32_t layer[MOST];
    for (int32_t i = 0; i < f->p.count; i++) {
        layer[i] = 0;
        for (int c = 0; c < f->cuts; c++)
            layer[i] += (which >> c & 1) && f->subtree[i] > f->cut[c];
    }
    return forecast_of(f, costs, layer);
}

static int is_better(const forecast *a, const forecast *b)
{
    return a->seconds < b->seconds || (a->seconds == b->seconds && a->entries < b->entries);
}

/* The fastest there is. */
static forecast fastest(const forest *f, const layer_costs *costs)
{
    forecast best = {INFINITY, INFINITY};
    for (int which = 0; which < 1 << f->cuts; which++) {
        const forecast x = forecast_of_cuts(f, costs, which);
        best = is_better(&x, &best) ? x : best;
    }
    return best;
}

/* From the fastest on to the fewer entries for which the least time each is paid, until they keep
 * the limit: what is cheapest at the least price of an entry at which it does. */
static forecast fastest_below(const forest *f, const layer_costs *costs)
{
    const double most_price = 64 * (double)costs->scalar_bytes / costs->bytes_per_second;
    forecast best = fastest(f, costs);
    while (best.entries > (double)costs->entries_limit) {
        forecast next = best;
        double least = INFINITY;
        for (int which = 0; which < 1 << f->cuts; which++) {
            const forecast x = forecast_of_cuts(f, costs, which);
            const double price = (x.seconds - best.seconds) / (best.entries - x.entries);
            if (!(x.entries < best.entries))
                continue;
            if (price < least || (price == least && x.entries < next.entries)) {
                least = price;
                next = x;
            }
        }
        if (!(least < most_price))
            break;
        best = next;
    }
    return best;
}

static layer_costs random_costs(random_stream *r)
{
    static const double steps[] = {1e-10, 1e-9, 3e-9, 1e-8, 1e-7};
    return (layer_costs){.step = steps[random_below(r, 5)],
                         .bytes_per_second = 1e12,
                         .solves = random_below(r, 3) ? 0 : 1 + random_below(r, 20),
                         .operations_per_second = 2e11,
                         .scalar_bytes = 4 << random_below(r, 3),
                         .largest = MOST};
}

static void layers_of(const forest *f, const layer_costs *costs, int32_t *layer)
{
    memory m = {0};
    assert_int_equal(layers_choose(&m, &f->tree, &f->p, costs, layer), LIBSOLVER_OK);
    assert_int_equal(m.in_use, 0);
    for (int32_t i = 0; i < f->p.count; i++)
        assert_true(layer[i] >= 0 && (f->above[i] < 0 || layer[f->above[i]] >= layer[i]));
}

static void no_other_layers_are_faster(void **state)
{
    (void)state;
    int cut = 0;
    for (int seed = 0; seed < 600; seed++) {
        random_stream r = random_seeded((uint64_t)seed);
        forest f;
        int32_t layer[MOST];
        make_forest(&r, &f);
        const layer_costs costs = random_costs(&r);
        layers_of(&f, &costs, layer);
        const forecast chosen = forecast_of(&f, &costs, layer), best = fastest(&f, &costs);
        if (!(chosen.seconds <= best.seconds * (1 + 1e-12)))
            fail_msg("seed %d: chosen %.17g s, wanted %.17g s", seed, chosen.seconds, best.seconds);
        for (int32_t i = 0; i < f.p.count; i++)
            cut += layer[i] > 0;
    }
    assert_true(cut > 0);
}

static void under_a_limit_the_least_time_is_paid(void **state)
{
    (void)state;
    int kept = 0, paid = 0;
    for (int seed = 0; seed < 600; seed++) {
        random_stream r = random_seeded(5000 + (uint64_t)seed);
        forest f;
        int32_t layer[MOST];
        make_forest(&r, &f);
        layer_costs costs = random_costs(&r);
        const forecast best = fastest(&f, &costs);
        const forecast finest = forecast_of_cuts(&f, &costs, (1 << f.cuts) - 1);
        const double more = best.entries - finest.entries;
        costs.entries_limit = (int64_t)(finest.entries + more * fabs(random_real(&r)));
        layers_of(&f, &costs, layer);
        const forecast chosen = forecast_of(&f, &costs, layer), wanted = fastest_below(&f, &costs);
        const double limit = (double)costs.entries_limit;
        const int is_small = chosen.entries <= fmax(wanted.entries, limit);
        if (!is_small || !(chosen.seconds <= wanted.seconds * (1 + 1e-6)))
            fail_msg("seed %d: limit %g, chosen %.17g s with %g entries, wanted %.17g s with %g",
                     seed, limit, chosen.seconds, chosen.entries, wanted.seconds, wanted.entries);
        kept += chosen.entries <= limit;
        paid += chosen.seconds > best.seconds;
    }
    print_message("%d of 600 limits kept, %d of them take time\n", kept, paid);
    assert_true(kept > 300 && paid > 50);
}

static void groups_are_no_larger_than_allowed(void **state)
{
    (void)state;
    for (int seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(9000 + (uint64_t)seed);
        forest f;
        int32_t layer[MOST], k[MOST];
        make_forest(&r, &f);
        layer_costs costs = random_costs(&r);
        costs.step = 1; /* the fewest layers */
        costs.largest = FIRST_CUT + random_below(&r, LARGEST - FIRST_CUT);
        layers_of(&f, &costs, layer);
        memcpy(k, f.columns, sizeof k);
        for (int32_t i = 0; i < f.p.count; i++) {
            const int32_t up = f.above[i];
            if (up >= 0 && layer[up] == layer[i] && !f.alone[i] && !f.alone[up])
                k[up] += k[i];
            else if (k[i] > costs.largest)
                fail_msg("seed %d: %d columns, %d allowed", seed, k[i], (int)costs.largest);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_layers_are_faster),
        cmocka_unit_test(under_a_limit_the_least_time_is_paid),
        cmocka_unit_test(groups_are_no_larger_than_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
