// build: -O3 -march=x86-64-v3 -fno-tree-reassoc
#include "kernels/hash-queue/mixed.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> tuned_v3{
    .id = "mixed-patient-avx2",
    .parent = "mixed-avx2",
    .why = "and waits for lanes to fill where they will be used, as long at most as a batch takes",
    .isa = Isa::v3,
    .broken = false,
    .run = consume<Mixed<OwnLanes<Short8, Long4>>, true>,
    .missing = no_openssl,
    .cost = nullptr,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(tuned_v3);

} // namespace assay::kernels
