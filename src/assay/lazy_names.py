"""Public names of a package that are loaded on first use, with the standard library alone."""

TYPE_CHECKING = False
"""Same as ``typing.TYPE_CHECKING``; loading ``typing`` takes longer than all other imports."""

if TYPE_CHECKING:
    from collections.abc import Callable


def lazy_names(
    namespace: "dict[str, object]", modules: "dict[str, str]"
) -> "tuple[Callable[[str], object], Callable[[], list[str]]]":
    """Return the functions ``__getattr__`` and ``__dir__`` of a package (PEP 562).

    Args:
        namespace: global names of the package, which keep what has been loaded.
        modules: module of each public name.
    """

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        from importlib import import_module

        value: object = getattr(import_module(modules[name]), name)
        namespace[name] = value
        return value

    def names() -> "list[str]":
        return sorted({*namespace, *modules})

    return load, names
