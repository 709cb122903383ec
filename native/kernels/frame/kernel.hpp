#pragma once

#include "kernels/frame/check.hpp"
#include "kernels/frame/parameters.hpp"
#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::kernels {

/// What a kernel is.
struct About {
    const char* name;
    const char* title;
    const char* source; ///< Where the experiment comes from, and what it said.
    const char* bound;  ///< What limits it, in words.
    /// One repetition changes its input, which is put back, untimed, before the next.
    bool in_place = false;
    /// Its arithmetic is of floats: the cores have another roof for it.
    bool single = false;
};

/// A variant as it is told of.
struct VariantInfo {
    std::string id;
    std::string parent;
    std::string why;
    Isa isa = Isa::any;
    bool broken = false;
};

/// What a result is judged by beside its time, as the bytes that are left of a text: the less the better.
struct Figure {
    const char* name;
    const char* what;
    double value;
};

/// The work of one kernel: its data, its variants, and whether their results are right.
class Kernel {
  public:
    Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    virtual ~Kernel() = default;

    [[nodiscard]] virtual const About& about() const = 0;
    [[nodiscard]] virtual std::vector<Parameter> parameters() const = 0;

    /// Odd sizes that tests try: nothing, one, what fills no vector or tile, other modes.
    [[nodiscard]] virtual std::vector<Values> shapes() const = 0;

    /// Fills in what of the size was not given, so that the data take at most so many bytes.
    virtual void fit(Values& values, std::int64_t bytes) const = 0;

    /// Bytes that the data take.
    [[nodiscard]] virtual double bytes(const Values& values) const = 0;

    /// Allocates and initialises.
    ///
    /// \param shift bytes by which data begin beyond a boundary of a cache line.
    virtual void prepare(const Values& values, std::size_t shift) = 0;

    /// Puts the input back, where a repetition changes it.
    virtual void restore() {}

    /// Fills the output with what no right result holds.
    virtual void poison() = 0;

    /// Whether the output is right.
    [[nodiscard]] virtual Verdict check() = 0;

    /// Of what ran last and was found right; the same names each time.
    [[nodiscard]] virtual std::vector<Figure> figures() const { return {}; }

    [[nodiscard]] virtual std::vector<VariantInfo> variants() const = 0;
    virtual void run(std::size_t variant) = 0;
    [[nodiscard]] virtual Cost cost(std::size_t variant) = 0;
    /// Empty where it can be had.
    [[nodiscard]] virtual std::string missing(std::size_t variant) = 0;
    [[nodiscard]] virtual std::string library(std::size_t variant) = 0;
};

} // namespace assay::kernels
