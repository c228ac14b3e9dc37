/* test/cli/test_mm_cholmod.c: the Matrix Market reader beside SuiteSparse's, on every file of two
 * folders
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *   test_mm_cholmod DATA MATRICES
 *
 * MATRICES is $LIBSOLVER_MATRICES where that is set, and passed over if it does not exist. */
#include "mm_read.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <suitesparse/cholmod.h> /* behind zlib.h, whose declarations its macros would change */

/* The file's text, unpacked, for CHOLMOD, which wants a FILE. */
static FILE *unpacked(const char *path)
{
    char block[1 << 16];
    gzFile packed = gzopen(path, "rb");
    FILE *file = packed ? tmpfile() : NULL;
    for (int got; file && (got = gzread(packed, block, sizeof block)) > 0;)
        fwrite(block, 1, (size_t)got, file);
    if (packed)
        gzclose_r(packed);
    if (file)
        rewind(file);
    return file;
}

/* By columns, sorted, duplicates summed; NULL if CHOLMOD does not take the file. */
static cholmod_sparse *read_by_cholmod(const char *path, int *is_pattern, cholmod_common *common)
{
    char header[128];
    FILE *file = unpacked(path);
    if (!file || !fgets(header, sizeof header, file))
        return NULL;
    *is_pattern = strstr(header, "pattern") != NULL;
    rewind(file);
    cholmod_triplet *t = cholmod_l_read_triplet(file, common);
    cholmod_sparse *read = t ? cholmod_l_triplet_to_sparse(t, 0, common) : NULL;
    if (read)
        cholmod_l_sort(read, common);
    cholmod_l_free_triplet(&t, common);
    fclose(file);
    return read;
}

/* The first entry of the lower triangle that differs; NULL if there is none.  CHOLMOD holds both
 * triangles of a complex symmetric matrix, and makes up values for a pattern. */
static const char *difference(const triplets *ours, const cholmod_sparse *theirs, int is_pattern)
{
    static char text[160];
    const SuiteSparse_long *start = theirs->p, *row = theirs->i;
    const double *value = theirs->x;
    const int width = theirs->xtype == CHOLMOD_COMPLEX ? 2 : 1;
    int64_t k = 0;
    if ((size_t)ours->n != theirs->ncol)
        return "the orders";
    if (width != triplets_width(ours))
        return "the types";
    for (SuiteSparse_long j = 0; j < (SuiteSparse_long)theirs->ncol; j++)
        for (SuiteSparse_long p = start[j]; p < start[j + 1]; p++) {
            if (row[p] < j)
                continue;
            const double *mine = ours->values + k * width;
            if (k >= ours->nnz || ours->rows[k] != row[p] || ours->columns[k] != j ||
                (is_pattern ? mine[0] != 1
                            : memcmp(mine, value + p * width, sizeof *mine * (size_t)width) != 0)) {
                snprintf(text, sizeof text, "entry %lld, (%ld, %ld) for CHOLMOD", (long long)k,
                         (long)row[p] + 1, (long)j + 1);
                return text;
            }
            k++;
        }
    return k == ours->nnz ? NULL : "the numbers of entries";
}

/* 1: the two readers disagree */
static int compare_file(const char *path, cholmod_common *common)
{
    triplets ours;
    failure f = {0};
    int is_pattern = 0;
    cholmod_sparse *theirs = read_by_cholmod(path, &is_pattern, common);
    mm_read_matrix(path, &ours, NULL, &f);
    const char *where = f.code    ? f.text
                        : !theirs ? "CHOLMOD refuses it"
                                  : difference(&ours, theirs, is_pattern);
    if (where)
        printf("%s: %s\n", path, where);
    triplets_free(&ours);
    cholmod_l_free_sparse(&theirs, common);
    return where != NULL;
}

static int is_matrix(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return (length > 4 && strcmp(entry->d_name + length - 4, ".mtx") == 0) ||
           (length > 7 && strcmp(entry->d_name + length - 7, ".mtx.gz") == 0);
}

/* All *.mtx and *.mtx.gz of a folder but the right-hand side of data/. */
static void compare_folder(const char *folder, cholmod_common *common, int *compared,
                           int *different)
{
    struct dirent **files;
    int found = scandir(folder, &files, is_matrix, alphasort);
    for (int i = 0; i < found; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
        if (strcmp(files[i]->d_name, "five_b.mtx") != 0) {
            *different += compare_file(path, common);
            ++*compared;
        }
        free(files[i]);
    }
    if (found >= 0)
        free(files);
}

int main(int count, char **arguments)
{
    int compared = 0, different = 0;
    const char *matrices = getenv("LIBSOLVER_MATRICES");
    cholmod_common common;
    if (count != 3)
        return 1;
    cholmod_l_start(&common);
    common.print = 0;
    compare_folder(arguments[1], &common, &compared, &different);
    const int has_data = compared > 0; /* the other folder need not be there */
    compare_folder(matrices ? matrices : arguments[2], &common, &compared, &different);
    cholmod_l_finish(&common);
    printf("%d files read by both, %d differ\n", compared, different);
    return different > 0 || !has_data;
}
