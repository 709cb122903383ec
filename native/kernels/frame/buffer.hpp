#pragma once

#include "kernels/frame/parameters.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace assay::kernels {

/// An array with a given offset from a boundary of 64 bytes. Its memory comes from the allocator of the
/// process, so that settings of allocators and pages apply. It is not initialised, so that kernels determine
/// the first touch.
template <class T>
class Buffer {
  public:
    Buffer() = default;

    /// \throws std::bad_alloc without enough memory, UsageError for an invalid offset.
    explicit Buffer(std::size_t count, std::size_t shift = 0) : count_(count) {
        constexpr std::size_t line = 64;
        if (shift % alignof(T) != 0)
            throw UsageError("--shift needs a multiple of " + std::to_string(alignof(T)));
        if (count > (SIZE_MAX / 2 - shift) / sizeof(T)) throw std::bad_alloc();
        const std::size_t bytes = (count * sizeof(T) + shift + line) / line * line;
        memory_.reset(std::aligned_alloc(line, bytes));
        if (!memory_) throw std::bad_alloc();
        auto* const begin = static_cast<std::byte*>(memory_.get());
        data_ = reinterpret_cast<T*>(begin + shift);
#ifdef __SANITIZE_ADDRESS__
        // Memory beside the array is poisoned, although the allocator provided it.
        const std::size_t end = shift + count * sizeof(T);
        ASAN_POISON_MEMORY_REGION(begin, shift);
        ASAN_POISON_MEMORY_REGION(begin + end, bytes - end);
#endif
    }

    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    T& operator[](std::size_t i) const { return data_[i]; }
    [[nodiscard]] T* begin() const { return data_; }
    [[nodiscard]] T* end() const { return data_ + count_; }

  private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };

    std::unique_ptr<void, Free> memory_;
    T* data_ = nullptr;
    std::size_t count_ = 0;
};

} // namespace assay::kernels
