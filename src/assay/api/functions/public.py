"""Decorator of the public functions: signatures with all keywords, and short tracebacks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast, get_type_hints

from assay.errors import AssayError

F = TypeVar("F", bound=Callable[..., Any])


def with_keywords(keywords: type) -> Callable[[F], F]:
    """Return a decorator that shows the keywords in the signature of a public function.

    The function raises errors and interrupts without the frames below it: their messages name the
    cause and the next step.

    Args:
        keywords: typed dictionary of the keywords.
    """

    def decorate(function: F) -> F:
        wrapped = _with_short_tracebacks(function)
        types = get_type_hints(keywords)
        bare = inspect.signature(function)
        own = [p for p in bare.parameters.values() if p.kind is not p.VAR_KEYWORD]
        extra = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in types.items()
            if name not in bare.parameters
        ]
        signature = bare.replace(parameters=[*own, *extra])
        wrapped.__signature__ = signature  # type: ignore[attr-defined]
        return wrapped

    return decorate


def _with_short_tracebacks(function: F) -> F:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*arguments: Any, **options: Any) -> Any:
            try:
                return await function(*arguments, **options)
            except (AssayError, KeyboardInterrupt) as error:
                raise error.with_traceback(None)  # noqa: B904 - the same exception

        return cast(F, awaited)

    @functools.wraps(function)
    def called(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except (AssayError, KeyboardInterrupt) as error:
            raise error.with_traceback(None)  # noqa: B904 - the same exception

    return cast(F, called)
