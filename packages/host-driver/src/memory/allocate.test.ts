import { simulate } from '@gpunvme/nvme-sim'
import type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { countedAllocator } from '../../test/counted-allocator.js'
import { Controller } from '../controller.js'
import { allocate } from './allocate.js'

/** Differences between the memory of one allocation and the request. */
type Breach = (whole: DmaMemory, lengthBytes: number) => Partial<DmaMemory>

const run = (whole: DmaMemory, from: number, offsetBytes: number, lengthBytes: number): DmaSegment => ({
  offsetBytes,
  iova: whole.iovaAt(from),
  lengthBytes,
})
const at = (segments: readonly DmaSegment[]) => ({ segments, iovaAt: (offset: number) => segments[0]!.iova + offset })

/** Begins inside a page. */
const shifted: Breach = (whole, lengthBytes) => at([run(whole, 0x800, 0, lengthBytes)])
/** Continues inside another page, 800h bytes from its start. */
const broken: Breach = (whole, lengthBytes) =>
  at([run(whole, 0, 0, 0x800), run(whole, 0x1800, 0x800, lengthBytes - 0x800)])

/** An allocator that breaks its contract in its nth allocation only. */
function breaching(dma: DmaAllocator, nth: number, breach: Breach): DmaAllocator & { allocations: number } {
  return {
    allocations: 0,
    alloc(lengthBytes: number, request?: DmaRequest) {
      if (++this.allocations !== nth) return dma.alloc(lengthBytes, request)
      const whole = dma.alloc(lengthBytes + 8192, request)
      const view = new DataView(whole.view!.buffer, 0, lengthBytes)
      return Object.assign(whole, { lengthBytes, view, ...breach(whole, lengthBytes) })
    },
  }
}

const contractError = { code: 'ERR_GPUNVME_DMA_CONTRACT' }

describe('an allocator that breaks its contract', () => {
  test.each([
    ['begins inside a page', shifted],
    ['breaks off inside a page', broken],
  ])('is rejected by open if memory %s, for every allocation, and no command uses the memory', async (_, breach) => {
    let refused = 0
    let more = true
    for (let nth = 1; more; nth++) {
      const { transport, diagnostics } = simulate({ namespaces: [{ capacityBytes: 1024 * 1024 }] })
      const counted = countedAllocator(transport.dma)
      const dma = breaching(counted, nth, breach)
      try {
        await (await Controller.open({ ...transport, dma }, { shadowDoorbells: true, queues: 2 })).close()
      } catch (error) {
        expect(error).toMatchObject(contractError)
        refused++
      }
      more = dma.allocations >= nth
      expect(diagnostics).toEqual([])
      expect(counted.bytesInUse).toBe(0)
      expect(refused).toBe(more ? nth : nth - 1)
    }
    // 2 pages of shadow doorbells; 2 rings and PRP lists for each of 4 queue pairs; data pages for 2 of these.
    expect(refused).toBe(16)
  })

  test('is rejected by a namespace if memory for transfers begins inside a page', async () => {
    const { transport } = simulate({ namespaces: [{ capacityBytes: 1024 * 1024 }] })
    const counted = countedAllocator(transport.dma)
    const ctrl = await Controller.open({ ...transport, dma: { alloc: (...args) => lend(...args) } })
    const held = counted.bytesInUse
    function lend(lengthBytes: number, request?: DmaRequest) {
      return breaching(counted, lengthBytes === 512 ? 1 : 0, shifted).alloc(lengthBytes, request)
    }
    await expect(ctrl.namespace(1).readBytes(0, 512)).rejects.toMatchObject(contractError)
    expect(counted.bytesInUse).toBe(held)
    await ctrl.close()
  })

  const segment = (offsetBytes: number, iova: number, lengthBytes: number) => ({ offsetBytes, iova, lengthBytes })
  test.each<[string, Partial<DmaMemory>, DmaRequest, string]>([
    ['is shorter', { lengthBytes: 4096 }, {}, 'expected 8192 bytes, got 4096'],
    ['has shorter segments', at([segment(0, 0x1000, 4096)]), {}, 'expected segments of 8192 bytes, got 4096'],
    ['has no segments', { segments: [] }, {}, 'expected segments of 8192 bytes, got 0'],
    [
      'has a gap',
      at([segment(0, 0x1000, 4096), segment(8192, 0x9000, 4096)]),
      {},
      'expected a segment from byte 4096 on, got 4096 bytes from byte 8192 on',
    ],
    [
      'has other addresses than its segments',
      { iovaAt: () => 0x3000 },
      {},
      'expected its first segment at 0x3000, got 0x1000',
    ],
    ['is aligned less', {}, { alignBytes: 8192 }, 'expected an address that is a multiple of 8192, got 0x1000'],
    [
      'is in two segments',
      at([segment(0, 0x1000, 4096), segment(4096, 0x9000, 4096)]),
      { contiguous: true },
      'expected one segment, got 2',
    ],
  ])('is described by the error if memory %s', (_, differences, request, expected) => {
    const state = { freed: 0 }
    const memory = {
      lengthBytes: 8192,
      ...at([segment(0, 0x1000, 8192)]),
      forDevice: () => undefined,
      forHost: () => undefined,
      free: () => {
        state.freed++
      },
    }
    const dma = { alloc: () => ({ ...memory, ...differences }) }
    expect(() => allocate(dma, 8192, request)).toThrow(expected)
    expect(state.freed).toBe(1)
    expect(allocate({ alloc: () => memory }, 8192)).toBe(memory)
  })
})
