"""Parallel work and progress, the same everywhere."""

import gc
from importlib import import_module
from types import ModuleType


def import_without_collecting(name: str) -> ModuleType:
    """Import a module while the garbage collector rests.

    What an import makes stays for good. Looking through all of it over and over takes a fifth of the time.
    """
    is_on = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if is_on:
            gc.enable()
