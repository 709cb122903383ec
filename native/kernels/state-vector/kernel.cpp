// build: -O3 -fopenmp
#include "kernels/frame/buffer.hpp"
#include "kernels/frame/kernel_of.hpp"
#include "kernels/frame/pattern.hpp"
#include "kernels/frame/program.hpp"
#include "kernels/state-vector/work.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace assay::kernels {

namespace {

using Complex = std::complex<long double>;

/// Return an angle whose sine and cosine are both at least 0.47.
double angle(std::size_t number, std::size_t qubit) {
    return 0.5 + 0.5 * static_cast<double>(mixed(8 * qubit + number) >> 11U) * 0x1p-53;
}

/// State of one qubit, before or after its gate.
struct Qubit {
    Complex clear, set;
};

/// Return the initial state of a qubit, a vector of length one. Its phases are chosen such that no sum in a
/// gate cancels.
Qubit begun(std::size_t qubit) {
    const long double a = angle(0, qubit), b = angle(1, qubit), c = angle(2, qubit);
    return {std::polar(std::cos(a), b), std::polar(std::sin(a), c + 1.5L)};
}

/// Return a unitary matrix, rounded to doubles.
Gate gate(std::size_t qubit) {
    const double a = angle(3, qubit), b = angle(4, qubit), c = angle(5, qubit);
    const std::complex<double> first = std::polar(std::cos(a), b), second = std::polar(std::sin(a), c);
    return {{{first.real(), second.real()}, {-second.real(), first.real()}},
            {{first.imag(), second.imag()}, {second.imag(), -first.imag()}}};
}

Phase phase(std::size_t qubit) {
    const double a = angle(6, qubit);
    return {std::cos(a), std::sin(a)};
}

/// Return the state of one qubit after its gate.
Qubit turned(std::size_t qubit) {
    const Gate g = gate(qubit);
    const Qubit one = begun(qubit);
    const auto row = [&g, &one](std::size_t i) {
        return Complex(g.re[i][0], g.im[i][0]) * one.clear + Complex(g.re[i][1], g.im[i][1]) * one.set;
    };
    return {row(0), row(1)};
}

/// Amplitudes that are products of those of single qubits, optionally with a phase for each pair of adjacent
/// qubits that are both set. They are computed from a table for the lower half of the qubits and one for the
/// upper half.
class Product {
  public:
    Product(std::size_t qubits, Qubit (*one)(std::size_t), bool phases)
        : half_(qubits / 2), phases_(phases), low_(table(0, half_, one)), high_(table(half_, qubits, one)) {
        if (phases && half_ > 0 && half_ < qubits) between_ = both(half_ - 1);
    }

    [[nodiscard]] Complex at(std::size_t k) const {
        const std::size_t low = k & (low_.size() - 1), high = k >> half_;
        const Complex found = low_[low] * high_[high];
        return half_ > 0 && (low >> (half_ - 1) & high & 1U) ? found * between_ : found;
    }

  private:
    static Complex both(std::size_t qubit) {
        const Phase p = phase(qubit);
        return {p.re, p.im};
    }

    [[nodiscard]] std::vector<Complex> table(std::size_t from, std::size_t end,
                                             Qubit (*one)(std::size_t)) const {
        std::vector<Complex> found = {1.0L};
        for (std::size_t q = from; q < end; ++q) {
            const auto [clear, set] = one(q);
            const std::size_t before = found.size();
            for (std::size_t k = 0; k < before; ++k) {
                const bool last = phases_ && q > from && (k >> (q - from - 1) & 1U);
                found.push_back(found[k] * set * (last ? both(q - 1) : Complex(1.0L)));
            }
            for (std::size_t k = 0; k < before; ++k) found[k] *= clear;
        }
        return found;
    }

    std::size_t half_;
    bool phases_;
    std::vector<Complex> low_, high_;
    Complex between_ = 1.0L;
};

const About about_state = {
    .name = "state-vector",
    .title = "Gates of a quantum computer on all amplitudes of its state",
    .source = "evaluation of Intel Memory Drive Technology for scientific applications: Intel-QS (qHipster) "
              "is limited by memory, and reaches half of its speed with most of its state on storage",
    .bound = "memory bandwidth with a pass for each gate; the cores with several gates in one pass",
    .in_place = true,
};

class StateVector final : public KernelOf<State> {
  public:
    [[nodiscard]] const About& about() const override { return about_state; }

    [[nodiscard]] std::vector<Parameter> parameters() const override {
        return {{"qubits", "number of qubits; each doubles the amplitudes", 0, 0, 40},
                {"low", "lowest qubits whose gates are applied in one pass", 14, 1, 40},
                {"together", "qubits above those whose gates are applied in one pass", 4, 1, 8}};
    }

