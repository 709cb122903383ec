// build: -O2
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

void run(const Factor& w) {
    right_looking<Plain>(w);
    double& first = w.l[0];
    first = static_cast<double>(static_cast<float>(first));
}

constexpr Variant<Factor> variant{
    .id = "broken-single",
    .parent = "right",
    .why = "wrong on purpose: one element of L is rounded to single precision",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
