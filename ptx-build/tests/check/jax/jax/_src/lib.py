"""Stands for JAX's module of this name."""

cuda_path = "/toolkit"
