#pragma once

#include "kernels/frame/isa.hpp"
#include "kernels/frame/kernel.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

/// Bounds of the section that ASSAY_VARIANT fills, defined by the linker.
extern "C" {
extern const void* const __start_assay_variants[]; // NOLINT: the linker's names
extern const void* const __stop_assay_variants[];  // NOLINT
}

namespace assay::kernels {

/// A kernel and all its variants; one in each program.
template <class Work>
class KernelOf : public Kernel {
  public:
    KernelOf() {
        for (const void* const* one = __start_assay_variants; one != __stop_assay_variants; ++one)
            variants_.push_back(static_cast<const Variant<Work>*>(*one));
        // The order of linking is arbitrary, so sort by depth (parents first), then by name.
        std::map<std::pair<std::size_t, std::string_view>, const Variant<Work>*> ordered;
        for (const Variant<Work>* one : variants_) ordered.emplace(std::pair(depth(one), one->id), one);
        variants_.clear();
        for (const auto& [place, one] : ordered) variants_.push_back(one);
    }

    [[nodiscard]] std::vector<VariantInfo> variants() const override {
        std::vector<VariantInfo> found;
        for (const Variant<Work>* one : variants_)
            found.push_back({one->id, one->parent ? one->parent : "", one->why, one->isa, one->broken});
        return found;
    }

    void run(std::size_t variant) override { variants_[variant]->run(work_); }

    [[nodiscard]] Cost cost(std::size_t variant) override {
        const auto own = variants_[variant]->cost;
        return own ? own(work_) : default_cost();
    }

    [[nodiscard]] std::string missing(std::size_t variant) override {
        const Variant<Work>& one = *variants_[variant];
        if (!has(one.isa)) return "this processor does not support " + std::string(name_of(one.isa));
        const char* reason = one.missing ? one.missing(work_) : nullptr;
        return reason ? reason : "";
    }

    [[nodiscard]] std::string library(std::size_t variant) override {
        const Variant<Work>& one = *variants_[variant];
        const char* name = has(one.isa) && one.library ? one.library() : nullptr;
        return name ? name : "";
    }

  protected:
    [[nodiscard]] virtual Cost default_cost() const = 0;

    Work work_{};

  private:
    [[nodiscard]] std::size_t depth(const Variant<Work>* one) const {
        std::size_t steps = 0;
        while (one && one->parent && *one->parent && steps <= variants_.size()) {
            const std::string_view above = one->parent;
            const auto found = std::ranges::find_if(
                variants_, [above](const Variant<Work>* other) { return other->id == above; });
            one = found == variants_.end() ? nullptr : *found;
            ++steps;
        }
        return steps;
    }

    std::vector<const Variant<Work>*> variants_;
};

} // namespace assay::kernels
