import { setTimeout as sleep } from 'node:timers/promises'
import type { CudaAddon } from './addon.js'
import { CudaCallError } from './errors.js'

/** Engines that nobody keeps for being here: one that is forgotten ends with its leaders. */
export class Engines {
  #made: WeakRef<{ readonly hasQueues: boolean }>[] = []

  add(engine: { readonly hasQueues: boolean }): void {
    this.#made = this.#made.filter((each) => each.deref() !== undefined)
    this.#made.push(new WeakRef(engine))
  }

  /** How many of them have queues. */
  get attached(): number {
    return this.#made.filter((each) => each.deref()?.hasQueues === true).length
  }
}

/** An open GPU, as the parts of this folder and engines know it. */
export interface CudaSession {
  /** Engines that were made here. */
  readonly engines: Engines
  readonly addon: CudaAddon
  /** What the addon knows it by. */
  readonly handle: number
  readonly computeCapability: readonly [major: number, minor: number]
  /** The stream of what is put into none. */
  readonly stream: number
  /** Waits that are not over: the GPU's context outlives them. */
  readonly waits: Set<Promise<unknown>>
}

/**
 * Resolves whether all that was put into the stream until now is done within that time. Never blocks. Where it cannot be
 * waited for, it has ended nevertheless when this rejects: whoever hears of it may give the memory away.
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
 * Whether all that was put into the stream until now is done within that time. Returns no sooner, and blocks the event
 * loop: for a few kilobytes in a stream that has no kernels. @throws CudaCallError where it went wrong.
 */
export function isSettled({ addon }: CudaSession, stream: number, timeoutNs: number): boolean {
  const deadline = performance.now() + timeoutNs / 1e6
  while (!addon.isDone(stream)) if (performance.now() >= deadline) return false
  return true
}

/** Resolves whether nothing is left to do for the GPU here, within that time. */
export function becomesIdle(session: CudaSession, timeoutNs: number): Promise<boolean> {
  return becomes(() => isAtRest(session), timeoutNs)
}

/** Whether nothing is under way here: neither work nor an engine, or a dead context. */
export function isAtRest({ addon, handle }: CudaSession): boolean {
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
    // Nothing runs in a context that cannot be used any more.
    if (error instanceof CudaCallError) return true
    throw error
  }
}

/** How long work on a GPU may take where nothing else is said. */
export const DEFAULT_TIMEOUT_NS = 30e9
