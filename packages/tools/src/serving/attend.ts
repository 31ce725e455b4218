import { VfioUserServerError, type VfioUserServer } from '@gpunvme/nvme-sim/vfio-user'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../binding/run-command.js'
import type { Output } from '../terminal/output.js'
import { Narrator } from './narrator.js'
import type { FinalCounters } from './summary.js'

/** How often the counters are asked for: where they are redrawn, and where only clients and mistakes are told. */
const LOOK_MS = { redrawn: 250, told: 1000 } as const

/** What a server has done, as it was before its end. */
export interface Attended {
  readonly counters: FinalCounters
  readonly diagnostics: readonly string[]
  /** Of the command that it was served to. */
  readonly exitCode?: number
}

/** Tells what goes on at a server, until `signal` is aborted. @throws what ended a server that ended by itself */
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
 * The same for as long as a command runs, which has the terminal. Signals are its own to end by.
 * @throws CommandNotStartedError; what ended the server: then the command is ended too, as nobody answers it any more.
 */
export async function attendDuring(
  server: VfioUserServer,
  words: readonly [string, ...string[]],
  output: Output,
): Promise<Attended> {
  const over = new AbortController()
  let pid: number | undefined
  const command = runCommand(words, (started) => (pid = started)).finally(() => over.abort())
  // It may fail before anybody waits for it.
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

/** A server that is held up, as by its disk, serves on: there is nothing new to tell until it answers again. */
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
    // Its end is what the signal is for here.
    if (!signal.aborted) throw error
  }
}
