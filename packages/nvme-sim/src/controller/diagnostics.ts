import type { EventClock } from '../time/clock.js'

/** What a diagnostic is about. Stable across releases; its text is not. */
export type DiagnosticCode =
  /** Access to an offset without a register or of the wrong width, or a write to a read-only register. */
  | 'register-access'
  /** Write of read-only or reserved bits, or of a reserved value, of a register or a feature. */
  | 'reserved-bits'
  /** Access that fails as an Unsupported Request: D3hot, Memory Space Enable is 0, or BAR0 is elsewhere. */
  | 'unsupported-request'
  /** Setting that the controller ignores in its current state, such as another CC.MPS while CC.EN is 1. */
  | 'ignored-setting'
  /** CC.EN changed before CSTS.RDY followed the previous change, or set after a shutdown while CC.SHN remains set. */
  | 'enable-order'
  /** D3hot before the controller was shut down. */
  | 'power-state'
  /** The controller has set CSTS.CFS: CC or the Admin queues are invalid, or the memory of a queue is gone. */
  | 'controller-fatal'
  /** Doorbell of a queue that does not exist, or an offset between two doorbells. */
  | 'doorbell-address'
  /** Doorbell value outside of the queue, beyond its entries, or unchanged. */
  | 'doorbell-value'
  /** Doorbell that has no effect in the current state: not ready, shut down, queue stopped, no bus master. */
  | 'doorbell-state'
  /** Address of a queue or of shadow doorbells that is not, or no longer, mapped memory. */
  | 'queue-memory'
  /** Completion queue created in memory in which Phase Tags are set. */
  | 'phase-tag'
  /** Command Identifier of another command in flight. */
  | 'command-identifier'
  /** Interrupt that cannot arrive, or mask registers accessed while MSI-X is enabled. */
  | 'interrupt'
  /** PRP entry, SGL descriptor or MPTR that breaks the rules of data pointers. */
  | 'data-pointer'
  /** Data pointer to an address that is not, or no longer, mapped memory. */
  | 'unmapped-memory'
  /** Format NVM of a namespace with commands in flight. */
  | 'namespace-busy'
  /** Error that media threw: not a mistake of the host. */
  | 'media'
  /** Valid command that the simulator cannot execute: not a mistake of the host. */
  | 'simulator-limit'
  /** vfio-user message that is invalid or not supported. */
  | 'client-message'
  /** The vfio-user server has disconnected its client. */
  | 'client-disconnected'
  /** The system lacks descriptors or memory to serve a vfio-user client: not a mistake of the host. */
  | 'server-resources'
  /** The last entry: the limit of 1000 is reached, and further diagnostics are dropped. */
  | 'dropped'

/** A mistake of the host, or another event that matters to a driver author. */
export interface Diagnostic {
  readonly code: DiagnosticCode
  /** Time on the simulator's clock, in nanoseconds since its start. */
  readonly timeNs: number
  /** What happened, in a sentence for a driver author. */
  readonly text: string
}

/** Enough to find the mistake, and a bound on memory for a host that repeats it forever. */
const MAX_ENTRIES = 1000

/** The diagnostics of a controller. A test asserts that `entries` is empty. */
export class Diagnostics {
  readonly entries: Diagnostic[] = []
  private readonly clock: Pick<EventClock, 'now'>

  constructor(clock: Pick<EventClock, 'now'>) {
    this.clock = clock
  }

  report(code: DiagnosticCode, text: string): void {
    if (this.entries.length < MAX_ENTRIES) this.add(code, text)
    else if (this.entries.length === MAX_ENTRIES)
      this.add('dropped', `further diagnostics are dropped after ${MAX_ENTRIES}`)
  }

  private add(code: DiagnosticCode, text: string): void {
    this.entries.push(Object.freeze({ code, timeNs: this.clock.now(), text }))
  }
}

/** Formats an address or offset for messages. */
export function hex(value: number): string {
  return `0x${value.toString(16)}`
}
