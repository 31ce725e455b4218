import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** PCIe transactions of an engine's code, counted by running it on a counting port. */
export interface CountedTransactions {
  readonly loads: number
  readonly stores: number
  readonly doorbells: number
}

/** The addon gpunvme_drive: drives that CPU threads serve (`native/drive_threads.cc`), and counts of PCIe transactions. */
export interface DriveAddon {
  /**
   * Starts a drive, and returns its handle. The words are a `DriveQueue` per queue, and a `DriveNamespace` and `DrivePlan`.
   * @throws RangeError if `threads` does not divide the number of queues; Error if a thread cannot be created
   */
  readonly start: (queues: BigUint64Array, drive: BigUint64Array, threads: number) => number
  /** Stops a drive. Returns its queues with their counts. */
  readonly stop: (handle: number) => BigUint64Array
  /** Counts the transactions of `commands` 4 KiB reads at a queue depth. */
  readonly count: (which: 'engine' | 'original', commands: number, depth: number) => CountedTransactions
}

const file = new URL('../build/gpunvme_drive.node', import.meta.url)

/** Loads the addon. Returns undefined if it is not built (`node gpu-check/build-native.mjs`). */
export function loadDriveAddon(path: string = fileURLToPath(file)): DriveAddon | undefined {
  return existsSync(path) ? (createRequire(import.meta.url)(path) as DriveAddon) : undefined
}

/** Returns the largest number of threads, up to `maxThreads`, that each serve the same number of queues. */
export function threadsFor(queues: number, maxThreads: number): number {
  let threads = Math.min(queues, maxThreads)
  while (queues % threads !== 0) threads--
  return threads
}
