import type { CAP, IdentifyController } from '@gpunvme/nvme-spec'
import type { DriveTiming } from '../model/drive-timing.js'
import type { LinkProfile } from '../model/link.js'
import type { PublishedPoint } from './published.js'

/** Properties and costs of a simulated drive. Presets are data; derive your own with `deriveProfile`. */
export interface DriveProfile extends DriveTiming {
  readonly name: string
  /** Sources of the figures, and which of them are guesses. */
  readonly source: string
  /** Published figures of the drive, fitted and held back; absent for a profile that models no real drive. */
  readonly points?: readonly PublishedPoint[]
  readonly CAP: NonNullable<Parameters<typeof CAP.encode>[0]>
  /** Value of the Version register. */
  readonly VS: number
  /** Identify Controller fields that are not derived from other figures. */
  readonly identify: NonNullable<Parameters<typeof IdentifyController.create>[0]>
  /** Maximum number of I/O queue pairs that Number of Queues grants. */
  readonly ioQueuePairs: number
  /** Commands in progress in the controller, over all queues; others wait in their queues. */
  readonly commandSlots: number
  /** From CC.EN = 1 to CSTS.RDY = 1. */
  readonly enableNs: number
  /** From CC.EN = 0 to CSTS.RDY = 0. */
  readonly resetNs: number
  /** From CC.SHN to CSTS.SHST = 10b. */
  readonly shutdownNs: number
  /** The link. Default: infinitely fast. */
  readonly link?: LinkProfile
}
