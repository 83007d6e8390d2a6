"""What a roofline and an occupancy calculation need to know of a GPU, and the ceilings that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from gemm_lab.counts import LINE_BYTES, WARP
from gemm_lab.tables import html_table

FLOP_PER_WARP_FMA = 2 * WARP
LABELS = ("name", "product", "kind", "architecture", "pipe_evidence", "note")    # words: the other fields need a source


@dataclass(frozen=True, kw_only=True)
class ComputeCapability:
    """What one SM offers. All GPUs of a compute capability agree in this.

    `sources` maps each field to its public source; a field named in `unverified` has none. `pipe_evidence` says how
    well the rate of the load/store pipe is known here.
    """

    compute_capability: str
    architecture: str
    fp32_lanes_per_sm: int
    max_warps_per_sm: int
    max_blocks_per_sm: int
    registers_per_sm: int
    l1_bytes_per_sm: int               # L1 cache and shared memory are one SRAM of this size
    shared_bytes_per_sm: int           # the most that all resident blocks can hold together
    shared_bytes_per_block: int        # the most that one block can opt in to
    reserved_shared_bytes_per_block: int
    shared_allocation_bytes: int
    carveouts_kb: tuple[int, ...]      # sizes that the shared part of the SRAM can have
    shared_bandwidth_bytes_per_clk_per_sm: int
    pipe_evidence: str
    sources: Mapping[str, str] = field(compare=False, repr=False)
    unverified: tuple[str, ...] = ()
    note: str = ""

    @property
    def arch(self) -> str:
        """The compiler's name for this compute capability, such as "sm_90"."""
        return "sm_" + self.compute_capability.replace(".", "")

    @property
    def wavefronts_per_clk_per_sm(self) -> float:
        """Wavefronts of 128 bytes that one SM's load/store pipe passes in a clock: 1; on Turing half of that."""
        return self.shared_bandwidth_bytes_per_clk_per_sm / LINE_BYTES


@dataclass(frozen=True, kw_only=True)
class Gpu(ComputeCapability):
    """One GPU model. GB and TFLOPS are decimal; None where nothing is published.

    All peaks are at the boost clock. A real card may run faster, or slower where its power is limited.
    """

    name: str
    product: str
    kind: str
    sms: int
    base_mhz: int | None
    boost_mhz: int
    listed_fp32_tflops: float | None   # the peak that a public list gives
    dram_gbs: float                    # by the data sheet
    dram_gb: float
    l2_bytes: int
    l2_gbs: float | None               # measured
    tdp_w: int

    @property
    def peak_fp32_tflops(self) -> float:
        """2 FLOP (an FMA) x lanes x SMs x boost clock (CUDA C++ Programming Guide: one FMA per lane and clock)."""
        return 2 * self.fp32_lanes_per_sm * self.sms * self.boost_mhz / 1e6

    @property
    def ridge(self) -> float:
        """FLOP/byte of DRAM traffic at which both ceilings meet (Williams, Waterman, Patterson 2009)."""
        return 1000 * self.peak_fp32_tflops / self.dram_gbs

    @property
    def pipe_gbs(self) -> float:
        """What the load/store pipes of all SMs, in front of L1 and shared memory, deliver at best, in GB/s."""
        return self.shared_bandwidth_bytes_per_clk_per_sm * self.sms * self.boost_mhz / 1000

    def lsu_tflops_cap(self, w: float) -> float:
        """The course's one law: the most TFLOPS of a kernel with `w` load/store wavefronts for each warp-FMA.

        A warp-FMA is 64 FLOP, and its w wavefronts keep the SM's pipe busy for w clocks (2w on Turing), so the cap
        is 64 FLOP x SMs x boost clock / w: 16.73/w on an H200, where it was measured. Elsewhere it is an extrapolation
        from the published bandwidth of shared memory; `pipe_evidence` says how good.
        """
        if not w > 0:
            raise ValueError(f"w = {w!r}; the wavefronts per warp-FMA must be more than 0")
        return FLOP_PER_WARP_FMA * self.wavefronts_per_clk_per_sm * self.sms * self.boost_mhz / 1e6 / w

    def __repr__(self) -> str:
        return (f"{self.name}: {self.sms} SMs x {self.fp32_lanes_per_sm} FP32 lanes at {self.boost_mhz} MHz = "
                f"{self.peak_fp32_tflops:.1f} TFLOPS; DRAM {self.dram_gb:g} GB, {self.dram_gbs:g} GB/s; "
                f"L2 {self.l2_bytes / 2**20:g} MiB; compute capability {self.compute_capability}")

    def _repr_html_(self) -> str:
        facts = [f.name for f in fields(self) if f.name not in (*LABELS, "sources", "unverified")]
        rows = [(name, getattr(self, name), "unverified" if name in self.unverified else self.sources.get(name, "none"))
                for name in facts]
        computed = [("peak_fp32_tflops", f"{self.peak_fp32_tflops:.2f}", "2 x lanes x SMs x boost clock"),
                    ("ridge", f"{self.ridge:.1f}", "peak / DRAM bandwidth, in FLOP/byte")]
        return html_table(("", self.product, "source"), rows + computed, self.note)
