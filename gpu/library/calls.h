/* gpu/library/calls.h: every function that is defined in CUDA files and called from C files or by
 * users, as tables that the libraries with CUDA code hand to libsolver
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The CUDA code is twenty times the size of the rest and most users have no GPU for it, so it is in
 * libraries of its own, which are loaded when first wanted (load.c): that of the solver, and that
 * of libsolver_dense.h, of which the solver calls nothing.  libsolver has a function of each name
 * that calls the one in the table (forward.c).  A new function is a line here; without it libsolver
 * does not link. */
#ifndef GPU_LIBRARY_CALLS_H
#define GPU_LIBRARY_CALLS_H

#include "dense/libsolver_dense.h"
#include "gpu/batch/device_batch.h"
#include "gpu/factor/device_outcome.h"
#include "gpu/device/device_factor.h"
#include "gpu/device/device_values.h"
#include "gpu/device/build.h"
#include "gpu/device/devices.h"
#include "gpu/factor/device_factorizer.h"
#include "gpu/invert/device_invert.h"
#include "gpu/refine/residual.h"
#include "gpu/solve/device_solver.h"
#include "gpu/solve/narrowing.h"
#include "gpu/substitute/device_substitution.h"

/* Name, parameters, arguments.  STATUS: the last parameter is `message *why`.  VALUE: has a type in
 * front; 0 without the library.  VOID: gives back what another call took, so there is nothing to do
 * where the library has not been loaded. */
