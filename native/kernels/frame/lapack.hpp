#pragma once

#include "kernels/frame/blas.hpp"

#include <cstddef>
#include <string>

namespace assay::kernels {

/// The part of a LAPACK that kernels use, in a library that also contains a BLAS (such as OpenBLAS). Matrices
/// are stored column by column. The result of a computation that does not converge is NaN.
class Lapack {
  public:
    explicit Lapack(const Blas& blas);

    /// Return the reason why the library is not available, or null if it is.
    [[nodiscard]] const char* missing() const { return reason_.empty() ? nullptr : reason_.c_str(); }
    /// Return version and core type of the library, or null if it is not available.
    [[nodiscard]] const char* version() const { return missing() ? nullptr : blas_.version(); }
    void use_threads() const { blas_.use_threads(); }

    /// Compute the upper half of c = a transposed(a), with n rows and k columns of a, and columns of c at a
    /// distance of `down` (dsyrk).
    void syrk(std::size_t n, std::size_t k, const double* a, double* c, std::size_t down) const;

    /// Compute eigenvalues of a symmetric matrix, the smallest first, and vectors in its columns (dsyevd, of
    /// the upper half).
    void eigen(std::size_t n, double* a, double* values) const;

    /// Compute singular values of a matrix with fewer rows than columns, which is overwritten, and the m
    /// vectors of its rows (dgesdd).
    void singular_of_wide(std::size_t m, std::size_t n, double* a, double* values, double* left) const;

    /// Compute the singular values of a square matrix, and the vectors of its columns.
    void singular_of_square(std::size_t n, double* a, double* values, double* left, double* right) const;

    /// Reduce a matrix with fewer rows than columns to a lower triangle in its first m columns, by
    /// reflections with m factors (dgelqf).
    void triangle(std::size_t m, std::size_t n, double* a, double* reflections) const;

    /// Compute P A = L U in the place of the n by n elements of a, without gaps (dgetrf).
    ///
    /// \param exchanged for each column, the row that was exchanged with its own, from 0. \return the first
    /// column without a pivot, from 0; n if each has one.
    std::int64_t factors(std::size_t n, double* a, std::int64_t* exchanged) const;

  private:
    void singular(const char* job, std::size_t m, std::size_t n, double* a, double* values, double* left,
                  double* right) const;

    const Blas& blas_;
    std::string reason_;
    void* syrk_ = nullptr;
    void* eigen_ = nullptr;
    void* singular_ = nullptr;
    void* triangle_ = nullptr;
    void* factors_ = nullptr;
};

const Lapack& openblas_lapack();
const Lapack& openblas64_lapack();

} // namespace assay::kernels
