import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { fail } from '../../gpu-check/src/check.js'
import { ringIdleQueue } from '../../gpu-check/src/checks/ring.js'
import { loadDriveAddon } from '../../gpu-check/src/drive-addon.js'
import { DEPTH, DriveRegion, engineOn, PAIR, readsOf } from '../../gpu-check/src/engine-on-drive.js'
import { QUEUE_WORDS } from '../../gpu-check/src/pattern-drive.js'
import { checks, QUICK, runChecks, type Check, type DriveAddon, type Report } from '../../gpu-check/src/index.js'
import { built } from '../programs/build.mjs'
import { BUILD_MS } from '../programs/program.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../standin/standin.js'

const standin = useStandin()
const folder = scratch()
let library: string
let driveAddon: DriveAddon

beforeAll(async () => {
  if (!hasStandin) return
  library = await built('standin/gpu-check')
  driveAddon = loadDriveAddon(await built('gpu-check/drive.node'))!
}, BUILD_MS)

/** Runs the checks of these names on a library. */
async function run(path: string, ids: readonly string[], reportFile?: string): Promise<Report> {
  process.env['GPUNVME_CUDA_LIBRARY'] = path
  const chosen = checks.filter(({ id }) => ids.includes(id))
  expect(chosen.map(({ id }) => id).sort()).toEqual([...ids].sort())
  return runChecks({ checks: chosen, scale: QUICK, driveAddon, reportFile })
}

const ids = checks.map(({ id }) => id)

/** Checks that do not apply on the stand-in, and their reasons. */
const elsewhere = new Map([
  ['io-registration-of-bar', 'no NVMe function given (--bdf)'],
  ['io-registration-of-vfio', 'no NVMe function given (--bdf)'],
  ...['memcheck', 'racecheck', 'initcheck', 'synccheck'].map(
    (tool) =>
      [
        `sanitizer-${tool}`,
        'GPUNVME_COMPUTE_SANITIZER names /nonexistent/compute-sanitizer, which does not exist',
      ] as const,
  ),
  ['ring-doorbell', 'requires --ring and --bdf'],
])
// An installed sanitizer would look for a GPU.
beforeAll(() => {
  process.env['GPUNVME_COMPUTE_SANITIZER'] = '/nonexistent/compute-sanitizer'
})
afterAll(() => {
  delete process.env['GPUNVME_COMPUTE_SANITIZER']
})

describe.skipIf(!hasStandin)(`checks of a GPU, on the stand-in${skippedWithoutStandin}`, () => {
  test.each(ids)('%s', { timeout: 120_000 }, async (id) => {
    const { checks: results, outcome } = await run(library, [id])
    const reason = elsewhere.get(id)
    const expected = reason === undefined ? { verdict: 'passed' } : { verdict: 'not-applicable', reason }
    expect(results).toMatchObject([{ id, ...expected }])
    expect(outcome).toBe('passed')
    expect(standin.live()).toEqual(NOTHING)
  })
})

describe.skipIf(!hasStandin)(`a drive of CPU threads${skippedWithoutStandin}`, () => {
  test('ends before its memory is unmapped, even if the check that started it does not stop it', async () => {
    const doorbells: number[] = []
    const check: Check = {
      ...{ id: 'given-up', title: 'given up', limitMs: 30_000 },
      run(context) {
        const region = new DriveRegion(context, 1)
        const stop = () => {
          doorbells.push(region.load32(region.doorbell(0)))
          return new BigUint64Array(QUEUE_WORDS)
        }
        const count = () => fail('no transactions are counted here')
        region.serve({ start: () => 1, stop, count }, 1)
        return Promise.resolve({})
      },
    }
    process.env['GPUNVME_CUDA_LIBRARY'] = library
    const { checks: results } = await runChecks({ checks: [check], scale: QUICK })
    expect(results).toMatchObject([{ verdict: 'passed' }])
    expect(doorbells).toEqual([0])
  })
})

describe.skipIf(!hasStandin)(`an engine on a drive of CPU threads${skippedWithoutStandin}`, () => {
  test('is detached if the check that attached it fails', { timeout: 60_000 }, async () => {
    let engine: ReturnType<typeof engineOn> | undefined
    const check: Check = {
      ...{ id: 'fails', title: 'fails', limitMs: 30_000 },
      async run(context) {
        const region = new DriveRegion(context, 1)
        region.serve(driveAddon, 1)
        engine = engineOn(context, region, { lingerNs: Infinity })
        const data = region.piece(region.at(0, PAIR.data), DEPTH * 4096)
        await engine.execute(readsOf(1), data)
        fail('this check fails')
      },
    }
    process.env['GPUNVME_CUDA_LIBRARY'] = library
    const { checks: results } = await runChecks({ checks: [check], scale: QUICK })
    expect(results).toMatchObject([{ verdict: 'failed', reason: 'this check fails' }])
    expect(engine!.hasQueues).toBe(false)
    expect(standin.live()).toEqual(NOTHING)
  })
})

