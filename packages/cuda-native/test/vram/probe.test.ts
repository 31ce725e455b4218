import type { DmaMemory, DmaSegment, FaultAction } from '@gpunvme/nvme-spec/transport'
import { describe, expect, it, test } from 'vitest'
import { probeReads, probeWrites, withVram, type ProbeVerdict } from '../../src/vram/index.js'
import { lateGpu, lying, mediaOf, noise, setUp, shifted } from './probe-setup.js'

const MIB = 1024 * 1024
const PAGE = 2 * MIB

/** The reason of a refusal; 'accepted' where there was none. */
const reasonOf = (verdict: ProbeVerdict) => (verdict.isAccepted ? 'accepted' : verdict.reason)
const messageOf = (verdict: ProbeVerdict) => (verdict.isAccepted ? '' : verdict.message)

/** What content is looked for with, at 8 pages each: 64 pages, where every page will do. */
const HOST_READS = 8
/** A fault of the n-th read into GPU memory. */
const striking = (nth: number, action: FaultAction) => ({
  rules: [{ match: { opcode: 2, nth: HOST_READS + nth }, action }],
})

describe('memory that the controller really reaches', () => {
  it('is accepted: one page, both ends, across each border, and every page', async () => {
    const { options, damaged, gpu, simulation } = await setUp()
    const verdict = await probeWrites(options())
    expect(verdict).toEqual({
      isAccepted: true,
      facts: [
        'one page in the middle: 1 command, every byte correct',
        'the last page: 1 command, every byte correct',
        'the first page: 1 command, every byte correct',
        'across byte 0x200000: 1 command, every byte correct',
        'across byte 0x400000: 1 command, every byte correct',
        expect.stringMatching(/^every page: \d+ commands, every byte correct$/),
      ],
    })
    expect(damaged()).toBe(0)
    expect(gpu.pages.size).toBe(0)
    expect(simulation.diagnostics).toEqual([])
  })

  it('with blocks of 4096 bytes too, with another seed, and with more of it', async () => {
    const { options } = await setUp({ blockBytes: 4096 })
    for (const more of [{ seed: 2 }, { seed: -7 }, { lengthBytes: 4 * PAGE }])
      expect(reasonOf(await probeWrites(options(undefined, more)))).toBe('accepted')
  })

  it('less than two pages of the GPU has no border to look at, and is no probe', async () => {
    const { options } = await setUp()
    await expect(probeWrites(options(undefined, { lengthBytes: PAGE }))).rejects.toThrow(RangeError)
    await expect(probeWrites(options(undefined, { lengthBytes: 3 * PAGE + 4096 }))).rejects.toThrow(RangeError)
  })
})

