import { CAP, IdentifyController, zeroBased } from '@gpunvme/nvme-spec'
import type { DriveTiming } from './drive-model.js'
import type { LinkProfile } from './link.js'

/** What a simulated drive says about itself and what it costs. Presets are data; derive your own with `deriveProfile`. */
export interface DriveProfile extends DriveTiming {
  readonly name: string
  /** Where its figures come from, and which of them are guesses. */
  readonly source: string
  readonly CAP: NonNullable<Parameters<typeof CAP.encode>[0]>
  /** The Version register. */
  readonly VS: number
  /** Identify Controller, as far as it does not follow from the rest. */
  readonly identify: NonNullable<Parameters<typeof IdentifyController.create>[0]>
  /** I/O queue pairs that Number of Queues grants at most. */
  readonly ioQueuePairs: number
  /** Commands that the controller works on at a time, over all queues; the others wait in their queues. */
  readonly commandSlots: number
  /** From CC.EN = 1 to CSTS.RDY = 1. */
  readonly enableNs: number
  /** From CC.EN = 0 to CSTS.RDY = 0. */
  readonly resetNs: number
  /** From CC.SHN to CSTS.SHST = 10b. */
  readonly shutdownNs: number
  /** Absent: an infinitely fast link. */
  readonly link?: LinkProfile
}

const NS_PER_MS = 1e6
const MIB = 1024 * 1024
const none = [0, 0, 0, 0, 0] as const

const ideal: DriveProfile = {
  name: 'ideal',
  source: 'nothing costs any time; limits are those of an ordinary drive',
  CAP: { MQES: zeroBased(1024), CQR: 1, TO: 20, CSS_NCSS: 1, NSSRS: 1, MPSMAX: 4, CRWMS: 1 },
  VS: 0x0002_0100,
  identify: {
    SN: 'GPUNVME-SIM-1',
    MN: 'gpunvme simulated controller',
    FR: '1',
    MDTS: 8, // 2 ^ 8 pages of 4 KiB = 1 MiB
  },
  ioQueuePairs: 64,
  commandSlots: 1024,
  enableNs: 0,
  resetNs: 0,
  shutdownNs: 0,
  commandNs: 0,
  adminNs: 0,
  readNs: none,
  writeNs: none,
  flushNs: none,
  mediaUnits: 1,
  readBytesPerSecond: Infinity,
  writeBytesPerSecond: Infinity,
}

const sn740: DriveProfile = {
  name: 'sn740',
  source:
    'WD PC SN740 512 GB behind PCIe Gen3 x4, on the machine where the predecessor of this project was measured ' +
    '(RTX 3090, B450): VS 1.4, MDTS 1 MiB, 512-byte blocks, 3,315 to 3,350 MiB/s sustained at 1 MiB and 32 deep, ' +
    'before it throttles. Guesses, fitted to nothing: every latency, mediaUnits, commandNs, write rate, queue limits.',
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
  mediaUnits: 32,
  readBytesPerSecond: 3_330 * MIB,
  writeBytesPerSecond: 2_500 * MIB,
  link: { gen: 3, width: 4, mps: 256, propagationNs: 150, maxReadRequestBytes: 512 },
}

/** The presets, by name. */
export const profiles = { ideal, sn740 } as const

export type ProfileName = keyof typeof profiles

/** Parts of a profile; CAP and identify are merged field by field. */
export type ProfileChanges = Partial<DriveProfile>

/** A profile with some of its figures changed: `deriveProfile('sn740', { readBytesPerSecond: Infinity })`. */
export function deriveProfile(base: ProfileName | DriveProfile, changes: ProfileChanges): DriveProfile {
  const profile = typeof base === 'string' ? profiles[base] : base
  return {
    ...profile,
    ...changes,
    CAP: { ...profile.CAP, ...changes.CAP },
    identify: { ...profile.identify, ...changes.identify },
  }
}
