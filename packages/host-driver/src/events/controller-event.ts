import type { RecoveryStep } from '../recovery/recovery.js'

/** Something that happened to a controller beside the commands that were sent to it. Times are of the transport's clock. */
export type ControllerEvent =
  /** A step of a recovery, and how it ended. */
  | {
      readonly kind: 'recovery'
      readonly timeNs: number
      readonly step: RecoveryStep
      /** `insufficient`: it did what it does, and commands are still unaccounted for. `unavailable`: this transport cannot. */
      readonly result: 'begun' | 'succeeded' | 'insufficient' | 'failed' | 'unavailable'
      readonly tookNs: number
      readonly reason?: string
    }
  /** The controller is gone; nothing touches its registers any more. */
  | { readonly kind: 'lost'; readonly timeNs: number; readonly csts: number; readonly reason: string }
  /** SMART / Health: what the critical warning of the log says now. */
  | { readonly kind: 'health'; readonly timeNs: number; readonly text: string; readonly criticalWarning: number }
  /** Namespaces came, went or changed; `ctrl.namespaces` has them as they are now. */
  | { readonly kind: 'namespaces-changed'; readonly timeNs: number; readonly nsids: readonly number[] }
  /** The controller complains, of an invalid doorbell above all. */
  | { readonly kind: 'error'; readonly timeNs: number; readonly text: string }
  /** Any other asynchronous event, decoded as text. */
  | { readonly kind: 'notice'; readonly timeNs: number; readonly text: string }
  /** Something optional that the controller refused while it was set up, and what is not in force for it. */
  | { readonly kind: 'refused'; readonly timeNs: number; readonly what: string; readonly reason: string }
  /** A subscriber was too slow; this many events before this one are missing from its sequence. */
  | { readonly kind: 'missed'; readonly timeNs: number; readonly events: number }
