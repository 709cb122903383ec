#pragma once

/// Eigenvalues and eigenvectors from a tridiagonal matrix; local to the including file.
///
/// Reflections (Householder) make the matrix tridiagonal, and implicit QR steps with Wilkinson's shift make
/// it diagonal. Eigenvectors are rows of the basis: rotations of two rows read contiguous elements. Rotations
/// of several steps are collected and applied together to a slice of columns, which stays in the first cache.
/// Sources: G. Golub, C. Van Loan, Matrix Computations, 8.3; B. Lang, Using Level 3 BLAS in Rotation-Based
/// Algorithms, SIAM J. Sci. Comput. 19 (1998).

#include "kernels/frame/vectors.hpp"
#include "kernels/pca/order.hpp"

#include <cfloat>
#include <cstddef>

namespace {

using assay::kernels::max_sweeps;
using assay::kernels::own_each;

/// The tridiagonal matrix and the reflections that lead to it, in w.own.
struct Tridiagonal {
    double* diagonal;
    double* beside; ///< Off-diagonal elements: element i is between diagonal elements i and i + 1.
    /// Factor of each reflection; its vector is a row of the matrix, left of the diagonal.
    double* reflections;
    double* product; ///< Product of the matrix and such a vector.

    explicit Tridiagonal(const Components& w)
        : diagonal(w.own), beside(diagonal + w.p), reflections(beside + w.p), product(reflections + w.p) {}
};

/// Compute the vector of the reflection that makes row k zero left of the diagonal, except for its last
/// element.
///
/// \return false if the row needs no reflection.
inline bool reflect(const Tridiagonal& t, double* row, std::size_t k) {
    double squares = 0.0;
#pragma omp simd reduction(+ : squares)
    for (std::size_t j = 0; j < k - 1; ++j) squares += row[j] * row[j];
    const double last = row[k - 1];
    t.reflections[k] = 0.0;
    t.beside[k - 1] = last;
    if (squares == 0.0) return false;
    const double length = __builtin_sqrt(squares + last * last);
    t.beside[k - 1] = -__builtin_copysign(length, last);
    row[k - 1] = last - t.beside[k - 1];
    t.reflections[k] = 1.0 / (length * (length + __builtin_fabs(last)));
    return true;
}

/// Compute t.product = A v for the leading k rows and columns, of which the lower half is stored.
inline void multiply_symmetric(const Components& w, const Tridiagonal& t, const double* v, std::size_t k) {
    double* const y = t.product;
    for (std::size_t i = 0; i < k; ++i) {
        const double* const row = w.matrix + i * w.p;
        const double one = v[i];
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t j = 0; j < i; ++j) {
            sum += row[j] * v[j];
            y[j] += row[j] * one;
        }
        y[i] = sum + row[i] * one;
    }
}

/// Reduce the lower half of w.matrix to a tridiagonal matrix.
inline void make_tridiagonal(const Components& w, const Tridiagonal& t) {
    for (std::size_t k = w.p; k-- > 0;) {
        double* const v = w.matrix + k * w.p;
        t.diagonal[k] = v[k];
        if (k == 0) return;
        if (!reflect(t, v, k)) continue;
        multiply_symmetric(w, t, v, k);
        double* const y = t.product;
        double along = 0.0;
#pragma omp simd reduction(+ : along)
        for (std::size_t j = 0; j < k; ++j) along += y[j] * v[j];
        const double by = t.reflections[k], half = 0.5 * by * by * along;
#pragma omp simd
        for (std::size_t j = 0; j < k; ++j) y[j] = by * y[j] - half * v[j];
        for (std::size_t i = 0; i < k; ++i) {
            double* const row = w.matrix + i * w.p;
            const double here = v[i], there = y[i];
#pragma omp simd
            for (std::size_t j = 0; j <= i; ++j) row[j] -= here * y[j] + there * v[j];
        }
    }
}

/// Compute `rows` rows of the basis, from row r: the identity after all reflections.
template <std::size_t rows>
void start_basis(const Components& w, const Tridiagonal& t, std::size_t r) {
    double* const to = w.basis + r * w.across;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < w.across; ++j) to[i * w.across + j] = j == r + i ? 1.0 : 0.0;
    for (std::size_t k = r + 1; k < w.p; ++k) {
        if (t.reflections[k] == 0.0) continue;
        const double* const v = w.matrix + k * w.p;
        double along[rows] = {};
        // Separate variables, since the compiler keeps a reduction of an array in memory.
        if constexpr (rows == 4) {
            const double *a = to, *b = to + w.across, *c = b + w.across, *d = c + w.across;
            double in_a = 0.0, in_b = 0.0, in_c = 0.0, in_d = 0.0;
#pragma omp simd reduction(+ : in_a, in_b, in_c, in_d)
            for (std::size_t j = 0; j < k; ++j) {
                in_a += a[j] * v[j];
                in_b += b[j] * v[j];
                in_c += c[j] * v[j];
                in_d += d[j] * v[j];
            }
            along[0] = in_a, along[1] = in_b, along[2] = in_c, along[3] = in_d;
        } else {
            double sum = 0.0;
#pragma omp simd reduction(+ : sum)
            for (std::size_t j = 0; j < k; ++j) sum += to[j] * v[j];
            along[0] = sum;
        }
        for (std::size_t i = 0; i < rows; ++i) {
            const double by = t.reflections[k] * along[i];
            double* const row = to + i * w.across;
#pragma omp simd
            for (std::size_t j = 0; j < k; ++j) row[j] -= by * v[j];
        }
    }
}

