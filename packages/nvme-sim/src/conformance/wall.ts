import { fail } from './check.js'

/** How long a step may take by the wall when nothing else is said: far longer than a drive needs for any of it. */
export const WALL_LIMIT_MS = 60_000

/**
 * What `step` promises, or a failure when that takes longer by the wall: a transport whose promises never resolve has
 * no clock to be trusted either. Nothing stays behind that would keep the process alive.
 * @throws CheckFailed
 */
export async function withinWall<T>(what: string, limitMs: number, step: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => {
      resolve('late')
    }, limitMs)
  })
  try {
    const first = await Promise.race([step.then((value) => ({ value })), late])
    return first === 'late' ? fail(`${what} did not end within ${limitMs / 1000} s by the wall`) : first.value
  } finally {
    clearTimeout(timer)
  }
}

/** Lets timers and whatever else waits for the event loop have their turn. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