#define DEVICE_CALLS(STATUS, VALUE, VOID) \
    STATUS(gpu_build_describe, (gpu_build * build, message * why), (build, why)) \
    STATUS(gpu_device_count, (int *count, message *why), (count, why)) \
    STATUS(gpu_device_describe, (int i, gpu_device *device, message *why), (i, device, why)) \
    STATUS(gpu_device_check, (int i, message *why), (i, why)) \
    STATUS(gpu_device_read, \
           (int device, void *stream, const void *from, int64_t bytes, void *to, message *why), \
           (device, stream, from, bytes, to, why)) \
    STATUS(device_factor_take, \
           (device_factor * f, const device_factor_shape *shape, message *why), (f, shape, why)) \
    STATUS(device_factor_upload, \
           (device_factor * f, device_factor_copy * fill, void *user, message *why), \
           (f, fill, user, why)) \
    STATUS(device_factor_download, \
           (device_factor * f, device_factor_copy * drain, void *user, message *why), \
           (f, drain, user, why)) \
    VOID(device_factor_drop, (device_factor * f), (f)) \
    VOID(device_factor_release, (device_factor * f), (f)) \
    STATUS(device_values_open, \
           (device_values * v, environment * env, void *stream, int64_t entries, \
            libsolver_type type, message *why), \
           (v, env, stream, entries, type, why)) \
    VOID(device_values_close, (device_values * v), (v)) \
    STATUS(device_values_put, (const device_values *v, const void *values, message *why), \
           (v, values, why)) \
    STATUS(device_values_get, (const device_values *v, void *values, message *why), \
           (v, values, why)) \
    STATUS(device_values_get_sums, (const device_values *v, void *values, message *why), \
           (v, values, why)) \
    VALUE(int64_t, device_values_bytes, (const device_values *v), (v)) \
    STATUS(device_values_prepare, \
           (device_values * v, const value_sums *sums, int64_t given, message *why), \
           (v, sums, given, why)) \
    STATUS(device_values_sum, \
           (const device_values *v, const void *given, const void *shift, int *is_sound, \
            message *why), \
           (v, given, shift, is_sound, why)) \
    STATUS(device_factorizer_load, \
           (device_factorizer * f, const factor_program *program, const factor_pattern *pattern, \
            libsolver_type type, message *why), \
           (f, program, pattern, type, why)) \
    STATUS(device_factorizer_launch, \
           (device_factorizer * f, const factor_program *program, \
            const factorizer_arguments *arguments, message *why), \
           (f, program, arguments, why)) \
    STATUS(device_factorizer_timed, \
           (device_factorizer * f, const factor_program *program, \
            const factorizer_arguments *arguments, uint64_t *times, message *why), \
           (f, program, arguments, times, why)) \
    STATUS(device_factorizer_judge, \
           (device_factorizer * f, const factor_program *program, message *why), \
           (f, program, why)) \
    STATUS(device_factorizer_finish, \
           (device_factorizer * f, const factor_program *program, cholesky_outcome *outcome, \
            message *why), \
           (f, program, outcome, why)) \
    STATUS(device_factorizer_complement, \
           (device_factorizer * f, const factor_program *program, const void *values, \
            const complement_place *to, message *why), \
           (f, program, values, to, why)) \
    VALUE(int64_t, device_factorizer_bytes, \
          (const factor_program *program, const factor_pattern *pattern, libsolver_type type), \
          (program, pattern, type)) \
    VOID(device_factorizer_drop, (device_factorizer * f), (f)) \
    STATUS(device_inverter_load, \
           (device_inverter * f, const invert_pattern *pattern, message *why), (f, pattern, why)) \
    VALUE(int64_t, device_batch_bytes, (const batch_shape *shape), (shape)) \
    VOID(device_batch_close, (device_batch * t), (t)) \
    STATUS(device_batch_copy, \
           (const device_batch *t, void *to, const void *from, int64_t bytes, message *why), \
           (t, to, from, bytes, why)) \
    STATUS(device_batch_factorize, \
           (device_batch * t, const int32_t *list, int64_t number, const batch_places *values, \
            int is_unscaled, double doubt_level, int *unsound, cholesky_outcome *outcome, \
            message *why), \
           (t, list, number, values, is_unscaled, doubt_level, unsound, outcome, why)) \
    STATUS(device_batch_open, (device_batch * t, const batch_shape *shape, message *why), \
           (t, shape, why)) \
    STATUS(device_batch_refine, \
           (device_batch * t, const int32_t *list, int64_t number, const batch_places *b, \
            const batch_places *x, int steps, double tolerance, double least_progress, \
            double *error, message *why), \
           (t, list, number, b, x, steps, tolerance, least_progress, error, why)) \
    STATUS(device_batch_solve, \
           (device_batch * t, const int32_t *list, int64_t number, int64_t columns, \
            const batch_places *b, const batch_places *x, message *why), \
           (t, list, number, columns, b, x, why)) \
    STATUS(device_inverter_finish, \
           (const device_inverter *f, largest_growth *growth, double *seconds, message *why), \
           (f, growth, seconds, why)) \
    STATUS(device_inverter_growths, (const device_inverter *f, double *growth, message *why), \
           (f, growth, why)) \
    STATUS(device_inverter_launch, \
           (device_inverter * f, const device_factor *factor, const invert_pattern *pattern, \
            void *values, const unsigned *words, int is_timed, message *why), \
           (f, factor, pattern, values, words, is_timed, why)) \
    STATUS(device_inverter_words, \
           (device_inverter * f, const device_factor *factor, const invert_pattern *pattern, \
            invert_words *words, message *why), \
           (f, factor, pattern, words, why)) \
    VOID(device_outcome_close, (device_outcome * o), (o)) \
    VALUE(int, device_outcome_is_captured, (const device_outcome *o), (o)) \
    STATUS(device_outcome_judge, (device_outcome * o, const outcome_arguments *a, message *why), \
           (o, a, why)) \
    STATUS(device_outcome_last, (const device_outcome *o, judged_outcome *last, message *why), \
           (o, last, why)) \
    STATUS(device_outcome_open, (device_outcome * o, message * why), (o, why)) \
    STATUS(device_outcome_set, (const device_outcome *o, libsolver_status status, message *why), \
           (o, status, why)) \
    STATUS(device_substitution_renew, \
           (const device_substitution *t, const device_solver *s, message *why), (t, s, why)) \
    STATUS(device_values_check, \
           (const device_values *v, const void *given, int keeps, value_flaws *flaws, \
            message *why), \
           (v, given, keeps, flaws, why)) \
    VOID(device_inverter_drop, (device_inverter * f), (f)) \
    STATUS(device_solver_open, (device_solver * s, message * why), (s, why)) \
    VOID(device_solver_close, (device_solver * s), (s)) \
    STATUS(device_solver_reserve, (device_solver * s, const device_upload *program, message *why), \
           (s, program, why)) \
    STATUS(device_solver_upload, (device_solver * s, const device_upload *program, message *why), \
           (s, program, why)) \
    VOID(device_solver_drop, (device_solver * s), (s)) \
    VALUE(int64_t, device_workspace_bytes, (const device_solver *s, int64_t columns), \
          (s, columns)) \
    STATUS(device_workspace_open, \
           (const device_solver *s, int64_t columns, device_workspace *w, message *why), \
           (s, columns, w, why)) \
    VOID(device_workspace_close, (device_workspace * w), (w)) \
    STATUS(device_solve, \
           (const device_solver *s, const device_workspace *w, void *stream, \
            const libsolver_vectors *b, const libsolver_vectors *x, task_times *times, \
            message *why), \
           (s, w, stream, b, x, times, why)) \
    STATUS(device_solve_timed, \
           (const device_solver *s, const device_workspace *w, const libsolver_vectors *b, \
            const libsolver_vectors *x, int64_t tasks, task_times *times, message *why), \
           (s, w, b, x, tasks, times, why)) \
    STATUS(device_solve_check, \
           (const device_solver *s, const device_workspace *w, void *stream, int *gave_up, \
            message *why), \
           (s, w, stream, gave_up, why)) \
    VALUE(unsigned *, device_solve_failed, (const device_workspace *w), (w)) \
    STATUS(device_staging_open, \
           (const device_solver *s, int64_t bytes, device_staging *g, message *why), \
           (s, bytes, g, why)) \
    VOID(device_staging_close, (device_staging * g), (g)) \
    STATUS(device_staging_in, \
           (const device_solver *s, const device_staging *g, int64_t bytes, message *why), \
           (s, g, bytes, why)) \
    STATUS(device_staging_out, \
           (const device_solver *s, const device_staging *g, int64_t bytes, message *why), \
           (s, g, bytes, why)) \
    STATUS(device_block_get, \
           (const device_solver *s, const libsolver_vectors *from, void *to, message *why), \
           (s, from, to, why)) \
    STATUS(device_block_put, \
           (const device_solver *s, const void *from, const libsolver_vectors *to, message *why), \
           (s, from, to, why)) \
    STATUS(device_narrowing_open, \
           (device_narrowing * v, libsolver_type type, int32_t n, message *why), \
           (v, type, n, why)) \
    STATUS(device_narrowing_scale, (const device_narrowing *v, const double *scale, message *why), \
           (v, scale, why)) \
    VOID(device_narrowing_drop, (device_narrowing * v), (v)) \
    VALUE(int64_t, narrow_block_bytes, (const device_narrowing *v, int32_t columns), (v, columns)) \
    STATUS(narrow_block_open, \
           (const device_narrowing *v, int32_t columns, narrow_block *w, message *why), \
           (v, columns, w, why)) \
    VOID(narrow_block_close, (narrow_block * w), (w)) \
    STATUS(device_narrow, \
           (const device_narrowing *v, const narrow_block *w, void *stream, \
            const libsolver_vectors *b, message *why), \
           (v, w, stream, b, why)) \
    STATUS(device_widen, \
           (const device_narrowing *v, const narrow_block *w, void *stream, \
            const libsolver_vectors *x, message *why), \
           (v, w, stream, x, why)) \
    STATUS(device_substitution_load, \
           (device_substitution * t, device_solver * s, const device_factor *factor, \
            const substitution *plan, const int32_t *user_row, const void *scale, message *why), \
           (t, s, factor, plan, user_row, scale, why)) \
    STATUS(device_substitute, \
           (const device_substitution *t, const device_solver *s, const device_workspace *w, \
            void *stream, const libsolver_vectors *b, const libsolver_vectors *x, message *why), \
           (t, s, w, stream, b, x, why)) \
    STATUS(device_matrix_open, \
           (device_matrix * a, const full_matrix *pattern, libsolver_type type, message *why), \
           (a, pattern, type, why)) \
    STATUS(device_matrix_set, \
           (const device_matrix *a, const void *lower, int follows, message *why), \
           (a, lower, follows, why)) \
    VOID(device_matrix_close, (device_matrix * a), (a)) \
    STATUS(device_refinement_open, \
           (const device_matrix *a, int32_t columns, device_refinement *w, message *why), \
           (a, columns, w, why)) \
    VOID(device_refinement_close, (device_refinement * w), (w)) \
    STATUS(device_refine_step, \
           (const device_matrix *a, const device_refinement *w, void *stream, \
            const refine_step *s, message *why), \
           (a, w, stream, s, why)) \
    STATUS(device_refine_finish, \
           (const device_matrix *a, const device_refinement *w, void *stream, \
            const refine_step *s, const refine_outcome *outcome, message *why), \
           (a, w, stream, s, outcome, why)) \
    STATUS(device_refine_spare, \
           (const device_matrix *a, const device_refinement *w, void *stream, \
            const libsolver_vectors *b, libsolver_vectors *copy, message *why), \
           (a, w, stream, b, copy, why)) \
    STATUS(device_refine_wait, (const device_matrix *a, void *stream, message *why), \
           (a, stream, why))

