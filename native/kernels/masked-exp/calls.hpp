#pragma once

#include "kernels/masked-exp/libraries.hpp"
#include "kernels/masked-exp/vectors.hpp"

namespace {

template <class V, bool skip>
void by_libmvec(const Masked& m) {
    const auto function = assay::kernels::libmvec_function(m.function, V::lanes);
    evaluate_range<V, skip>(m, 0, m.n, reinterpret_cast<Call<V>*>(function));
}

inline const char* no_libmvec(const Masked& m) {
    return assay::kernels::libmvec_missing(m.function);
}

template <class V, bool skip>
void by_sleef(const Masked& m) {
    const auto function = assay::kernels::sleef_function(m.function, V::lanes);
    evaluate_range<V, skip>(m, 0, m.n, reinterpret_cast<Call<V>*>(function));
}

inline const char* no_sleef(const Masked& m) {
    return assay::kernels::sleef_missing(m.function);
}

#ifdef _OPENMP
template <class V, bool skip>
void threads_by_libmvec(const Masked& m) {
    const auto function = assay::kernels::libmvec_function(m.function, V::lanes);
    evaluate_by_threads<V, skip>(m, reinterpret_cast<Call<V>*>(function));
}

template <class V, bool skip>
void threads_by_sleef(const Masked& m) {
    const auto function = assay::kernels::sleef_function(m.function, V::lanes);
    evaluate_by_threads<V, skip>(m, reinterpret_cast<Call<V>*>(function));
}
#endif

} // namespace
