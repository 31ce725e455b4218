import type { Entry } from '../conformance/raw-host/entry.js'
import type { Host } from './host.js'
import type { ResetKind } from './scenario.js'
import type { Submitted } from './submitted.js'

/** What the parts of a driver use of it. */
export interface Commander {
  readonly host: Host
  /** Lets time pass until `condition` holds; false if it does not within `limitNs`. */
  until(condition: () => boolean, limitNs: number): Promise<boolean>
  /** Executes an Admin command; returns whether it succeeded. */
  admin(what: NonNullable<Submitted['admin']>, entry: Entry): Promise<boolean>
  /** Submits an Admin command, once there is room; undefined if there is none. @param data the data of its buffer. */
  send(
    what: NonNullable<Submitted['admin']>,
    entry: Entry,
    statuses: readonly string[],
    data?: Uint8Array,
  ): Promise<Submitted | undefined>
  /** Waits for a command's completion; returns whether it is a success that no fault made up. */
  answer(command: Submitted): Promise<boolean>
  /** Waits until all commands have completed that still can. */
  settle(): Promise<void>
  reset(how: ResetKind): Promise<void>
  /** Allows the simulator to report a mistake. */
  allow(diagnostic: RegExp): void
}
