import type { CAP, IdentifyController } from '@gpunvme/nvme-spec'
import type { DriveTiming } from '../model/drive-timing.js'
import type { LinkProfile } from '../model/link.js'
import type { PublishedPoint } from './published.js'

/** What a simulated drive says about itself and what it costs. Presets are data; derive your own with `deriveProfile`. */
export interface DriveProfile extends DriveTiming {
  readonly name: string
  /** Where its figures come from, and which of them are guesses. */
  readonly source: string
  /** What is published about the drive, fitted and held back; none for a profile that stands for no drive. */
  readonly points?: readonly PublishedPoint[]
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
