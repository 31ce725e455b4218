import { readFileSync } from 'node:fs'
import type { MemoryRuns } from '@gpunvme/nvme-spec/engine'
import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'
import * as layout from '../../src/device/layout.js'
import { placeArrays, queueWords, writeArrays } from '../../src/device/queue-words.js'

const structures: Readonly<Record<string, layout.Structure>> = {
  gnv_runs: layout.RUNS,
  gnv_buffer: layout.BUFFER,
  gnv_slot: layout.SLOT,
  gnv_queue: layout.QUEUE,
  gnv_drive: layout.DRIVE,
  gnv_device: layout.DEVICE,
  gnv_page_set: layout.PAGE_SET,
  gnv_array: layout.ARRAY,
  gnv_destination: layout.DESTINATION,
  gnv_fetch_result: layout.FETCH_RESULT,
  gnv_fetch_progress: layout.FETCH_PROGRESS,
  gnv_fetch: layout.FETCH,
}
/** Structures of the table of experts, which layer-loader writes. */
const elsewhere = ['gnv_extent', 'gnv_expert', 'gnv_layer', 'gnv_table']
const constants = {
  GNV_LAYOUT_VERSION: layout.LAYOUT_VERSION,
  GNV_TAKEN: layout.TAKEN,
  GNV_CID_SHIFT: layout.CID_SHIFT,
  GNV_WRITABLE: layout.WRITABLE,
  GNV_RUNNING: layout.RUNNING,
  GNV_QUEUE_HALTED: layout.HALTED,
  GNV_QUEUE_LOST: layout.LOST,
  GNV_ARRAY_VERSION: layout.ARRAY_VERSION,
  GNV_PAGE_NUMBER_BITS: layout.PAGE_NUMBER_BITS,
  GNV_FETCH_VERSION: layout.FETCH_VERSION,
  GNV_FETCH_MAX_POSITIONS: layout.FETCH_MAX_POSITIONS,
}

/** The layout of TypeScript, in the lines of test/device/layout_test.cc. */
function* lines(): Generator<string> {
  for (const [name, value] of Object.entries(constants)) yield `${name} ${value}`
  for (const [name, { bytes, members }] of Object.entries(structures)) {
    yield `${name} ${bytes}`
    for (const [member, [offset, size]] of Object.entries(members)) yield `${name}.${member} ${offset} ${size}`
  }
}

/** A new queue of 8 entries and 5 slots. */
const queue = {
  ...{ qid: 1, sqEntries: 8, sqTail: 0, maxInFlight: 5, prpListBytes: 4096, pageBytes: 4096 },
  // The last identifiers have generation 0, as those that gnv_init_queue sets.
  generations: new Uint16Array(5).fill(1),
  cq: { cqid: 1, entries: 8, head: 0, phase: 1 },
} as unknown as QueuePairMemory
const runs: MemoryRuns = { iovas: BigUint64Array.of(0x1000n), shift: 63 }

describe.skipIf(!hasCompiler)(`the layout of the C headers in TypeScript${skippedWithoutCompiler}`, () => {
  let compiled: Program
  beforeAll(async () => {
    compiled = await program('device/layout')
  }, BUILD_MS)

  test('matches that of a C compiler', async () => {
    expect((await compiled.run(['layout'])).trim().split('\n')).toEqual([...lines()])
  })

  test('has every structure, and every member that is not reserved', () => {
    const headers = ['device', 'array', 'fetch'].map((name) =>
      readFileSync(new URL(`../../cuda/gpunvme_${name}.h`, import.meta.url), 'utf8'),
    )
    const all = headers.flatMap((header) => [...header.matchAll(/typedef struct (\w+) \{(.*?)\n\} \1;/gs)])
    const bodies = all.filter(([, name]) => !elsewhere.includes(name!))
    expect(bodies.map(([, name]) => name).sort()).toEqual(Object.keys(structures).sort())
    for (const [, name, body] of bodies) {
      const code = body!.replaceAll(/\/\*.*?\*\//gs, '')
      const declared = [...code.matchAll(/(\w+)(?:\[\d+\])?;/g)].map(([, member]) => member!)
      const members = new Set(Object.keys(structures[name!]!.members).map((member) => member.split('.')[0]))
      expect(declared.filter((member) => !member.startsWith('reserved'))).toEqual([...members])
    }
  })

  test('a new queue has the words that gnv_init_queue sets', async () => {
    const printed = new Map(
      (await compiled.run(['initialized']))
        .trim()
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    )
    const places = placeArrays(queue, runs, 0)
    const view = new DataView(new ArrayBuffer(places.end))
    new Uint8Array(view.buffer).fill(0xa5)
    writeArrays(view, places, queue, runs)
    const addresses = { sq: 0n, cq: 0n, prpLists: 0n, tailDoorbell: 0n, headDoorbell: 0n, arrays: 0n }
    const words = queueWords(queue, runs, places, addresses)
    const hex = (at: number, bytes: number) => Buffer.from(view.buffer, at, bytes).toString('hex')
    const found = new Map([
      ...[...printed.keys()]
        .filter((name) => name.startsWith('queue.'))
        .map((name) => [name, String(words[name.slice('queue.'.length) as keyof typeof words] ?? 0)] as const),
      ['slots', hex(places.slots, 5 * 16)],
      ['ready', hex(places.ready, 8 * 4)],
      ['freeSlots', hex(places.freeSlots, 8 * 4)],
    ])
    expect(found).toEqual(printed)
    expect(hex(places.iovas, 8)).toBe('0010000000000000')
  })
})
