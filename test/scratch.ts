import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished, TestRunner } from 'vitest'

/** Makes a directory that is removed after the running test; outside of tests, after those of the file or the suite. */
export function scratch(): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'gpunvme-test-'))
  const remove = () => rmSync(path, { recursive: true, force: true })
  if (TestRunner.getCurrentTest() === undefined) afterAll(remove)
  else onTestFinished(remove)
  return path
}