describe('wrong addresses', () => {
  const assumeContiguous = ([first]: readonly DmaSegment[]) => [{ ...first!, lengthBytes: 3 * PAGE }]
  /** One 2 MiB page is where another is. */
  const exchange = (one: number, other: number) => (segments: readonly DmaSegment[]) =>
    segments.map((segment, index) => ({
      ...segment,
      iova: segments[index === one ? other : index === other ? one : index]!.iova,
    }))

  it('off by one page: found by the first page that is written, which hits memory of the probe’s own', async () => {
    const { options, damaged, provider } = await setUp()
    const verdict = await probeWrites(options(shifted(provider, 4096)))
    expect(reasonOf(verdict)).toBe('wrong-place')
    expect(messageOf(verdict)).toMatch(/^one page in the middle: /)
    expect(damaged()).toBe(0)
  })

  test.each([
    ['the window’s offset left out', -4 * MIB],
    ['an offset of another machine', 2 * MIB],
    ['the other way', -2 * MIB],
  ])('%s: found by the first page, which is all that anybody else may have lost', async (_, byBytes) => {
    const { options, damaged, provider } = await setUp()
    const verdict = await probeWrites(options(shifted(provider, byBytes)))
    expect(verdict.isAccepted).toBe(false)
    expect(messageOf(verdict)).toMatch(/^one page in the middle: /)
    expect(damaged()).toBeLessThanOrEqual(4096)
  })

  it('memory taken to be contiguous', async () => {
    const { options, damaged, provider } = await setUp()
    const verdict = await probeWrites(options(lying(provider, assumeContiguous)))
    expect(verdict.isAccepted).toBe(false)
    expect(damaged()).toBeLessThanOrEqual(4096)
  })

  it('one page in the place of another: found at the end that it has, not in the middle', async () => {
    const { options, provider } = await setUp()
    const verdict = await probeWrites(options(lying(provider, exchange(0, 2))))
    expect(reasonOf(verdict)).toBe('wrong-place')
    expect(messageOf(verdict)).toMatch(/^the last page: /)
  })

  it('a wrong page that is at no end, of many: found where all are looked at, at the latest', async () => {
    const { options, provider } = await setUp()
    const verdict = await probeWrites(options(lying(provider, exchange(1, 4)), { lengthBytes: 6 * PAGE }))
    expect(reasonOf(verdict)).toBe('wrong-place')
    expect(messageOf(verdict)).toMatch(/^across byte 0x200000: /)
  })

  test.each([
    ['the last page', 6 * MIB - 4096],
    ['the first page', 0],
    ['every page', 3 * MIB + 5 * 4096],
  ])('a single 4 KiB page that lies elsewhere: %s', async (step, at) => {
    const { options, provider, gpu } = await setUp()
    // In the BAR before the window, which no memory of the GPU is behind.
    const elsewhere = gpu.backing.iova
    const lie = (segments: readonly DmaSegment[]) =>
      segments.flatMap((segment) => {
        const { offsetBytes, iova, lengthBytes } = segment
        const before = at - offsetBytes
        if (before < 0 || before >= lengthBytes) return [segment]
        return [
          { offsetBytes, iova, lengthBytes: before },
          { offsetBytes: at, iova: elsewhere, lengthBytes: 4096 },
          { offsetBytes: at + 4096, iova: iova + before + 4096, lengthBytes: lengthBytes - before - 4096 },
        ].filter((part) => part.lengthBytes > 0)
      })
    const { host } = options()
    // Memory of the right place that withVram has made, with a lie in it: no allocator would cut it there.
    const vram = {
      alloc(lengthBytes: number) {
        const memory = withVram(host, provider, gpu).alloc(lengthBytes, { where: 'gpu' })
        const segments = lie(memory.segments)
        const { gpuPointer } = memory
        return {
          ...{ lengthBytes, gpuPointer: gpuPointer!, segments: memory.segments },
          iovaAt(offsetBytes: number) {
            const found = segments.findLast((segment) => segment.offsetBytes <= offsetBytes)!
            return found.iova + offsetBytes - found.offsetBytes
          },
          forDevice: () => undefined,
          forHost: () => undefined,
          free: () => memory.free(),
        }
      },
    }
    const verdict = await probeWrites(options(provider, { vram }))
    expect(messageOf(verdict).split(':')[0]).toBe(step)
    expect(['nothing-arrived', 'partly-arrived']).toContain(reasonOf(verdict))
  })

  it('outside of all memory: the command fails, and its memory is kept until the controller is known to be done', async () => {
    const { options, provider, gpu } = await setUp()
    const verdict = await probeWrites(options(shifted(provider, 2 ** 33)))
    expect(reasonOf(verdict)).toBe('command-failed')
    expect(gpu.freed).toEqual([])
    if (verdict.isAccepted) return
    verdict.kept!.free()
    expect(gpu.pages.size).toBe(0)
  })
})

