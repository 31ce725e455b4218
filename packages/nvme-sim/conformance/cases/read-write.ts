import { activeNamespaces, inactiveNamespace } from '../admin.js'
import {
  atOffset,
  blockCommand,
  blockPattern,
  byList,
  filledWith,
  firstSpace,
  get,
  movesExactly,
  put,
  sameBytes,
  spaceOf,
  withPrps,
  type Place,
  type Space,
} from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { check, equal, notApplicable, status, success } from '../check.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { batch, needsBlocks, prps } from '../io.js'

const WRITE = 0x01
const READ = 0x02

/** Returns the number of blocks in `pages` memory pages, at least 1. */
const blocksOf = ({ facts, pageBytes }: CaseHost, pages: number) =>
  Math.max(1, Math.round((pages * pageBytes) / facts.blockBytes))

interface Transfer {
  readonly id: string
  readonly what: string
  readonly spec?: string
  readonly needs?: (facts: ControllerFacts) => string | undefined
  readonly place: (host: CaseHost) => Place
  readonly blocks: (host: CaseHost) => number
  readonly cdw12?: number
}

const needsSmallBlocks = ({ blockBytes }: ControllerFacts) =>
  blockBytes <= 2048 ? undefined : `blocks of ${blockBytes} bytes do not fit into half a page`

const transfers: readonly Transfer[] = [
  { id: 'rw-one-block', what: 'one block', place: () => atOffset(0), blocks: () => 1 },
  {
    id: 'rw-offset-in-page',
    what: 'one block at an offset of PRP1, to the end of its page',
    needs: needsSmallBlocks,
    place: ({ pageBytes, facts }) => atOffset(pageBytes - facts.blockBytes),
    blocks: () => 1,
  },
  {
    id: 'rw-across-pages',
    what: 'one block across a page boundary, 4 bytes of it in the page of PRP1',
    place: ({ pageBytes }) => atOffset(pageBytes - 4),
    blocks: () => 1,
  },
  {
    id: 'rw-two-pages',
    what: 'two pages, PRP1 and PRP2',
    place: () => atOffset(0),
    blocks: (host) => blocksOf(host, 2),
  },
  {
    id: 'rw-page-and-block',
    what: 'a page and a block, which fills part of the page of PRP2',
    place: () => atOffset(0),
    blocks: (host) => blocksOf(host, 1) + 1,
  },
  {
    id: 'rw-list',
    what: 'unordered pages by a PRP List',
    place: () => byList((all) => all),
    blocks: (h) => blocksOf(h, 9),
  },
  {
    id: 'rw-list-after-offset',
    what: 'an offset of PRP1 and a PRP List',
    place: () => atOffset(1028),
    blocks: (host) => blocksOf(host, 4),
  },
  {
    id: 'rw-list-at-offset',
    what: 'a PRP List that begins in the middle of its page',
    place: () => byList((all) => all / 2),
    blocks: (host) => blocksOf(host, 12),
  },
  {
    id: 'rw-list-ends-at-page-end',
    what: 'a PRP List whose last entry is the last of its page, and no pointer',
    place: () => byList(() => 8),
    blocks: (host) => blocksOf(host, 9),
  },
  {
    id: 'rw-list-chained',
    what: 'PRP Lists in two pages: one entry more than fits, so that the last of the first page points to the second',
    place: () => byList(() => 8),
    blocks: (host) => blocksOf(host, 10),
  },
  {
    id: 'rw-list-pointer-only',
    what: 'a PRP List whose first entry is the last of its page, and points to the next page',
    place: () => byList(() => 1),
    blocks: (host) => blocksOf(host, 5),
  },
  {
    id: 'rw-limited-retry-and-fua',
    what: 'blocks with Force Unit Access and Limited Retry',
    spec: 'NVM 1.2 §3.3.4, §3.3.6',
    place: () => atOffset(0),
    blocks: () => 3,
    cdw12: 0xc000_0000 | 0,
  },
]

/**
 * Submits Reads that must be rejected without changing memory, and the same commands as Writes, which must not change
 * blocks.
 */
async function refusedBothWays(
  host: CaseHost,
  nsid: number,
  slba: number | bigint,
  blocks: number,
  ...allowed: string[]
): Promise<void> {
  const memory = host.alloc(blocks * host.facts.blockBytes)
  const pointer = prps(host, memory)
  status(await host.command(1, withPrps(blockCommand(READ, nsid, slba, blocks), pointer)), ...allowed)
  filledWith('memory of a Read that was refused', memory.read(), 0xa5)
  status(await host.command(1, withPrps(blockCommand(WRITE, nsid, slba, blocks), pointer)), ...allowed)
}

