// What a step can be, numbered as in gemm_lab/emulator/tracing/trace.py.

export const END = 0;
export const GLOBAL_LOAD = 1;
export const GLOBAL_STORE = 2;
export const SHARED_LOAD = 3;
export const SHARED_STORE = 4;
export const LOCAL_LOAD = 5;
export const LOCAL_STORE = 6;
export const ATOMIC = 7;
export const FMA = 8;
export const ARITHMETIC = 9;
export const BARRIER = 10;
export const isLoad = kind => kind === GLOBAL_LOAD || kind === SHARED_LOAD || kind === LOCAL_LOAD;
export const isStore = kind => kind === GLOBAL_STORE || kind === SHARED_STORE || kind === LOCAL_STORE;
export const isCompute = kind => kind === FMA || kind === ARITHMETIC;
