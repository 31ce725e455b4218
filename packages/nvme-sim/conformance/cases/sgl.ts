import {
  blockCommand,
  blockPattern,
  filledWith,
  firstSpace,
  get,
  movesExactly,
  put,
  sameBytes,
  type Place,
} from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { equal, notApplicable, status, success } from '../check.js'
import type { Entry } from '../raw-host/entry.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks } from '../io.js'
import type { CaseMemory } from '../memory.js'

/** SGL Identifier bytes: descriptor type in bits 7:4, sub type in 3:0 (Base 2.3 Figures 115 to 117). */
const DATA = 0x00
const BIT_BUCKET = 0x10
const SEGMENT = 0x20
const LAST_SEGMENT = 0x30

/** CDW0.PSDT = 01b */
const SGL_USED = 0x4000

interface Descriptor {
  readonly address: number
  readonly lengthBytes: number
  readonly id: number
}

const needsSgl = (facts: ControllerFacts) =>
  (facts.sgls & 3) === 0 ? 'SGLS bits 1:0 are 00b: no SGLs' : needsBlocks(facts)

/** SGL1, the descriptor in the command itself. */
function sgl1({ address, lengthBytes, id }: Descriptor): Pick<Entry, 'cdw'> {
  return {
    cdw: { 0: SGL_USED, 6: address % 2 ** 32, 7: Math.floor(address / 2 ** 32), 8: lengthBytes, 9: id << 24 },
  }
}

/** Writes a segment to new memory, and returns the descriptor that points to it. */
function segment(host: CaseHost, id: number, descriptors: readonly Descriptor[]): Descriptor {
  const memory = host.alloc(descriptors.length * 16, { fill: 0 })
  descriptors.forEach((each, index) => {
    memory.set64(16 * index, each.address)
    memory.set32(16 * index + 8, each.lengthBytes)
    memory.set32(16 * index + 12, each.id << 24)
  })
  return { address: memory.iova(), lengthBytes: descriptors.length * 16, id }
}

const data = (memory: CaseMemory, at: number, lengthBytes: number): Descriptor => ({
  address: memory.iova(at),
  lengthBytes,
  id: DATA,
})

/** Places data in one Data Block at `offset` in its memory. */
function dataBlock(offset: number): Place {
  return (host, lengthBytes) => {
    const memory = host.alloc(offset + lengthBytes + 64)
    return { memory, pieces: [[offset, lengthBytes]], pointer: sgl1(data(memory, offset, lengthBytes)) }
  }
}

/** Places data in separate, unordered pieces of unequal lengths; `chain` links their descriptors. */
function pieces(unit: number, chain: (host: CaseHost, descriptors: Descriptor[]) => Descriptor): Place {
  return (host, lengthBytes) => {
    const cuts = [0, 16 * unit, 17 * unit, 17 * unit, 100 * unit].filter((at) => at < lengthBytes)
    const parts = cuts.map((at, index) => [at, (cuts[index + 1] ?? lengthBytes) - at] as const)
    const memory = host.alloc(2 * lengthBytes + 4096)
    // Each part is twice as far from the end as its offset in the data, so that parts are not adjacent.
    const placed = parts.map(([at, length]) => [memory.lengthBytes - 64 - 2 * at - length, length] as const)
    const descriptors = placed.map(([at, length]) => data(memory, at - (at % unit), length))
    return {
      memory,
      pieces: placed.map(([at, length]) => [at - (at % unit), length]),
      pointer: sgl1(chain(host, descriptors)),
    }
  }
}

const inOneSegment = (host: CaseHost, all: Descriptor[]) => segment(host, LAST_SEGMENT, all)

const inThreeSegments = (host: CaseHost, all: Descriptor[]) => {
  const last = segment(host, LAST_SEGMENT, all.slice(2))
  return segment(host, SEGMENT, [all[0]!, segment(host, SEGMENT, [all[1]!, last])])
}

/** Submits a Read of `blocks` blocks with an invalid SGL, which must not change memory. */
async function readBy(host: CaseHost, sgl: Descriptor, blocks: number, ...allowed: string[]): Promise<void> {
  const entry = blockCommand(0x02, 1, 0, blocks)
  status(await host.command(1, { ...entry, cdw: { ...entry.cdw, ...sgl1(sgl).cdw } }), ...allowed)
}

interface Moved {
  readonly id: string
  readonly what: string
  readonly needs?: (facts: ControllerFacts) => string | undefined
  readonly place: Place
}

const needsBytes = ({ sgls }: ControllerFacts) =>
  (sgls & 3) === 1 ? undefined : 'SGLS bits 1:0 are 10b: dword alignment and granularity'

