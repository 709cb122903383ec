#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay::kernels {

/// Result of checking an output.
struct Verdict {
    bool right = false;
    double worst = 0.0;  ///< The largest error relative to the tolerance: above 1 the output is wrong.
    std::string message; ///< Position and kind of the error; empty for a correct output.
};

/// Combine verdicts: the result is correct if all are, and contains the first error.
Verdict all_of(const std::vector<Verdict>& verdicts);

/// Return the product of two vectors in higher precision.
long double product(const double* a, const double* b, std::size_t n);

/// Comparison with a reference of higher precision, element by element.
///
/// An element is correct within `relative` of the reference's magnitude, or of `scale` if the reference is
/// smaller (sums of terms that cancel). NaN is wrong.
class Comparison {
  public:
    Comparison(double relative, double scale) : relative_(relative), scale_(scale) {}

    void compare(const char* what, std::size_t index, double found, long double wanted);

    /// \param min_compared minimum number of compared elements for a correct verdict.
    [[nodiscard]] Verdict verdict(std::size_t min_compared) const;

  private:
    double relative_;
    double scale_;
    double worst_ = 0.0;
    std::size_t compared_ = 0;
    std::string message_;
};

} // namespace assay::kernels
