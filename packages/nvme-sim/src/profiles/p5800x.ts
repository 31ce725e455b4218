import { zeroBased } from '@gpunvme/nvme-spec'
import type { DriveProfile } from './profile.js'
import { NS_PER_MS } from './units.js'

const spdk =
  'Intel and SPDK: 80 M over 16 drives, 8 cores, depth 128 (medium.com/intel-tech, "What!? 80 Million I/O Per Second")'
const bam = 'BaM, ASPLOS artefact, nvm_block_bench_1_intel.log: 128 queues of 1024, 262,144 GPU threads'

const random512 = { operation: 'read', blockBytes: 512, depth: 128 } as const

export const p5800x: DriveProfile = {
  name: 'p5800x',
  source:
    'Intel Optane SSD P5800X on PCIe Gen4 x4. Published: the rate at 512 bytes. Guesses: all latencies, the byte ' +
    'rates (reads: the link limit at MPS 256), mediaUnits, VS, MDTS (that of other Optane drives), queue limits.',
  points: [
    {
      metric: 'random read, 512 B, depth 128',
      publishedValue: 5_000_000,
      unit: 'commands/s',
      use: 'fitted',
      source: spdk,
      workload: random512,
    },
    {
      metric: 'mean latency of the same',
      publishedValue: 25.54,
      unit: 'µs mean',
      use: 'held-back',
      source: spdk,
      workload: random512,
      note: "follows from the rate by Little's law: it tests the simulator, not the preset",
    },
    {
      metric: 'random read, 512 B, deep queues',
      publishedValue: 4_900_000,
      unit: 'commands/s',
      use: 'held-back',
      source: bam,
      workload: { ...random512, depth: 1024 },
    },
  ],
  CAP: { MQES: zeroBased(4096), CQR: 1, TO: 20, CSS_NCSS: 1 },
  VS: 0x0001_0300,
  identify: {
    VID: 0x8086, // Intel
    SSVID: 0x8086,
    SN: 'GPUNVME-SIM-P5800X',
    MN: 'simulated Intel Optane P5800X 800GB',
    FR: '1',
    MDTS: 5,
  },
  ioQueuePairs: 128,
  commandSlots: 1024,
  enableNs: 20 * NS_PER_MS,
  resetNs: 2 * NS_PER_MS,
  shutdownNs: 50 * NS_PER_MS,
  commandNs: 200,
  adminNs: 20_000,
  readNs: [3_000, 4_000, 5_000, 7_000, 20_000],
  writeNs: [3_000, 4_000, 5_000, 8_000, 30_000],
  flushNs: [1_000, 2_000, 4_000, 8_000, 20_000],
  deallocateNs: [5_000, 10_000, 20_000, 50_000, 200_000],
  mediaUnits: 64,
  readBytesPerSecond: 7_200e6,
  writeBytesPerSecond: 6_000e6,
  link: { gen: 4, width: 4, mps: 256, propagationNs: 150, maxReadRequestBytes: 512 },
}
