#pragma once

#include "tier/base/sys.hpp"

#include <new>
#include <type_traits>
#include <utility>

namespace assay::tier {

/// Vector with a fixed capacity that never moves its elements. Address space is reserved for the capacity,
/// and pages are allocated as it grows. It never uses `malloc`, because the heap may be managed memory.
template <class T>
class Table {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    /// \throws std::bad_alloc if address space is exhausted (RLIMIT_AS).
    explicit Table(std::size_t max) : max_(max) {
        if (max == 0) return;
        items_ = reinterpret_cast<T*>(sys::map(max * sizeof(T)));
        if (items_ == nullptr) throw std::bad_alloc();
    }
    Table(Table&& other) noexcept
        : items_(std::exchange(other.items_, nullptr)), size_(std::exchange(other.size_, 0)),
          max_(std::exchange(other.max_, 0)) {}
    Table& operator=(Table&& other) noexcept {
        std::swap(items_, other.items_);
        std::swap(size_, other.size_);
        std::swap(max_, other.max_);
        return *this;
    }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    ~Table() {
        if (items_ != nullptr) sys::unmap(items_, max_ * sizeof(T));
    }

    [[nodiscard]] bool full() const { return size_ == max_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }

    template <class... Of>
    T& add(Of&&... of) {
        return *new (items_ + size_++) T{std::forward<Of>(of)...};
    }
    T take_last() { return items_[--size_]; }
    T take_first() {
        const T first = items_[0];
        remove(0);
        return first;
    }
    /// Insert or remove at a position, in time linear in the number of elements behind it.
    void insert(std::size_t at, const T& item) {
        for (std::size_t i = size_++; i > at; --i) items_[i] = items_[i - 1];
        items_[at] = item;
    }
    void remove(std::size_t at) {
        for (std::size_t i = at + 1; i < size_; ++i) items_[i - 1] = items_[i];
        --size_;
    }
    void remove_first(std::size_t count) {
        for (std::size_t i = count; i < size_; ++i) items_[i - count] = items_[i];
        size_ -= count;
    }
    /// Set the size. New elements are zero if they were never used.
    void fill(std::size_t count) { size_ = count; }

    T& operator[](std::size_t i) { return items_[i]; }
    const T& operator[](std::size_t i) const { return items_[i]; }
    T* begin() { return items_; }
    T* end() { return items_ + size_; }
    [[nodiscard]] const T* begin() const { return items_; }
    [[nodiscard]] const T* end() const { return items_ + size_; }

  private:
    T* items_ = nullptr;
    std::size_t size_ = 0, max_;
};

} // namespace assay::tier
