"""Python imports this before a program that `cargo ptx check` runs. As soon as the program has imported PyTorch, CuTe DSL or JAX,
that is changed."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

# What is changed, and by what.
CHANGED = {
    "torch": "ptx_check_torch",
    "cutlass.base_dsl.compiler": "ptx_check_cute",
    "jax._src.hardware_utils": "ptx_check_jax",
    "jax._src.lib": "ptx_check_jax",
}


class Changes(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        change = CHANGED.pop(name, None)
        if change is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_change(module):
                execute(module)
                importlib.import_module(change).install(module)

            spec.loader.exec_module = execute_and_change
        return spec


def import_other():
    """Another file of this name is behind this one, and would have been imported."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [folder for folder in sys.path if os.path.abspath(folder) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, Changes())
import_other()
