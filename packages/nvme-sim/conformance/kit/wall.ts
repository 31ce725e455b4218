import { fail } from './check.js'

/** Default wall-clock limit of a step, far longer than any step takes on a drive. */
export const WALL_LIMIT_MS = 60_000

/**
 * Returns the result of `step`; fails if the step exceeds its limit in wall time, since a transport whose promises
 * never resolve may have a broken clock too. Leaves no timer that keeps the process alive.
 * @throws CheckFailed
 */
export async function withWallLimit<T>(what: string, limitMs: number, step: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => {
      resolve('late')
    }, limitMs)
  })
  try {
    const first = await Promise.race([step.then((value) => ({ value })), late])
    return first === 'late' ? fail(`${what} did not end within ${limitMs / 1000} s of wall time`) : first.value
  } finally {
    clearTimeout(timer)
  }
}

/** Yields to timers and other tasks of the event loop. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
