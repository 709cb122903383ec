// build: -O2
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

void run(const Factor& w) {
    for (std::size_t i = 0; i < w.count; ++i) begin(w, w.nodes[i]);
    for (std::size_t i = 0; i < w.count; ++i) {
        const Node& node = w.nodes[i];
        factor_node<Plain>(w, node);
        if (below_of(node) == 0) continue;
        subtract_update<Plain>(w, node, 0, together(w, node, 0), w.nodes[w.owner[rows_of(w, node)[0]]]);
    }
}

constexpr Variant<Factor> variant{
    .id = "broken-far",
    .parent = "right",
    .why = "wrong on purpose: a node updates only the next dependent one",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
