#pragma once

#include "kernels/frame/library.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace assay::kernels {

/// A BLAS through its C interface, opened at first use. Matrices are stored column by column.
class Blas {
  public:
    /// Naming scheme of a library's functions, and the width of its integers.
    struct Names {
        const char* title;
        const char* before;
        const char* after;
        bool wide;
    };

    Blas(const Names& names, Library opened);

    /// Return the reason why the library is not available, or null if it is.
    [[nodiscard]] const char* missing() const { return reason_.empty() ? nullptr : reason_.c_str(); }
    /// Return version and core type, or null if the library is not available.
    [[nodiscard]] const char* version() const { return version_.empty() ? nullptr : version_.c_str(); }

    /// Return whether integers have 64 bits.
    [[nodiscard]] bool wide() const { return wide_; }
    /// Return a function of the BLAS, or of a LAPACK in the same library, by its name in Fortran ("dsyrk").
    /// Return null if it is missing.
    [[nodiscard]] void* fortran(const std::string& name) const {
        return library_.symbol((before_ + name + "_" + after_).c_str());
    }

    /// Set the number of threads to that of OpenMP.
    void use_threads() const;

    /// Compute c = a b + beta c, without gaps between columns.
    void gemm(std::size_t m, std::size_t n, std::size_t k, const double* a, const double* b, double beta,
              double* c) const;

    /// Compute y = alpha a x + beta y for a with m rows and n columns, or with a transposed.
    void gemv(bool transposed, std::size_t m, std::size_t n, double alpha, const double* a, std::size_t down,
              const double* x, double beta, double* y) const;

  private:
    template <class Function>
    [[nodiscard]] Function* function(const char* name) const {
        return library_.function<Function>((before_ + name + after_).c_str());
    }

    Library library_;
    std::string before_, after_, reason_, version_;
    bool wide_ = false;
    void* gemm_ = nullptr;
    void* gemv_ = nullptr;
    void (*set_threads_)(int) = nullptr;
    void (*set_ways_)(std::int64_t) = nullptr; ///< Setter of BLIS.
};

/// Return OpenBLAS of the distribution.
const Blas& openblas();
/// Return OpenBLAS of numpy and scipy (package scipy-openblas64), whose integers have 64 bits.
const Blas& openblas64();
const Blas& blis();

} // namespace assay::kernels
