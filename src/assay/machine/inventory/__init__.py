"""Inventory: all that ``assay machine show`` knows of a host beyond the Machine document.

A Machine is read before every study and stays quick; this is read when somebody asks.
"""
