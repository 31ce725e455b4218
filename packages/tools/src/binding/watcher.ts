// A process of its own beside `gpunvme bind ADDRESS -- COMMAND`: when that has ended without giving the drive back - killed,
// crashed, interrupted twice - it ends the command and gives the drive back. Its standard input is open for as long as the
// other lives; what it has to know comes by it, in lines of JSON.
import { setTimeout as sleep } from 'node:timers/promises'
import { inCliWords } from '../command-line/cli-words.js'
import { printableLines } from '../terminal/printable.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { commandFor } from './command-line.js'
import { giveBack, NotBoundError } from './give-back.js'
import { isAlive, type ProcessIdentity } from './process-identity.js'
import type { Watched, WatcherMessage } from './start-watcher.js'

/** What a command may take to end after SIGTERM, and after SIGKILL. */
const GRACE_MS = 10_000
/** What is left of it may drive the drive still. */
const WAIT_MS = 60_000

const { root, bdf, holder } = JSON.parse(process.argv[2] ?? '') as Watched
// Of the terminal, and of who ends everything that is called gpunvme: this one has to come to its end.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined)

let command: ProcessIdentity | undefined
let isDone = false
let unread = ''
process.stdin.setEncoding('utf8')
for await (const text of process.stdin as AsyncIterable<string>) {
  const lines = (unread + text).split('\n')
  unread = lines.pop()!
  for (const line of lines) {
    const message = JSON.parse(line) as WatcherMessage
    if (message.command !== undefined) command = message.command
    isDone ||= message.isDone ?? false
  }
}
if (!isDone) {
  if (command !== undefined) await end(command)
  await restore()
}

async function end(identity: ProcessIdentity): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const until = performance.now() + GRACE_MS
    if (isAlive(identity)) process.kill(identity.pid, signal)
    while (isAlive(identity) && performance.now() < until) await sleep(50)
  }
}

async function restore(): Promise<void> {
  try {
    await giveBack(root, bdf, { holder, waitMs: WAIT_MS })
    say(`${bdf} was given back: the gpunvme that had it ended without`)
  } catch (error) {
    // It ended before it had taken the drive.
    if (error instanceof NotBoundError) return
    const message = error instanceof GpuNvmeError ? inCliWords(error) : String(error)
    say(...printableLines(message), `  ${bdf} is not given back yet: ${commandFor(root, 'unbind', bdf)}`)
    process.exitCode = 1
  }
}

function say(...lines: string[]): void {
  process.stderr.write(`${lines.join('\n')}\n`)
}
