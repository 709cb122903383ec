// build: -O3 -march=x86-64-v3 -fno-tree-reassoc
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> patient_avx2{
    .id = "patient-avx2",
    .parent = "lanes-avx2",
    .why = "waits for lanes to fill, as long at most as a batch takes",
    .isa = Isa::v3,
    .broken = false,
    .run = consume<OwnLanes<Short8, Long4>, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(patient_avx2);

} // namespace assay::kernels
