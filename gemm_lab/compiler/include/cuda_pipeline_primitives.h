// Asynchronous copies from global to shared memory. CUDA C++ Programming Guide, "Pipeline Primitives Interface";
// PTX ISA, "cp.async". Before compute capability 8.0 the copy is an ordinary one.
#pragma once

// Copies `size` (4, 8 or 16) bytes of which the last `zfill` are not read but set to zero.
__device__ __forceinline__ void __pipeline_memcpy_async(void *shared, const void *global, size_t size,
                                                        size_t zfill = 0) {
#if __CUDA_ARCH__ >= 800
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const size_t from = __cvta_generic_to_global(global);
    const int read = static_cast<int>(size - zfill);
    if (size == 16 && zfill == 0)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else if (size == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(read) : "memory");
    else if (size == 8 && zfill == 0)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
    else if (size == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(read) : "memory");
    else if (size == 4 && zfill == 0)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
    else if (size == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(read) : "memory");
    else
        __trap();  // only 4, 8 and 16 bytes can be copied
#else
    for (size_t i = 0; i < size; ++i)
        static_cast<char *>(shared)[i] = i < size - zfill ? static_cast<const char *>(global)[i] : 0;
#endif
}

// Closes the batch of copies issued since the last commit.
__device__ __forceinline__ void __pipeline_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until all but the latest `batches` committed batches have arrived; `batches` is 0 to 8 and known at compile time.
__device__ __forceinline__ void __pipeline_wait_prior(int batches) {
#if __CUDA_ARCH__ >= 800
    switch (batches) {
#define GEMM_LAB_WAIT(N) case N: asm volatile("cp.async.wait_group " #N ";" ::: "memory"); break;
        GEMM_LAB_WAIT(1) GEMM_LAB_WAIT(2) GEMM_LAB_WAIT(3) GEMM_LAB_WAIT(4)
        GEMM_LAB_WAIT(5) GEMM_LAB_WAIT(6) GEMM_LAB_WAIT(7) GEMM_LAB_WAIT(8)
#undef GEMM_LAB_WAIT
        default: asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
#endif
}
