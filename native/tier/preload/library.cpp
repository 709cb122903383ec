/// libassay-tier.so interposes on the C library: large allocations come from the arena, and all other calls
/// are forwarded.
///
/// The environment set by `assay tier run` configures it; without that the library does nothing.

#include "tier/preload/interposer.hpp"

namespace assay::tier::preload {

namespace {

[[gnu::constructor(101)]] void start() {
    interposer().start();
}

[[gnu::destructor(101)]] void report() {
    interposer().report();
}

} // namespace

} // namespace assay::tier::preload
