import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { loadNullController, type NullControllerAddon } from '../../gpu-check/src/null-controller.js'

/** Compiles the null controller into a folder of the test, and loads it. Throws what g++ says. */
export function buildNullController(folder: string): NullControllerAddon {
  const path = join(folder, 'gpunvme_null.node')
  const script = join(import.meta.dirname, '../../gpu-check/build-null.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script, path], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return loadNullController(path)!
}
