import { zeroBased } from '@gpunvme/nvme-spec'
import type { DriveProfile } from './profile.js'
import { KIB, MIB, NS_PER_MS } from './units.js'

const rig = 'RTX 3090 and B450 board, PCIe Gen3 x4, GPU-driven; the program divides by 2^20 and prints MB'

const mib32 = { operation: 'read', blockBytes: 1024 * KIB, depth: 32 } as const

export const sn740: DriveProfile = {
  name: 'sn740',
  source:
    'WD PC SN740 512 GB, M.2 2230 without a heat sink, on PCIe Gen3 x4, in the machine where the predecessor of ' +
    'this project was measured (RTX 3090, B450). Measured there: VS 1.4, MDTS 1 MiB, 512-byte blocks, the rate at 1 ' +
    'MiB and depth 32, and a slowdown by a factor of 1.56 after 53 s at that rate. Assumed: heat grows with the bytes ' +
    'transferred, falls by 1.5 GB/s, and is gone after 35 s of rest; the slowdown applies to all work. Guesses: all ' +
    'latencies, mediaUnits, commandNs, write rate, queue limits, MPS.',
  points: [
    {
      metric: 'sustained read, 1 MiB, depth 32 (3,315 to 3,350)',
      publishedValue: 3_332.5,
      unit: 'MiB/s',
      use: 'fitted',
      source: rig,
      workload: mib32,
    },
    {
      metric: 'full rate before throttling',
      publishedValue: 53,
      unit: 's until hot',
      use: 'fitted',
      source: rig,
      workload: mib32,
    },
    {
      metric: 'a layer of 670 MiB, cool',
      publishedValue: 202,
      unit: 'ms',
      use: 'held-back',
      source: rig,
      workload: { ...mib32, commands: 670 },
      note: 'from the runs whose rate was fitted: it tests the simulator, not the preset',
    },
    {
      metric: 'a layer of 670 MiB, throttled',
      publishedValue: 314,
      unit: 'ms',
      use: 'fitted',
      source: rig,
      workload: { ...mib32, commands: 670, isHot: true },
    },
  ],
  CAP: { MQES: zeroBased(1024), CQR: 1, TO: 20, CSS_NCSS: 1 },
  VS: 0x0001_0400,
  identify: {
    VID: 0x15b7, // Western Digital, as SanDisk
    SSVID: 0x15b7,
    SN: 'GPUNVME-SIM-SN740',
    MN: 'simulated WD PC SN740 512GB',
    FR: '1',
    MDTS: 8,
  },
  ioQueuePairs: 16,
  commandSlots: 256,
  enableNs: 20 * NS_PER_MS,
  resetNs: 2 * NS_PER_MS,
  shutdownNs: 50 * NS_PER_MS,
  commandNs: 1_500,
  adminNs: 20_000,
  readNs: [45_000, 60_000, 85_000, 160_000, 500_000],
  writeNs: [8_000, 12_000, 18_000, 40_000, 200_000],
  flushNs: [200_000, 400_000, 800_000, 1_500_000, 3_000_000],
  deallocateNs: [20_000, 50_000, 100_000, 300_000, 1_000_000],
  mediaUnits: 32,
  readBytesPerSecond: 3_330 * MIB,
  writeBytesPerSecond: 2_500 * MIB,
  // 53 s at 3,330 MiB/s add 185.1 GB, of which 79.5 GB have cooled down by then.
  thermal: { factor: 1.56, limitBytes: 105.6e9, recoveredBytes: 53e9, coolingBytesPerSecond: 1.5e9 },
  link: { gen: 3, width: 4, mps: 256, propagationNs: 150, maxReadRequestBytes: 512 },
}
