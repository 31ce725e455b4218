// The guest's side of the harness: runs scenarios one after another, each in a separate process. Reports their output,
// how they ended, and kernel messages, as lines of JSON on the second serial port.
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import type { Message, Scenario } from '../protocol.js'

const scenarios = JSON.parse(readFileSync('/tmp/vm/job.json', 'utf8')) as Scenario[]
const port = openSync('/dev/ttyS1', 'w')
const kernel = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK)
const record = Buffer.alloc(8192)

function report(message: Message): void {
  const line = Buffer.from(`${JSON.stringify(message)}\n`)
  for (let sent = 0; sent < line.length;) sent += writeSync(port, line, sent)
}

/** Returns kernel messages since the last call whose log level is at most `atMost` (0 to 7). */
function kernelLines(atMost: number): string[] {
  const lines: string[] = []
  for (;;) {
    try {
      const text = record.toString('utf8', 0, readSync(kernel, record))
      const [, priority, message = ''] = /^(\d+),[^;]*;(.*)/.exec(text) ?? []
      if ((Number(priority) & 7) <= atMost) lines.push(message)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EAGAIN') return lines
      // The kernel has overwritten messages that were not read yet.
      if (code !== 'EPIPE') throw error
    }
  }
}

function run({ name, script, timeoutMs, environment }: Scenario): Promise<Message> {
  return new Promise((resolve) => {
    const started = performance.now()
    const child = spawn(process.execPath, [join(import.meta.dirname, `${script}.js`)], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    let printed = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (data: string) => {
      const lines = (printed + data).split('\n')
      printed = lines.pop() ?? ''
      for (const line of lines) report({ scenario: name, line })
    })
    child.stderr.setEncoding('utf8').on('data', (data: string) => (stderr = (stderr + data).slice(-8000)))
    child.on('close', (code, signal) => {
      if (printed !== '') report({ scenario: name, line: printed })
      const ms = Math.round(performance.now() - started)
      resolve({ scenario: name, end: { code, signal, ms, stderr }, kernel: kernelLines(6) })
    })
  })
}

report({ booted: { release: release(), kernel: kernelLines(4) } })
for (const scenario of scenarios) report(await run(scenario))
report({ done: true, kernel: kernelLines(6) })
closeSync(port)
