"""Programs of Python that do a kernel's work, beside the kernel's variants.

Each is a program of its own, for what it needs is no part of assay: scikit-learn and NumPy, and
what else of its peers is installed.
"""
