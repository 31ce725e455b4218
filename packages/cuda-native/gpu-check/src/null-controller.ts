import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** What the native null controller has seen, when it is stopped. */
export interface NullControllerCounts {
  readonly commands: number
  /** Changes of submission queues' doorbells that it has seen; one that was rung over at once counts with the next. */
  readonly rings: number
}

/** How often the code of an engine crosses PCIe, counted by running it on a port that counts. */
export interface CountedTransactions {
  readonly loads: number
  readonly stores: number
  readonly doorbells: number
}

/** A queue pair, by addresses of this process. */
export type NullQueue = readonly [
  sq: bigint,
  cq: bigint,
  entries: bigint,
  tailDoorbell: bigint,
  headDoorbell: bigint,
  qid: bigint,
]

/** `native/null_controller.cc`: a thread that answers commands with success as fast as it can, and moves no data. */
export interface NullControllerAddon {
  readonly start: (queues: BigUint64Array) => number
  readonly stop: (handle: number) => NullControllerCounts
  /** Of so many 4 KiB reads at that depth. */
  readonly count: (which: 'engine' | 'original', commands: number, depth: number) => CountedTransactions
}

const file = new URL('../build/gpunvme_null.node', import.meta.url)

/** undefined where it was not built: `node gpu-check/build-null.mjs` does. */
export function loadNullController(path: string = fileURLToPath(file)): NullControllerAddon | undefined {
  return existsSync(path) ? (createRequire(import.meta.url)(path) as NullControllerAddon) : undefined
}
