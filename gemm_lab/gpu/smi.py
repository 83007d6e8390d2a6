"""What nvidia-smi tells about the GPU in use: the driver's own version, and clock, power and temperature under load."""

from __future__ import annotations

import subprocess
from contextlib import suppress

CLOCK = {"sm_mhz": "clocks.sm", "max_sm_mhz": "clocks.max.sm", "power_w": "power.draw", "celsius": "temperature.gpu"}


def command(*fields: str) -> list[str]:
    """The command line that prints `fields` for each GPU, one line each, after its PCI bus number."""
    return ["nvidia-smi", f"--query-gpu={','.join(('pci.bus_id', *fields))}", "--format=csv,noheader,nounits"]


def own_row(text: str, bus_id: str) -> list[str]:
    """The values of the GPU on that PCI bus, or of the only GPU; [] if it is not in the list.

    CUDA writes a bus number as "0000:1B:00.0", nvidia-smi as "00000000:1B:00.0".
    """
    rows = [[word.strip() for word in line.split(",")] for line in text.splitlines() if "," in line]
    own = [row for row in rows if row[0].lower().endswith(bus_id.lower())] if bus_id else []
    return next(iter(own or (rows if len(rows) == 1 else [])), [])[1:]


def ask(bus_id: str, *fields: str) -> list[str]:
    """What nvidia-smi says about one GPU, a text for each field; [] where it is missing or does not tell."""
    with suppress(OSError, subprocess.SubprocessError):
        return own_row(subprocess.run(command(*fields), capture_output=True, text=True, timeout=20).stdout, bus_id)
    return []


def clock(text: str, bus_id: str) -> dict[str, float]:
    """The output of `command(*CLOCK.values())` as numbers (MHz, MHz, W, degrees C), those that the board tells."""
    numbers = {}
    for name, word in zip(CLOCK, own_row(text, bus_id), strict=False):
        with suppress(ValueError):    # "[N/A]"
            numbers[name] = float(word)
    return numbers