const moved: readonly Moved[] = [
  { id: 'sgl-data-block', what: 'one Data Block descriptor across pages, dword aligned', place: dataBlock(3084) },
  {
    id: 'sgl-data-block-of-bytes',
    what: 'one Data Block descriptor at any byte',
    needs: needsBytes,
    place: dataBlock(4093),
  },
  {
    id: 'sgl-last-segment',
    what: 'several Data Blocks, one of length 0, in a last segment',
    place: pieces(4, inOneSegment),
  },
  {
    id: 'sgl-segments',
    what: 'Data Blocks in a segment, another and a last segment',
    place: pieces(4, inThreeSegments),
  },
  {
    id: 'sgl-segments-of-bytes',
    what: 'Data Blocks of odd lengths and addresses in segments',
    needs: needsBytes,
    place: pieces(1, inThreeSegments),
  },
]

interface Wrong {
  readonly id: string
  readonly title: string
  readonly allowed: readonly string[]
  readonly sgl: (host: CaseHost, memory: CaseMemory) => Descriptor
}

const half = (memory: CaseMemory, which: number) =>
  data(memory, (which * memory.lengthBytes) / 2, memory.lengthBytes / 2)

const wrong: readonly Wrong[] = [
  {
    id: 'sgl-segment-in-the-middle',
    title:
      'A segment with a Segment descriptor that is not its last is rejected with Invalid Number of SGL Descriptors',
    allowed: ['0/0e'],
    sgl: (host, memory) =>
      segment(host, SEGMENT, [half(memory, 0), segment(host, LAST_SEGMENT, [half(memory, 1)]), half(memory, 1)]),
  },
  {
    id: 'sgl-last-segment-not-last',
    title: 'A last segment that ends in a Last Segment descriptor is rejected with Invalid SGL Segment Descriptor',
    allowed: ['0/0d'],
    sgl: (host, memory) =>
      segment(host, LAST_SEGMENT, [half(memory, 0), segment(host, LAST_SEGMENT, [half(memory, 1)])]),
  },
  {
    id: 'sgl-segment-length',
    title:
      'A Last Segment descriptor whose length is not a multiple of 16 is rejected with Invalid SGL Segment Descriptor',
    allowed: ['0/0d'],
    sgl: (host, memory) => ({ ...segment(host, LAST_SEGMENT, [half(memory, 0), half(memory, 1)]), lengthBytes: 24 }),
  },
  {
    id: 'sgl-type-reserved',
    title: 'A descriptor of a reserved type is rejected with SGL Descriptor Type Invalid',
    allowed: ['0/11'],
    sgl: (_, memory) => ({ ...data(memory, 0, memory.lengthBytes), id: 0x60 }),
  },
  {
    id: 'sgl-sub-type-reserved',
    title: 'A Data Block descriptor of a reserved sub type is rejected with SGL Descriptor Type Invalid',
    allowed: ['0/11'],
    sgl: (_, memory) => ({ ...data(memory, 0, memory.lengthBytes), id: 0x05 }),
  },
  {
    id: 'sgl-too-short',
    title: 'An SGL that is shorter than the transfer is rejected with Data SGL Length Invalid',
    allowed: ['0/0f'],
    sgl: (host, memory) => segment(host, LAST_SEGMENT, [half(memory, 0)]),
  },
]

