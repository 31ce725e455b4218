import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const program = new URL('program.mjs', import.meta.url)

/** Runs the program to its end: `run('busy')`, or `run('busy', 'cuda')` with an engine on the GPU. */
export function run(...words: string[]): { status: number | null; signal: string | null; stderr: string } {
  const args = ['--expose-gc', fileURLToPath(program), ...words]
  const { status, signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })
  return { status, signal, stderr }
}
