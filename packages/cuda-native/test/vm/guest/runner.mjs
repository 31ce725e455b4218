// The guest's side of the harness: runs the job's scenarios one after another, each a process of its own, and reports
// what they print, how they end and what the kernel says meanwhile. Each report is a line of JSON on the second serial
// port.
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import { clearTimeout, setTimeout } from 'node:timers'

const job = JSON.parse(readFileSync('/tmp/job.json', 'utf8'))
const port = openSync('/dev/ttyS1', 'w')
const kernel = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK)
const record = Buffer.alloc(8192)

function report(message) {
  const line = Buffer.from(`${JSON.stringify(message)}\n`)
  for (let sent = 0; sent < line.length;) sent += writeSync(port, line, sent)
}

/** What the kernel has said since the last call, of priority `atMost` (0 to 7) and more urgent. */
function kernelLines(atMost) {
  const lines = []
  for (;;) {
    try {
      const text = record.toString('utf8', 0, readSync(kernel, record))
      const [, priority, message] = /^(\d+),[^;]*;(.*)/.exec(text)
      if ((Number(priority) & 7) <= atMost) lines.push(message)
    } catch (error) {
      if (error.code === 'EAGAIN') return lines
      if (error.code !== 'EPIPE') throw error
      lines.push('(the ring was overrun)')
    }
  }
}

function run({ name, script, timeoutMs, environment }) {
  return new Promise((resolve) => {
    const started = performance.now()
    const child = spawn(process.execPath, [join(import.meta.dirname, script)], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    let stderr = ''
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    child.stdout.on('data', (data) => {
      const lines = (printed + data).split('\n')
      printed = lines.pop()
      for (const line of lines) report({ scenario: name, line })
    })
    child.stderr.on('data', (data) => (stderr = (stderr + data).slice(-8000)))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (printed !== '') report({ scenario: name, line: printed })
      resolve({ scenario: name, end: { code, signal, ms: Math.round(performance.now() - started), stderr } })
    })
  })
}

report({ booted: { release: release(), node: process.version, kernel: kernelLines(4) } })
for (const scenario of job.scenarios) {
  report({ scenario: scenario.name, begin: true })
  const result = await run(scenario)
  report({ ...result, kernel: kernelLines(6) })
}
report({ done: true, kernel: kernelLines(6) })
closeSync(port)