describe('a controller that says success', () => {
  test.each<[string, string, number, FaultAction, string]>([
    ['nothing moved', 'nothing-arrived', 1, { kind: 'torn-dma', fromByte: 0 }, 'one page in the middle'],
    ['half moved', 'partly-arrived', 1, { kind: 'torn-dma', fromByte: 2048 }, 'one page in the middle'],
    ['the last byte missing', 'partly-arrived', 3, { kind: 'torn-dma', fromByte: 4095 }, 'the first page'],
    ['a byte changed', 'wrong-content', 2, { kind: 'corrupt-data', byte: 777, xor: 4 }, 'the last page'],
    [
      'a page where its neighbour belongs',
      'partly-arrived',
      1,
      { kind: 'wrong-page', page: 1, to: 0 },
      'across byte 0x200000',
    ],
    ['one page of many missing', 'partly-arrived', 17, { kind: 'torn-dma', fromByte: 0, toByte: 4096 }, 'every page'],
  ])('with %s is found out: %s', async (_, reason, nth, action, step) => {
    const { options, simulation, gpu } = await setUp({ faults: striking(nth, action) })
    const verdict = await probeWrites(options())
    expect([reasonOf(verdict), messageOf(verdict).split(':')[0]]).toEqual([reason, step])
    expect(simulation.faults.struck).toHaveLength(1)
    expect(gpu.pages.size).toBe(0)
  })

  it('is not asked again where a command fails', async () => {
    const fault = { kind: 'status', sct: 2, sc: 0x81, dnr: true } as const
    const { options, gpu } = await setUp({ faults: striking(2, fault) })
    const verdict = await probeWrites(options())
    expect(reasonOf(verdict)).toBe('command-failed')
    expect(messageOf(verdict)).toMatch(/^the last page: /)
    expect(gpu.freed).toEqual([])
  })
})

describe('what the GPU sees', () => {
  it('data that are not there when their completion is: refused without a flush, accepted with it', async () => {
    const { options, gpu, provider } = await setUp()
    const late = lateGpu(gpu)
    expect(reasonOf(await probeWrites(options(provider, { gpu: late })))).toBe('nothing-arrived')
    const { host } = options()
    const vram = withVram(host, provider, gpu, { flush: () => late.flush() })
    expect(reasonOf(await probeWrites(options(provider, { gpu: late, vram })))).toBe('accepted')
  })

  it('the probe itself flushes: not everybody who reads blocks does', async () => {
    const { options, gpu, provider } = await setUp()
    const late = lateGpu(gpu)
    const { host, namespace } = options()
    const { blocks, blockBytes } = namespace
    const plain = (memory: DmaMemory): DmaMemory =>
      Object.create(memory, { forHost: { value: () => undefined } }) as DmaMemory
    const read: typeof namespace.read = (slba, count, memory, more) =>
      namespace.read(slba, count, memory.view ? memory : plain(memory), more)
    const vram = withVram(host, provider, gpu, { flush: () => late.flush() })
    const given = options(provider, { gpu: late, vram, namespace: { blocks, blockBytes, read } })
    expect(reasonOf(await probeWrites(given))).toBe('accepted')
  })

  it('stale data: the memory as it was a step ago', async () => {
    const { options, gpu } = await setUp()
    let reads = 0
    let last: Uint8Array | undefined
    const stale = {
      write: (pointer: bigint, bytes: Uint8Array) => gpu.write(pointer, bytes),
      read(pointer: bigint, lengthBytes: number) {
        const now = gpu.read(pointer, lengthBytes)
        reads += 1
        // Every second look is one after commands; from the second step on it is the one before.
        if (reads % 2 === 1) return now
        const shown = last ?? now
        last = now
        return shown
      },
    }
    const verdict = await probeWrites(options(undefined, { gpu: stale }))
    expect(reasonOf(verdict)).toBe('stale')
    expect(messageOf(verdict)).toMatch(/^the last page: /)
  })

  it('memory that does not hold what its own driver wrote is not probed at all', async () => {
    const { options, gpu, simulation } = await setUp()
    const broken = { write: () => undefined, read: (pointer: bigint, bytes: number) => gpu.read(pointer, bytes) }
    expect(reasonOf(await probeWrites(options(undefined, { gpu: broken })))).toBe('gpu-access')
    expect(simulation.statistics.ioCommands).toEqual({ 2: HOST_READS })
    expect(gpu.pages.size).toBe(0)
  })

  it('a copy of the driver that fails is thrown on, and the memory given back', async () => {
    const { options, gpu } = await setUp()
    const failing = { ...lateGpu(gpu), read: () => Promise.reject(new Error('CUDA_ERROR_ILLEGAL_ADDRESS')) }
    await expect(probeWrites(options(undefined, { gpu: failing }))).rejects.toThrow('CUDA_ERROR_ILLEGAL_ADDRESS')
    expect(gpu.pages.size).toBe(0)
  })
})

