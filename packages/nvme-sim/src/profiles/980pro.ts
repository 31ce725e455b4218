import { zeroBased } from '@gpunvme/nvme-spec'
import type { DriveProfile } from './profile.js'
import { KIB, NS_PER_MS } from './units.js'

const bam = 'BaM, ASPLOS artefact, nvm_block_bench_1_sam.log: 128 queues of 1024, 262,144 GPU threads'
const bamPair = 'BaM, ASPLOS artefact, nvm_block_bench_2_sam.log: 1.52 M over two drives'
const sheet = "Samsung's rating of the 2 TB drive as Puget Systems quotes it (pugetsystems.com/parts, item 13831)"

const random4k = { operation: 'read', blockBytes: 4 * KIB, depth: 1024 } as const

export const samsung980pro: DriveProfile = {
  name: '980pro',
  source:
    'Samsung 980 PRO on PCIe Gen4 x4. VS 1.3, an MDTS of 128 pages and the temperature limits are from a smartctl ' +
    'listing of a 2 TB drive (pastebin.com/czjaA5sx). The command rate was measured by BaM; the byte rates are ' +
    'ratings. Guesses: all latencies, mediaUnits, queue limits, MPS.',
  points: [
    {
      metric: 'random read, 4 KiB, deep queues',
      publishedValue: 800_000,
      unit: 'commands/s',
      use: 'fitted',
      source: bam,
      workload: random4k,
    },
    {
      metric: 'sequential read',
      publishedValue: 7_000,
      unit: 'MB/s',
      use: 'fitted',
      source: sheet,
      workload: { operation: 'read', blockBytes: 128 * KIB, depth: 64 },
    },
    {
      metric: 'sequential write',
      publishedValue: 5_100,
      unit: 'MB/s',
      use: 'fitted',
      source: sheet,
      workload: { operation: 'write', blockBytes: 128 * KIB, depth: 64 },
    },
    {
      metric: 'random read, 4 KiB, each of two drives',
      publishedValue: 760_000,
      unit: 'commands/s',
      use: 'held-back',
      source: bamPair,
      workload: random4k,
    },
    {
      metric: 'random read, 4 KiB, rating',
      publishedValue: 1_000_000,
      unit: 'commands/s',
      use: 'held-back',
      source: sheet,
      workload: random4k,
      note: 'BaM measured 0.80 M, to which the preset is fitted',
    },
    {
      metric: 'random write, 4 KiB, rating',
      publishedValue: 1_000_000,
      unit: 'commands/s',
      use: 'held-back',
      source: sheet,
      workload: { ...random4k, operation: 'write' },
      note: 'reads and writes share the command rate that BaM measured on reads',
    },
  ],
  CAP: { MQES: zeroBased(16_384), CQR: 1, TO: 20, CSS_NCSS: 1 },
  VS: 0x0001_0300,
  identify: {
    VID: 0x144d, // Samsung
    SSVID: 0x144d,
    SN: 'GPUNVME-SIM-980PRO',
    MN: 'simulated Samsung 980 PRO 2TB',
    FR: '1',
    MDTS: 7,
    WCTEMP: 355, // 82 °C
    CCTEMP: 358, // 85 °C
  },
  ioQueuePairs: 128,
  commandSlots: 1024,
  enableNs: 20 * NS_PER_MS,
  resetNs: 2 * NS_PER_MS,
  shutdownNs: 50 * NS_PER_MS,
  commandNs: 1_250,
  adminNs: 20_000,
  readNs: [35_000, 45_000, 60_000, 100_000, 400_000],
  writeNs: [6_000, 10_000, 15_000, 30_000, 150_000],
  flushNs: [200_000, 400_000, 800_000, 1_500_000, 3_000_000],
  deallocateNs: [20_000, 50_000, 100_000, 300_000, 1_000_000],
  mediaUnits: 128,
  readBytesPerSecond: 7_000e6,
  writeBytesPerSecond: 5_100e6,
  link: { gen: 4, width: 4, mps: 256, propagationNs: 150, maxReadRequestBytes: 512 },
}
