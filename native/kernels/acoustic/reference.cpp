// build: -O3
#include "kernels/acoustic/reference.hpp"

#include <algorithm>
#include <utility>

namespace assay::kernels {

namespace {

std::size_t index(std::ptrdiff_t i) {
    return static_cast<std::size_t>(i);
}

using Rows = std::array<std::vector<double>, 2>;

/// Return the sum of c_k times the k-th neighbours in one direction; cells beyond the ends are zero.
double neighbours(const Setting& s, const double* field, std::ptrdiff_t i, std::ptrdiff_t n,
                  std::ptrdiff_t stride) {
    double sum = 0.0;
    for (std::ptrdiff_t k = 1; k <= radius; ++k) {
        const double left = i >= k ? field[-k * stride] : 0.0;
        const double right = i + k < n ? field[k * stride] : 0.0;
        sum += s.c[index(k)] * (left + right);
    }
    return sum;
}

/// Steps each cell from its neighbours.
class Direct final : public Reference {
  public:
    Direct(const Setting& s, std::ptrdiff_t steps) : nx_(s.nx), ny_(s.ny) {
        const std::ptrdiff_t cells = s.nx * s.ny * s.nz;
        for (std::size_t one : {0U, 1U})
            for (std::ptrdiff_t i = 0; i < cells; ++i)
                fields_[one].push_back(s.along[one][index(i % s.nx)] * s.across[index(i / s.nx)]);
        for (std::ptrdiff_t t = 0; t < steps; ++t) {
            for (std::ptrdiff_t i = 0; i < cells; ++i) fields_[1][index(i)] = next(s, i);
            std::swap(fields_[0], fields_[1]);
        }
    }

    void rows(std::ptrdiff_t y, std::ptrdiff_t z, Rows& found) const override {
        for (std::size_t one : {0U, 1U})
            std::copy_n(fields_[one].data() + nx_ * (y + ny_ * z), nx_, found[one].data());
    }

  private:
    [[nodiscard]] double next(const Setting& s, std::ptrdiff_t i) const {
        const std::ptrdiff_t x = i % s.nx, y = i / s.nx % s.ny, z = i / (s.nx * s.ny);
        const double* u = fields_[0].data() + i;
        const double laplacian = s.c[0] * *u + neighbours(s, u, x, s.nx, 1) +
                                 neighbours(s, u, y, s.ny, s.nx) + neighbours(s, u, z, s.nz, s.nx * s.ny);
        return 2.0 * *u - fields_[1][index(i)] + s.speed_at(x, y, z) * laplacian;
    }

    std::ptrdiff_t nx_, ny_;
    Rows fields_;
};

/// Sums of products of functions of x and of powers of an operator in y and z.
class Separated final : public Reference {
  public:
    Separated(const Setting& s, std::ptrdiff_t steps) : nx_(s.nx), ny_(s.ny), terms_(steps + 1) {
        for (std::size_t one : {0U, 1U}) {
            factors_[one].resize(index(terms_ * nx_));
            std::ranges::copy(s.along[one], factors_[one].begin());
        }
        for (std::ptrdiff_t t = 0; t < steps; ++t) {
            for (std::ptrdiff_t j = t + 1; j >= 0; --j)
                for (std::ptrdiff_t x = 0; x < nx_; ++x) factors_[1][index(j * nx_ + x)] = next(s, j, x);
            std::swap(factors_[0], factors_[1]);
        }
        powers_.push_back(s.across);
        for (std::ptrdiff_t j = 0; j < steps; ++j) powers_.push_back(applied(s, powers_.back()));
    }

    void rows(std::ptrdiff_t y, std::ptrdiff_t z, Rows& found) const override {
        for (std::size_t one : {0U, 1U}) {
            double* to = found[one].data();
            std::fill_n(to, nx_, 0.0);
            for (std::ptrdiff_t j = 0; j < terms_; ++j) {
                const double* factor = factors_[one].data() + j * nx_;
                const double power = powers_[index(j)][index(y + ny_ * z)];
                for (std::ptrdiff_t x = 0; x < nx_; ++x) to[x] += factor[x] * power;
            }
        }
    }

  private:
    [[nodiscard]] double next(const Setting& s, std::ptrdiff_t j, std::ptrdiff_t x) const {
        const double* p = factors_[0].data() + j * nx_ + x;
        const double lower = j > 0 ? p[-nx_] : 0.0;
        const double applied = s.c[0] * *p + neighbours(s, p, x, nx_, 1) + lower;
        return 2.0 * *p - factors_[1][index(j * nx_ + x)] + s.speed_at(x, 0, 0) * applied;
    }

    static std::vector<double> applied(const Setting& s, const std::vector<double>& field) {
        std::vector<double> found(field.size());
        for (std::ptrdiff_t z = 0; z < s.nz; ++z)
            for (std::ptrdiff_t y = 0; y < s.ny; ++y) {
                const double* q = field.data() + y + s.ny * z;
                found[index(y + s.ny * z)] = neighbours(s, q, y, s.ny, 1) + neighbours(s, q, z, s.nz, s.ny);
            }
        return found;
    }

    std::ptrdiff_t nx_, ny_, terms_;
    Rows factors_; ///< p_j of the field, and of the field one step before.
    std::vector<std::vector<double>> powers_;
};

} // namespace

std::unique_ptr<Reference> reference(const Setting& setting, std::ptrdiff_t steps) {
    if (setting.everywhere) return std::make_unique<Direct>(setting, steps);
    return std::make_unique<Separated>(setting, steps);
}

} // namespace assay::kernels
