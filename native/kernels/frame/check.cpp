#include "kernels/frame/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace assay::kernels {

Verdict all_of(const std::vector<Verdict>& verdicts) {
    Verdict all{true, 0.0, ""};
    for (const Verdict& one : verdicts) {
        if (all.right && !one.right) all.message = one.message;
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

void Comparison::compare(const char* what, std::size_t index, double found, long double wanted) {
    ++compared_;
    const long double allowed = relative_ * std::max(std::fabs(wanted), static_cast<long double>(scale_));
    const long double error = std::fabs(static_cast<long double>(found) - wanted);
    // Written so that NaN is wrong.
    const bool right = error <= allowed;
    const long double ratio = allowed > 0 ? error / allowed : (error > 0 ? HUGE_VALL : 0.0L);
    const double measure = right ? static_cast<double>(ratio) : std::fmax(static_cast<double>(ratio), 1.01);
    worst_ = std::max(worst_, measure);
    if (right || !message_.empty()) return;
    char text[160];
    std::snprintf(text, sizeof text, "%s[%zu] is %.17g, expected %.17Lg", what, index, found, wanted);
    message_ = text;
}

Verdict Comparison::verdict(std::size_t min_compared) const {
    if (!message_.empty()) return {false, worst_, message_};
    if (compared_ < min_compared) return {false, worst_, "not all of the output was checked"};
    return {true, worst_, ""};
}

} // namespace assay::kernels
