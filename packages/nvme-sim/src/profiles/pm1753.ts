import { zeroBased } from '@gpunvme/nvme-spec'
import type { DriveProfile } from './profile.js'
import { KIB, NS_PER_MS } from './units.js'

const aisio = 'xnvme/aisio documentation: GPU-initiated, 16 drives in an R760, H100, 512 B, one queue per drive'
const rating = "Samsung's rating, from a second-hand listing (grokipedia.com/page/Samsung_Enterprise_NVMe_SSD)"

const random512 = { operation: 'read', blockBytes: 512 } as const

export const pm1753: DriveProfile = {
  name: 'pm1753',
  source:
    'Samsung PM1753 on PCIe Gen5 x4. Published: the limit at 512 bytes, and the rate of a queue 128 deep, which ' +
    'determined the mean latency. Byte rates are second-hand ratings. Guesses: the shape of all latencies, mediaUnits, ' +
    'VS, MDTS, queue limits, MPS.',
  points: [
    {
      metric: 'random read, 512 B: limit of the drive',
      publishedValue: 3_860_000,
      unit: 'commands/s',
      use: 'fitted',
      source: 'xnvme/aisio documentation: 61.5 M over 16 drives, 4,096 CUDA threads',
      workload: { ...random512, depth: 1024 },
    },
    {
      metric: 'random read, 512 B, depth 128 (41.9 M over 16)',
      publishedValue: 2_619_000,
      unit: 'commands/s',
      use: 'fitted',
      source: aisio,
      workload: { ...random512, depth: 128 },
    },
    {
      metric: 'random read, 512 B, depth 512 (53.5 M over 16)',
      publishedValue: 3_344_000,
      unit: 'commands/s',
      use: 'held-back',
      source: aisio,
      workload: { ...random512, depth: 512 },
      note: 'one queue did not reach the limit there; in the model only the depth matters',
    },
    {
      metric: 'sequential read',
      publishedValue: 14_500,
      unit: 'MB/s',
      use: 'fitted',
      source: rating,
      workload: { operation: 'read', blockBytes: 128 * KIB, depth: 128 },
      note: 'the link carries 14.4 GB/s at MPS 256',
    },
    {
      metric: 'sequential write',
      publishedValue: 10_000,
      unit: 'MB/s',
      use: 'fitted',
      source: rating,
      workload: { operation: 'write', blockBytes: 128 * KIB, depth: 128 },
    },
    {
      metric: 'random read, 4 KiB',
      publishedValue: 3_300_000,
      unit: 'commands/s',
      use: 'held-back',
      source: rating,
      workload: { operation: 'read', blockBytes: 4 * KIB, depth: 1024 },
    },
  ],
  CAP: { MQES: zeroBased(16_384), CQR: 1, TO: 60, CSS_NCSS: 1 },
  VS: 0x0002_0000,
  identify: {
    VID: 0x144d, // Samsung
    SSVID: 0x144d,
    SN: 'GPUNVME-SIM-PM1753',
    MN: 'simulated Samsung PM1753',
    FR: '1',
    MDTS: 8,
  },
  ioQueuePairs: 128,
  commandSlots: 1024,
  enableNs: 20 * NS_PER_MS,
  resetNs: 2 * NS_PER_MS,
  shutdownNs: 50 * NS_PER_MS,
  commandNs: 259,
  adminNs: 20_000,
  readNs: [36_000, 46_000, 53_000, 80_000, 150_000],
  writeNs: [6_000, 9_000, 12_000, 25_000, 100_000],
  flushNs: [5_000, 10_000, 20_000, 50_000, 200_000],
  deallocateNs: [20_000, 50_000, 100_000, 300_000, 1_000_000],
  mediaUnits: 256,
  readBytesPerSecond: 14_500e6,
  writeBytesPerSecond: 10_000e6,
  link: { gen: 5, width: 4, mps: 256, propagationNs: 150, maxReadRequestBytes: 512 },
}
