import { activeNamespaces, inactiveNamespace, setFeature } from '../admin.js'
import { blockCommand, blockPattern, filledWith, firstSpace, get, put, sameBytes, withPrps } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { notApplicable, status, success } from '../check.js'
import type { Completed } from '../completed.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks, prps } from '../io.js'

const COMPARE = 0x05
const FLUSH = 0x00
const READ = 0x02
const UNCORRECTABLE = 0x04
const VERIFY = 0x0c
const ZEROES = 0x08

/** Returns a skip condition for a command that is optional by a bit of ONCS. */
const needsCommand = (bit: number, name: string) => (facts: ControllerFacts) =>
  ((facts.oncs >> bit) & 1) === 1 ? needsBlocks(facts) : `ONCS bit ${bit} is 0: no ${name}`

const needsCompare = needsCommand(0, 'Compare')
const needsUncorrectable = needsCommand(1, 'Write Uncorrectable')
const needsDataset = needsCommand(2, 'Dataset Management')
const needsZeroes = needsCommand(3, 'Write Zeroes')
const needsVerify = needsCommand(7, 'Verify')

/** Returns a command for blocks without data. */
const over = (host: CaseHost, opcode: number, slba: number, blocks: number): Promise<Completed> =>
  host.command(1, blockCommand(opcode, 1, slba, blocks))

/** Returns a command for blocks with data from the host. */
function given(host: CaseHost, opcode: number, slba: number, blocks: number, bytes: Uint8Array): Promise<Completed> {
  const memory = host.alloc(bytes.length)
  memory.write(0, bytes)
  return host.command(1, withPrps(blockCommand(opcode, 1, slba, blocks), prps(host, memory)))
}

type Range = readonly [slba: number, blocks: number]

/** Returns Dataset Management (09h) with ranges of 16 bytes (NVM 1.2 Figure 46). AD is bit 2 of CDW11. */
function manage(host: CaseHost, ranges: readonly Range[], attributes: number): Promise<Completed> {
  const memory = host.alloc(16 * ranges.length, { fill: 0 })
  ranges.forEach(([slba, blocks], index) => {
    memory.set32(16 * index + 4, blocks)
    memory.set64(16 * index + 8, slba)
  })
  const cdw = { 10: ranges.length - 1, 11: attributes }
  return host.command(1, { opcode: 0x09, nsid: 1, prp1: memory.iova(), cdw })
}

const DEALLOCATE = 4

/** Writes a pattern to blocks 0 to 63, and creates a queue pair. */
async function patterned(host: CaseHost, salt: number): Promise<Uint8Array> {
  await host.startWithPair()
  const space = firstSpace(host)
  if (space.blocks < 65) notApplicable(`namespace 1 has ${space.blocks} blocks`)
  const bytes = blockPattern(0, 64, space.blockBytes, salt)
  await put(host, space, 0, bytes)
  return bytes
}

/** Sends Flush for an NSID, and checks for one of the statuses. */
async function flush(host: CaseHost, nsid: number, ...allowed: string[]): Promise<void> {
  status(await host.command(1, { opcode: FLUSH, nsid }), ...allowed)
}

interface OutOfRange {
  readonly opcode: number
  readonly name: string
  readonly needs: (facts: ControllerFacts) => string | undefined
}

const ranged: readonly OutOfRange[] = [
  { opcode: COMPARE, name: 'Compare', needs: needsCompare },
  { opcode: UNCORRECTABLE, name: 'Write Uncorrectable', needs: needsUncorrectable },
  { opcode: ZEROES, name: 'Write Zeroes', needs: needsZeroes },
  { opcode: VERIFY, name: 'Verify', needs: needsVerify },
]

