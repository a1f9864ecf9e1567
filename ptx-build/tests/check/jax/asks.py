"""What JAX and XLA ask for before they compile."""

import os
import shutil
import subprocess
import sys
import tempfile

from jax._src import hardware_utils, lib

print("gpu", hardware_utils.has_visible_nvidia_gpu())
ptxas = os.path.join(lib.cuda_path, "bin", "ptxas")
print("ptxas", shutil.which("ptxas") == ptxas, os.readlink(os.path.join(lib.cuda_path, "nvvm")))
print("flags", os.environ["XLA_FLAGS"].split()[-1], os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"])
asked = subprocess.run([ptxas, "--input-as-string", ".version 99.99"], capture_output=True, text=True)
print("version", asked.returncode, asked.stderr.strip())
with tempfile.TemporaryDirectory() as folder:
    names = [os.path.join(folder, name) for name in ("text", "made")]
    with open(names[0], "w") as text:
        text.write("PTX")
    made = subprocess.run([ptxas, names[0], "-o", names[1], "-arch=sm_90a", "--warn-on-spills"])
    print("made", made.returncode, open(names[1]).read())
