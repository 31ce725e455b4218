import { spawn } from 'node:child_process'

/** Exit status and output of a program. */
export interface Ended {
  /** The exit status; null after a signal. */
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Options of a run. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Data for stdin. */
  readonly input?: Uint8Array
  /** Time limit, after which the program is killed and the test fails. */
  readonly timeoutMs?: number
}

/** Runs a program to its end, whether it succeeds or fails. */
export function end(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { env, input, timeoutMs = 60_000 } = options
  return new Promise((done, fail) => {
    const child = spawn(command, args, { env: { ...process.env, ...env } })
    const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    let late = false
    const timer = setTimeout(() => {
      late = true
      child.kill('SIGKILL')
    }, timeoutMs)
    child.stdout.on('data', (data: Buffer) => said.stdout.push(data))
    child.stderr.on('data', (data: Buffer) => said.stderr.push(data))
    // The program may end without reading its input.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
    child.on('error', (error) => {
      clearTimeout(timer)
      fail(error)
    })
    child.on('close', (status, signal) => {
      clearTimeout(timer)
      const [stdout, stderr] = [said.stdout, said.stderr].map((data) => Buffer.concat(data).toString()) as [
        string,
        string,
      ]
      if (late) fail(new Error(`${command} did not end within ${timeoutMs} ms\n${stdout}${stderr}`))
      else done({ status, signal, stdout, stderr })
    })
  })
}
