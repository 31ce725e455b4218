import type { DmaMemory, DmaSegment, FaultAction } from '@gpunvme/nvme-spec/transport'
import { describe, expect, it, test } from 'vitest'
import { probeReads, probeWrites, withVram, type ProbeVerdict } from '../../src/vram/index.js'
import { lateGpu, lying, mediaOf, noise, setUp, shifted } from './probe-setup.js'

const MIB = 1024 * 1024
const PAGE = 2 * MIB

/** Returns the reason of a rejection, or 'accepted'. */
const reasonOf = (verdict: ProbeVerdict) => (verdict.isAccepted ? 'accepted' : verdict.reason)
const messageOf = (verdict: ProbeVerdict) => (verdict.isAccepted ? '' : verdict.message)

/** Number of reads of 8 pages into host memory that search for content: 64 pages, if all of them are suitable. */
const HOST_READS = 8
/** Returns a fault plan for the n-th read into GPU memory. */
const withFault = (nth: number, action: FaultAction) => ({
  rules: [{ match: { opcode: 2, nth: HOST_READS + nth }, action }],
})

describe('memory that the controller reaches', () => {
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

  it('is accepted with 4096-byte blocks, other seeds, and more memory', async () => {
    const { options } = await setUp({ blockBytes: 4096 })
    for (const more of [{ seed: 2 }, { seed: -7 }, { lengthBytes: 4 * PAGE }])
      expect(reasonOf(await probeWrites(options(undefined, more)))).toBe('accepted')
  })

  it('fewer than two GPU pages are rejected, since they have no border to probe', async () => {
    const { options } = await setUp()
    await expect(probeWrites(options(undefined, { lengthBytes: PAGE }))).rejects.toThrow(RangeError)
    await expect(probeWrites(options(undefined, { lengthBytes: 3 * PAGE + 4096 }))).rejects.toThrow(RangeError)
  })
})

describe('wrong addresses', () => {
  const assumeContiguous = ([first]: readonly DmaSegment[]) => [{ ...first!, lengthBytes: 3 * PAGE }]
  /** Exchanges the addresses of two 2 MiB pages. */
  const exchange = (one: number, other: number) => (segments: readonly DmaSegment[]) =>
    segments.map((segment, index) => ({
      ...segment,
      iova: segments[index === one ? other : index === other ? one : index]!.iova,
    }))

  it('off by one page: detected by the first page written, which hits only memory of the probe', async () => {
    const { options, damaged, provider } = await setUp()
    const verdict = await probeWrites(options(shifted(provider, 4096)))
    expect(reasonOf(verdict)).toBe('wrong-place')
    expect(messageOf(verdict)).toMatch(/^one page in the middle: /)
    expect(damaged()).toBe(0)
  })

  test.each([
    ['without the window’s offset', -4 * MIB],
    ['with another machine’s offset', 2 * MIB],
    ['off in the other direction', -2 * MIB],
  ])('%s: detected by the first page, with at most that page of other memory overwritten', async (_, byBytes) => {
    const { options, damaged, provider } = await setUp()
    const verdict = await probeWrites(options(shifted(provider, byBytes)))
    expect(verdict.isAccepted).toBe(false)
    expect(messageOf(verdict)).toMatch(/^one page in the middle: /)
    expect(damaged()).toBeLessThanOrEqual(4096)
  })

  it('memory assumed to be contiguous is detected', async () => {
    const { options, damaged, provider } = await setUp()
    const verdict = await probeWrites(options(lying(provider, assumeContiguous)))
    expect(verdict.isAccepted).toBe(false)
    expect(damaged()).toBeLessThanOrEqual(4096)
  })

  it('a page exchanged with the last one: detected at the end, not in the middle', async () => {
    const { options, provider } = await setUp()
    const verdict = await probeWrites(options(lying(provider, exchange(0, 2))))
    expect(reasonOf(verdict)).toBe('wrong-place')
    expect(messageOf(verdict)).toMatch(/^the last page: /)
  })

  it('an inner page that is wrong: detected at a page border', async () => {
    const { options, provider } = await setUp()
    const verdict = await probeWrites(options(lying(provider, exchange(1, 4)), { lengthBytes: 6 * PAGE }))
    expect(reasonOf(verdict)).toBe('wrong-place')
    expect(messageOf(verdict)).toMatch(/^across byte 0x200000: /)
  })

  test.each([
    ['the last page', 6 * MIB - 4096],
    ['the first page', 0],
    ['every page', 3 * MIB + 5 * 4096],
  ])('a single misplaced 4 KiB page is detected: %s', async (step, at) => {
    const { options, provider, gpu } = await setUp()
    // In the BAR before the window, where the GPU has no memory.
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
    // Correct memory of withVram with one wrong address. An allocator would not split the memory there.
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

  it('outside of all memory: the command fails, and its memory is kept for the controller', async () => {
    const { options, provider, gpu } = await setUp()
    const verdict = await probeWrites(options(shifted(provider, 2 ** 33)))
    expect(reasonOf(verdict)).toBe('command-failed')
    expect(gpu.freed).toEqual([])
    if (verdict.isAccepted) return
    verdict.quarantined!.free()
    expect(gpu.pages.size).toBe(0)
  })
})

describe('a controller that reports success', () => {
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
  ])('with %s is detected: %s', async (_, reason, nth, action, step) => {
    const { options, simulation, gpu } = await setUp({ faults: withFault(nth, action) })
    const verdict = await probeWrites(options())
    expect([reasonOf(verdict), messageOf(verdict).split(':')[0]]).toEqual([reason, step])
    expect(simulation.faults.hits).toHaveLength(1)
    expect(gpu.pages.size).toBe(0)
  })

  it('gets no further command after one fails', async () => {
    const fault = { kind: 'status', sct: 2, sc: 0x81, dnr: true } as const
    const { options, gpu } = await setUp({ faults: withFault(2, fault) })
    const verdict = await probeWrites(options())
    expect(reasonOf(verdict)).toBe('command-failed')
    expect(messageOf(verdict)).toMatch(/^the last page: /)
    expect(gpu.freed).toEqual([])
  })
})

