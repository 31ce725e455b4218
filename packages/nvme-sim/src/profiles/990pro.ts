import { zeroBased } from '@gpunvme/nvme-spec'
import type { DriveProfile } from './profile.js'
import { KIB, MIB, NS_PER_MS } from './units.js'

const rating = "Samsung's rating as digitec quotes it (digitec.ch, product 35511542)"
const heise = "c't 4/2024, measured on the 4 TB drive (heise.de/select/ct/2024/4/2400913153544615272)"
const fio = 'fio on an AM08 Pro under Linux, file on the drive (pastebin.com/X8K6bqep)'

const read4k = { operation: 'read', blockBytes: 4 * KIB, depth: 512 } as const
const stream = { operation: 'read', blockBytes: 128 * KIB, depth: 64 } as const

export const samsung990pro: DriveProfile = {
  name: '990pro',
  source:
    'Samsung 990 PRO 2 TB on PCIe Gen4 x4. VS 2.0 and an MDTS of 512 pages are from a smartctl listing ' +
    '(gist.github.com/mdcallag/80c67211727b77476871943cfb9b8a81), the temperature limits from one of a 4 TB drive ' +
    '(pastebin.com/ZLrdWZrK). All rates are ratings. The rated 7,450 MB/s exceed a link with an MPS of 256 (7.20 ' +
    'GB/s), so MPS is 512. Guesses: all latencies, mediaUnits, queue limits.',
  points: [
    { metric: 'sequential read', publishedValue: 7_450, unit: 'MB/s', use: 'fitted', source: rating, workload: stream },
    {
      metric: 'sequential write',
      publishedValue: 6_900,
      unit: 'MB/s',
      use: 'fitted',
      source: rating,
      workload: { ...stream, operation: 'write' },
    },
    {
      metric: 'random read, 4 KiB',
      publishedValue: 1_400_000,
      unit: 'commands/s',
      use: 'fitted',
      source: rating,
      workload: read4k,
    },
    {
      metric: 'random write, 4 KiB',
      publishedValue: 1_550_000,
      unit: 'commands/s',
      use: 'fitted',
      source: rating,
      workload: { ...read4k, operation: 'write' },
    },
    {
      metric: 'sequential read, 1 MiB, depth 8',
      publishedValue: 6_911,
      unit: 'MiB/s',
      use: 'held-back',
      source: fio,
      workload: { operation: 'read', blockBytes: MIB, depth: 8 },
      note: 'through a file system, with an unknown MPS',
    },
    {
      metric: 'sequential read',
      publishedValue: 7_460,
      unit: 'MB/s',
      use: 'held-back',
      source: heise,
      workload: stream,
    },
    {
      metric: 'sequential write',
      publishedValue: 6_970,
      unit: 'MB/s',
      use: 'held-back',
      source: heise,
      workload: { ...stream, operation: 'write' },
    },
    {
      metric: 'random read, 4 KiB ("just under 1.4 M")',
      publishedValue: 1_400_000,
      unit: 'commands/s',
      use: 'held-back',
      source: heise,
      workload: read4k,
    },
    {
      metric: 'random write, 4 KiB',
      publishedValue: 1_150_000,
      unit: 'commands/s',
      use: 'held-back',
      source: heise,
      workload: { ...read4k, operation: 'write' },
      note: 'fitted to the rating, which the measured drive did not reach',
    },
  ],
  CAP: { MQES: zeroBased(16_384), CQR: 1, TO: 20, CSS_NCSS: 1 },
  VS: 0x0002_0000,
  identify: {
    VID: 0x144d, // Samsung
    SSVID: 0x144d,
    SN: 'GPUNVME-SIM-990PRO',
    MN: 'simulated Samsung 990 PRO 2TB',
    FR: '1',
    MDTS: 9,
    WCTEMP: 355, // 82 °C
    CCTEMP: 358, // 85 °C
  },
  ioQueuePairs: 128,
  commandSlots: 1024,
  enableNs: 20 * NS_PER_MS,
  resetNs: 2 * NS_PER_MS,
  shutdownNs: 50 * NS_PER_MS,
  commandNs: 600,
  adminNs: 20_000,
  readNs: [30_000, 40_000, 55_000, 90_000, 400_000],
  writeNs: [5_000, 9_000, 14_000, 30_000, 150_000],
  flushNs: [200_000, 400_000, 800_000, 1_500_000, 3_000_000],
  deallocateNs: [20_000, 50_000, 100_000, 300_000, 1_000_000],
  mediaUnits: 128,
  readBytesPerSecond: 7_520e6,
  readSetupNs: 165,
  writeBytesPerSecond: 6_920e6,
  writeSetupNs: 53,
  link: { gen: 4, width: 4, mps: 512, propagationNs: 150, maxReadRequestBytes: 512 },
}
