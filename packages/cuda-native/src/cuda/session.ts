import { setTimeout as sleep } from 'node:timers/promises'
import type { CudaAddon } from './addon.js'
import { CudaCallError } from './errors.js'

/** An engine on a GPU. */
export interface GpuEngine {
  readonly hasQueues: boolean
  /** Stops the use of the GPU's memory, before the memory of a dead context is freed. Absent if native code holds the context. */
  abandon?(): void
}

/** Engines of a GPU, by weak references: an engine that is collected ends its leaders. */
export class Engines {
  #made: WeakRef<GpuEngine>[] = []

  add(engine: GpuEngine): void {
    this.#made = this.#made.filter((each) => each.deref() !== undefined)
    this.#made.push(new WeakRef(engine))
  }

  /** Number of engines that have queues. */
  get attached(): number {
    return this.#made.filter((each) => each.deref()?.hasQueues === true).length
  }

  /** Lets all engines stop the use of a dead context's memory. */
  abandon(): void {
    for (const each of this.#made) each.deref()?.abandon?.()
  }
}

/** An open GPU, for the modules of this folder and for engines. */
export interface CudaSession {
  /** Engines on this GPU. */
  readonly engines: Engines
  readonly addon: CudaAddon
  /** Handle in the addon. */
  readonly handle: number
  readonly computeCapability: readonly [major: number, minor: number]
  /** Default stream for work. */
  readonly stream: number
  /** Pending waits: the context must outlive them. */
  readonly waits: Set<Promise<unknown>>
}

/**
 * Resolves with whether the stream's current work ends within a time. Never blocks. When it rejects, the work has ended as
 * well, so its memory can be freed.
 */
export async function finished(session: CudaSession, stream: number, timeoutNs: number): Promise<boolean> {
  try {
    const wait = session.addon.finished(stream, timeoutNs)
    session.waits.add(wait)
    return await wait.finally(() => session.waits.delete(wait))
  } catch (error) {
    if (error instanceof CudaCallError && !(await becomes(() => session.addon.isDone(stream), timeoutNs))) return false
    throw error
  }
}

/**
 * Waits for the stream's current work and returns whether it ended in time. Blocks the event loop: for copies of a few
 * kilobytes in a stream without kernels. @throws CudaCallError if the work failed.
 */
export function isSettled({ addon }: CudaSession, stream: number, timeoutNs: number): boolean {
  const deadline = performance.now() + timeoutNs / 1e6
  while (!addon.isDone(stream)) if (performance.now() >= deadline) return false
  return true
}

/** Resolves with whether the GPU finishes all work of this session within a time. */
export function becomesIdle(session: CudaSession, timeoutNs: number): Promise<boolean> {
  return becomes(() => isAtRest(session), timeoutNs)
}

/** Returns whether no work and no engine runs in this session, or its context is dead. */
function isAtRest({ addon, handle }: CudaSession): boolean {
  return isIt(() => addon.isIdle(handle))
}

async function becomes(isIdle: () => boolean, timeoutNs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutNs / 1e6
  for (let pauseMs = 1; !isIt(isIdle); pauseMs = Math.min(2 * pauseMs, 20)) {
    if (performance.now() >= deadline) return false
    await sleep(pauseMs)
  }
  return true
}

function isIt(isIdle: () => boolean): boolean {
  try {
    return isIdle()
  } catch (error) {
    // Nothing runs in an unusable context.
    if (error instanceof CudaCallError) return true
    throw error
  }
}

/** Default time limit for work on a GPU. */
export const DEFAULT_TIMEOUT_NS = 30e9
