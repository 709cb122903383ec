// build: -O2 -fopenmp
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/caches.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/frame/threads.hpp"
#include "kernels/gram-schmidt/work.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numbers>

namespace assay::kernels {

namespace {

constexpr std::size_t line = 64 / sizeof(double);

/// Return element k of row i of the discrete cosine transform (type II) of length n, whose rows are
/// orthonormal for every n. There are n rows; further vectors are zero. Without an orthonormal base, the
/// results of the modified and the classical method would differ.
double cosine(std::size_t i, std::size_t k, std::size_t n) {
    if (i >= n) return 0.0;
    const auto length = static_cast<double>(n);
    // The angle is (2k + 1) i / 2n of pi: whole turns are subtracted while it is exact.
    const auto angle = static_cast<double>((2 * k + 1) * i % (4 * n)) / (2.0 * length);
    return std::sqrt((i ? 2.0 : 1.0) / length) * std::cos(std::numbers::pi * angle);
}

/// Return a number from -1 to 1. Its period is not the length of a chunk or a vector.
double datum(std::size_t i, std::size_t k) {
    constexpr std::size_t period = 4099;
    return static_cast<double>((k * 1597 + i * 619) % period * 2) / static_cast<double>(period) - 1.0;
}

/// Return the component of x along a vector of the base, relative to that of a vector of random elements.
double share(std::size_t i) {
    return 0.25 * (static_cast<double>(i * 7 % 5) - 2.0);
}

const About about_gram_schmidt = {
    "gram-schmidt",
    "Orthogonalisation of a vector against a base (Gram-Schmidt)",
    "article on classical Gram-Schmidt in a reservoir simulator: 32 vectors, chunks of 2048; more than twice "
    "as fast as the modified method for the largest vectors, slower for some of medium size",
    "memory bandwidth: the modified method moves 8 words of each element, the blocked one 3, so it is at "
    "most 2.67 times as fast; if vectors stay in the last-level cache, the modified one reads the base once "
    "from memory and the blocked one twice",
    true,
};

class GramSchmidt final : public KernelOf<Base> {
  public:
    [[nodiscard]] const About& about() const override { return about_gram_schmidt; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"n", "elements of a vector", 0, 0, std::numeric_limits<std::int32_t>::max()},
                {"vectors", "vectors of the base", 32, 1, 1024},
                {"chunk", "elements processed for all vectors before the next chunk", 2048, 1, 1 << 24},
                {"together", "vectors in a group, 0 for as many as the last-level cache holds", 0, 0, 1024},
                {"ahead",
                 "distance of prefetch into L2 in elements, 0 for none (default if all data fit into it)",
                 256, 0, 1 << 20}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t n : {0, 1, 7, 97, 2048, 4099}) found.push_back({{"n", n}, {"vectors", 5}});
        found.push_back({{"n", 31}});
        found.push_back({{"n", 133}, {"vectors", 17}, {"ahead", 0}});
        found.push_back({{"n", 1000}, {"vectors", 1}, {"chunk", 8}});
        found.push_back({{"n", 1000}, {"vectors", 7}, {"together", 3}});
        found.push_back({{"n", 333}, {"vectors", 13}, {"together", 1}});
        found.push_back({{"n", 1000}, {"vectors", 11}, {"chunk", 1}});
        found.push_back({{"n", 4096}, {"vectors", 32}, {"chunk", 1000}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        values["n"] = bytes / (8 * (2 * values.at("vectors") + 2));
        if (bytes <= find_caches(threads()).second) values["ahead"] = 0;
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return 8.0 * (2.0 * static_cast<double>(values.at("vectors")) + 2.0) *
               static_cast<double>(values.at("n"));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("n"));
        const auto vectors = static_cast<std::size_t>(values.at("vectors"));
        const auto chunk = static_cast<std::size_t>(values.at("chunk"));
        // One cache line more than necessary, so that vectors do not all begin in the same set of a cache.
        const std::size_t stride = (n + line - 1) / line * line + line;
        const std::size_t room = 2 * ((vectors + line - 1) / line * line);
        // Half of the cache, since x, y and the companions pass through it too.
        const auto half = static_cast<std::size_t>(find_caches(threads()).last) / 2;
        auto together = static_cast<std::size_t>(values.at("together"));
        if (together == 0) together = half / (sizeof(double) * stride);
        if (together < 2 && values.at("together") == 0) together = vectors;
        for (auto* base : {&q_, &d_}) *base = Buffer<double>(stride * vectors, shift);
        for (auto* one : {&x_, &y_, &x_before_, &y_before_}) *one = Buffer<double>(n, shift);
        sums_ = Buffer<double>(vectors);
        own_ = Buffer<double>(room * static_cast<std::size_t>(threads()));
#pragma omp parallel for schedule(static)
        for (std::size_t k = 0; k < n; ++k) {
            x_before_[k] = datum(vectors, k);
            y_before_[k] = datum(vectors + 1, k);
            for (std::size_t i = 0; i < vectors; ++i) {
                q_[k + i * stride] = cosine(i, k, n);
                d_[k + i * stride] = datum(i, k);
                x_before_[k] += share(i) * std::sqrt(static_cast<double>(n)) * q_[k + i * stride];
            }
        }
        work_ = {q_.data(),
                 d_.data(),
                 x_.data(),
                 y_.data(),
                 sums_.data(),
                 n,
                 vectors,
                 stride,
                 chunk,
                 std::min(together, vectors),
                 static_cast<std::size_t>(values.at("ahead")),
                 own_.data(),
                 room};
    }

