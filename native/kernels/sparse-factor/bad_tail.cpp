// build: -O2
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

void run(const Factor& w) {
    right_looking<Plain>(w);
    for (std::size_t i = 0; i < w.count; ++i) {
        const Part own = panel(w, w.nodes[i]);
        const std::size_t columns = columns_of(w.nodes[i]);
        if (own.down > columns) *own.at(own.down - 1, columns - 1) *= *own.at(columns - 1, columns - 1);
    }
}

constexpr Variant<Factor> variant{
    .id = "broken-tail",
    .parent = "right",
    .why = "wrong on purpose: the last row of each node is not divided",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
