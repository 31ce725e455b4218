import { setTimeout as sleep } from 'node:timers/promises'
import { changesBetween, readRegisters, type RegisterChange, type RegisterState } from './register-snapshot.js'
import type { ReadRegister } from './view.js'

export interface WatchOptions {
  readonly intervalMs: number
  /** Number of polls; undefined for no limit. */
  readonly looks: number | undefined
  /** Ends the watch normally. */
  readonly signal: AbortSignal
  /** Called after each pause, to advance modelled time if the drive has it. */
  readonly passModelledTime: ((ms: number) => Promise<void>) | undefined
}

/**
 * Polls the registers.
 * @param name name of the drive, for errors. @param changed called with registers that differ from the previous poll.
 * @returns the number of polls.
 * @throws DeviceLostError once the drive has left the bus.
 */
export async function watchRegisters(
  read: ReadRegister,
  name: string,
  { intervalMs, looks = Infinity, signal, passModelledTime }: WatchOptions,
  began: (states: readonly RegisterState[]) => void,
  changed: (changes: readonly RegisterChange[]) => void,
): Promise<number> {
  let before = readRegisters(read, name)
  began(before)
  for (let looked = 1; ; looked++) {
    if (looked >= looks || !(await pause(intervalMs, signal))) return looked
    await passModelledTime?.(intervalMs)
    const after = readRegisters(read, name)
    const changes = changesBetween(before, after)
    if (changes.length > 0) changed(changes)
    before = after
  }
}

/** Returns false if it was aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
