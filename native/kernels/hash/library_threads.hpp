#pragma once

#include "kernels/frame/threads.hpp"
#include "kernels/hash/libraries.hpp"

#include <cstddef>

namespace {

using assay::kernels::digest_place;
using assay::kernels::Hashing;

/// Hash with all threads, each of which has one range of messages, since a library fills its lanes from many
/// messages at once.
template <void hash(const Hashing&)>
void by_threads(const Hashing& p) {
    const auto parts = static_cast<std::size_t>(assay::kernels::threads());
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < parts; ++i) {
        const std::size_t first = p.messages * i / parts, last = p.messages * (i + 1) / parts;
        Hashing part = p;
        part.data += first * p.length;
        part.digests += first * digest_place;
        part.messages = last - first;
        hash(part);
    }
}

} // namespace