/** Base 2.3 §7.2 and NVM 1.2 §3.3, except Read, Write and Copy. */
export const nvmCommandCases: readonly ControllerCase[] = [
  {
    id: 'flush-each-namespace',
    title: 'Flush succeeds for active NSIDs, and is rejected for inactive and for invalid ones',
    spec: 'Base 2.3 §7.2, §4.1.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      for (const nsid of await activeNamespaces(host)) await flush(host, nsid, '0/00')
      const inactive = await inactiveNamespace(host)
      if (inactive !== undefined) await flush(host, inactive, '0/02')
      for (const nsid of host.facts.nn < 0xffff_fffe ? [0, host.facts.nn + 1] : [0]) await flush(host, nsid, '0/0b')
    },
  },
  {
    id: 'flush-broadcast',
    title: 'Flush of NSID FFFFFFFFh follows VWC.FB',
    spec: 'Base 2.3 §7.2',
    needs: ({ vwc }) => ((vwc & 6) < 4 ? 'VWC.FB does not define Flush of NSID FFFFFFFFh' : undefined),
    async run(host) {
      await host.startWithPair()
      await flush(host, 0xffff_ffff, (host.facts.vwc & 6) === 6 ? '0/00' : '0/0b')
    },
  },
  ...ranged.map(({ opcode, name, needs }): ControllerCase => ({
    id: `${name.toLowerCase().replace(' ', '-')}-out-of-range`,
    title: `${name} that begins or ends beyond the last LBA is aborted with LBA Out of Range and changes nothing`,
    spec: 'NVM 1.2 §3.1, Figure 17',
    needs,
    async run(host) {
      await host.startWithPair()
      const space = firstSpace(host)
      const { blocks, blockBytes } = space
      const tail = blockPattern(blocks - 2, 2, blockBytes, 16)
      await put(host, space, blocks - 2, tail)
      const memory = host.alloc(4 * blockBytes)
      for (const [slba, count] of [
        [blocks, 1],
        [blocks - 2, 3],
        [2n ** 64n - 1n, 2],
      ] as const) {
        const entry = withPrps(blockCommand(opcode, 1, slba, count), prps(host, memory, 0, count * blockBytes))
        status(await host.command(1, entry), '0/80')
      }
      sameBytes('the last blocks', await get(host, space, blocks - 2, 2), tail)
    },
  })),
  {
    id: 'write-zeroes',
    title: 'After Write Zeroes, its blocks read as zeroes, deallocated or not, and no other block changes',
    spec: 'NVM 1.2 §3.3.8',
    needs: needsZeroes,
    async run(host) {
      for (const deallocate of [0, 1 << 25]) {
        const wanted = await patterned(host, 17)
        const { blockBytes } = host.facts
        for (const [slba, count] of [
          [5, 1],
          [9, 30],
        ] as const) {
          const entry = blockCommand(ZEROES, 1, slba, count)
          success(await host.command(1, { ...entry, cdw: { ...entry.cdw, 12: (count - 1) | deallocate } }))
          wanted.fill(0, slba * blockBytes, (slba + count) * blockBytes)
        }
        sameBytes('the blocks', await get(host, firstSpace(host), 0, 64), wanted)
        await host.disable()
      }
    },
  },
  {
    id: 'deallocate-reads-as-dlfeat-says',
    title: 'A deallocated block reads as before or as DLFEAT states, consistently, until it is written',
    spec: 'NVM 1.2 §3.3.3, §3.3.3.2.1, Figure 114',
    needs: needsDataset,
    async run(host) {
      const before = await patterned(host, 18)
      const space = firstSpace(host)
      const { blockBytes } = space
      const ranges: Range[] = [
        [3, 1],
        [8, 16],
        [40, 20],
      ]
      success(await manage(host, ranges, DEALLOCATE))
      const after = await get(host, space, 0, 64)
      const behaviour = space.view.getUint8(33) & 7
      const fills = behaviour === 1 ? [0] : behaviour === 2 ? [0xff] : [0, 0xff]
      for (let lba = 0; lba < 64; lba++) {
        const [was, is] = [before, after].map((bytes) => bytes.subarray(lba * blockBytes, (lba + 1) * blockBytes))
        const isIn = ranges.some(([slba, blocks]) => lba >= slba && lba < slba + blocks)
        if (isIn && fills.some((fill) => is!.every((byte) => byte === fill))) continue
        sameBytes(`block ${lba}, ${isIn ? 'not deallocated' : 'outside the ranges'}`, is!, was!)
      }
      sameBytes('the blocks, read again', await get(host, space, 0, 64), after)
      const fresh = blockPattern(8, 4, blockBytes, 19)
      await put(host, space, 8, fresh)
      sameBytes('blocks that were written since', await get(host, space, 8, 4), fresh)
    },
  },
  {
    id: 'deallocated-block-error',
    title: 'With DULBE = 1, reading a deallocated block fails until it is written; with DULBE = 0, it can be read',
    spec: 'NVM 1.2 §3.3.3.2.1, Figure 114; Base 2.3 §4.4',
    needs: (facts) =>
      (facts.namespace.getUint8(24) & 4) === 0
        ? 'NSFEAT bit 2 is 0: no errors for deallocated blocks'
        : needsDataset(facts),
    async run(host) {
      const before = await patterned(host, 28)
      const space = firstSpace(host)
      const { blockBytes } = space
      const dulbe = async (on: number) => success(await setFeature(host, 0x05, on << 16, { nsid: 1 }))
      const readAll = () => given(host, READ, 0, 64, new Uint8Array(64 * blockBytes))
      if (before.length > host.facts.maxTransferBytes) notApplicable('64 blocks are more than MDTS')
      await dulbe(1)
      success(await readAll())
      success(await manage(host, [[0, 64]], DEALLOCATE))
      const completed = await readAll()
      await dulbe(0)
      success(await readAll())
      // The controller may have deallocated nothing.
      status(completed, '2/87', '0/00')
      if (completed.status === '0/00') notApplicable('the blocks were not deallocated')
      await dulbe(1)
      status(await given(host, READ, 5, 1, new Uint8Array(blockBytes)), '2/87')
      await put(host, space, 0, before)
      sameBytes('blocks that were written since', await get(host, space, 0, 64), before)
      await dulbe(0)
    },
  },
  {
    id: 'dataset-management-without-deallocate',
    title: 'Dataset Management that does not deallocate changes no data, whatever its attributes',
    spec: 'NVM 1.2 §3.3.3, Figure 45',
    needs: needsDataset,
    async run(host) {
      const before = await patterned(host, 20)
      for (const attributes of [0, 1, 2, 3]) success(await manage(host, [[0, 64]], attributes))
      sameBytes('the blocks', await get(host, firstSpace(host), 0, 64), before)
    },
  },
  {
    id: 'dataset-management-most-ranges',
    title: 'Dataset Management accepts 256 ranges, or its reported limit',
    spec: 'NVM 1.2 §3.3.3, §3.3.3.1, Figure 46',
    needs: needsDataset,
    async run(host) {
      const before = await patterned(host, 21)
      const space = firstSpace(host)
      const ranges = Array.from({ length: 256 }, (_, i): Range => [i % 2 === 0 ? 2 : 4, i % 2])
      success(await manage(host, ranges, DEALLOCATE))
      const after = await get(host, space, 0, 64)
      const end = space.blockBytes * 4
      sameBytes('blocks outside the ranges, and those of empty ranges', after.subarray(0, end), before.subarray(0, end))
    },
  },
  {
    id: 'deallocate-out-of-range',
    title: 'Dataset Management of a range beyond the last LBA is rejected with LBA Out of Range, or ignored',
    spec: 'NVM 1.2 §3.3.3, §3.3.3.1, Figure 17',
    needs: needsDataset,
    async run(host) {
      const before = await patterned(host, 22)
      const { blocks } = host.facts
      status(await manage(host, [[blocks, 8]], DEALLOCATE), '0/80', '0/00')
      status(await manage(host, [[blocks - 1, 2]], DEALLOCATE), '0/80', '0/00')
      sameBytes('other blocks', await get(host, firstSpace(host), 0, 64), before)
    },
  },
  {
    id: 'compare-equal',
    title: 'Compare of equal data succeeds, and writes neither memory nor blocks',
    spec: 'NVM 1.2 §3.3.1',
    needs: needsCompare,
    async run(host) {
      const bytes = await patterned(host, 23)
      const { blockBytes } = host.facts
      const memory = host.alloc(16 * blockBytes)
      memory.write(0, bytes.subarray(0, memory.lengthBytes))
      success(await host.command(1, withPrps(blockCommand(COMPARE, 1, 0, 16), prps(host, memory))))
      sameBytes('memory', memory.read(), bytes.subarray(0, memory.lengthBytes))
      sameBytes('the blocks', await get(host, firstSpace(host), 0, 64), bytes)
    },
  },
  {
    id: 'compare-unequal',
    title:
      'Compare of data that differ in one bit, first, last or between, ends with Compare Failure and changes nothing',
    spec: 'NVM 1.2 §3.3.1, §3.3.1.1, Figure 19',
    needs: needsCompare,
    async run(host) {
      const bytes = await patterned(host, 24)
      const own = bytes.slice(0, 8 * host.facts.blockBytes)
      for (const at of [0, own.length / 2 + 1, own.length - 1]) {
        own[at]! ^= 0x80
        status(await given(host, COMPARE, 0, 8, own), '2/85')
        own[at]! ^= 0x80
      }
      success(await given(host, COMPARE, 0, 8, own))
      sameBytes('the blocks', await get(host, firstSpace(host), 0, 64), bytes)
    },
  },
  {
    id: 'verify',
    title: 'Verify of readable blocks succeeds, and changes no data',
    spec: 'NVM 1.2 §3.3.5',
    needs: needsVerify,
    async run(host) {
      const bytes = await patterned(host, 25)
      success(await over(host, VERIFY, 0, 64))
      sameBytes('the blocks', await get(host, firstSpace(host), 0, 64), bytes)
    },
  },
  {
    id: 'write-uncorrectable',
    title: 'Reading a block marked by Write Uncorrectable fails with Unrecovered Read Error until it is written',
    spec: 'NVM 1.2 §3.3.7; Base 2.3 §4.2.3.3',
    needs: needsUncorrectable,
    async run(host) {
      const bytes = await patterned(host, 26)
      const space = firstSpace(host)
      const { blockBytes } = space
      const block = (lba: number, count = 1) => bytes.slice(lba * blockBytes, (lba + count) * blockBytes)
      const readBlock = (lba: number, count = 1) => given(host, READ, lba, count, new Uint8Array(count * blockBytes))
      try {
        success(await over(host, UNCORRECTABLE, 10, 2))
        for (const [lba, count] of [
          [10, 1],
          [11, 1],
          [8, 8],
        ] as const) {
          status(await readBlock(lba, count), '2/81')
        }
        if (needsCompare(host.facts) === undefined) status(await given(host, COMPARE, 10, 1, block(10)), '2/81')
        if (needsVerify(host.facts) === undefined) status(await over(host, VERIFY, 9, 3), '2/81')
        sameBytes('the block before', await get(host, space, 9, 1), block(9))
        sameBytes('the block after', await get(host, space, 12, 1), block(12))
        await put(host, space, 10, block(10))
        sameBytes('the block that was written', await get(host, space, 10, 1), block(10))
        status(await readBlock(11), '2/81')
      } finally {
        await put(host, space, 10, block(10, 2))
      }
      sameBytes('the blocks', await get(host, space, 0, 64), bytes)
    },
  },
  {
    id: 'commands-in-sequence',
    title: 'Each command sees the effects of earlier completed commands',
    spec: 'NVM 1.2 §2.1',
    needs: (facts) => needsZeroes(facts) ?? needsCompare(facts),
    async run(host) {
      const bytes = await patterned(host, 27)
      const space = firstSpace(host)
      const { blockBytes } = space
      for (let lba = 0; lba < 16; lba++) {
        const own = bytes.slice(lba * blockBytes, (lba + 1) * blockBytes)
        success(await given(host, COMPARE, lba, 1, own))
        success(await over(host, ZEROES, lba, 1))
        status(await given(host, COMPARE, lba, 1, own), '2/85')
        success(await given(host, COMPARE, lba, 1, new Uint8Array(blockBytes)))
      }
      filledWith('the blocks', await get(host, space, 0, 16), 0)
    },
  },
]
