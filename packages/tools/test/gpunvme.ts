import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, inject } from 'vitest'

/** The program that is tested. */
export const BIN = inject('program')

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
  /** Called with all of stderr whenever it grows. */
  readonly onStderr?: (text: string, child: ChildProcess) => void
}

/** Runs the program as a user does, in a process of its own, with pipes for a terminal. */
export function gpunvme(args: readonly string[], { cwd, env = {}, onStderr }: RunOptions): Promise<Ended> {
  const colours = { FORCE_COLOR: undefined, NO_COLOR: undefined }
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env: { ...process.env, ...colours, ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    onStderr?.(stderr, child)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

const scratches: string[] = []
// Here and not in scratch(): inside a test, it is too late to ask for this.
afterAll(() => scratches.forEach((path) => rmSync(path, { recursive: true, force: true })))

/** A directory that is removed after the tests of the file. */
export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), 'gpunvme-test-'))
  scratches.push(path)
  return path
}

/** The one JSON object on stdout; anything else there makes it fail. */
export function json(ended: Ended): unknown {
  return JSON.parse(ended.stdout)
}
