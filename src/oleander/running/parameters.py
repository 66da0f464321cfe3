"""Estimators with parameters that have parameters of their own: ``set_params(floor__on="share")``."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator


class NestedEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator some of whose parameters, its parts, are frozen dataclasses.

    The options of a part are read and set under its name: ``floor__on``. Copies of the estimator share its parts, which
    never change: setting an option puts a changed part in the place of the old one.

    Attributes
    ----------
    PARTS : tuple of str
        The parameters that may be parts.
    """

    PARTS: ClassVar[tuple[str, ...]] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also the options of each part, such as ``floor__on``."""
        params = dict(super().get_params(deep=False))
        return params | self._options(params) if deep else params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and options of parts: ``candidates__radius=2.0``.

        A part that is given in the same call is set before its options. An unknown name changes nothing.
        """
        changed = self.get_params(deep=False)
        changed |= {name: value for name, value in params.items() if name in changed}
        known = changed | self._options(changed)
        unknown = [name for name in params if name not in known]
        if unknown:
            raise ValueError(f"there is no parameter {unknown[0]!r}; there are {', '.join(sorted(known))}.")
        for name, value in params.items():
            part, _, option = name.partition("__")
            if option:
                changed[part] = replace(changed[part], **{option: value})
        for name, value in changed.items():
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        # Parameters are passed on as they are: a fitted model among them, such as a black box, must stay fitted.
        return type(self)(**self.get_params(deep=False))

    def _options(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the options of all parts by their nested names."""
        return {
            f"{name}__{field.name}": getattr(params[name], field.name)
            for name in self.PARTS
            if is_dataclass(params[name])
            for field in fields(params[name])
        }
