#pragma once

/// Variants that use a library. They differ in their functions and compression level.

#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/libraries.hpp"

namespace assay::kernels {

namespace {

template <Compress* library, int level>
std::size_t at_level(const Chunk& chunk, unsigned char*) {
    return library(chunk, level);
}

template <Missing* library>
const char* missing_compressor(const Chunks& w) {
    const char* const other = only_compresses(w);
    return other ? other : library(w);
}

template <Missing* library>
const char* missing_inflater(const Chunks& w) {
    const char* const other = only_inflates(w);
    return other ? other : library(w);
}

constexpr Variant<Chunks> by_library(const char* id, const char* parent, const char* why,
                                     void (*run)(const Chunks&), Missing* missing, const char* (*name)()) {
    return {.id = id,
            .parent = parent,
            .why = why,
            .isa = Isa::any,
            .broken = false,
            .run = run,
            .missing = missing,
            .cost = nullptr,
            .library = name};
}

template <Compress* library, int level, Missing* missing>
constexpr Variant<Chunks> compressor(const char* id, const char* parent, const char* why,
                                     const char* (*name)()) {
    return by_library(id, parent, why, each<at_level<library, level>>, missing_compressor<missing>, name);
}

template <Inflate* library, Missing* missing>
constexpr Variant<Chunks> inflater(const char* id, const char* parent, const char* why,
                                   const char* (*name)()) {
    return by_library(id, parent, why, each<library>, missing_inflater<missing>, name);
}

} // namespace

} // namespace assay::kernels
