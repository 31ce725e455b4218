import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { countedAllocator } from '../../test/counted-allocator.js'
import { piecewiseAllocator, recordedSession } from '../../test/recorded-session.js'
import { watchEvents } from '../../test/watch-events.js'
import { Controller } from '../controller.js'
import { HostMemoryBuffer } from './host-memory-buffer.js'

const MIB = 1024 * 1024
const SET_FEATURES = 'Set Features'

/** Entries of the descriptor list as dwords. */
function dwords({ view }: DmaMemory, count: number): number[] {
  return Array.from({ length: count }, (_, index) => view!.getUint32(4 * index, true))
}

test('lends a Host Memory Buffer to a controller that prefers one: size in pages, list, entries (Base 2.3 §5.2.26.2.4)', async () => {
  const dma = piecewiseAllocator(2 * MIB, 64 * MIB)
  const given: DmaMemory[] = []
  const remembered = {
    alloc: (...args: Parameters<typeof dma.alloc>) => {
      const memory = dma.alloc(...args)
      given.push(memory)
      return memory
    },
  }
  // HMPRE of 5 MiB, HMMIN of 1 MiB, in units of 4 KiB.
  const { session, commands } = recordedSession({ HMPRE: 1280, HMMIN: 256 }, remembered)
  await new HostMemoryBuffer(64 * MIB).apply(session)
  const [list, buffer] = given
  expect(commands).toEqual([
    {
      name: SET_FEATURES,
      values: { FID: 0x0d, CDW11: 0x1, CDW12: 1280, CDW13: list!.iovaAt(0) - 0x1_0000_0000, CDW14: 1, CDW15: 3 },
    },
  ])
  const [first, second, third] = buffer!.segments.map(({ iova }) => iova - 0x1_0000_0000)
  expect(dwords(list!, 12)).toEqual([...[first, 1, 512, 0], ...[second, 1, 512, 0], ...[third, 1, 256, 0]])
})

test('returns the same memory after a reset (MR), and takes it back before a shutdown', async () => {
  const dma = piecewiseAllocator(2 * MIB, 64 * MIB)
  const { session, commands } = recordedSession({ HMPRE: 512 }, dma)
  const step = new HostMemoryBuffer(64 * MIB)
  await step.apply(session)
  await step.apply(session)
  await step.undo(session)
  await step.undo(session)
  const [first, second, third, ...more] = commands.map(({ values }) => values)
  expect(second).toEqual({ ...first, CDW11: 0x3 })
  expect(third).toEqual({ FID: 0x0d, CDW11: 0x0 })
  expect(more).toEqual([])
})

test.each([
  ['no more than the configured limit', { HMPRE: 1024 }, 2 * MIB, 512, 1],
  ['at most HMMAXD descriptors, the longest runs', { HMPRE: 1280, HMMAXD: 2 }, 64 * MIB, 1024, 2],
  ['no runs shorter than HMMINDS', { HMPRE: 1280, HMMINDS: 512 }, 64 * MIB, 1024, 2],
])('lends %s', async (_, identify, maxBytes, pages, entries) => {
  const { session, commands } = recordedSession(identify, piecewiseAllocator(2 * MIB, 64 * MIB))
  await new HostMemoryBuffer(maxBytes).apply(session)
  expect(commands[0]!.values).toMatchObject({ CDW12: pages, CDW15: entries })
})

test('lends half of the preferred size if memory is short, and so on down to HMMIN', async () => {
  const { session, commands, events } = recordedSession({ HMPRE: 4096, HMMIN: 512 }, piecewiseAllocator(MIB, 5 * MIB))
  await new HostMemoryBuffer(64 * MIB).apply(session)
  expect(commands[0]!.values).toMatchObject({ CDW12: 1024, CDW15: 4 })
  expect(events).toEqual([])
})

test('lends nothing if HMMIN is not available, and reports it once', async () => {
  const dma = piecewiseAllocator(MIB, 5 * MIB)
  const { session, commands, events } = recordedSession({ HMPRE: 4096, HMMIN: 2048 }, dma)
  const step = new HostMemoryBuffer(64 * MIB)
  await step.apply(session)
  await step.apply(session)
  expect(commands).toEqual([])
  expect(events).toMatchObject([{ kind: 'notice' }])
  expect((events[0] as { text: string }).text).toContain(
    'no Host Memory Buffer: the controller needs at least 8388608 bytes, but no memory left',
  )
  expect(dma.inUse).toBe(0)
})

test.each([
  ['does not ask', {}, 64 * MIB],
  ['asks where none is to be lent', { HMPRE: 1280 }, 0],
])('sends nothing to a controller that %s', async (_, identify, maxBytes) => {
  const { session, commands, events } = recordedSession(identify, piecewiseAllocator(MIB, 64 * MIB))
  await new HostMemoryBuffer(maxBytes).apply(session)
  expect([commands, events]).toEqual([[], []])
})

test('works without a buffer that the controller refuses, and frees its memory', async () => {
  const events = watchEvents()
  const profile = deriveProfile('sn740', { identify: { HMPRE: 512, HMMIN: 256 } })
  const simulation = simulate({ profile })
  const dma = countedAllocator(simulation.transport.dma)
  const ctrl = await Controller.open({ ...simulation.transport, dma })
  expect(events).toMatchObject([{ kind: 'refused', feature: 'Host Memory Buffer' }])
  await ctrl.namespace(1).readBytes(0, 512)
  await ctrl.close()
  expect(dma.bytesInUse).toBe(0)
  expect(simulation.diagnostics).toEqual([])
})
