// Builds gpu-check/build/gpunvme_drive.node, the drive that CPU threads serve, for packing. Uses no network. Without a
// compiler, builds nothing, and the checks omit the speed figures.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { built, compilerProblem } from '../test/programs/build.mjs'

const problem = compilerProblem()
if (problem !== undefined) console.log(`gpunvme_drive is not built: ${problem}. Speed figures need it.`)
else {
  const folder = join(import.meta.dirname, 'build')
  mkdirSync(folder, { recursive: true })
  copyFileSync(await built('gpu-check/drive.node'), join(folder, 'gpunvme_drive.node'))
}
