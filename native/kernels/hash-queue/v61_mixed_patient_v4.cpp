// build: -O3 -march=x86-64-v4 -fno-tree-reassoc
#include "kernels/hash-queue/mixed.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> tuned_v4{
    .id = "mixed-patient-avx512",
    .parent = "mixed-avx512",
    .why = "and waits for lanes to fill where they will be used, as long at most as a batch takes",
    .isa = Isa::v4,
    .broken = false,
    .run = consume<Mixed<OwnLanes<Short16, Long8>>, true>,
    .missing = no_openssl,
    .cost = nullptr,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(tuned_v4);

} // namespace assay::kernels
