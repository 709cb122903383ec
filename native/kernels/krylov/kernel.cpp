#include "kernels/frame/buffer.hpp"
#include "kernels/frame/caches.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/krylov/work.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

constexpr std::size_t line = 64 / sizeof(double);

/// Return a number from 0 to 1.
double datum(std::size_t kind, std::size_t i) {
    return static_cast<double>(mixed(8 * i + kind) >> 11U) * 0x1p-53;
}

const About about_krylov = {
    "krylov",
    "Solver by generalised conjugate residuals, with the orthogonalisation of gram-schmidt",
    "article on classical Gram-Schmidt in a reservoir simulator: on extracted matrices the kernel gains 1.5 "
    "to 2.5 times and the solver 1.1 to 1.5; in the best simulation the kernel gains 2.8 times and the "
    "simulation 1.7",
    "memory bandwidth; the product with the matrix and the updates dilute the gain of the kernel",
    true,
};

class Krylov final : public KernelOf<System> {
  public:
    [[nodiscard]] const About& about() const override { return about_krylov; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {
            {"edge", "unknowns along an edge of a cube", 0, 0, 1024},
            {"steps", "steps of the solver, each with one more vector to orthogonalise against", 32, 1, 512},
            {"chunk", "elements processed for all vectors before the next chunk", 2048, 1, 1 << 24}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t edge : {0, 1, 2, 3, 7, 12}) found.push_back({{"edge", edge}, {"steps", 5}});
        found.push_back({{"edge", 9}, {"steps", 20}, {"chunk", 100}});
        found.push_back({{"edge", 10}, {"steps", 1}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        const double each = 8.0 * arrays(static_cast<double>(values.at("steps")));
        values["edge"] = static_cast<std::int64_t>(std::cbrt(static_cast<double>(bytes) / each));
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        const auto edge = static_cast<double>(values.at("edge"));
        return 8.0 * arrays(static_cast<double>(values.at("steps"))) * edge * edge * edge;
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto edge = static_cast<std::size_t>(values.at("edge"));
        const auto steps = static_cast<std::size_t>(values.at("steps"));
        const std::size_t n = edge * edge * edge;
        // One cache line more than necessary, so that vectors do not all begin in the same set of a cache.
        const std::size_t stride = (n + line - 1) / line * line + line;
        const std::size_t room = 2 * ((steps + line - 1) / line * line);
        for (auto* one : {&q_, &d_}) *one = Buffer<double>(stride * steps, shift);
        for (auto* one : {&centre_, &right_side_, &solution_, &residual_}) *one = Buffer<double>(n, shift);
        for (auto& one : beside_) one = Buffer<double>(n, shift);
        weights_ = Buffer<double>(steps);
        sums_ = Buffer<double>(steps);
        own_ = Buffer<double>(room);
        fill(edge);
        done_ = steps;
        work_ = {centre_.data(),
                 {},
                 right_side_.data(),
                 solution_.data(),
                 residual_.data(),
                 weights_.data(),
                 edge,
                 steps,
                 &done_,
                 {q_.data(), d_.data(), nullptr, nullptr, sums_.data(), n, 0, stride,
                  static_cast<std::size_t>(values.at("chunk")), steps, 0, own_.data(), room}};
        for (std::size_t side = 0; side < System::neighbours; ++side)
            work_.beside[side] = beside_[side].data();
    }

    void restore() override {
        std::ranges::fill(solution_, 0.0);
        std::ranges::copy(right_side_, residual_.begin());
    }

    void poison() override {
        for (auto* one : {&q_, &d_, &weights_, &sums_, &own_})
            std::ranges::fill(*one, std::numeric_limits<double>::quiet_NaN());
        done_ = std::numeric_limits<std::size_t>::max();
    }

    /// Check three properties of the method: the residual is that of the solution; it is orthogonal to the
    /// vectors of the base; and its square is the square of the right side minus the squares of the weights.
    /// Their errors follow from the loss of orthogonality by rounding, which grows with the condition of the
    /// vectors (Giraud, Langou, Rozloznik 2005). So the matrix is one for which few steps are sufficient.
    [[nodiscard]] Verdict check() override {
        constexpr double tolerance = 1e-9;
        const std::size_t n = work_.base.n;
        const double whole =
            std::sqrt(static_cast<double>(product(right_side_.data(), right_side_.data(), n)));
        const auto left = static_cast<double>(product(residual_.data(), residual_.data(), n));
        // Twice the tolerance, since variants sum the residual in another order.
        if (done_ > work_.steps ||
            (done_ < work_.steps && !(std::sqrt(left) <= 2.0 * System::rounding * whole)))
            return {false, DBL_MAX, std::to_string(done_) + " steps were made"};
        Comparison residual(tolerance, whole / std::sqrt(std::max<double>(1.0, static_cast<double>(n))));
        for (std::size_t i = 0; i < n; ++i) residual.compare("residual", i, residual_[i], rest(i));
        Comparison along(tolerance, std::max(whole, DBL_MIN));
        long double squares = static_cast<long double>(whole) * whole;
        for (std::size_t k = 0; k < done_; ++k) {
            const double* q = q_.data() + k * work_.base.stride;
            along.compare("residual along vector", k, static_cast<double>(product(q, residual_.data(), n)),
                          0.0L);
            squares -= static_cast<long double>(weights_[k]) * weights_[k];
        }
        Comparison length(tolerance, std::max(whole * whole, DBL_MIN));
        length.compare("square of the residual", 0, left, squares);
        return all_of({residual.verdict(n), along.verdict(done_), length.verdict(1)});
    }

  private:
    /// Return the number of arrays: two for each vector of the base, seven for the matrix, and three for the
    /// system.
    static double arrays(double steps) { return 2.0 * steps + 10.0; }

    /// Fill the matrix of a flow through a medium of variable conductivity, with wind from the left. It is
    /// not symmetric, and its diagonal is dominant.
    void fill(std::size_t edge) {
        for (std::size_t z = 0; z < edge; ++z)
            for (std::size_t y = 0; y < edge; ++y)
                for (std::size_t x = 0; x < edge; ++x) {
                    const std::size_t i = (z * edge + y) * edge + x;
                    const bool within[] = {x > 0, x + 1 < edge, y > 0, y + 1 < edge, z > 0, z + 1 < edge};
                    double all = 0.25;
                    for (std::size_t side = 0; side < System::neighbours; ++side) {
                        const double wind = side == 0 ? 0.5 : 0.0;
                        const double conducts = 0.5 + datum(side, i) + wind;
                        beside_[side][i] = within[side] ? -conducts : 0.0;
                        all += conducts;
                    }
                    centre_[i] = all;
                    right_side_[i] = datum(System::neighbours, i) - 0.5;
                }
    }

    /// Return the residual of equation i.
    [[nodiscard]] long double rest(std::size_t i) const {
        const std::size_t edge = work_.edge;
        const std::size_t away[] = {1, edge, edge * edge};
        long double found = right_side_[i] - static_cast<long double>(centre_[i]) * solution_[i];
        for (std::size_t side = 0; side < System::neighbours; ++side) {
            if (beside_[side][i] == 0.0) continue;
            const std::size_t by = away[side / 2];
            found -= static_cast<long double>(beside_[side][i]) * solution_[side % 2 ? i + by : i - by];
        }
        return found;
    }

    /// Return the cost of the completed steps.
    ///
    /// Words of each element: for the blocked orthogonalisation 3 for each previous vector, and 5 (see
    /// gram-schmidt); for the direction 3, the product 9, lengths 2, scaling 4, the weight 2, and updates 6.
    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.base.n),
                   steps = static_cast<double>(std::min(done_, work_.steps));
        const double pairs = steps * (steps - 1.0) / 2.0;
        const double words = 3.0 * pairs + 5.0 * std::max(steps - 1.0, 0.0) + 26.0 * steps;
        return {.flops = n * (6.0 * pairs + 25.0 * steps),
                .special = n * steps,
                .bytes = 8.0 * n * words,
                .bytes_with_allocate = 8.0 * n * (words + 2.0 * steps)};
    }

    Buffer<double> q_, d_, centre_, right_side_, solution_, residual_, weights_, sums_, own_;
    std::array<Buffer<double>, System::neighbours> beside_;
    std::size_t done_ = 0;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::Krylov kernel;
    return assay::kernels::program(kernel, argc, argv);
}
