// Builds gpu-check/build/gpunvme_null.node, the null controller for speed figures, where it is packed from. Uses no network.
// Without a compiler nothing is built, and the checks leave the speed figures out.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { built, compilerProblem } from '../test/programs/build.mjs'

const problem = compilerProblem()
if (problem !== undefined) console.log(`gpunvme_null is not built: ${problem}. Speed figures need it.`)
else {
  const folder = join(import.meta.dirname, 'build')
  mkdirSync(folder, { recursive: true })
  copyFileSync(await built('gpu-check/null.node'), join(folder, 'gpunvme_null.node'))
}
