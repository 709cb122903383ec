#include "kernels/frame/lapack.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

// Interfaces of the reference (https://www.netlib.org/lapack/explore-html/), with Fortran's calling
// convention; the lengths of strings, which compilers pass last, are all 1.
template <class Int>
using Syrk = void(const char* half, const char* how, const Int* n, const Int* k, const double* alpha,
                  const double* a, const Int* lda, const double* beta, double* c, const Int* ldc, std::size_t,
                  std::size_t);
template <class Int>
using Eigen = void(const char* job, const char* half, const Int* n, double* a, const Int* lda, double* values,
                   double* room, const Int* length, Int* whole, const Int* whole_length, Int* failed,
                   std::size_t, std::size_t);
template <class Int>
using Singular = void(const char* job, const Int* m, const Int* n, double* a, const Int* lda, double* values,
                      double* u, const Int* ldu, double* vt, const Int* ldvt, double* room, const Int* length,
                      Int* whole, Int* failed, std::size_t);
template <class Int>
using Triangle = void(const Int* m, const Int* n, double* a, const Int* lda, double* tau, double* room,
                      const Int* length, Int* failed);

template <class Int>
using Factors = void(const Int* m, const Int* n, double* a, const Int* lda, Int* exchanged, Int* info);

template <class Int>
Int size(std::size_t count) {
    return static_cast<Int>(count);
}

/// Call a function twice: with a length of -1, for which it returns the size of its scratch memory, and with
/// that memory.
template <class Int, class Call>
Int with_room(Call call) {
    Int failed = 0;
    double length = 0.0;
    call(&length, Int{-1}, &failed);
    if (failed) return failed;
    std::vector<double> room(static_cast<std::size_t>(std::max(length, 1.0)));
    call(room.data(), size<Int>(room.size()), &failed);
    return failed;
}

template <class Int>
void call_syrk(void* function, std::size_t n, std::size_t k, const double* a, double* c, std::size_t down) {
    const Int order = size<Int>(n), depth = size<Int>(k), apart = size<Int>(down);
    const double alpha = 1.0, beta = 0.0;
    reinterpret_cast<Syrk<Int>*>(function)("U", "N", &order, &depth, &alpha, a, &order, &beta, c, &apart, 1,
                                           1);
}

template <class Int>
bool call_eigen(void* function, std::size_t n, double* a, double* values) {
    const Int order = size<Int>(n), whole_length = 5 * order + 3;
    std::vector<Int> whole(static_cast<std::size_t>(whole_length));
    return with_room<Int>([&](double* room, Int length, Int* failed) {
               reinterpret_cast<Eigen<Int>*>(function)("V", "U", &order, a, &order, values, room, &length,
                                                       whole.data(), &whole_length, failed, 1, 1);
           }) == 0;
}

template <class Int>
bool call_singular(void* function, const char* job, std::size_t m, std::size_t n, double* a, double* values,
                   double* left, double* right) {
    const Int rows = size<Int>(m), columns = size<Int>(n);
    std::vector<Int> whole(8 * std::min(m, n));
    return with_room<Int>([&](double* room, Int length, Int* failed) {
               reinterpret_cast<Singular<Int>*>(function)(job, &rows, &columns, a, &rows, values, left, &rows,
                                                          right, &columns, room, &length, whole.data(),
                                                          failed, 1);
           }) == 0;
}

template <class Int>
bool call_triangle(void* function, std::size_t m, std::size_t n, double* a, double* reflections) {
    const Int rows = size<Int>(m), columns = size<Int>(n);
    return with_room<Int>([&](double* room, Int length, Int* failed) {
               reinterpret_cast<Triangle<Int>*>(function)(&rows, &columns, a, &rows, reflections, room,
                                                          &length, failed);
           }) == 0;
}

template <class Int>
std::int64_t call_factors(void* function, std::size_t n, double* a, std::int64_t* exchanged) {
    const Int order = size<Int>(n), apart = std::max(order, Int{1});
    std::vector<Int> rows(n);
    Int info = 0;
    reinterpret_cast<Factors<Int>*>(function)(&order, &order, a, &apart, rows.data(), &info);
    for (std::size_t j = 0; j < n; ++j) exchanged[j] = rows[j] - 1;
    return info > 0 ? info - 1 : static_cast<std::int64_t>(n);
}

void spoil(double* values, std::size_t count) {
    std::fill_n(values, count, std::numeric_limits<double>::quiet_NaN());
}

} // namespace

Lapack::Lapack(const Blas& blas)
    : blas_(blas), reason_(blas.missing() ? blas.missing() : ""), syrk_(blas.fortran("dsyrk")),
      eigen_(blas.fortran("dsyevd")), singular_(blas.fortran("dgesdd")), triangle_(blas.fortran("dgelqf")),
      factors_(blas.fortran("dgetrf")) {
    if (reason_.empty() && !(syrk_ && eigen_ && singular_ && triangle_ && factors_))
        reason_ = std::string("no LAPACK in ") + blas.version();
}

void Lapack::syrk(std::size_t n, std::size_t k, const double* a, double* c, std::size_t down) const {
    if (n == 0) return;
    if (blas_.wide())
        call_syrk<std::int64_t>(syrk_, n, k, a, c, down);
    else
        call_syrk<int>(syrk_, n, k, a, c, down);
}

void Lapack::eigen(std::size_t n, double* a, double* values) const {
    if (n == 0) return;
    const bool done =
        blas_.wide() ? call_eigen<std::int64_t>(eigen_, n, a, values) : call_eigen<int>(eigen_, n, a, values);
    if (!done) spoil(values, n);
}

void Lapack::singular(const char* job, std::size_t m, std::size_t n, double* a, double* values, double* left,
                      double* right) const {
    if (m == 0) return;
    const bool done = blas_.wide() ? call_singular<std::int64_t>(singular_, job, m, n, a, values, left, right)
                                   : call_singular<int>(singular_, job, m, n, a, values, left, right);
    if (!done) spoil(values, m);
}

void Lapack::singular_of_wide(std::size_t m, std::size_t n, double* a, double* values, double* left) const {
    // "O" stores the vectors of columns, as many as there are rows, in the place of the matrix.
    singular("O", m, n, a, values, left, nullptr);
}

void Lapack::singular_of_square(std::size_t n, double* a, double* values, double* left, double* right) const {
    singular("A", n, n, a, values, left, right);
}

void Lapack::triangle(std::size_t m, std::size_t n, double* a, double* reflections) const {
    if (m == 0) return;
    const bool done = blas_.wide() ? call_triangle<std::int64_t>(triangle_, m, n, a, reflections)
                                   : call_triangle<int>(triangle_, m, n, a, reflections);
    if (!done) spoil(a, m);
}

std::int64_t Lapack::factors(std::size_t n, double* a, std::int64_t* exchanged) const {
    return blas_.wide() ? call_factors<std::int64_t>(factors_, n, a, exchanged)
                        : call_factors<int>(factors_, n, a, exchanged);
}

const Lapack& openblas_lapack() {
    static const Lapack opened(openblas());
    return opened;
}

const Lapack& openblas64_lapack() {
    static const Lapack opened(openblas64());
    return opened;
}

} // namespace assay::kernels
