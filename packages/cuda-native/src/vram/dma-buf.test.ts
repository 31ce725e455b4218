import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { BLANK_BAR, FakeGpu } from '../../test/vram/fake-gpu.js'
import { FileDmaBufs } from '../../test/vram/file-dma-buf.js'
import { dmaBufProvider } from './dma-buf.js'
import { VramRefusedError } from './provider.js'

const MIB = 1024 * 1024

function made() {
  const folder = scratch()
  const path = join(folder, 'memory')
  writeFileSync(path, '')
  const gpu = new FakeGpu(BLANK_BAR)
  const bufs = new FileDmaBufs(gpu, path)
  return { gpu, bufs, provider: dmaBufProvider(bufs, bufs), memory: gpu.alloc(4 * MIB) }
}

function refusalOf(call: () => unknown): VramRefusedError {
  try {
    call()
  } catch (error) {
    if (error instanceof VramRefusedError) return error
    throw error
  }
  throw new Error('no VramRefusedError was thrown')
}

it('addresses are those of the kernel module, until the mapping is released', () => {
  const { bufs, provider, memory } = made()
  const mapping = provider.map(memory.gpuPointer, 4 * MIB)
  // The fake GPU allocates its eighth page first, then its fifth.
  expect(mapping.segments).toEqual([
    { offsetBytes: 0, iova: 0x80_00e0_0000, lengthBytes: 2_097_152 },
    { offsetBytes: 2_097_152, iova: 0x80_0080_0000, lengthBytes: 2_097_152 },
  ])
  expect(bufs.attached.size).toBe(1)
  mapping.release()
  expect(bufs.attached.size).toBe(0)
})

it('the file descriptor is closed at once, since the attachment holds the memory', () => {
  const { bufs, provider, memory } = made()
  provider.map(memory.gpuPointer, 4 * MIB)
  expect(bufs.open.size).toBe(0)
})

it('a driver without dma-buf support is distinguished from a failed export', () => {
  const { bufs, provider, memory } = made()
  bufs.cuResult = 801
  expect(refusalOf(() => provider.map(memory.gpuPointer, 4 * MIB)).reason).toBe('dma-buf-unsupported')
  bufs.cuResult = 1
  const error = refusalOf(() => provider.map(memory.gpuPointer, 4 * MIB))
  expect(error.reason).toBe('export-failed')
  expect(error.message).toContain('CUresult 1')
})

it('a failed attachment leaves nothing open', () => {
  const { bufs, provider, memory } = made()
  bufs.refusal = new Error('EOPNOTSUPP: no path between these devices')
  const error = refusalOf(() => provider.map(memory.gpuPointer, 4 * MIB))
  expect(error.reason).toBe('import-failed')
  expect(error.message).toContain('EOPNOTSUPP')
  expect(bufs.open.size).toBe(0)
})

const RUN = { offsetBytes: 0, iova: 0x1000_0000, lengthBytes: 2 * MIB }

it.each([
  ['too few bytes', [RUN]],
  ['a gap', [RUN, { ...RUN, offsetBytes: 3 * MIB, iova: 0x2000_0000 }]],
  ['the same address twice', [RUN, { ...RUN, offsetBytes: 2 * MIB }]],
  ['overlapping addresses', [RUN, { ...RUN, offsetBytes: 2 * MIB, iova: 0x1000_0000 + MIB }]],
  ['an address inside a page', [RUN, { ...RUN, offsetBytes: 2 * MIB, iova: 0x2000_0200 }]],
  ['an invalid address', [RUN, { ...RUN, offsetBytes: 2 * MIB, iova: 2 ** 53 }]],
])('segments that do not cover the memory are rejected, and it is detached: %s', (_, segments) => {
  let detached = 0
  const exporter = { export: () => 99, close: () => undefined }
  const provider = dmaBufProvider(exporter, { attach: () => ({ segments, detach: () => detached++ }) })
  expect(refusalOf(() => provider.map(0x1000n, 4 * MIB)).reason).toBe('bad-segments')
  expect(detached).toBe(1)
})