/** Base 2.3 §4.3.2. */
export const sglCases: readonly ControllerCase[] = [
  ...moved.map(({ id, what, needs, place }): ControllerCase => ({
    id,
    title: `Write and Read transfer ${what}: exactly those blocks, and exactly those bytes of memory`,
    spec: 'Base 2.3 §4.3.2, Figures 115 to 121',
    needs: (facts) => needsSgl(facts) ?? needs?.(facts),
    async run(host) {
      await host.startWithPair()
      await movesExactly(host, place, Math.max(2, 6144 / host.facts.blockBytes))
    },
  })),
  ...wrong.map(({ id, title, allowed, sgl }): ControllerCase => ({
    id,
    title,
    spec: 'Base 2.3 §4.3.2, Figure 113; §4.2.3.1',
    needs: needsSgl,
    async run(host) {
      await host.startWithPair()
      const memory = host.alloc(4 * host.facts.blockBytes)
      await readBy(host, sgl(host, memory), 4, ...allowed)
      // The controller still works.
      await movesExactly(host, dataBlock(0), 1)
    },
  })),
  {
    id: 'sgl-not-dword-aligned',
    title: 'If dword alignment is required, an unaligned address is rejected or used as if its bits 1:0 were 00b',
    spec: 'Base 2.3 §4.3.2, Figure 118',
    needs: (facts) => needsSgl(facts) ?? ((facts.sgls & 3) === 2 ? undefined : 'SGLS bits 1:0 are 01b: any alignment'),
    async run(host) {
      await host.startWithPair()
      const space = firstSpace(host)
      const wanted = blockPattern(0, 1, space.blockBytes, 3)
      await put(host, space, 0, wanted)
      const memory = host.alloc(2 * space.blockBytes)
      const entry = blockCommand(0x02, 1, 0, 1)
      const sgl = sgl1(data(memory, 2, space.blockBytes))
      const completed = await host.command(1, { ...entry, cdw: { ...entry.cdw, ...sgl.cdw } })
      status(completed, '0/1e', '0/02', '0/15', '0/00')
      if (completed.status === '0/00') sameBytes('memory', memory.read(0, space.blockBytes), wanted)
      else filledWith('memory', memory.read(), 0xa5)
    },
  },
  {
    id: 'sgl-too-long',
    title: 'An SGL that is longer than the transfer should work, and must if LLDTS is 1; no byte beyond it is written',
    spec: 'Base 2.3 §4.3.2',
    needs: needsSgl,
    async run(host) {
      await host.startWithPair()
      const space = firstSpace(host)
      const wanted = blockPattern(0, 1, space.blockBytes, 12)
      await put(host, space, 0, wanted)
      const memory = host.alloc(4 * space.blockBytes)
      const entry = blockCommand(0x02, 1, 0, 1)
      const sgl = sgl1(data(memory, 0, memory.lengthBytes))
      const completed = await host.command(1, { ...entry, cdw: { ...entry.cdw, ...sgl.cdw } })
      if ((host.facts.sgls & 0x4_0000) !== 0) success(completed)
      else status(completed, '0/00', '0/0f')
      if (completed.status === '0/00') sameBytes('the block', memory.read(0, space.blockBytes), wanted)
      filledWith('memory after the block', memory.read(space.blockBytes), 0xa5)
    },
  },
  {
    id: 'sgl-bit-bucket',
    title: 'A Bit Bucket descriptor discards read data, and has no effect on a Write',
    spec: 'Base 2.3 §4.3.2, Figure 119',
    needs: (facts) =>
      needsSgl(facts) ?? ((facts.sgls & 0x1_0000) === 0 ? 'SGLS bit 16 is 0: no Bit Buckets' : undefined),
    async run(host) {
      await host.startWithPair()
      const space = firstSpace(host)
      const { blockBytes } = space
      const wanted = blockPattern(0, 4, blockBytes, 13)
      await put(host, space, 0, wanted)
      const memory = host.alloc(4 * blockBytes)
      const bucket = { address: 0, lengthBytes: blockBytes + 4, id: BIT_BUCKET }
      const rest = 3 * blockBytes - 8
      const around = [data(memory, 0, 4), bucket, data(memory, blockBytes, rest)]
      await readBy(host, segment(host, LAST_SEGMENT, around), 4, '0/00')
      sameBytes('before the bucket', memory.read(0, 4), wanted.subarray(0, 4))
      sameBytes('after the bucket', memory.read(blockBytes, rest), wanted.subarray(blockBytes + 8))
      filledWith('memory without a descriptor', memory.read(4, blockBytes - 4), 0xa5)

      memory.write(0, blockPattern(0, 4, blockBytes, 14))
      const source = [data(memory, 0, 2 * blockBytes), bucket, data(memory, 2 * blockBytes, 2 * blockBytes)]
      const entry = blockCommand(0x01, 1, 0, 4)
      const { cdw } = sgl1(segment(host, LAST_SEGMENT, source))
      success(await host.command(1, { ...entry, cdw: { ...entry.cdw, ...cdw } }))
      sameBytes('the blocks that were written', await get(host, space, 0, 4), memory.read())
    },
  },
  {
    id: 'sgl-psdt-reserved',
    title: 'PSDT = 11b is reserved: Invalid Field in Command, and no data are transferred',
    spec: 'Base 2.3 §4.1.1, Figure 91',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const memory = host.alloc(host.facts.blockBytes)
      const entry = { ...blockCommand(0x02, 1, 0, 1), prp1: memory.iova() }
      status(await host.command(1, { ...entry, cdw: { ...entry.cdw, 0: 0xc000 } }), '0/02')
      filledWith('memory', memory.read(), 0xa5)
    },
  },
  {
    id: 'sgl-and-prp-mixed',
    title: 'Commands with SGLs and with PRPs may be outstanding together',
    spec: 'Base 2.3 §4.1.1, Figure 91',
    needs: (facts) => needsSgl(facts) ?? (facts.blocks < 16 ? `namespace 1 has ${facts.blocks} blocks` : undefined),
    async run(host) {
      await host.startWithPair()
      const space = firstSpace(host)
      const { blockBytes } = space
      if (16 * blockBytes > 2 * host.pageBytes && blockBytes > host.pageBytes)
        notApplicable('blocks are larger than a memory page')
      const wanted = blockPattern(0, 16, blockBytes, 15)
      await put(host, space, 0, wanted)
      const memory = host.alloc(16 * blockBytes)
      const cids = Array.from({ length: 16 }, (_, i) => {
        const entry = blockCommand(0x02, 1, i, 1)
        const { cdw } = sgl1(data(memory, i * blockBytes, blockBytes))
        if (i % 2 === 1) return host.stage(1, { ...entry, cdw: { ...entry.cdw, ...cdw } })
        return host.stage(1, { ...entry, prp1: memory.iova(i * blockBytes) })
      })
      host.ringTail(1)
      const found = await host.collect(1, 16)
      found.forEach(success)
      equal('CIDs', new Set(found.map(({ cid }) => cid)).size, cids.length)
      sameBytes('the blocks', memory.read(), wanted)
    },
  },
]
