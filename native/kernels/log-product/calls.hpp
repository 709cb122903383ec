#pragma once

#include "kernels/log-product/libraries.hpp"
#include "kernels/log-product/vectors.hpp"

namespace {

template <class V>
void by_libmvec(const Logarithms& l) {
    const auto function = reinterpret_cast<Call<V>*>(assay::kernels::libmvec_log(V::lanes));
    multiply<V, false>(l, 0, l.n, function);
}

template <class V>
void by_sleef(const Logarithms& l) {
    const auto function = reinterpret_cast<Call<V>*>(assay::kernels::sleef_log(V::lanes));
    multiply<V, false>(l, 0, l.n, function);
}

#ifdef _OPENMP
template <class V>
void threads_by_libmvec(const Logarithms& l) {
    multiply_by_threads<V, false>(l, reinterpret_cast<Call<V>*>(assay::kernels::libmvec_log(V::lanes)));
}

template <class V>
void threads_by_sleef(const Logarithms& l) {
    multiply_by_threads<V, false>(l, reinterpret_cast<Call<V>*>(assay::kernels::sleef_log(V::lanes)));
}
#endif

} // namespace
