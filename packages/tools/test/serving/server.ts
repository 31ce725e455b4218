import { spawn, type ChildProcess } from 'node:child_process'
import type { Ended } from '../gpunvme.js'
import { BIN } from '../process.js'

/** What it says when clients may come. */
const READY = 'Press Ctrl-C to stop (SIGINT).'

/** A server that runs in a process of its own. */
export interface Server {
  readonly child: ChildProcess
  /** All that it has said on stderr so far. */
  readonly said: () => string
  /** Sends signals, all of which are there before it sees the first, and waits for its end. */
  readonly end: (...signals: NodeJS.Signals[]) => Promise<Ended>
}

/** Runs `gpunvme sim serve` with these options, until clients may come. @throws Error with what it said instead */
export async function startServer(args: readonly string[], cwd: string): Promise<Server> {
  const child = spawn(process.execPath, [BIN, 'sim', 'serve', ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      if (stderr.includes(READY)) resolve()
    })
    ended.then(() => reject(new Error(`gpunvme sim serve has ended: ${stderr}`)), reject)
  })
  return {
    child,
    said: () => stderr,
    end(...signals) {
      child.kill('SIGSTOP')
      for (const signal of signals) child.kill(signal)
      child.kill('SIGCONT')
      return ended
    },
  }
}

/** Lends a server, which is gone afterwards. */
export async function withServer<T>(
  args: readonly string[],
  cwd: string,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await startServer(args, cwd)
  try {
    return await use(server)
  } finally {
    await server.end('SIGKILL')
  }
}
