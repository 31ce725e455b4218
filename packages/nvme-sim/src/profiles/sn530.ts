import { zeroBased } from '@gpunvme/nvme-spec'
import type { DriveProfile } from './profile.js'
import type { PublishedPoint } from './published.js'
import { KIB, MIB, NS_PER_MS } from './units.js'

const table = 'block-size table of the predecessor: RTX 3090 and B450 board, sequential, 3 runs, wall clock'

/** Time that the benchmark itself spent per command, at any size and depth: 86,016 commands a second at 4 KiB. */
const hostCommandNs = 11_400

/** A row of the table. Each includes the host's cost, since each was measured with it. */
const row = (
  kib: number,
  depth: number,
  publishedValue: number,
  use: PublishedPoint['use'],
  note?: string,
): PublishedPoint => ({
  metric: `${kib} KiB, depth ${depth}, with the host's 11.4 µs per command`,
  publishedValue,
  unit: 'MiB/s',
  use,
  source: table,
  workload: { operation: 'read', blockBytes: kib * KIB, depth, hostCommandNs },
  ...(note === undefined ? {} : { note }),
})

const readAhead = 'slower than the drive allows, as if read-ahead no longer hid its media: not modelled'

export const sn530: DriveProfile = {
  name: 'sn530',
  source:
    'The drive that the predecessor of this project calls SN530 1 TB; its model number is WDS100T2B0C, a WD Blue ' +
    'SN550. Measured there: MDTS 512 KiB, MQES 1024, TO 10 s, DSTRD 0, and a table of block sizes and depths. The ' +
    'rates at 64 KiB and more, depth 32, determined the rate of the data path and its cost per transfer; the row of ' +
    '4 KiB at depth 1 determined the latency. That is the latency of sequential reads of blocks that may never have ' +
    'been written; flash takes 20 times as long. VS 1.4 is from the data sheet. Guesses: the tail of the latency, ' +
    'mediaUnits, commandNs, all figures of writes except their rates, queue pairs, MPS.',
  points: [
    row(64, 32, 2_111, 'fitted'),
    row(256, 32, 2_666, 'fitted'),
    row(512, 32, 2_634, 'fitted'),
    row(4, 1, 173, 'fitted'),
    row(4, 32, 336, 'held-back', "the host's own limit, independent of the drive"),
    row(16, 32, 1_393, 'held-back', "close to the host's own limit"),
    row(16, 1, 615, 'held-back'),
    row(64, 1, 1_497, 'held-back'),
    row(256, 1, 1_616, 'held-back', readAhead),
    row(512, 1, 1_330, 'held-back', readAhead),
    {
      metric: '128 MiB in commands of 512 KiB, depth 32',
      publishedValue: 2_734,
      unit: 'MiB/s',
      use: 'held-back',
      source: 'the predecessor, same machine; its 4 MiB and 669 MiB runs gave 2,122 and 2,127',
      workload: { operation: 'read', blockBytes: 512 * KIB, depth: 32, commands: 256 },
    },
    {
      metric: 'sequential read',
      publishedValue: 2_400,
      unit: 'MB/s',
      use: 'held-back',
      source: "WD Blue SN550 1 TB, maker's rating as KitGuru quotes it (kitguru.net/?p=430847)",
      workload: { operation: 'read', blockBytes: 128 * KIB, depth: 32 },
      note: 'the table is faster than the rating',
    },
    {
      metric: 'random read, 4 KiB, depth 32 in 8 threads',
      publishedValue: 410_000,
      unit: 'commands/s',
      use: 'held-back',
      source: "WD Blue SN550 1 TB, maker's rating as KitGuru quotes it (kitguru.net/?p=430847)",
      workload: { operation: 'read', blockBytes: 4 * KIB, depth: 256 },
      note: 'contradicts the cost per transfer in the table at 64 KiB and more',
    },
    {
      metric: 'sequential write',
      publishedValue: 1_950,
      unit: 'MB/s',
      use: 'fitted',
      source: "WD Blue SN550 1 TB, maker's rating as KitGuru quotes it (kitguru.net/?p=430847)",
      workload: { operation: 'write', blockBytes: 128 * KIB, depth: 32 },
    },
    {
      metric: 'random write, 4 KiB, depth 32 in 8 threads',
      publishedValue: 405_000,
      unit: 'commands/s',
      use: 'fitted',
      source: "WD Blue SN550 1 TB, maker's rating as KitGuru quotes it (kitguru.net/?p=430847)",
      workload: { operation: 'write', blockBytes: 4 * KIB, depth: 256 },
    },
  ],
  CAP: { MQES: zeroBased(1024), CQR: 1, TO: 20, CSS_NCSS: 1 },
  VS: 0x0001_0400,
  identify: {
    VID: 0x15b7, // Western Digital, as SanDisk
    SSVID: 0x15b7,
    SN: 'GPUNVME-SIM-SN530',
    MN: 'simulated WD SN530 1TB',
    FR: '1',
    MDTS: 7,
  },
  ioQueuePairs: 16,
  commandSlots: 256,
  enableNs: 20 * NS_PER_MS,
  resetNs: 2 * NS_PER_MS,
  shutdownNs: 50 * NS_PER_MS,
  commandNs: 1_000,
  adminNs: 20_000,
  readNs: [600, 1_500, 2_500, 3_500, 100_000],
  writeNs: [8_000, 12_000, 18_000, 40_000, 200_000],
  flushNs: [200_000, 400_000, 800_000, 1_500_000, 3_000_000],
  deallocateNs: [20_000, 50_000, 100_000, 300_000, 1_000_000],
  mediaUnits: 32,
  readBytesPerSecond: 2_760 * MIB,
  readSetupNs: 6_000,
  writeBytesPerSecond: 1_970e6,
  writeSetupNs: 390,
  link: { gen: 3, width: 4, mps: 256, propagationNs: 150, maxReadRequestBytes: 512 },
}
