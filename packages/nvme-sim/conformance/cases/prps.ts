import {
  atOffset,
  blockCommand,
  blockPattern,
  byList,
  filledWith,
  firstSpace,
  movesExactly,
  put,
  sameBytes,
  withPrps,
  type Place,
} from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { notApplicable, status } from '../check.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks } from '../io.js'

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

/** Where Write and Read find their data: PRPs and PRP Lists. */
export const prpCases: readonly ControllerCase[] = transfers.map(
  ({ id, what, spec, needs, place, blocks, cdw12 = 0 }): ControllerCase => ({
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
  }),
)

/** PRPs with an offset where none is allowed. */
export const invalidPrpCases: readonly ControllerCase[] = [
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
