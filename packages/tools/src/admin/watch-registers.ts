import { setTimeout as sleep } from 'node:timers/promises'
import { changesBetween, readRegisters, type RegisterChange, type RegisterState } from './register-snapshot.js'
import type { ReadRegister } from './view.js'

export interface WatchOptions {
  readonly intervalMs: number
  /** How many times to look; for ever when not given. */
  readonly looks: number | undefined
  /** Ends the watch; it has done its work then. */
  readonly signal: AbortSignal
  /** Called after each pause, so that modelled time, where a drive has it, goes on as well. */
  readonly passModelledTime: ((ms: number) => Promise<void>) | undefined
}

/**
 * Looks at the registers again and again.
 * @param name of the drive, for errors. @param changed is told what reads otherwise than the time before.
 * @returns how many times it looked.
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

/** False where it was cut short. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
