/// libassay-tier.so stands before the C library in a program: large memory comes from the arena, and all else
/// goes on to whoever gave it before.
///
/// What it needs to know is in the environment, where `assay tier run` puts it; without it nothing is
/// changed.

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
