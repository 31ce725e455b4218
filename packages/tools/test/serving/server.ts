import { spawn, type ChildProcess } from 'node:child_process'
import type { Ended } from '../gpunvme.js'
import { BIN } from '../process.js'

/** Message of a server that accepts clients. */
const READY = 'Press Ctrl-C to stop (SIGINT).'

/** A server in its own process. */
export interface Server {
  readonly child: ChildProcess
  /** Returns its stderr so far. */
  readonly said: () => string
  /** Sends signals, all before the server can handle the first, and waits for its end. */
  readonly end: (...signals: NodeJS.Signals[]) => Promise<Ended>
}

/** Starts `gpunvme sim serve`, and waits until it accepts clients. @throws Error with its output if it does not */
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

/** Calls `use` with a server, then ends the server. */
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
