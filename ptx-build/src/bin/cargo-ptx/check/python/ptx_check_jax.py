"""Lets JAX ask the driver whether there is a GPU, where it looks for a device file of NVIDIA's first, and leads it to the assembler of
`cargo ptx check`."""

import os

# Compilers that are libraries make machine code, and to try every way to multiply takes long on a CPU.
FLAGS = "--xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false --xla_gpu_autotune_level=0"
# Each array is an allocation of its own, in its stream; and what is compiled is of no use elsewhere.
SETTINGS = {
    "XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}


def install(module):
    if hasattr(module, "has_visible_nvidia_gpu"):
        module.has_visible_nvidia_gpu = lambda: True
    if hasattr(module, "cuda_path"):
        module.cuda_path = lead_from(module.cuda_path)
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
        os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
        os.environ["XLA_FLAGS"] = f"{FLAGS} {os.environ.get('XLA_FLAGS', '')}"


def lead_from(toolkit):
    """A toolkit with another assembler, and all else that the compiler reads."""
    ours = os.environ["PTX_CHECK_TOOLKIT"]
    os.environ["PATH"] = os.pathsep.join([os.path.join(ours, "bin"), os.environ.get("PATH", "")])
    if toolkit is not None:
        try:
            os.symlink(os.path.join(toolkit, "nvvm"), os.path.join(ours, "nvvm"))
        except FileExistsError:
            pass  # Another process has done it.
    return ours
