"""Programs of Python that do a kernel's work, beside the kernel's variants.

Each is a program of its own, for what it needs is no part of assay: NumPy, scikit-learn,
threadpoolctl, and what there is of scikit-learn-intelex, faiss-cpu, numexpr, Cython and Devito.
"""
