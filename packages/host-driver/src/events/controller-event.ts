/** A step of a recovery, from the mildest to the strongest. */
export type RecoveryStep = 'abort' | 'recreate-queues' | 'controller-reset' | 'function-reset'

/** An event of a controller that is not the completion of a command. Times are those of the transport's clock. */
export type ControllerEvent =
  /** A step of a recovery, and its result. */
  | {
      readonly kind: 'recovery'
      readonly timeNs: number
      readonly step: RecoveryStep
      /**
       * `insufficient`: the step succeeded, but commands are still unaccounted for. `unavailable`: this transport
       * cannot take it.
       */
      readonly result: 'begun' | 'succeeded' | 'insufficient' | 'failed' | 'unavailable'
      readonly tookNs: number
      readonly reason?: string
    }
  /** The controller is lost; its registers are no longer accessed. */
  | { readonly kind: 'lost'; readonly timeNs: number; readonly csts: number; readonly reason: string }
  /** SMART / Health: the current critical warning of the log. */
  | { readonly kind: 'health'; readonly timeNs: number; readonly text: string; readonly criticalWarning: number }
  /** Namespaces were added, removed or changed; `ctrl.namespaces` is up to date. */
  | { readonly kind: 'namespaces-changed'; readonly timeNs: number; readonly nsids: readonly number[] }
  /** The controller reports an error, such as an invalid doorbell value. */
  | { readonly kind: 'error'; readonly timeNs: number; readonly text: string }
  /** Any other asynchronous event, decoded as text. */
  | { readonly kind: 'notice'; readonly timeNs: number; readonly text: string }
  /** The controller refused an optional feature during setup; `what` is not used. */
  | { readonly kind: 'refused'; readonly timeNs: number; readonly feature: string; readonly reason: string }
  /** A subscriber was too slow: this many events before this one are missing. */
  | { readonly kind: 'missed'; readonly timeNs: number; readonly events: number }
