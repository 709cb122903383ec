"""Inventory: data of ``assay machine show`` about a host beyond the Machine document.

A Machine is read before every study and quickly; an inventory is read on request.
"""
