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
  /** CC.EN changed before CSTS.RDY followed its previous change, or set in the wrong write after a shutdown. */
  | 'enable-order'
  /** D3hot before the controller was shut down. */
  | 'power-state'
  /** The controller has set CSTS.CFS: CC or the Admin queues are invalid, or the memory of a queue is gone. */
  | 'controller-fatal'
  /** Doorbell of a queue that does not exist, or an offset between two doorbells. */
  | 'doorbell-address'
  /** Doorbell value outside of the queue, beyond its entries, or unchanged. */
  | 'doorbell-value'
  /** Doorbell of a controller or queue that does not act on any now: not ready, shut down, stopped, no bus master. */
  | 'doorbell-state'
  /** Address of a queue or of shadow doorbells that is not memory, or no longer. */
  | 'queue-memory'
  /** Completion queue created in memory in which Phase Tags are set. */
  | 'phase-tag'
  /** Command Identifier that another command in flight has. */
  | 'command-identifier'
  /** Interrupt that cannot arrive, or mask registers accessed while MSI-X is enabled. */
  | 'interrupt'
  /** PRP entry, SGL descriptor or MPTR that breaks the rules of data pointers. */
  | 'data-pointer'
  /** Data pointer of a command to an address that is not memory, or no longer. */
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

/** One mistake of the host, or another event that a driver author must know of. */
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
