"""Lets CuTe DSL keep PTX in the folder where `cargo ptx check` looks for it, and beside it the machine code that was made of it.

A program may name another folder for what it compiles (`--dump-dir`), and two kernels that differ only by a constant have one name.
"""

import itertools
import os

numbers = itertools.count()


def install(compiler):
    options = getattr(compiler, "CompileOptions", None)
    apply = getattr(options, "apply_envar_settings", None)
    if apply is None:
        return

    def apply_and_keep(self, envar, function_name):
        apply(self, envar, function_name)
        name = os.path.join(os.environ["PTX_CHECK_KEPT"], f"{next(numbers)}.{function_name}")
        arch = self.options[compiler.GPUArch].value or envar.arch
        for option, kind in [(compiler.KeepPTX, "ptx"), (compiler.KeepCUBIN, "cubin")]:
            kept = self.options[option]
            kept.value, kept.dump_path = True, name
            setattr(kept, f"full_{kind}_path", f"{name}.{arch}.{kind}")

    options.apply_envar_settings = apply_and_keep
