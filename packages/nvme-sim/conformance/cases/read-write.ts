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
  type Space,
} from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { equal, notApplicable, status } from '../check.js'
import type { CaseHost } from '../host.js'
import { batch, needsBlocks, prps } from '../io.js'

const WRITE = 0x01
const READ = 0x02

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

/** NVM 1.2 §3.3.4 and §3.3.6: which blocks Write and Read transfer. */
export const readWriteCases: readonly ControllerCase[] = [
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
]
