#include "kernels/frame/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace assay::kernels {

Verdict all_of(const std::vector<Verdict>& verdicts) {
    Verdict all{true, 0.0, ""};
    for (const Verdict& one : verdicts) {
        if (all.right && !one.right) all.told = one.told;
        all.right = all.right && one.right;
        all.worst = std::max(all.worst, one.worst);
    }
    return all;
}

long double product(const double* a, const double* b, std::size_t n) {
    long double sum = 0.0L;
    for (std::size_t k = 0; k < n; ++k) sum += static_cast<long double>(a[k]) * b[k];
    return sum;
}

void Comparison::look(const char* what, std::size_t index, double found, long double wanted) {
    ++looked_;
    const long double allowed = relative_ * std::max(std::fabs(wanted), static_cast<long double>(scale_));
    const long double error = std::fabs(static_cast<long double>(found) - wanted);
    // Written so that NaN is wrong.
    const bool right = error <= allowed;
    const long double ratio = allowed > 0 ? error / allowed : (error > 0 ? HUGE_VALL : 0.0L);
    const double measure = right ? static_cast<double>(ratio) : std::fmax(static_cast<double>(ratio), 1.01);
    worst_ = std::max(worst_, measure);
    if (right || !told_.empty()) return;
    char text[160];
    std::snprintf(text, sizeof text, "%s[%zu] is %.17g and ought to be %.17Lg", what, index, found, wanted);
    told_ = text;
}

Verdict Comparison::verdict(std::size_t least) const {
    if (!told_.empty()) return {false, worst_, told_};
    if (looked_ < least) return {false, worst_, "not all of the output was looked at"};
    return {true, worst_, ""};
}

} // namespace assay::kernels