/** Returns the active namespaces without metadata. */
async function plainSpaces(host: CaseHost): Promise<Space[]> {
  const spaces: Space[] = []
  for (const nsid of await activeNamespaces(host)) spaces.push(await spaceOf(host, nsid))
  return spaces.filter(({ metadataBytes }) => metadataBytes === 0)
}

/** Submits a Read with an invalid data pointer that the controller need not detect, then a valid Read. */
async function mayRefusePrp(
  host: CaseHost,
  blocks: number,
  pointer: readonly [number, number],
  ...allowed: string[]
): Promise<void> {
  status(await host.command(1, withPrps(blockCommand(READ, 1, 0, blocks), pointer)), ...allowed)
  await movesExactly(host, atOffset(0), 1)
}

/** NVM 1.2 §3.3.4 and §3.3.6. */
export const readWriteCases: readonly ControllerCase[] = [
  ...transfers.map(({ id, what, spec, needs, place, blocks, cdw12 = 0 }): ControllerCase => ({
    id,
    title: `Write and Read transfer ${what}: exactly those blocks, and exactly those bytes of memory`,
    spec: spec ?? 'Base 2.3 §4.1.1, §4.3.1; NVM 1.2 §3.3.4, §3.3.6',
    needs: (facts) => needsBlocks(facts) ?? needs?.(facts),
    async run(host) {
      await host.startWithPair()
      const count = blocks(host)
      if (count * host.facts.blockBytes > host.facts.maxTransferBytes) notApplicable('the transfer exceeds MDTS')
      await movesExactly(host, place(host), count, { cdw12 })
    },
  })),
  {
    id: 'rw-mdts',
    title: 'Write and Read transfer up to MDTS, and are aborted with Invalid Field in Command for one block more',
    spec: 'Base 2.3 §5.2.13.2.1, Figure 328',
    needs: (facts) =>
      facts.maxTransferBytes > 2 ** 23 || facts.maxTransferBytes / facts.blockBytes > 65_535
        ? 'MDTS sets no limit of up to 8 MiB and 65,535 blocks'
        : needsBlocks(facts),
    async run(host) {
      await host.startWithPair()
      const blocks = host.facts.maxTransferBytes / host.facts.blockBytes
      if (blocks + 2 > host.facts.blocks) notApplicable(`namespace 1 has ${host.facts.blocks} blocks`)
      await movesExactly(
        host,
        byList((all) => all),
        blocks,
        { slba: 1 },
      )
      const before = await get(host, firstSpace(host), 0, 16)
      await refusedBothWays(host, 1, 0, blocks + 1, '0/02')
      sameBytes('blocks after a Write that was refused', await get(host, firstSpace(host), 0, 16), before)
    },
  },
  {
    id: 'rw-every-block',
    title: 'Every block is at its LBA, whatever the sizes of Writes and Reads',
    spec: 'NVM 1.2 §2.1, §3.3.4, §3.3.6',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(32)
      const space = firstSpace(host)
      const { blockBytes } = space
      const count = 240
      if (space.blocks < count) notApplicable(`namespace 1 has ${space.blocks} blocks`)
      const wanted = blockPattern(0, count, blockBytes, 4)
      // Writes have 1 to 3 blocks, Reads have 8.
      for (let slba = 0, step = 1; slba < count; slba += step, step = (step % 3) + 1) {
        const end = Math.min(count, slba + step)
        await put(host, space, slba, wanted.subarray(slba * blockBytes, end * blockBytes))
      }
      const data = host.alloc(count * blockBytes)
      const reads = Array.from({ length: count / 8 }, (_, i) =>
        withPrps(blockCommand(READ, 1, i * 8, 8), prps(host, data, i * 8 * blockBytes, 8 * blockBytes)),
      )
      await batch(host, 1, reads)
      sameBytes('the blocks', data.read(), wanted)
    },
  },
  {
    id: 'rw-many-at-a-time',
    title: 'A full queue of Writes, then of Reads, with arbitrary CIDs: each completes once, with its own block',
    spec: 'Base 2.3 §4.1.1, §4.2.1; NVM 1.2 §3.3.4',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(32)
      const { blockBytes } = host.facts
      const [source, target] = [host.alloc(31 * blockBytes), host.alloc(31 * blockBytes)]
      source.write(0, blockPattern(100, 31, blockBytes, 5))
      for (const [opcode, memory] of [
        [WRITE, source],
        [READ, target],
      ] as const) {
        const entries = Array.from({ length: 31 }, (_, i) => ({
          ...withPrps(blockCommand(opcode, 1, 100 + i, 1), prps(host, memory, i * blockBytes, blockBytes)),
          // 0h, FFFEh and others in between, unordered.
          cid: i === 0 ? 0xfffe : (i * 0x2a37) % 0xfffe,
        }))
        equal('CIDs', new Set(entries.map(({ cid }) => cid)).size, 31)
        await batch(host, 1, entries)
      }
      sameBytes('the blocks', target.read(), source.read())
    },
  },
  {
    id: 'rw-last-block',
    title: 'The last LBA, NSZE - 1, is written and read',
    spec: 'NVM 1.2 §2.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      await movesExactly(host, atOffset(0), 1, { slba: host.facts.blocks - 1 })
      await movesExactly(host, atOffset(0), 3, { slba: host.facts.blocks - 3 })
    },
  },
  {
    id: 'rw-beyond-the-end',
    title:
      'A Read or Write that begins or ends beyond the last LBA is aborted with LBA Out of Range and transfers no data',
    spec: 'NVM 1.2 §3.1, Figure 17',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const space = firstSpace(host)
      const { blocks, blockBytes } = space
      const tail = blockPattern(blocks - 4, 4, blockBytes, 6)
      await put(host, space, blocks - 4, tail)
      for (const [slba, count] of [
        [blocks, 1],
        [blocks - 1, 2],
        [blocks - 3, 4],
        [blocks + 1000, 1],
      ] as const) {
        await refusedBothWays(host, 1, slba, count, '0/80')
      }
      sameBytes('the last blocks', await get(host, space, blocks - 4, 4), tail)
    },
  },
  {
    id: 'rw-near-2-to-64',
    title: 'A Read or Write whose range wraps around 2^64 is aborted with LBA Out of Range',
    spec: 'NVM 1.2 §3.1, Figure 17',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      for (const [slba, count] of [
        [2n ** 64n - 1n, 1],
        [2n ** 64n - 1n, 2],
        [2n ** 64n - 4n, 8],
        [2n ** 63n, 1],
        [2n ** 32n * 2n ** 24n, 1],
      ] as const) {
        await refusedBothWays(host, 1, slba, count, '0/80')
      }
    },
  },
  {
    id: 'rw-namespace-invalid',
    title: 'NSID 0h, and one above NN, are aborted with Invalid Namespace or Format',
    spec: 'Base 2.3 §4.1.1, §3.2.1.2',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      for (const nsid of host.facts.nn < 0xffff_fffe ? [0, host.facts.nn + 1, 0xffff_fffe] : [0]) {
        await refusedBothWays(host, nsid, 0, 1, '0/0b')
      }
    },
  },
  {
    id: 'rw-namespace-broadcast',
    title: 'Read and Write with NSID FFFFFFFFh are aborted with Invalid Field in Command',
    spec: 'Base 2.3 §4.1.1; NVM 1.2 §3.3, Figure 21',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      await refusedBothWays(host, 0xffff_ffff, 0, 1, '0/02')
    },
  },
  {
    id: 'rw-namespace-inactive',
    title: 'An inactive NSID is aborted with Invalid Field in Command',
    spec: 'Base 2.3 §4.1.1, §3.2.1.4',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const nsid = (await inactiveNamespace(host)) ?? notApplicable('every valid NSID is active')
      await refusedBothWays(host, nsid, 0, 1, '0/02')
    },
  },
  {
    id: 'rw-each-namespace',
    title: 'Each namespace is written and read in blocks of its own size, and no other namespace changes',
    spec: 'Base 2.3 §3.2.1; NVM 1.2 §2.1, Figure 116',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const spaces = await plainSpaces(host)
      if (spaces.length < 2) notApplicable('there is only one namespace without metadata')
      for (const space of spaces) await put(host, space, 0, blockPattern(0, 16, space.blockBytes, 100 + space.nsid))
      for (const space of spaces) {
        await movesExactly(host, atOffset(0), 3, { space, slba: 32 })
        await movesExactly(
          host,
          byList(() => 2),
          16,
          { space, slba: 32 },
        )
        const wanted = blockPattern(0, 16, space.blockBytes, 100 + space.nsid)
        sameBytes(`namespace ${space.nsid}`, await get(host, space, 0, 16), wanted)
      }
    },
  },
  {
    id: 'rw-outlives-a-reset',
    title: 'Written data are read back after a Controller Reset',
    spec: 'Base 2.3 §3.7.2',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const space = firstSpace(host)
      const data = blockPattern(40, 8, space.blockBytes, 7)
      await put(host, space, 40, data)
      await host.disable()
      await host.startWithPair()
      sameBytes('the blocks', await get(host, space, 40, 8), data)
    },
  },
  {
    id: 'rw-metadata-separate',
    title: 'Metadata in a separate buffer are written from and read to MPTR, block by block',
    spec: 'Base 2.3 §4.1.1; NVM 1.2 §3.3.4, Figure 116',
    async run(host) {
      const space = await metadataSpace(host, false)
      const { nsid, blockBytes, metadataBytes } = space
      const [data, metadata] = [host.alloc(4 * blockBytes), host.alloc(4 * metadataBytes)]
      data.fillPattern(8)
      metadata.fillPattern(9)
      const move = async (opcode: number, slba: number, count: number) => {
        const entry = withPrps(blockCommand(opcode, nsid, slba, count), prps(host, data, 0, count * blockBytes))
        success(await host.command(1, { ...entry, mptr: metadata.iova() }))
      }
      const wanted = [data.read(), metadata.read()] as const
      await move(WRITE, 20, 4)
      data.fill(0xa5)
      metadata.fill(0xa5)
      await move(READ, 21, 2)
      sameBytes('data', data.read(0, 2 * blockBytes), wanted[0].subarray(blockBytes, 3 * blockBytes))
      sameBytes('metadata', metadata.read(0, 2 * metadataBytes), wanted[1].subarray(metadataBytes, 3 * metadataBytes))
      filledWith('memory after the metadata', metadata.read(2 * metadataBytes), 0xa5)
    },
  },
  {
    id: 'rw-metadata-extended',
    title: 'Metadata of an extended format follow the data of each block',
    spec: 'NVM 1.2 §4.1.5.1, Figures 114 and 116',
    async run(host) {
      const space = await metadataSpace(host, true)
      const whole = space.blockBytes + space.metadataBytes
      const data = host.alloc(4 * whole)
      data.fillPattern(10)
      const wanted = data.read()
      const move = async (opcode: number, slba: number, count: number) => {
        const pointer = prps(host, data, 0, count * whole)
        success(await host.command(1, withPrps(blockCommand(opcode, space.nsid, slba, count), pointer)))
      }
      await move(WRITE, 20, 4)
      data.fill(0xa5)
      await move(READ, 21, 2)
      sameBytes('blocks with metadata', data.read(0, 2 * whole), wanted.subarray(whole, 3 * whole))
      filledWith('memory after the blocks', data.read(2 * whole), 0xa5)
    },
  },
  {
    id: 'rw-prp1-not-dword-aligned',
    title: 'PRP1 that is not dword aligned is rejected with PRP Offset Invalid or used as if its bits 1:0 were 00b',
    spec: 'Base 2.3 §4.3.1, Figure 110',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const space = firstSpace(host)
      const data = blockPattern(0, 1, space.blockBytes, 11)
      await put(host, space, 0, data)
      const memory = host.alloc(2 * space.blockBytes)
      const completed = await host.command(1, withPrps(blockCommand(READ, 1, 0, 1), [memory.iova(2), 0]))
      status(completed, '0/13', '0/00')
      if (completed.status === '0/00') sameBytes('memory at bits 1:0 = 00b', memory.read(0, data.length), data)
      else filledWith('memory of a Read that was refused', memory.read(), 0xa5)
    },
  },
  {
    id: 'rw-prp2-with-offset',
    title: 'PRP2 with an offset in its page should be rejected with PRP Offset Invalid, and has no other effect',
    spec: 'Base 2.3 §4.3.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const { pageBytes } = host
      const memory = host.alloc(3 * pageBytes)
      const pointer = [memory.iova(), memory.iova(pageBytes + 64)] as const
      await mayRefusePrp(host, blocksOf(host, 2), pointer, '0/13', '0/00')
      filledWith('memory beyond the page of PRP2', memory.read(2 * pageBytes + 64), 0xa5)
    },
  },
  {
    id: 'rw-list-entry-with-offset',
    title: 'A PRP List entry with an offset should be rejected with PRP Offset Invalid, and has no other effect',
    spec: 'Base 2.3 §4.3.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const { pageBytes } = host
      const memory = host.alloc(4 * pageBytes)
      const list = host.alloc(pageBytes, { fill: 0 })
      list.set64(0, memory.iova(pageBytes))
      list.set64(8, memory.iova(2 * pageBytes + 512))
      await mayRefusePrp(host, blocksOf(host, 3), [memory.iova(), list.iova()], '0/13', '0/00')
      filledWith('memory beyond the last page', memory.read(3 * pageBytes + 512), 0xa5)
    },
  },
]

/** Returns the first namespace with this kind of metadata, without protection information, and creates a queue pair. */
async function metadataSpace(host: CaseHost, isExtended: boolean): Promise<Space> {
  await host.startWithPair()
  for (const nsid of await activeNamespaces(host)) {
    const space = await spaceOf(host, nsid)
    const isPlain = (space.view.getUint8(29) & 7) === 0
    if (space.metadataBytes > 0 && space.isExtended === isExtended && isPlain) {
      check(space.blocks > 32, `namespace ${nsid} has more than 32 blocks`)
      return space
    }
  }
  return notApplicable(`no namespace has ${isExtended ? 'extended blocks' : 'metadata in a separate buffer'}`)
}
