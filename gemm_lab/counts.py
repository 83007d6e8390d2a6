"""What a kernel did, as whole numbers: words, requests, sectors, wavefronts, FMAs.

The four counts of memory traffic answer four different questions (NVIDIA, "CUDA C++ Best Practices Guide", and the
metric reference of Nsight Compute):

word        32 bits moved for one thread: what the *algorithm* asks for
request     one load or store instruction of one warp: what the *scheduler* issues
sector      32 aligned bytes of global memory: what the L2 cache must deliver
wavefront   one pass through the SM's load/store pipe, at most 128 bytes: how long the *pipe* is busy

An asynchronous copy is a load and a store, but its wavefronts are those of the store alone: see `copy_wavefronts`.
A bank conflict is a wavefront of shared memory that another choice of addresses would have saved: see
`shared_wavefronts`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

WARP = 32          # threads in a warp
WORD_BYTES = 4     # one word is one float
SECTOR_BYTES = 32  # one sector of global memory
LINE_BYTES = 128   # one cache line; also the most that one wavefront moves


@dataclass(frozen=True)
class Counts:
    """Totals over a whole launch. A field is None where it was neither counted nor derived.

    Words are counted for active threads only. FMAs are per thread, too, those of zero-filled tile elements and of the
    epilogue (beta*C) included.
    """

    fma: int | None = None
    global_load_words: int | None = None
    global_store_words: int | None = None
    shared_load_words: int | None = None
    shared_store_words: int | None = None
    local_load_words: int | None = None
    local_store_words: int | None = None
    global_load_requests: int | None = None
    global_store_requests: int | None = None
    shared_load_requests: int | None = None
    shared_store_requests: int | None = None
    global_load_sectors: int | None = None
    global_store_sectors: int | None = None
    global_load_wavefronts: int | None = None
    global_store_wavefronts: int | None = None
    shared_load_wavefronts: int | None = None
    shared_store_wavefronts: int | None = None
    shared_load_bank_conflicts: int | None = None
    shared_store_bank_conflicts: int | None = None

    @classmethod
    def zero(cls) -> Counts:
        """All fields 0: the start of a sum."""
        return cls(**{f.name: 0 for f in fields(cls)})

    def __add__(self, other: Counts) -> Counts:
        def total(a, b):
            return None if a is None or b is None else a + b
        return Counts(**{f.name: total(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)})

    def __repr__(self) -> str:
        known = ((f.name, getattr(self, f.name)) for f in fields(self))
        return "Counts(" + ", ".join(f"{name}={n:,}" for name, n in known if n) + ")"

    @property
    def wavefronts(self) -> int | None:
        """All load/store wavefronts: global and shared, loads and stores."""
        parts = (self.global_load_wavefronts, self.global_store_wavefronts,
                 self.shared_load_wavefronts, self.shared_store_wavefronts)
        return None if None in parts else sum(parts)

    @property
    def wavefronts_per_warp_fma(self) -> float | None:
        """The w of the course's one law: load/store wavefronts for each FMA instruction of a full warp."""
        return None if not self.fma or self.wavefronts is None else self.wavefronts * WARP / self.fma

    @property
    def global_loads_per_fma(self) -> float | None:
        """Words read from global memory for each FMA of a thread."""
        return None if not self.fma or self.global_load_words is None else self.global_load_words / self.fma

    @property
    def shared_loads_per_fma(self) -> float | None:
        """Words read from shared memory for each FMA of a thread."""
        return None if not self.fma or self.shared_load_words is None else self.shared_load_words / self.fma
