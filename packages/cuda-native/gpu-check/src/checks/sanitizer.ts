import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fail, NotApplicable, type Check } from '../check.js'

const NAME = 'compute-sanitizer'
const LIMIT_MS = 150_000

/** Where NVIDIA's toolkit has it. `GPUNVME_COMPUTE_SANITIZER` names it elsewhere. */
function findTool(): string {
  const named = process.env['GPUNVME_COMPUTE_SANITIZER']
  if (named !== undefined) {
    if (existsSync(named)) return named
    throw new NotApplicable(`there is no ${named}, which GPUNVME_COMPUTE_SANITIZER names`)
  }
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/cuda/bin']
  const found = folders.map((folder) => join(folder, NAME)).find((path) => existsSync(path))
  if (found === undefined) throw new NotApplicable(`${NAME} is neither on PATH nor in /usr/local/cuda/bin`)
  return found
}

interface Ended {
  readonly status: number | null
  readonly said: string
}

function run(command: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS, killSignal: 'SIGKILL' })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-4000)))
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, said }))
  })
}

/** One plan more, in a process of its own, under one of the sanitizer's tools. */
function sanitized(tool: string, plan: string): Check {
  return {
    id: `sanitizer-${tool}`,
    title: `${NAME} --tool ${tool} finds nothing wrong with the kernels of ${plan}`,
    alone: true,
    limitMs: LIMIT_MS + 10_000,
    async run({ device }) {
      const command = findTool()
      const folder = mkdtempSync(join(tmpdir(), 'gpunvme-sanitizer-'))
      try {
        const report = join(folder, 'report.json')
        const main = fileURLToPath(new URL('../main.js', import.meta.url))
        const own = ['--child', '--quick', '--only', plan, '--device', `${device.device}`, '--report', report]
        const args = ['--tool', tool, '--error-exitcode', '9', process.execPath, ...process.execArgv, main, ...own]
        const startMs = performance.now()
        const { status, said } = await run(command, args)
        // Of the plan itself 1, of what the sanitizer has found 9.
        if (status !== 0)
          fail(`${NAME} ended with ${status ?? 'a signal'}: ${said.trim().split('\n').slice(-12).join('; ')}`)
        return { plan, tookMs: Math.round(performance.now() - startMs), said: said.trim().split('\n').at(-1) ?? '' }
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}

/** What NVIDIA's own judge says of accesses to memory, where it is installed. */
export const sanitizerChecks: readonly Check[] = [
  sanitized('memcheck', 'plans-qd32-pairs1'),
  sanitized('racecheck', 'plans-warp-qd32-pairs1'),
]
