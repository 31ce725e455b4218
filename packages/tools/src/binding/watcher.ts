import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorLines, errorText } from '../command-line/error-text.js'
import { isSystemError } from '../command-line/file-error.js'
import type { Lines } from '../terminal/output.js'
import { typed } from '../command-line/next-step.js'
import { printableLines } from '../terminal/printable.js'
import { commandFor } from '../command-line/advised-command.js'
import { giveBack, NotBoundError } from './give-back.js'
import { isAlive, type ProcessIdentity } from './process-identity.js'
import type { Watched, WatcherMessage } from './start-watcher.js'

/** Time for a command to end after SIGTERM, and after SIGKILL. */
const GRACE_MS = 10_000
/** Its remaining processes may still use the drive. */
const WAIT_MS = 60_000

/**
 * The process beside `gpunvme bind ADDRESS -- COMMAND`: if that ends without returning the drive (killed, crashed,
 * interrupted twice), it ends the command and returns the drive.
 * @param messages lines of JSON, which end with the other process.
 * @returns its exit code.
 */
export async function watchBinding(watched: Watched, messages: AsyncIterable<string>): Promise<number> {
  const { command, isDone } = await listen(messages)
  if (isDone) return 0
  if (command !== undefined) await end(command)
  return restore(watched)
}

async function listen(messages: AsyncIterable<string>): Promise<{ command?: ProcessIdentity; isDone: boolean }> {
  const heard: { command?: ProcessIdentity; isDone: boolean } = { isDone: false }
  let unread = ''
  for await (const text of messages) {
    const lines = (unread + text).split('\n')
    unread = lines.pop()!
    for (const line of lines) Object.assign(heard, JSON.parse(line) as WatcherMessage)
  }
  return heard
}

async function end(identity: ProcessIdentity): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const until = performance.now() + GRACE_MS
    if (isAlive(identity)) kill(identity.pid, signal)
    while (isAlive(identity) && performance.now() < until) await sleep(50)
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It has ended meanwhile.
    if (!isSystemError(error) || error.code !== 'ESRCH') throw error
  }
}

async function restore({ root, bdf, holder, invocation }: Watched): Promise<number> {
  try {
    await giveBack(root, bdf, { holder, waitMs: WAIT_MS })
    say(`${bdf} was returned to its driver: gpunvme ended without doing so`)
    return 0
  } catch (error) {
    // The other process ended before binding the drive.
    if (error instanceof NotBoundError) return 0
    const lines =
      error instanceof GpuNvmeError ? errorLines(errorText(error, invocation)) : printableLines(String(error))
    const command = typed(commandFor(root, 'unbind', bdf), invocation)
    say(lines, `  ${bdf} is not yet returned to its driver: ${command}`)
    return 1
  }
}

function say(...lines: readonly Lines[]): void {
  process.stderr.write(`${lines.flat().join('\n')}\n`)
}