    void restore() override {
        // First touch by the threads that process the elements.
#pragma omp parallel for schedule(static)
        for (std::size_t k = 0; k < work_.n; ++k) {
            x_[k] = x_before_[k];
            y_[k] = y_before_[k];
        }
    }

    void poison() override {
        std::ranges::fill(sums_, std::numeric_limits<double>::quiet_NaN());
        std::ranges::fill(own_, std::numeric_limits<double>::quiet_NaN());
    }

    /// Tolerances, with u the unit in the last place and j vectors.
    ///
    /// Sum of n products: a few times sqrt(n) u |q| |x| (N. Higham, T. Mary, A New Approach to Probabilistic
    /// Rounding Error Analysis, SISC 41 (2019)), and j u |x|, since the base is orthonormal to that accuracy
    /// only, which affects the modified method. Element: the effect of these errors of sums, at most sqrt(j)
    /// |x|, and the rounding of j subtractions. Product of x with a vector of the base: the tolerance of a
    /// sum, and the total error of the elements.
    [[nodiscard]] Verdict check() override {
        const std::size_t n = work_.n, vectors = work_.vectors;
        const double root_n = std::sqrt(static_cast<double>(n)), j = static_cast<double>(vectors);
        const double whole = std::sqrt(static_cast<double>(product(x_before_.data(), x_before_.data(), n)));
        const double of_sum = 4.0 * DBL_EPSILON * (root_n + j);
        const double of_element = of_sum * std::sqrt(j) + (j + 1.0) * DBL_EPSILON;
        const double q_most = std::numbers::sqrt2 / std::max(root_n, 1.0);
        double x_most = 0.0;
        for (const double one : x_before_) x_most = std::max(x_most, std::fabs(one));
        x_most += whole * std::sqrt(j) * q_most;

        Comparison sums(of_sum, whole), x(of_element, x_most), y(of_element, 1.0 + whole * std::sqrt(j));
        Comparison orthogonal(1.0, of_sum * whole + root_n * of_element * x_most);
        std::vector<long double> wanted(vectors);
        for (std::size_t i = 0; i < vectors; ++i) {
            const double* q = work_.q + i * work_.stride;
            wanted[i] = product(q, x_before_.data(), n);
            sums.compare("sum", i, sums_[i], wanted[i]);
            // The component of x along the base, which has to be zero.
            orthogonal.compare("product of x and q", i, static_cast<double>(product(q, x_.data(), n)), 0.0L);
        }
        for (std::size_t k = 0; k < n; ++k) {
            x.compare("x", k, x_[k], rest(x_before_, work_.q, wanted, k));
            y.compare("y", k, y_[k], rest(y_before_, work_.d, wanted, k));
        }
        return all_of({sums.verdict(vectors), x.verdict(n), y.verdict(n), orthogonal.verdict(vectors)});
    }

  private:
    [[nodiscard]] long double rest(const Buffer<double>& before, const double* vectors,
                                   const std::vector<long double>& along, std::size_t k) const {
        long double found = before[k];
        for (std::size_t i = 0; i < work_.vectors; ++i) found -= along[i] * vectors[k + i * work_.stride];
        return found;
    }

    /// Count two operations for each element of each product and subtraction. The base is read twice, its
    /// companions once; x is read once more, and x and y are read and written.
    [[nodiscard]] Cost default_cost() const override {
        const auto n = static_cast<double>(work_.n), j = static_cast<double>(work_.vectors);
        const double bytes = 8.0 * n * (3.0 * j + 5.0);
        return {.flops = 6.0 * n * j, .bytes = bytes, .bytes_with_allocate = bytes};
    }

    Buffer<double> q_, d_, x_, y_, x_before_, y_before_, sums_, own_;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::GramSchmidt kernel;
    return assay::kernels::program(kernel, argc, argv);
}
