import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

// The source that kernels.ptx is generated from; this check needs no nvcc.
const source = readFileSync(join(import.meta.dirname, '../../cuda/gpu_port.cuh'), 'utf8').replace(/^ *\/\/.*$/gm, '')

/** The instruction of each function of the port, or the function that it calls instead. */
const functions = Object.fromEntries(
  source
    .split('static GPUNVME_DEVICE ')
    .slice(1)
    .map((text) => [
      / \**(\w+)\(/.exec(text)![1]!,
      /asm volatile\("([\w.]+)/.exec(text)?.[1] ?? /return (\w+)/.exec(text)?.[1],
    ]),
)

// PTX ISA 8.2, "Memory Consistency Model": a weak load may be satisfied by L1, and only `.sys` reaches the host.
test('each access of the GPU port has the memory order and the scope that its name states', () => {
  expect(functions).toEqual({
    store16: 'st.global.v4.u32',
    store64: 'st.global.u64',
    fence: 'fence.sc.sys',
    mmio_store32: 'st.mmio.relaxed.sys.global.u32',
    load_completion64: 'load_relaxed64',
    load_acquire64: 'ld.acquire.sys.global.u64',
    load_relaxed64: 'ld.relaxed.sys.global.u64',
    store_relaxed64: 'st.relaxed.sys.global.u64',
    store_release64: 'st.release.sys.global.u64',
    load_relaxed32: 'ld.relaxed.sys.global.u32',
    cas32: 'atom.acq_rel.sys.global.cas.b32',
    store_release32: 'st.release.sys.global.u32',
    fence_acquire: 'fence.acq_rel.sys',
    load_acquire32_gpu: 'ld.acquire.gpu.global.u32',
    load_acquire64_gpu: 'ld.acquire.gpu.global.u64',
    store_release32_gpu: 'st.release.gpu.global.u32',
    store_release64_gpu: 'st.release.gpu.global.u64',
    add32_gpu: 'atom.acq_rel.gpu.global.add.u32',
    add32_relaxed_gpu: 'atom.relaxed.gpu.global.add.u32',
    xor32_gpu: 'atom.acq_rel.gpu.global.xor.b32',
    exchange32_gpu: 'atom.acq_rel.gpu.global.exch.b32',
    cas32_gpu: 'atom.acq_rel.gpu.global.cas.b32',
    cas64_gpu: 'atom.acq_rel.gpu.global.cas.b64',
    add64_gpu: 'atom.acq_rel.gpu.global.add.u64',
    count64_gpu: 'red.relaxed.gpu.global.add.u64',
    now_ns: 'mov.u64',
    relax: 'nanosleep.u32',
    wake_host: undefined,
  })
})
