import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const scratches: string[] = []
// Here and not in scratch(): inside a test, it is too late to ask for this.
afterAll(() => scratches.forEach((path) => rmSync(path, { recursive: true, force: true })))

/** Makes a directory that is removed after the tests of the file. */
export function scratch(): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'gpunvme-test-'))
  scratches.push(path)
  return path
}
