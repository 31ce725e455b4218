import { deriveProfile, simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { DmaMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { patternMedia, wrongBytes } from '../../test/pattern.js'
import { splicedMemory } from '../../test/spliced-memory.js'
import { Controller } from '../controller.js'
import type { ControllerOptions } from '../running/open-options.js'
import { DataPointer } from './data-pointer.js'

const KIB = 1024

function memory(lengthBytes: number, iova: number): DmaMemory & { view: DataView } {
  return {
    lengthBytes,
    view: new DataView(new ArrayBuffer(lengthBytes)),
    segments: [{ offsetBytes: 0, iova, lengthBytes }],
    iovaAt: (offsetBytes) => iova + offsetBytes,
    forDevice: () => undefined,
    forHost: () => undefined,
    free: () => undefined,
  }
}

/** A queue of four entries and two commands with a list page each, at 20000h. */
function queue(sgl?: 'byte' | 'dword') {
  const made = {
    qid: 1,
    sqEntries: 4,
    sq: memory(4096, 0x1_0000),
    cq: { cqid: 1, entries: 4, memory: memory(4096, 0x1_1000), headDoorbell: 0x100c, head: 0, phase: 1 },
    maxInFlight: 2,
    prpLists: memory(8192, 0x2_0000),
    prpListBytes: 4096,
    pageBytes: 4096,
    ...(sgl && { sgl }),
    sqTailDoorbell: 0x1008,
    sqTail: 0,
    generations: new Uint16Array(2),
  } satisfies QueuePairMemory
  const { view } = made.sq
  const pointer = new DataPointer(made)
  /** Dwords 0 and 6 to 9 of entry 2, after the data of the command of slot 1 was described there. */
  const describeData = (data: DmaMemory, offsetBytes: number, lengthBytes: number) => {
    const entry = {
      set PSDT(value: 0 | 1 | 2) {
        view.setUint32(128, value << 14, true)
      },
      set PRP1(value: number) {
        view.setBigUint64(152, BigInt(value), true)
      },
      set PRP2(value: number) {
        view.setBigUint64(160, BigInt(value), true)
      },
    }
    new Uint8Array(view.buffer).fill(0)
    pointer.write(entry, 2, 1, data, offsetBytes, lengthBytes)
    return [0, 24, 28, 32, 36].map((byte) => view.getUint32(128 + byte, true))
  }
  const lists = new DataView(made.prpLists.view.buffer)
  return { pointer, describeData, lists }
}

const PSDT_SGL = 0x4000

describe('the description of a transfer (Base 2.1 §4.3)', () => {
  test.each([undefined, 'byte'] as const)(
    'uses PRP1 and PRP2 for two pages, with or without SGL support (%s)',
    (sgl) => {
      const { describeData } = queue(sgl)
      expect(describeData(memory(64 * KIB, 0x7000_0000), 4096, 8192)).toEqual([0, 0x7000_1000, 0, 0x7000_2000, 0])
    },
  )

  test('uses a PRP list for more pages without SGL support', () => {
    const { describeData, lists } = queue()
    expect(describeData(memory(64 * KIB, 0x7000_0000), 4096, 16384)).toEqual([0, 0x7000_1000, 0, 0x2_1000, 0])
    expect([0, 8, 16].map((byte) => lists.getUint32(4096 + byte, true))).toEqual([
      0x7000_2000, 0x7000_3000, 0x7000_4000,
    ])
  })

  test('describes one segment of memory by one data block in the entry: address, length in bytes, identifier 00h', () => {
    const { describeData } = queue('dword')
    const data = memory(2 ** 21, 0x12_7000_0000)
    expect(describeData(data, 4096, 2 ** 20)).toEqual([PSDT_SGL, 0x7000_1000, 0x12, 0x10_0000, 0])
  })

  test('uses a PRP list for segments that meet at ends of pages', () => {
    const { describeData, lists } = queue('dword')
    const data = splicedMemory(memory(64 * KIB, 0x7000_0000), [
      [32768, 8192],
      [0, 8192],
    ])
    expect(describeData(data, 0, 16384)).toEqual([0, 0x7000_8000, 0, 0x2_1000, 0])
    expect([0, 8, 16].map((byte) => lists.getUint32(4096 + byte, true))).toEqual([
      0x7000_9000, 0x7000_0000, 0x7000_1000,
    ])
  })

  test('describes segments that end inside pages by a last segment of data blocks, in the list page of the command', () => {
    const { describeData, lists } = queue('dword')
    const data = splicedMemory(memory(64 * KIB, 0x7000_0000), [
      [32768, 6144],
      [512, 1024],
      [8192, 8192],
    ])
    // SGL1: address of the segment, its length of three descriptors, type 3h (Last Segment) and sub type 0h.
    expect(describeData(data, 2048, 8192)).toEqual([PSDT_SGL, 0x2_1000, 0, 48, 0x3000_0000])
    const descriptors = Array.from({ length: 12 }, (_, index) => lists.getUint32(4096 + 4 * index, true))
    expect(descriptors).toEqual([
      ...[0x7000_8800, 0, 4096, 0],
      ...[0x7000_0200, 0, 1024, 0],
      ...[0x7000_2000, 0, 3072, 0],
    ])
  })
})

describe('rejects', () => {
  const pieces = (count: number, lengthBytes: number): readonly (readonly [number, number])[] =>
    Array.from({ length: count }, (_, index) => [2 * index * lengthBytes, lengthBytes] as const)
  const scattered = (count: number, lengthBytes: number) =>
    splicedMemory(memory(2 * count * lengthBytes, 0x7000_0000), pieces(count, lengthBytes))

  test('segments that meet inside a page, without SGL support', () => {
    const { pointer } = queue()
    expect(pointer.problem(scattered(4, 512), 0, 2048)).toContain('segments that meet at ends of 4096-byte pages')
    expect(pointer.problem(scattered(4, 512), 512, 512)).toBeUndefined()
    expect(pointer.problem(scattered(4, 4096), 512, 8192)).toBeUndefined()
  })

  test('more segments than a page of descriptors holds', () => {
    const { pointer } = queue('byte')
    expect(pointer.problem(scattered(256, 512), 0, 256 * 512)).toBeUndefined()
    expect(pointer.problem(scattered(257, 512), 0, 257 * 512)).toContain('at most 256 segments')
  })

  test('segments of incomplete dwords, if the controller requires whole ones', () => {
    expect(queue('dword').pointer.problem(scattered(4, 514), 0, 2056)).toContain('segments of whole dwords')
    expect(queue('byte').pointer.problem(scattered(4, 514), 0, 2056)).toBeUndefined()
  })
})

describe('on a controller', () => {
  let simulation: ReturnType<typeof simulate>

  async function openWith(options: ControllerOptions, simulated: SimulationOptions = {}) {
    simulation = simulate({ profile: 'sn740', namespaces: [{ media: patternMedia(2 ** 24) }], ...simulated })
    const ctrl = await Controller.open(simulation.transport, { queueDepth: 4, ...options })
    const ns = ctrl.namespace(1)
    const whole = ns.dma.alloc(256 * KIB)
    // Three quarters of the memory in 12 pieces of 16 KiB and 512 bytes, none of which ends with a page.
    const pieces = Array.from({ length: 12 }, (_, index) => [index * 20 * KIB + 512, 16 * KIB + 512] as const)
    return { ctrl, ns, whole, pieces, spliced: splicedMemory(whole, pieces) }
  }

  afterEach(() => {
    expect(simulation.diagnostics).toEqual([])
  })

  test.each([
    ['one command', 2 ** 20],
    ['several commands', 64 * KIB],
  ])('reads by SGLs into segments that end inside pages, with %s', async (_, maxTransferBytes) => {
    const { ctrl, ns, whole, pieces, spliced } = await openWith({ maxTransferBytes })
    await ns.read(0, spliced.lengthBytes / 512, spliced)
    pieces.forEach(([from, bytes], index) => {
      expect(wrongBytes(whole, index * bytes, from, bytes)).toBe(0)
    })
    await ctrl.close()
  })

  test.each([
    ['that has no SGLs', {}, { profile: deriveProfile('sn740', { identify: { SGLS: 0 } }) }],
    ['whose SGLs are not wanted', { sgl: false }, {}],
  ])('rejects such memory for a controller %s', async (_, options, simulated) => {
    const { ctrl, ns, whole, spliced } = await openWith(options, simulated)
    await expect(ns.read(0, 384, spliced)).rejects.toThrow('segments that meet at ends of 4096-byte pages')
    await ns.read(0, 512, whole)
    expect(wrongBytes(whole, 0)).toBe(0)
    await ctrl.close()
  })
})
