// build: -O3 -march=x86-64-v4 -fno-tree-reassoc
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> patient_avx512{
    .id = "patient-avx512",
    .parent = "lanes-avx512",
    .why = "waits for lanes to fill, as long at most as a batch takes",
    .isa = Isa::v4,
    .broken = false,
    .run = consume<OwnLanes<Short16, Long8>, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(patient_avx512);

} // namespace assay::kernels
