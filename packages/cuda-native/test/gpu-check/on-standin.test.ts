import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checks, QUICK, runChecks, type NullControllerAddon, type Report } from '../../gpu-check/src/index.js'
import type { Change } from '../device/compile.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../standin/standin.js'
import { buildNullController } from './null-controller.js'

const standin = useStandin()
const folder = mkdtempSync(join(tmpdir(), 'gpunvme-gpu-check-test-'))
const more = join(import.meta.dirname, 'kernels.cc')
const kernelHeaders = join(import.meta.dirname, '../../gpu-check/kernels')
let library: string
let nullController: NullControllerAddon

/** The stand-in with the kernels of these checks, and with bugs where some are planted. */
const build = (changes: readonly Change[] = []) =>
  standin.build({
    sources: ['test/standin/libcuda.cc', 'test/standin/kernels.cc', more],
    flags: ['-shared', '-fPIC', `-I${kernelHeaders}`],
    changes,
  })

/** Runs the checks of these names on a library. */
async function run(path: string, ids: readonly string[], reportFile?: string): Promise<Report> {
  process.env['GPUNVME_CUDA_LIBRARY'] = path
  const chosen = checks.filter(({ id }) => ids.includes(id))
  expect(chosen.map(({ id }) => id).sort()).toEqual([...ids].sort())
  return runChecks({ checks: chosen, scale: QUICK, nullController, reportFile })
}

const ids = checks.map(({ id }) => id)

describe.skipIf(!hasStandin)(`checks of a GPU, on the stand-in${skippedWithoutStandin}`, () => {
  beforeAll(async () => {
    library = await build()
    nullController = buildNullController(folder)
  }, 240_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(ids)('%s', { timeout: 120_000 }, async (id) => {
    const { checks: results, outcome } = await run(library, [id])
    const expected =
      id === 'io-registration-of-bar'
        ? { verdict: 'not-applicable', reason: 'no NVMe function without a driver was named' }
        : { verdict: 'passed' }
    expect(results).toMatchObject([{ id, ...expected }])
    expect(outcome).toBe('passed')
    expect(standin.live()).toEqual(NOTHING)
  })
})
