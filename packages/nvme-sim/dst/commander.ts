import type { Entry } from '../conformance/raw-host/entry.js'
import type { Host } from './host.js'
import type { ResetKind } from './scenario.js'
import type { Submitted } from './submitted.js'

/** Operations of `Driver` that its components use. */
export interface Commander {
  readonly host: Host
  /** Lets time pass until `condition` holds; false if it does not within `limitNs`. */
  until(condition: () => boolean, limitNs: number): Promise<boolean>
  /** Executes an Admin command; returns whether it succeeded. */
  admin(what: NonNullable<Submitted['admin']>, entry: Entry): Promise<boolean>
  /** Submits an Admin command when there is room; undefined if there is none. @param data content of its buffer. */
  send(
    what: NonNullable<Submitted['admin']>,
    entry: Entry,
    statuses: readonly string[],
    data?: Uint8Array,
  ): Promise<Submitted | undefined>
  /** Waits for a command's completion; returns whether it succeeded and no fault forged its status. */
  answer(command: Submitted): Promise<boolean>
  /** Waits for all commands that can still complete. */
  settle(): Promise<void>
  reset(how: ResetKind): Promise<void>
  /** Allows a diagnostic of the simulator. */
  allow(diagnostic: RegExp): void
}
