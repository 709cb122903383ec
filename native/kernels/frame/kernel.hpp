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
    /// A repetition changes its input; it is restored, untimed, before the next.
    bool in_place = false;
    /// Its arithmetic is in single precision, for which the cores have another roof.
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

/// A quality of a result beside its time, such as the compressed size: less is better.
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

    /// Returns odd sizes for tests: zero, one, sizes that fill no vector or tile, other modes.
    [[nodiscard]] virtual std::vector<Values> shapes() const = 0;

    /// Sets the size parameters that were not given, so that the data take at most this many bytes.
    virtual void fit(Values& values, std::int64_t bytes) const = 0;

    /// Returns the size of the data in bytes.
    [[nodiscard]] virtual double bytes(const Values& values) const = 0;

    /// Allocates and initialises the data.
    ///
    /// \param shift offset of the data from a boundary of a cache line, in bytes.
    virtual void prepare(const Values& values, std::size_t shift) = 0;

    /// Restores the input, if a repetition changes it.
    virtual void restore() {}

    /// Fills the output with values that no correct result contains.
    virtual void poison() = 0;

    /// Checks the output.
    [[nodiscard]] virtual Verdict check() = 0;

    /// Returns the figures of the last correct result; the same names each time.
    [[nodiscard]] virtual std::vector<Figure> figures() const { return {}; }

    [[nodiscard]] virtual std::vector<VariantInfo> variants() const = 0;
    virtual void run(std::size_t variant) = 0;
    [[nodiscard]] virtual Cost cost(std::size_t variant) = 0;
    /// Returns the reason why a variant is not available; empty if it is.
    [[nodiscard]] virtual std::string missing(std::size_t variant) = 0;
    [[nodiscard]] virtual std::string library(std::size_t variant) = 0;
};

} // namespace assay::kernels