describe('content that proves nothing', () => {
  test.each<[string, (position: number) => number]>([
    ['an empty drive', () => 0],
    ['erased blocks', () => 0xff],
    ['what host memory is filled with', () => 0xa5],
    ['one page over and over', (position) => noise(position % 4096)],
    ['one block over and over', (position) => noise(position % 512)],
    ['three pages', (position) => (position < 3 * 4096 ? noise(position) : 0)],
    ['pages with a block of zeroes each', (position) => (position % 4096 < 512 ? 0 : noise(position))],
  ])('is inconclusive, which is a refusal: %s', async (_, byteAt) => {
    const { options, gpu } = await setUp({ media: mediaOf(byteAt) })
    const verdict = await probeWrites(options())
    expect(reasonOf(verdict)).toBe('inconclusive')
    expect(gpu.freed).toEqual([])
    expect(gpu.pages.size).toBe(0)
  })

  it('is left out where there is other: blocks that will do are looked for', async () => {
    // The first 48 MiB are empty.
    const byteAt = (position: number) => (position < 48 * MIB ? 0 : noise(position))
    const { options } = await setUp({ media: mediaOf(byteAt) })
    expect(reasonOf(await probeWrites(options()))).toBe('accepted')
  })

  it('a controller that says that it moves no data is believed', async () => {
    const { options } = await setUp()
    const { namespace } = options()
    const still = {
      blockBytes: 512,
      blocks: namespace.blocks,
      movesData: false,
      read: () => Promise.resolve(),
    } as const
    expect(reasonOf(await probeWrites(options(undefined, { namespace: still })))).toBe('moves-no-data')
  })

  it('a namespace that cannot be read is refused before GPU memory is taken', async () => {
    const faults = {
      rules: [{ match: { opcode: 2 }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } as const }],
    }
    const { options, gpu } = await setUp({ faults })
    const verdict = await probeWrites(options())
    expect(reasonOf(verdict)).toBe('command-failed')
    expect(gpu.pages.size).toBe(0)
  })
})

describe('reading GPU memory, by Compare', () => {
  it('is accepted where the controller tells equal from different at both ends and in the middle', async () => {
    const { options, simulation, gpu } = await setUp()
    expect(await probeReads(options())).toEqual({
      isAccepted: true,
      facts: [
        'byte 3149824: equal and different bytes distinguished',
        'byte 0: equal and different bytes distinguished',
        'byte 6287360: equal and different bytes distinguished',
      ],
    })
    expect(gpu.pages.size).toBe(0)
    expect(simulation.diagnostics).toEqual([])
  })

  it('is refused where it reads from the wrong place', async () => {
    const { options, provider } = await setUp()
    expect(reasonOf(await probeReads(options(shifted(provider, 4096))))).toBe('wrong-data-read')
  })

  test.each([true, false])('is refused where it says the same of everything: %s', async (answer) => {
    const { options } = await setUp()
    const { namespace } = options()
    const { blocks, blockBytes } = namespace
    const read: typeof namespace.read = (...given) => namespace.read(...given)
    const parrot = { blocks, blockBytes, read, compare: () => Promise.resolve(answer) }
    expect(reasonOf(await probeReads(options(undefined, { namespace: parrot })))).toBe('wrong-data-read')
  })

  it('is refused where there is no Compare, and where one fails, whose memory is kept', async () => {
    const { options, gpu } = await setUp()
    const { namespace } = options()
    const { blocks, blockBytes } = namespace
    const read: typeof namespace.read = (...given) => namespace.read(...given)
    expect(reasonOf(await probeReads(options(undefined, { namespace: { blocks, blockBytes, read } })))).toBe(
      'no-compare',
    )
    const failing = { blocks, blockBytes, read, compare: () => Promise.reject(new Error('timed out')) }
    const verdict = await probeReads(options(undefined, { namespace: failing }))
    expect(verdict).toMatchObject({ isAccepted: false, reason: 'command-failed', facts: ['timed out'] })
    expect(gpu.freed).toEqual([])
  })
})
