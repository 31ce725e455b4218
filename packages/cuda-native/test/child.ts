import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** How another process ended, and what it printed. */
export interface ChildEnd {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
}

/** Runs a module in another process; `before` is what the command begins with. */
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

/** The same, with `host` as `loadSocketHost` gives it and `hardware` as `loadHardwareHost` does. */
export function endOf(code: string, before?: readonly string[]): Promise<ChildEnd> {
  const script = `
    import { loadHardwareHost, loadSocketHost } from '@gpunvme/cuda-native/host'
    const host = loadSocketHost(), hardware = loadHardwareHost()
    ${code}`
  return endOfModule(script, before)
}

/** The same of one that ends by itself: what it printed, as JSON. */
export async function run(code: string, before?: readonly string[]): Promise<unknown> {
  const { status, signal, output } = await endOf(code, before)
  if (status !== 0) throw new Error(`the child ended with ${signal ?? status}, having said ${JSON.stringify(output)}`)
  return JSON.parse(output)
}
