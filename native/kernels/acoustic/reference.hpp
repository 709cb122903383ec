#pragma once

#include "kernels/acoustic/work.hpp"

#include <array>
#include <memory>
#include <vector>

namespace assay::kernels {

/// Number of steps, and their input. Fields are products of a factor of x and one of y and z.
struct Setting {
    std::ptrdiff_t nx, ny, nz;
    std::array<double, radius + 1> c;
    std::array<std::vector<double>, 2> along; ///< Factor of x, of `now` and of `before`.
    std::vector<double> across; ///< Factor of y and z, y varying first; the same for both fields.

    /// Return the speed at a cell, given its index in an array without margins.
    float (*speed)(std::ptrdiff_t);
    /// True if the speed differs from cell to cell; otherwise it is that of the cell in the first row.
    bool everywhere;

    [[nodiscard]] double speed_at(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) const {
        return speed(everywhere ? x + nx * (y + ny * z) : x);
    }
};

/// Fields after some steps, in double precision.
class Reference {
  public:
    Reference() = default;
    Reference(const Reference&) = delete;
    Reference& operator=(const Reference&) = delete;
    virtual ~Reference() = default;

    /// Compute one row of the field after all steps, and of the field one step before.
    virtual void rows(std::ptrdiff_t y, std::ptrdiff_t z,
                      std::array<std::vector<double>, 2>& found) const = 0;
};

/// Compute the fields after all steps in higher precision.
///
/// If the speed differs everywhere, each cell is stepped. If the speed is a function of x alone, fields are
/// sums of few products, and each cell can be computed without its neighbours, however large the grid is: L =
/// V(x) (X + Y), where the operator X acts on x, and Y acts on y and z and commutes with V. Fields that begin
/// as p(x) q(y, z) are sums over j of p_j(x) Y^j q, and the p_j follow from steps in x alone.
std::unique_ptr<Reference> reference(const Setting& setting, std::ptrdiff_t steps);

} // namespace assay::kernels