/* The public ones (dense/libsolver_dense.h), which have no message. */
#define DENSE_CALLS(STATUS, VALUE, VOID) \
    VALUE(int, libsolver_dense_cublas_version, (void), ()) \
    VALUE(libsolver_trsv_options, libsolver_trsv_default_options, (void), ()) \
    VALUE(int64_t, libsolver_trsv_workspace_bytes, (int64_t n), (n)) \
    STATUS(libsolver_trsv_workspace_init, (void *workspace, int64_t bytes, void *stream), \
           (workspace, bytes, stream)) \
    STATUS(libsolver_trsv, \
           (libsolver_type type, libsolver_storage uplo, libsolver_transpose trans, \
            libsolver_diagonal diag, int64_t n, const void *a, int64_t lda, void *x, int64_t incx, \
            void *workspace, int64_t workspace_bytes, const libsolver_trsv_options *options, \
            void *stream), \
           (type, uplo, trans, diag, n, a, lda, x, incx, workspace, workspace_bytes, options, \
            stream)) \
    VALUE(int64_t, libsolver_trsv_prepare_bytes, (libsolver_type type, int64_t n), (type, n)) \
    STATUS(libsolver_trsv_prepare, \
           (libsolver_type type, libsolver_storage uplo, libsolver_transpose trans, \
            libsolver_diagonal diag, int64_t n, const void *a, int64_t lda, void *storage, \
            int64_t storage_bytes, double growth_limit, void *stream, \
            libsolver_trsv_prepared *prepared), \
           (type, uplo, trans, diag, n, a, lda, storage, storage_bytes, growth_limit, stream, \
            prepared)) \
    STATUS(libsolver_trsv_solve, \
           (const libsolver_trsv_prepared *prepared, void *x, int64_t incx, void *workspace, \
            int64_t workspace_bytes, void *stream), \
           (prepared, x, incx, workspace, workspace_bytes, stream)) \
    VALUE(int64_t, libsolver_trsm_workspace_bytes, (int64_t n, int64_t nrhs), (n, nrhs)) \
    STATUS(libsolver_trsm_workspace_init, (void *workspace, int64_t bytes, void *stream), \
           (workspace, bytes, stream)) \
    STATUS(libsolver_trsm, \
           (libsolver_type type, libsolver_side side, libsolver_storage uplo, \
            libsolver_transpose trans, libsolver_diagonal diag, int64_t m, int64_t n, \
            const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb, void *workspace, \
            int64_t workspace_bytes, void *stream), \
           (type, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, workspace, \
            workspace_bytes, stream)) \
    VALUE(int64_t, libsolver_trsm_prepare_bytes, (libsolver_type type, int64_t n), (type, n)) \
    STATUS(libsolver_trsm_prepare, \
           (libsolver_type type, libsolver_side side, libsolver_storage uplo, \
            libsolver_transpose trans, libsolver_diagonal diag, int64_t n, const void *a, \
            int64_t lda, void *storage, int64_t storage_bytes, double growth_limit, void *stream, \
            libsolver_trsm_prepared *prepared), \
           (type, side, uplo, trans, diag, n, a, lda, storage, storage_bytes, growth_limit, \
            stream, prepared)) \
    STATUS(libsolver_trsm_solve, \
           (const libsolver_trsm_prepared *prepared, int64_t nrhs, const void *alpha, void *b, \
            int64_t ldb, void *workspace, int64_t workspace_bytes, void *stream), \
           (prepared, nrhs, alpha, b, ldb, workspace, workspace_bytes, stream)) \
    STATUS(libsolver_trsv_strided_batched, \
           (libsolver_type type, libsolver_storage uplo, libsolver_transpose trans, \
            libsolver_diagonal diag, int64_t n, const void *a, int64_t lda, int64_t stride_a, \
            void *x, int64_t incx, int64_t stride_x, int64_t batch, void *stream), \
           (type, uplo, trans, diag, n, a, lda, stride_a, x, incx, stride_x, batch, stream)) \
    STATUS(libsolver_trsv_batched, \
           (libsolver_type type, libsolver_storage uplo, libsolver_transpose trans, \
            libsolver_diagonal diag, int64_t n, const void *const *a, int64_t lda, void *const *x, \
            int64_t incx, int64_t batch, void *stream), \
           (type, uplo, trans, diag, n, a, lda, x, incx, batch, stream)) \
    STATUS(libsolver_trsv_variable_batched, \
           (libsolver_type type, libsolver_storage uplo, libsolver_transpose trans, \
            libsolver_diagonal diag, int64_t max_n, const int64_t *n, const void *const *a, \
            const int64_t *lda, void *const *x, int64_t incx, int64_t batch, void *stream), \
           (type, uplo, trans, diag, max_n, n, a, lda, x, incx, batch, stream)) \
    STATUS(libsolver_trsm_strided_batched, \
           (libsolver_type type, libsolver_side side, libsolver_storage uplo, \
            libsolver_transpose trans, libsolver_diagonal diag, int64_t m, int64_t n, \
            const void *a, int64_t lda, int64_t stride_a, void *b, int64_t ldb, int64_t stride_b, \
            int64_t batch, void *stream), \
           (type, side, uplo, trans, diag, m, n, a, lda, stride_a, b, ldb, stride_b, batch, \
            stream)) \
    STATUS(libsolver_trsm_batched, \
           (libsolver_type type, libsolver_side side, libsolver_storage uplo, \
            libsolver_transpose trans, libsolver_diagonal diag, int64_t m, int64_t n, \
            const void *const *a, int64_t lda, void *const *b, int64_t ldb, int64_t batch, \
            void *stream), \
           (type, side, uplo, trans, diag, m, n, a, lda, b, ldb, batch, stream)) \
    STATUS(libsolver_trsm_variable_batched, \
           (libsolver_type type, libsolver_side side, libsolver_storage uplo, \
            libsolver_transpose trans, libsolver_diagonal diag, int64_t max_m, int64_t max_n, \
            const int64_t *m, const int64_t *n, const void *const *a, const int64_t *lda, \
            void *const *b, const int64_t *ldb, int64_t batch, void *stream), \
           (type, side, uplo, trans, diag, max_m, max_n, m, n, a, lda, b, ldb, batch, stream)) \
    STATUS(libsolver_trmm_strided_batched, \
           (libsolver_type type, libsolver_side side, libsolver_storage uplo, \
            libsolver_transpose trans, libsolver_diagonal diag, int64_t m, int64_t n, \
            const void *a, int64_t lda, int64_t stride_a, void *b, int64_t ldb, int64_t stride_b, \
            int64_t batch, void *stream), \
           (type, side, uplo, trans, diag, m, n, a, lda, stride_a, b, ldb, stride_b, batch, \
            stream)) \
    STATUS(libsolver_trmm_batched, \
           (libsolver_type type, libsolver_side side, libsolver_storage uplo, \
            libsolver_transpose trans, libsolver_diagonal diag, int64_t m, int64_t n, \
            const void *const *a, int64_t lda, void *const *b, int64_t ldb, int64_t batch, \
            void *stream), \
           (type, side, uplo, trans, diag, m, n, a, lda, b, ldb, batch, stream)) \
    STATUS(libsolver_trmm_variable_batched, \
           (libsolver_type type, libsolver_side side, libsolver_storage uplo, \
            libsolver_transpose trans, libsolver_diagonal diag, int64_t max_m, int64_t max_n, \
            const int64_t *m, const int64_t *n, const void *const *a, const int64_t *lda, \
            void *const *b, const int64_t *ldb, int64_t batch, void *stream), \
           (type, side, uplo, trans, diag, max_m, max_n, m, n, a, lda, b, ldb, batch, stream)) \
    STATUS(libsolver_trtri_strided_batched, \
           (libsolver_type type, libsolver_storage uplo, libsolver_diagonal diag, int64_t n, \
            void *a, int64_t lda, int64_t stride_a, int64_t batch, void *stream), \
           (type, uplo, diag, n, a, lda, stride_a, batch, stream)) \
    STATUS(libsolver_trtri_batched, \
           (libsolver_type type, libsolver_storage uplo, libsolver_diagonal diag, int64_t n, \
            void *const *a, int64_t lda, int64_t batch, void *stream), \
           (type, uplo, diag, n, a, lda, batch, stream)) \
    STATUS(libsolver_trtri_variable_batched, \
           (libsolver_type type, libsolver_storage uplo, libsolver_diagonal diag, int64_t max_n, \
            const int64_t *n, void *const *a, const int64_t *lda, int64_t batch, void *stream), \
           (type, uplo, diag, max_n, n, a, lda, batch, stream)) \
    STATUS(libsolver_potrf_strided_batched, \
           (libsolver_type type, libsolver_storage uplo, int64_t n, void *a, int64_t lda, \
            int64_t stride_a, int *info, int64_t batch, void *stream), \
           (type, uplo, n, a, lda, stride_a, info, batch, stream)) \
    STATUS(libsolver_potrf_batched, \
           (libsolver_type type, libsolver_storage uplo, int64_t n, void *const *a, int64_t lda, \
            int *info, int64_t batch, void *stream), \
           (type, uplo, n, a, lda, info, batch, stream)) \
    STATUS(libsolver_potrf_variable_batched, \
           (libsolver_type type, libsolver_storage uplo, int64_t max_n, const int64_t *n, \
            void *const *a, const int64_t *lda, int *info, int64_t batch, void *stream), \
           (type, uplo, max_n, n, a, lda, info, batch, stream)) \
    VALUE(int64_t, libsolver_potrf_workspace_bytes, (libsolver_type type, int64_t n), (type, n)) \
    STATUS(libsolver_potrf, \
           (libsolver_type type, libsolver_storage uplo, int64_t n, void *a, int64_t lda, \
            int *info, void *workspace, int64_t workspace_bytes, void *stream), \
           (type, uplo, n, a, lda, info, workspace, workspace_bytes, stream)) \
    VOID(libsolver_dense_destroy, (libsolver_dense_context * context), (context)) \
    STATUS(libsolver_dense_trsm, \
           (libsolver_dense_context * context, libsolver_type type, libsolver_side side, \
            libsolver_storage uplo, libsolver_transpose trans, libsolver_diagonal diag, int64_t m, \
            int64_t n, const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb, \
            void *stream), \
           (context, type, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, stream)) \
    STATUS(libsolver_dense_trmm, \
           (libsolver_dense_context * context, libsolver_type type, libsolver_side side, \
            libsolver_storage uplo, libsolver_transpose trans, libsolver_diagonal diag, int64_t m, \
            int64_t n, const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb, \
            void *stream), \
           (context, type, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, stream)) \
    STATUS(libsolver_dense_trtri, \
           (libsolver_dense_context * context, libsolver_type type, libsolver_storage uplo, \
            libsolver_diagonal diag, int64_t n, void *a, int64_t lda, void *stream), \
           (context, type, uplo, diag, n, a, lda, stream)) \
    STATUS(libsolver_dense_lauum, \
           (libsolver_dense_context * context, libsolver_type type, libsolver_storage uplo, \
            int64_t n, void *a, int64_t lda, void *stream), \
           (context, type, uplo, n, a, lda, stream)) \
    STATUS(libsolver_dense_potrf, \
           (libsolver_dense_context * context, libsolver_type type, libsolver_storage uplo, \
            int64_t n, void *a, int64_t lda, int *info, void *stream), \
           (context, type, uplo, n, a, lda, info, stream)) \
    STATUS(libsolver_dense_potrs, \
           (libsolver_dense_context * context, libsolver_type type, libsolver_storage uplo, \
            int64_t n, int64_t nrhs, const void *a, int64_t lda, void *b, int64_t ldb, \
            void *stream), \
           (context, type, uplo, n, nrhs, a, lda, b, ldb, stream)) \
    STATUS(libsolver_dense_posv, \
           (libsolver_dense_context * context, libsolver_type type, libsolver_storage uplo, \
            int64_t n, int64_t nrhs, void *a, int64_t lda, void *b, int64_t ldb, int *info, \
            void *stream), \
           (context, type, uplo, n, nrhs, a, lda, b, ldb, info, stream)) \
    STATUS(libsolver_dense_potri, \
           (libsolver_dense_context * context, libsolver_type type, libsolver_storage uplo, \
            int64_t n, void *a, int64_t lda, void *stream), \
           (context, type, uplo, n, a, lda, stream))

#define CALL_POINTER(name, parameters, arguments) __typeof__(name) *name;
#define CALL_POINTER_TYPED(type, name, parameters, arguments) __typeof__(name) *name;

/* What each table begins with.  Both must be those of the library that loads: no other has the same
 * structs. */
typedef struct table_head {
    const char *version;
    size_t bytes; /* of the table */
} table_head;

typedef struct device_calls {
    table_head head;
    DEVICE_CALLS(CALL_POINTER, CALL_POINTER_TYPED, CALL_POINTER)
} device_calls;

typedef struct dense_calls {
    table_head head;
    DENSE_CALLS(CALL_POINTER, CALL_POINTER_TYPED, CALL_POINTER)
    __typeof__(libsolver_dense_create) *libsolver_dense_create;
    __typeof__(libsolver_dense_message) *libsolver_dense_message;
} dense_calls;

#undef CALL_POINTER
#undef CALL_POINTER_TYPED

#endif
