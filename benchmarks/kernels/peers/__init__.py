"""Programs that compare libraries for Python with the variants of a kernel.

Each is a program of its own, since assay does not depend on its libraries: NumPy, scikit-learn and
threadpoolctl; optionally scikit-learn-intelex, faiss-cpu, numexpr, Cython and Devito.
"""
