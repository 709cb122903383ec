"""The registry of settings: one small module for each family."""

from assay.settings.registry import Registry, builtin, judge_all

__all__ = ["Registry", "builtin", "judge_all"]
