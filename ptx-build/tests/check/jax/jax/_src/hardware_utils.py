"""Stands for JAX's module of this name, on a machine without a GPU."""


def has_visible_nvidia_gpu():
    return False
