"""Programs that compare libraries for Python with the variants of a kernel.

Each is a separate program, since assay does not depend on the libraries: NumPy, scikit-learn and
threadpoolctl, and optionally scikit-learn-intelex, faiss-cpu, numexpr, Cython and Devito.
"""
