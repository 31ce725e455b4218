import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Exit status and output of a child process. */
export interface ChildEnd {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
}

/** Runs a module in a child process. `before` is prepended to the command. */
export async function endOfModule(script: string, before: readonly string[] = []): Promise<ChildEnd> {
  const [command, ...args] = [...before, process.execPath, '--input-type=module', '-e', script]
  const child = spawn(command, args, {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 100_000,
    killSignal: 'SIGKILL',
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part))
  const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { status, signal, output }
}

/** Runs code in a child process, with `host` from `loadSocketHost` and `hardware` from `loadHardwareHost`. */
export function endOf(code: string, before?: readonly string[]): Promise<ChildEnd> {
  const script = `
    import { loadHardwareHost, loadSocketHost } from '@gpunvme/cuda-native/host'
    const host = loadSocketHost(), hardware = loadHardwareHost()
    ${code}`
  return endOfModule(script, before)
}

/** Like `endOf`, but expects exit status 0, and returns the output parsed as JSON. */
export async function run(code: string, before?: readonly string[]): Promise<unknown> {
  const { status, signal, output } = await endOf(code, before)
  if (status !== 0) throw new Error(`the child ended with ${signal ?? status}; output: ${JSON.stringify(output)}`)
  return JSON.parse(output)
}
