// What every file that nvcc compiles can already use, and NVRTC leaves out. Included before the first line of a kernel.
#pragma once

#define register    // C++17 has dropped it, nvcc still takes it

// <stdint.h>, <sys/types.h>
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
#ifdef _WIN64
typedef long long int64_t, intptr_t, intmax_t;
typedef unsigned long long uint64_t, uintptr_t, uintmax_t;
#else
typedef long int64_t, intptr_t, intmax_t;
typedef unsigned long uint64_t, uintptr_t, uintmax_t;
#endif
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
#define SIZE_MAX UINT64_MAX

// <limits.h>
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ULL

// <math.h>
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define NAN __builtin_bit_cast(float, 0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL ((double)INFINITY)
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

namespace std {
using ::size_t, ::ptrdiff_t, ::int8_t, ::int16_t, ::int32_t, ::int64_t, ::uint8_t, ::uint16_t, ::uint32_t, ::uint64_t;
using ::intptr_t, ::uintptr_t;
using nullptr_t = decltype(nullptr);

using ::abs, ::fabs, ::fabsf, ::fma, ::fmaf, ::fmax, ::fmaxf, ::fmin, ::fminf, ::fmod, ::hypot, ::copysign;
using ::sqrt, ::sqrtf, ::cbrt, ::exp, ::expf, ::exp2, ::log, ::logf, ::log2, ::log10, ::pow, ::powf;
using ::sin, ::sinf, ::cos, ::cosf, ::tan, ::tanh, ::tanhf, ::sinh, ::cosh, ::asin, ::acos, ::atan, ::atan2, ::erf;
using ::ceil, ::ceilf, ::floor, ::floorf, ::round, ::roundf, ::trunc, ::truncf, ::rint, ::lround;
using ::isfinite, ::isinf, ::isnan, ::signbit;
using ::free, ::malloc, ::memcpy, ::memset, ::printf;

template <typename T>
__host__ __device__ __forceinline__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <typename T>
__host__ __device__ __forceinline__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <typename T>
__host__ __device__ __forceinline__ constexpr const T &clamp(const T &x, const T &low, const T &high) {
    return x < low ? low : high < x ? high : x;
}
template <typename T>
__host__ __device__ __forceinline__ constexpr void swap(T &a, T &b) {
    T old = static_cast<T &&>(a);
    a = static_cast<T &&>(b);
    b = static_cast<T &&>(old);
}
}  // namespace std