    [[nodiscard]] std::vector<Values> shapes() const override {
        std::vector<Values> found;
        for (const std::int64_t qubits : {0, 1, 2, 3, 7})
            found.push_back({{"qubits", qubits}, {"low", 14}, {"together", 4}});
        found.push_back({{"qubits", 9}, {"low", 1}, {"together", 1}});
        found.push_back({{"qubits", 10}, {"low", 2}, {"together", 8}});
        found.push_back({{"qubits", 13}, {"low", 11}, {"together", 3}});
        found.push_back({{"qubits", 15}, {"low", 4}, {"together", 4}});
        return found;
    }

    void fit(Values& values, std::int64_t bytes) const override {
        std::int64_t qubits = 1;
        while (qubits < 40 && (std::int64_t{16} << (qubits + 1)) <= bytes) ++qubits;
        values["qubits"] = qubits;
    }

    [[nodiscard]] double bytes(const Values& values) const override {
        return 16.0 * std::ldexp(1.0, static_cast<int>(values.at("qubits")));
    }

    void prepare(const Values& values, std::size_t shift) override {
        const auto qubits = static_cast<std::size_t>(values.at("qubits"));
        const std::size_t count = std::size_t{1} << qubits;
        for (auto* one : {&re_, &im_}) *one = Buffer<double>(count, shift);
        gates_.clear();
        phases_.clear();
        for (std::size_t q = 0; q < qubits; ++q) {
            gates_.push_back(gate(q));
            phases_.push_back(phase(q));
        }
        work_ = {re_.data(),
                 im_.data(),
                 qubits,
                 gates_.data(),
                 phases_.data(),
                 static_cast<std::size_t>(values.at("low")),
                 static_cast<std::size_t>(values.at("together"))};
    }

    /// Initialise with the threads that process the blocks, for first touch.
    void restore() override {
        const Product state(work_.qubits, begun, false);
#pragma omp parallel for schedule(static)
        for (std::size_t k = 0; k < re_.size(); ++k) {
            const Complex one = state.at(k);
            re_[k] = static_cast<double>(one.real());
            im_[k] = static_cast<double>(one.imag());
        }
    }

    /// Do nothing: the input of a repetition is not a valid result.
    void poison() override {}

    /// Check each amplitude, relative to the sum of the absolute values of its terms, which are rounded a few
    /// times for each qubit, and once in the input. Also check that the sum of squares is one.
    [[nodiscard]] Verdict check() override {
        const Product wanted(work_.qubits, turned, true), sizes(work_.qubits, terms, false);
        const double roundings = 6.0 * static_cast<double>(work_.qubits) + 2.0;
        Comparison amplitudes(roundings * DBL_EPSILON, 1.0), length(roundings * DBL_EPSILON, 1.0);
        long double squares = 0.0L;
        for (std::size_t k = 0; k < re_.size(); ++k) {
            const Complex one = wanted.at(k);
            const long double size = sizes.at(k).real();
            amplitudes.compare("real part over the sizes of its terms, amplitude", k,
                               static_cast<double>(re_[k] / size), one.real() / size);
            amplitudes.compare("imaginary part over the sizes of its terms, amplitude", k,
                               static_cast<double>(im_[k] / size), one.imag() / size);
            squares += static_cast<long double>(re_[k]) * re_[k] + static_cast<long double>(im_[k]) * im_[k];
        }
        length.compare("sum of squares", 0, static_cast<double>(squares), 1.0L);
        return all_of({amplitudes.verdict(2 * re_.size()), length.verdict(1)});
    }

  private:
    /// Return the sum of the absolute values of the terms of one qubit's gate.
    static Qubit terms(std::size_t qubit) {
        const Gate g = gate(qubit);
        const Qubit one = begun(qubit);
        const auto row = [&g, &one](std::size_t i) {
            return std::abs(Complex(g.re[i][0], g.im[i][0]) * one.clear) +
                   std::abs(Complex(g.re[i][1], g.im[i][1]) * one.set);
        };
        return {row(0), row(1)};
    }

    /// Count gate by gate: each gate reads and writes all amplitudes, and each phase a quarter of them.
    [[nodiscard]] Cost default_cost() const override {
        const auto all = static_cast<double>(re_.size()), n = static_cast<double>(work_.qubits);
        const double pairs = work_.qubits ? n - 1.0 : 0.0, bytes = all * (32.0 * n + 8.0 * pairs);
        return {.flops = all * (14.0 * n + 1.5 * pairs), .bytes = bytes, .bytes_with_allocate = bytes};
    }

    Buffer<double> re_, im_;
    std::vector<Gate> gates_;
    std::vector<Phase> phases_;
};

} // namespace

} // namespace assay::kernels

int main(int argc, char** argv) {
    assay::kernels::StateVector kernel;
    return assay::kernels::program(kernel, argc, argv);
}