describe.skipIf(!hasStandin)(`--ring${skippedWithoutStandin}`, () => {
  test('writes the current tail once to the doorbell of an idle queue', { timeout: 60_000 }, async () => {
    const ring: Check = {
      ...{ id: 'ring', title: 'ring', limitMs: 30_000 },
      async run(context) {
        const drive = await context.drive(new Uint8Array(1 << 20), 8 << 20)
        const facts = await ringIdleQueue(context, drive.transport)
        return { ...facts, seen: (await drive.simulator.diagnostics()).map(({ text }) => text) }
      },
    }
    process.env['GPUNVME_CUDA_LIBRARY'] = library
    const { checks: results } = await runChecks({ checks: [ring], scale: QUICK })
    // Submission queue 1, which is unused: Base 2.1, SQ 1 Tail at 1000h + 2 * (4 << CAP.DSTRD).
    expect(results).toMatchObject([{ verdict: 'passed', facts: { qid: 1, tail: 0, doorbell: 0x1008 } }])
  })
})

describe.skipIf(!hasStandin)(`the report of a GPU${skippedWithoutStandin}`, () => {
  test('has the machine, facts and figures, and is identical on disk', async () => {
    const reportFile = join(folder, 'report.json')
    const report = await run(library, ['attributes', 'cycles', 'speed'], reportFile)
    const written = JSON.parse(readFileSync(reportFile, 'utf8')) as Report
    expect(written).toEqual(report)
    expect(written).toMatchObject({
      ...{ schema: 'gpunvme-gpu-check', version: 1, outcome: 'passed' },
      machine: { node: process.version },
      cuda: { available: true, driverVersion: '12.2', devices: [{ name: 'Stand-in 0' }] },
    })
    // CU_DEVICE_ATTRIBUTE 17, 20, 117 and 118, which are all 0 on the stand-in, and environment variables of the
    // driver.
    expect(written.checks[0]).toMatchObject({
      id: 'attributes',
      facts: {
        ...{ limitsKernelTime: false, computeMode: 'default' },
        ordering: { flushWritesOptions: 0, writesOrdering: 0 },
        environment: { CUDA_DEVICE_MAX_CONNECTIONS: '32', CUDA_MODULE_LOADING: 'EAGER' },
      },
    })
    expect(written.kernels['kernels.ptx']).toMatch(/^[0-9a-f]{64}$/)
    expect(Object.keys(written.packages)).toHaveLength(4)
    for (const { value, unit, per } of written.figures) {
      expect(value).toBeGreaterThan(0)
      expect([unit, per]).not.toContain('')
    }
    const transactions = (which: string) => written.figures.find(({ name }) => name === `${which}-transactions`)!.value
    // The counts do not depend on the machine.
    expect(transactions('original') / transactions('engine')).toBeGreaterThan(5)
  })

  test('counts transactions per command by running the code: 46 in the original loop, about 6 in the engine', () => {
    // 13 loads and 22 stores to submit, 8 loads and 1 store to complete. The phase changes once per lap of 64 entries.
    const before = { loads: (13 + 8) * 4096, stores: (22 + 1) * 4096 + 64, doorbells: 2 * 4096 }
    expect(driveAddon.count('original', 4096, 32)).toEqual(before)
    // Four stores of an entry, one of an outcome, one load of a completion; 2 doorbells per 32 commands.
    const { loads, stores, doorbells } = driveAddon.count('engine', 4096, 32)
    expect(doorbells).toBe((2 * 4096) / 32)
    expect(stores - 5 * 4096).toBeLessThan(64)
    expect(loads - 4096).toBeLessThan(256)
    expect(Math.min(stores - 5 * 4096, loads - 4096)).toBeGreaterThanOrEqual(0)
  })

  test('is also written without a GPU, and states what is missing', async () => {
    const { outcome, checks: results, cuda } = await run('/nonexistent/libcuda.so.1', ['attributes'])
    expect(outcome).toBe('no-gpu')
    expect(results).toEqual([])
    expect(cuda).toMatchObject({ available: false, state: 'library-missing' })
  })
})