/// Rotations that were not yet applied to the basis.
struct Sweeps {
    double* cosines; ///< p cosines for each sweep.
    double* sines;
    std::size_t p;
    std::size_t first[max_sweeps], last[max_sweeps]; ///< Rows that each sweep rotated.
    std::size_t count = 0;

    explicit Sweeps(const Components& w)
        : cosines(w.own + 4 * w.p), sines(cosines + max_sweeps * w.p), p(w.p) {}
};

/// Apply all rotations to the columns from j that fit four vectors.
template <class V>
void rotate_slice(const Components& w, const Sweeps& sweeps, std::size_t j) {
    constexpr std::size_t lanes = sizeof(V) / sizeof(double), count = 4;
    for (std::size_t one = 0; one < sweeps.count; ++one) {
        const double* const cosines = sweeps.cosines + one * sweeps.p;
        const double* const sines = sweeps.sines + one * sweeps.p;
        double* row = w.basis + sweeps.first[one] * w.across + j;
        V upper[count];
        __builtin_memcpy(upper, row, sizeof upper);
        for (std::size_t k = sweeps.first[one]; k < sweeps.last[one]; ++k, row += w.across) {
#pragma GCC unroll 4
            for (std::size_t v = 0; v < count; ++v) {
                V lower, rotated;
                __builtin_memcpy(&lower, row + w.across + v * lanes, sizeof(V));
                rotated = upper[v] * cosines[k] + lower * sines[k];
                upper[v] = lower * cosines[k] - upper[v] * sines[k];
                __builtin_memcpy(row + v * lanes, &rotated, sizeof(V));
            }
        }
        __builtin_memcpy(row, upper, sizeof upper);
    }
}

/// Minimum number of features for which threads share the updates of the basis. With fewer, synchronisation
/// takes longer than the work.
constexpr std::size_t many_features = 256;

template <class V, bool threads>
void rotate_basis(const Components& w, Sweeps& sweeps) {
    constexpr std::size_t columns = 4 * sizeof(V) / sizeof(double);
#pragma omp parallel for schedule(static) if (threads && w.p >= many_features)
    for (std::size_t j = 0; j < w.p; j += columns) rotate_slice<V>(w, sweeps, j);
    sweeps.count = 0;
}

/// Do one implicit QR step of the rows from `first` to `last`, and record its rotations.
inline void sweep(const Tridiagonal& t, Sweeps& sweeps, std::size_t first, std::size_t last) {
    double* const d = t.diagonal;
    double* const e = t.beside;
    double* const cosines = sweeps.cosines + sweeps.count * sweeps.p;
    double* const sines = sweeps.sines + sweeps.count * sweeps.p;
    sweeps.first[sweeps.count] = first;
    sweeps.last[sweeps.count++] = last;
    const double half = 0.5 * (d[last - 1] - d[last]), end = e[last - 1];
    const double shift =
        d[last] - end * end / (half + __builtin_copysign(__builtin_sqrt(half * half + end * end), half));
    double along = d[first] - shift, bulge = e[first];
    for (std::size_t k = first; k < last; ++k) {
        const double length = __builtin_sqrt(along * along + bulge * bulge);
        const double c = length > 0.0 ? along / length : 1.0, s = length > 0.0 ? bulge / length : 0.0;
        if (k > first) e[k - 1] = length;
        const double a = d[k], b = d[k + 1], between = e[k];
        const double move = s * (s * (b - a) + 2.0 * c * between);
        d[k] = a + move;
        d[k + 1] = b - move;
        e[k] = c * s * (b - a) + (c * c - s * s) * between;
        along = e[k];
        if (k + 1 < last) {
            bulge = s * e[k + 1];
            e[k + 1] *= c;
        }
        cosines[k] = c;
        sines[k] = s;
    }
}

/// Return the size below which elements count as zero, relative to the whole matrix.
inline double smallest(const Tridiagonal& t, std::size_t p) {
    double largest = 0.0;
    for (std::size_t i = 0; i < p; ++i) {
        const double here = __builtin_fabs(t.diagonal[i]) + (i + 1 < p ? __builtin_fabs(t.beside[i]) : 0.0);
        if (here > largest) largest = here;
    }
    return 0.5 * DBL_EPSILON * largest;
}

template <class V, bool threads>
void make_diagonal(const Components& w, const Tridiagonal& t) {
    const double small = smallest(t, w.p);
    Sweeps sweeps(w);
    std::size_t last = w.p - 1;
    // Two or three steps for each value are usual; without convergence the result is NaN.
    for (std::size_t left = 60 * w.p; last > 0 && left > 0;) {
        if (__builtin_fabs(t.beside[last - 1]) <= small) {
            --last;
            continue;
        }
        std::size_t first = last - 1;
        while (first > 0 && __builtin_fabs(t.beside[first - 1]) > small) --first;
        sweep(t, sweeps, first, last);
        --left;
        if (sweeps.count == max_sweeps) rotate_basis<V, threads>(w, sweeps);
    }
    rotate_basis<V, threads>(w, sweeps);
    if (last > 0) t.diagonal[0] = __builtin_nan("");
}

/// Diagonalise w.matrix, whose lower half is overwritten.
template <class V, bool threads = false>
void decompose(const Components& w) {
    if (w.p == 0) return;
    const Tridiagonal t(w);
    make_tridiagonal(w, t);
    const std::size_t groups = w.p / 4;
#pragma omp parallel for schedule(dynamic) if (threads && w.p >= many_features)
    for (std::size_t g = 0; g < groups; ++g) start_basis<4>(w, t, 4 * g);
    for (std::size_t r = 4 * groups; r < w.p; ++r) start_basis<1>(w, t, r);
    make_diagonal<V, threads>(w, t);
    give_in_order(w, t.diagonal, 1);
}

} // namespace
