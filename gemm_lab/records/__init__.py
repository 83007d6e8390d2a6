"""Measurements that were made once and are read again: timings (`Measurements`) and hardware counters (`CounterRow`).

A record is a JSON file: its `format` (a number), `kind`, the device and its driver, the date, and for each kernel a
hash of the source that was measured. Those that ship lie in `gemm_lab/measurements/`, named EXPERIMENT_DEVICE.json:

bench          every course kernel over size            recorded("H200")
law            many variants at one size                recorded("H200", "law"), recorded_law("H200")
counters       ncu's counters at small sizes            recorded_counters("H200")
wavefronts     ncu's counters of the kernels of "law"   recorded_counters("H200", "wavefronts")
ladder         each kernel from 03 to 09 over size      recorded("H200", "ladder"), recorded_law("H200", "ladder")
laddercounters ncu's counters of these at 4096          recorded_stalls("H200") or recorded_counters(...)
tuning         the candidates of `best` at 17 sizes     recorded("H200", "tuning")
goals          `best` against cuBLAS, by pairs, twice   recorded_goals("H200")
peers          public kernels, built and run there      recorded("H200", "peers")
"""

from __future__ import annotations

from gemm_lab.records.counters import (
    FFMA,
    WAVEFRONTS,
    CounterRow,
    Law,
    LawRow,
    load_counters,
    recorded_counters,
    recorded_law,
    save_counters,
)
from gemm_lab.records.files import record_name, shipped_devices, source_hash
from gemm_lab.records.goals import Goal, Goals, recorded_goals
from gemm_lab.records.stalls import REASONS, Stall, Stalls, recorded_stalls
from gemm_lab.records.timings import CUBLAS, Measurements, Row, Size, joined, load, recorded, size_text, triple

__all__ = ["CUBLAS", "CounterRow", "FFMA", "Goal", "Goals", "Law", "LawRow", "Measurements", "REASONS", "Row", "Size",
           "Stall", "Stalls", "WAVEFRONTS", "joined", "load", "load_counters", "record_name", "recorded",
           "recorded_counters", "recorded_goals", "recorded_law", "recorded_stalls", "save_counters", "shipped_devices",
           "size_text", "source_hash", "triple"]
