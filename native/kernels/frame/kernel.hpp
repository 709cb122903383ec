#pragma once

#include "kernels/frame/check.hpp"
#include "kernels/frame/parameters.hpp"
#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::kernels {

/// Description of a kernel.
struct About {
    const char* name;
    const char* title;
    const char* source; ///< Source of the experiment, and its result there.
    const char* bound;  ///< Limiting resource, in words.
    /// True if a repetition changes its input, which is then restored before the next repetition, outside of
    /// the measured time.
    bool in_place = false;
    /// True if it computes in single precision, for which the peak performance is different.
    bool single = false;
};

/// Description of a variant.
struct VariantInfo {
    std::string id;
    std::string parent;
    std::string why;
    Isa isa = Isa::any;
    bool broken = false;
};

/// A property of a result in addition to its time, such as the compressed size: less is better.
struct Figure {
    const char* name;
    const char* description;
    double value;
};

/// A kernel: its data, its variants, and the check of their results.
class Kernel {
  public:
    Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    virtual ~Kernel() = default;

    [[nodiscard]] virtual const About& about() const = 0;
    [[nodiscard]] virtual std::vector<Parameter> parameters() const = 0;

    /// Return unusual parameters for tests: zero, one, sizes that do not fill a vector or tile, and other
    /// modes.
    [[nodiscard]] virtual std::vector<Values> shapes() const = 0;

    /// Set missing size parameters such that the data take at most `bytes` bytes.
    virtual void fit(Values& values, std::int64_t bytes) const = 0;

    /// Return the size of the data in bytes.
    [[nodiscard]] virtual double bytes(const Values& values) const = 0;

    /// Allocate and initialise the data.
    ///
    /// \param shift offset of the data from a boundary of a cache line, in bytes.
    virtual void prepare(const Values& values, std::size_t shift) = 0;

    /// Restore the input, if a repetition changes it.
    virtual void restore() {}

    /// Fill the output with values that no correct result contains.
    virtual void poison() = 0;

    /// Check the output.
    [[nodiscard]] virtual Verdict check() = 0;

    /// Return the figures of the last correct result, always with the same names.
    [[nodiscard]] virtual std::vector<Figure> figures() const { return {}; }

    [[nodiscard]] virtual std::vector<VariantInfo> variants() const = 0;
    virtual void run(std::size_t variant) = 0;
    [[nodiscard]] virtual Cost cost(std::size_t variant) = 0;
    /// Return the reason why a variant is not available, or an empty string if it is.
    [[nodiscard]] virtual std::string missing(std::size_t variant) = 0;
    [[nodiscard]] virtual std::string library(std::size_t variant) = 0;
};

} // namespace assay::kernels
