import type { Bar } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { probeStores, type GpuStores } from './probe.js'

// Offsets of Base 2.1 §3.1.4: CC, CSTS, AQA.
const [CC, CSTS, AQA] = [0x14, 0x1c, 0x24]

/** Registers in memory, and a GPU whose stores arrive there or not. */
class FakeDrive {
  readonly words = new Map<number, number>([[AQA, 0x001f_001f]])
  readonly writes: [offset: number, value: number][] = []
  readonly stored: [offset: number, value: number][] = []
  isGone = false

  readonly bar: Bar = {
    lengthBytes: 0x4000,
    read32: (offset) => (this.isGone ? 0xffff_ffff : (this.words.get(offset) ?? 0)),
    write32: (offset, value) => {
      this.writes.push([offset, value])
      this.words.set(offset, value)
    },
    read64: () => 0n,
    write64: () => undefined,
  }

  gpu(arrive: (offset: number, value: number) => void = (offset, value) => this.words.set(offset, value)): GpuStores {
    return {
      store32: (offset, value) => {
        this.stored.push([offset, value])
        arrive(offset, value)
        return Promise.resolve()
      },
    }
  }
}

const options = { signal: new AbortController().signal, timeoutMs: 20 }

test('probeStores detects stores that arrive, and restores the register', async () => {
  const drive = new FakeDrive()
  const result = await probeStores(drive.bar, drive.gpu(), options)
  expect(result).toMatchObject({ arrived: true, before: 0x001f_001f })
  expect(result.stores.map(({ arrived }) => arrived)).toEqual([true, true, true])
  expect(drive.words.get(AQA)).toBe(0x001f_001f)
})

test('the GPU writes only to AQA, and no reserved bits', async () => {
  const drive = new FakeDrive()
  await probeStores(drive.bar, drive.gpu(), options)
  for (const [offset, value] of drive.stored) {
    expect(offset).toBe(0x24)
    expect(value & 0xf000_f000).toBe(0)
  }
  expect(drive.writes).toEqual([[0x24, 0x001f_001f]])
})

test('probeStores stops after the first lost store', async () => {
  const drive = new FakeDrive()
  const result = await probeStores(drive.bar, drive.gpu(() => undefined), options) // oxfmt-ignore
  expect(result.arrived).toBe(false)
  expect(result.stores).toEqual([{ value: 0x0123_0abc, seen: 0x001f_001f, arrived: false }])
})

test('probeStores accepts a delayed store', async () => {
  const drive = new FakeDrive()
  const gpu = drive.gpu((offset, value) => void setTimeout(() => drive.words.set(offset, value), 15))
  expect((await probeStores(drive.bar, gpu, { ...options, timeoutMs: 20_000 })).arrived).toBe(true)
})

test.each([
  ['enabled', CC, 1],
  ['still ready', CSTS, 1],
])('probeStores rejects a controller that is %s', async (_, offset, value) => {
  const drive = new FakeDrive()
  drive.words.set(offset, value)
  await expect(probeStores(drive.bar, drive.gpu(), options)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_PROBE',
    category: 'infeasible',
  })
  expect([drive.stored, drive.writes]).toEqual([[], []])
})

test('probeStores reports a drive lost before or during the probe as a device error', async () => {
  const gone = new FakeDrive()
  gone.isGone = true
  await expect(probeStores(gone.bar, gone.gpu(), options)).rejects.toMatchObject({ category: 'device' })
  expect(gone.stored).toEqual([])
  const going = new FakeDrive()
  const gpu = going.gpu(() => (going.isGone = true))
  await expect(probeStores(going.bar, gpu, options)).rejects.toMatchObject({ category: 'device' })
})

test('probeStores passes on an error of the GPU, and restores the register', async () => {
  const drive = new FakeDrive()
  const gpu = drive.gpu((offset, value) => {
    drive.words.set(offset, value)
    throw new Error('the kernel failed')
  })
  await expect(probeStores(drive.bar, gpu, options)).rejects.toThrow('the kernel failed')
  expect(drive.words.get(AQA)).toBe(0x001f_001f)
})
