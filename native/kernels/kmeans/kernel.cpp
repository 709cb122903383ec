#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/frame/threads.hpp"
#include "kernels/kmeans/cost.hpp"
#include "kernels/kmeans/work.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

/// Number of points after which they repeat, a prime: the check computes only as many minima, however large
/// the data are.
constexpr std::size_t period = 4099;

/// Return a point of a rank-1 lattice, in which each of `period` values occurs once on every axis.
Colour point(std::size_t i) {
    const auto at = [i](std::size_t step) {
        return 256.0F * static_cast<float>(i % period * step % period) / static_cast<float>(period);
    };
    return {at(1), at(1597), at(2861)};
}

/// Return a centre. Centres fill the cube evenly for any number, in steps of powers of 1/g, where g is the
/// root of g^4 = g + 1 (M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018).
Colour centre(std::size_t i) {
    const auto at = [i](double step) {
        const double turns = 0.5 + step * static_cast<double>(i);
        return static_cast<float>(256.0 * (turns - std::floor(turns)));
    };
    return {at(0.8191725133961645), at(0.6710436067037893), at(0.5497004779019703)};
}

/// Return a squared distance, exact to about 53 bits: differences of two floats need few more than 24 bits.
double squared_distance(const Colour& a, const Colour& b) {
    const double red = static_cast<double>(a.red) - static_cast<double>(b.red);
    const double green = static_cast<double>(a.green) - static_cast<double>(b.green);
    const double blue = static_cast<double>(a.blue) - static_cast<double>(b.blue);
    return red * red + green * green + blue * blue;
}

const About about_kmeans = {
    "kmeans",
    "Nearest centre of every point (the assignment step of k-means)",
    "article \"What to do when auto-vectorization fails\": ten iterations of 1 million points and 1000 "
    "centres take 111.50 s with one loop and 20.48 s with that loop split into three",
    "multiply-add units: the sixteen bytes of a point and its result cost eight operations for each centre",
    false,
    true,
};

class KMeans final : public KernelOf<Assignment> {
  public:
    [[nodiscard]] const About& about() const override { return about_kmeans; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"points", "number of points", 0, 0, std::int64_t{1} << 40},
                {"centres", "number of centres", 1000, 1, 1 << 20}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t points : {0, 1, 7, 65, 1027})
            for (const std::int64_t centres : {1, 7, 16, 100})
                found.push_back({{"points", points}, {"centres", centres}});
        found.push_back({{"points", 4200}, {"centres", 257}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        constexpr std::int64_t centre_bytes = sizeof(Colour),
                               point_bytes = sizeof(Colour) + sizeof(std::int32_t);
        values["points"] =
            std::max((bytes - centre_bytes * values.at("centres")) / point_bytes, std::int64_t{1});
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return moved_bytes(static_cast<double>(values.at("points")),
                           static_cast<double>(values.at("centres")));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto n = static_cast<std::size_t>(values.at("points"));
        const auto k = static_cast<std::size_t>(values.at("centres"));
        points_ = Buffer<Colour>(n, shift);
        centres_ = Buffer<Colour>(k, shift);
        nearest_ = Buffer<std::int32_t>(n, shift);
        scratch_ = Buffer<float>(scratch_for(k, static_cast<std::size_t>(threads())));
        for (std::size_t i = 0; i < n; ++i) points_[i] = point(i);
        for (std::size_t i = 0; i < k; ++i) centres_[i] = centre(i);
        work_ = {points_.data(), centres_.data(), nearest_.data(), scratch_.data(), n, k};
        least_.assign(std::min(n, period), std::numeric_limits<double>::infinity());
        for (std::size_t i = 0; i < least_.size(); ++i)
            for (const Colour& one : centres_)
                least_[i] = std::min(least_[i], squared_distance(points_[i], one));
    }

    void poison() override { std::ranges::fill(nearest_, -1); }

    /// Check that the assigned centre is as near as the nearest one, within the rounding errors of |c|^2 / 2
    /// - p.c. These are six roundings, each by at most half a unit of the sum of both terms, which is one and
    /// a half squared diagonals. The errors count for each of two compared centres, and are doubled to those
    /// of a squared distance.
    [[nodiscard]] Verdict check() override {
        constexpr double diagonal = 3.0 * 256.0 * 256.0;
        Comparison distances(6 * 0.5 * 1.5 * 4 * static_cast<double>(FLT_EPSILON), diagonal);
        for (std::size_t i = 0; i < work_.n; ++i) {
            const std::int32_t found = nearest_[i];
            const bool is = found >= 0 && static_cast<std::size_t>(found) < work_.k;
            distances.compare("squared distance to the centre of point", i,
                              is ? squared_distance(points_[i], centres_[static_cast<std::size_t>(found)])
                                 : NAN,
                              static_cast<long double>(least_[i % period]));
        }
        return distances.verdict(work_.n);
    }

  private:
    [[nodiscard]] Cost default_cost() const override { return by_differences(work_); }

    Buffer<Colour> points_, centres_;
    Buffer<std::int32_t> nearest_;
    Buffer<float> scratch_;
    std::vector<double> least_; ///< Minimum squared distance of each point.
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::KMeans kernel;
    return assay::kernels::program(kernel, argc, argv);
}
