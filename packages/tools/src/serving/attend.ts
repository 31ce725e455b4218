import type { Diagnostic } from '@gpunvme/nvme-sim'
import { VfioUserServerError, type VfioUserServer } from '@gpunvme/nvme-sim/vfio-user'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../binding/run-command.js'
import type { Output } from '../terminal/output.js'
import { Narrator } from './narrator.js'
import type { FinalCounters } from './summary.js'

/** Polling interval of the counters, if they are redrawn, or if only clients and mistakes are reported. */
const LOOK_MS = { redrawn: 250, told: 1000 } as const

/** Final state of a server. */
export interface Attended {
  readonly counters: FinalCounters
  readonly diagnostics: readonly Diagnostic[]
  /** Exit code of the command that it was served to. */
  readonly exitCode?: number
}

/** Reports the activity of a server until `signal` is aborted. @throws the error of a server that ended by itself */
export async function attend(
  server: VfioUserServer,
  output: Output,
  signal: AbortSignal,
  redrawn: boolean,
): Promise<Attended> {
  await Promise.race([narrate(server, output, signal, redrawn), server.closed])
  return { counters: await server.statistics(), diagnostics: await server.diagnostics() }
}

/**
 * Does the same while a command runs, which has the terminal. Signals are forwarded to it.
 * @throws ToolsError (COMMAND_NOT_STARTED); the error of the server, after which the command is ended too.
 */
export async function attendDuring(
  server: VfioUserServer,
  words: readonly [string, ...string[]],
  output: Output,
): Promise<Attended> {
  const over = new AbortController()
  let pid: number | undefined
  const command = runCommand(words, (started) => (pid = started)).finally(() => over.abort())
  // It may fail before it is awaited.
  command.catch(() => undefined)
  try {
    const attended = await attend(server, output, over.signal, false)
    return { ...attended, exitCode: await command }
  } catch (error) {
    if (pid !== undefined && !over.signal.aborted) process.kill(pid, 'SIGTERM')
    throw error
  }
}

async function narrate(server: VfioUserServer, output: Output, signal: AbortSignal, redrawn: boolean): Promise<void> {
  const sample = async () => ({ atMs: performance.now(), counters: await server.statistics() })
  const isRedrawn = redrawn && !output.quiet && output.isRedrawn
  const narrator = new Narrator(output, await sample(), isRedrawn)
  try {
    while (!signal.aborted) {
      await unlessLate(async () => narrator.update(await sample(), await server.diagnostics()))
      await pause(isRedrawn ? LOOK_MS.redrawn : LOOK_MS.told, signal)
    }
    narrator.update(await sample(), await server.diagnostics())
  } finally {
    narrator.end()
  }
}

/** A blocked server, for example by its disk, continues: there is nothing to report until it responds. */
async function unlessLate(look: () => Promise<void>): Promise<void> {
  try {
    await look()
  } catch (error) {
    if (!(error instanceof VfioUserServerError && error.reason === 'late')) throw error
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch (error) {
    // The signal reports its end.
    if (!signal.aborted) throw error
  }
}