describe('what the GPU sees', () => {
  it('data that arrive after their completion: rejected without a flush, accepted with one', async () => {
    const { options, gpu, provider } = await setUp()
    const late = lateGpu(gpu)
    expect(reasonOf(await probeWrites(options(provider, { gpu: late })))).toBe('nothing-arrived')
    const { host } = options()
    const vram = withVram(host, provider, gpu, { flush: () => late.flush() })
    expect(reasonOf(await probeWrites(options(provider, { gpu: late, vram })))).toBe('accepted')
  })

  it('the probe flushes even if the namespace’s reads do not', async () => {
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

  it('stale data: the content of the previous step', async () => {
    const { options, gpu } = await setUp()
    let reads = 0
    let last: Uint8Array | undefined
    const stale = {
      write: (pointer: bigint, bytes: Uint8Array) => gpu.write(pointer, bytes),
      read(pointer: bigint, lengthBytes: number) {
        const now = gpu.read(pointer, lengthBytes)
        reads += 1
        // Every second read follows commands. From the second step on, it returns the content of the previous step.
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

  it('memory that does not hold the data that the GPU driver wrote is not probed', async () => {
    const { options, gpu, simulation } = await setUp()
    const broken = { write: () => undefined, read: (pointer: bigint, bytes: number) => gpu.read(pointer, bytes) }
    expect(reasonOf(await probeWrites(options(undefined, { gpu: broken })))).toBe('gpu-access')
    expect(simulation.statistics.ioCommands).toEqual({ 2: HOST_READS })
    expect(gpu.pages.size).toBe(0)
  })

  it('an error of the GPU driver is rethrown, and the memory is freed', async () => {
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
  ])('is rejected as inconclusive: %s', async (_, byteAt) => {
    const { options, gpu } = await setUp({ media: mediaOf(byteAt) })
    const verdict = await probeWrites(options())
    expect(reasonOf(verdict)).toBe('inconclusive')
    expect(gpu.freed).toEqual([])
    expect(gpu.pages.size).toBe(0)
  })

  it('is skipped: the probe searches for suitable blocks', async () => {
    // The first 48 MiB are empty.
    const byteAt = (position: number) => (position < 48 * MIB ? 0 : noise(position))
    const { options } = await setUp({ media: mediaOf(byteAt) })
    expect(reasonOf(await probeWrites(options()))).toBe('accepted')
  })

  it('a controller that reports that it moves no data is rejected', async () => {
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

  it('a namespace that cannot be read is rejected before GPU memory is allocated', async () => {
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
  it('is accepted if the controller tells equal from different data at both ends and in the middle', async () => {
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

  it('is rejected if the controller reads from the wrong place', async () => {
    const { options, provider } = await setUp()
    expect(reasonOf(await probeReads(options(shifted(provider, 4096))))).toBe('wrong-data-read')
  })

  test.each([true, false])('is rejected if every Compare has the same result: %s', async (answer) => {
    const { options } = await setUp()
    const { namespace } = options()
    const { blocks, blockBytes } = namespace
    const read: typeof namespace.read = (...given) => namespace.read(...given)
    const parrot = { blocks, blockBytes, read, compare: () => Promise.resolve(answer) }
    expect(reasonOf(await probeReads(options(undefined, { namespace: parrot })))).toBe('wrong-data-read')
  })

  it('is rejected without Compare, and if a Compare fails, whose memory is kept', async () => {
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
