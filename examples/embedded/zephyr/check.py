"""Checks which library the module chooses for each CPU. Zephyr's own functions are replaced, and no
program is built."""

import subprocess
import sys
import tempfile
from pathlib import Path

CHOICES = {
    "CPU_CORTEX_M0": "thumbv6m-none-eabi",
    "CPU_CORTEX_M3": "thumbv6m-none-eabi",
    "CPU_CORTEX_M4": "thumbv7em-none-eabi",
    "CPU_CORTEX_M7": "thumbv7em-none-eabi",
    "ARMV8_M_MAINLINE": "thumbv8m.main-none-eabi",
    "RISCV": "riscv32imac-unknown-none-elf",
}
MOCK = """\
set(CONFIG_TAGMAC y)
set(CONFIG_{option} y)
function(zephyr_include_directories folder)
  if(NOT EXISTS "${{folder}}/tagmac_embedded.h")
    message(FATAL_ERROR "no header in ${{folder}}")
  endif()
endfunction()
function(zephyr_library_import name library)
  if(NOT EXISTS "${{library}}")
    message(FATAL_ERROR "no ${{library}}")
  endif()
  message("${{library}}")
endfunction()
include("{module}/zephyr/CMakeLists.txt")
"""

module = Path(sys.argv[1]).resolve()
with tempfile.TemporaryDirectory() as work:
    for option, triple in CHOICES.items():
        script = Path(work) / "mock.cmake"
        script.write_text(MOCK.format(option=option, module=module))
        run = subprocess.run(["cmake", "-P", script], capture_output=True, text=True)
        if run.returncode or f"/{triple}/" not in run.stderr:
            sys.exit(f"{option}: expected {triple}, found {run.stderr}")
print(f"Zephyr: {len(CHOICES)} CPUs have their library")
