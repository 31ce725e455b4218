import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { isBuilt } from '../../../cuda-native/test/native.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../../cuda-native/test/standin/standin.js'
import { openTransport } from '../../src/open.js'
import type { OpenedTransport } from '../../src/drive/opened-transport.js'
import { aliasedReach } from '../rig/aliased-reach.js'
import { gpunvme, scratch } from '../gpunvme.js'
import { pattern } from '../simulated-drive.js'
import { firstLight, outcomesOf, readReport, stepIn } from './run.js'

const MIB = 1024 * 1024
const standin = useStandin()
const cwd = scratch()
const image = join(cwd, 'pattern.img')

beforeAll(async () => {
  writeFileSync(image, pattern(4 * MIB))
  await writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: 4 * MIB })
  await gpunvme(['pack', 'model.gguf', '--image', 'drive.img', '--capacity', '32MiB'], { cwd })
})

/** Opens a real-time drive whose transport is modified. */
async function open(prepare: (opened: OpenedTransport) => OpenedTransport['transport']): Promise<OpenedTransport> {
  const opened = await openTransport('sim', { profile: 'ideal', realTime: true, image, readOnly: true })
  return { ...opened, transport: prepare(opened) }
}

describe.skipIf(!hasStandin || !isBuilt)(`first-light on the stand-in for a GPU${skippedWithoutStandin}`, () => {
  test('stores, doorbells and reads of the GPU pass, and a model is loaded into GPU memory', async () => {
    const words = ['first-light', '--image', 'drive.img', '--real-time', '--output', 'gpu.json']
    const { code, stdout, stderr } = await gpunvme(words, {
      cwd,
      env: { CUDA_MODULE_LOADING: 'EAGER', CUDA_DEVICE_MAX_CONNECTIONS: '32' },
    })
    expect([code, stderr], stdout).toEqual([0, ''])
    expect(stdout).toMatch(/\nWhere to send it: https:.*\/contribute\.md\n$/)
    const report = readReport(join(cwd, 'gpu.json'))
    expect(outcomesOf(report)).toEqual({
      ...{ machine: 'passed', reference: 'passed', bind: 'skipped', identify: 'passed', 'read-cpu': 'passed' },
      ...{ doorbell: 'passed', 'read-gpu-doorbell': 'passed', 'read-cpu-doorbell': 'passed', tier: 'skipped' },
      ...{ load: 'passed', restore: 'skipped' },
    })
    expect(report.outcome).toBe('incomplete')
    expect(stepIn(report, 'doorbell').doorbell).toMatchObject({ arrived: true, isSimulated: true })
    for (const step of ['read-gpu-doorbell', 'read-cpu-doorbell'] as const)
      expect(stepIn(report, step).reads).toMatchObject({ comparedWith: 'image', differing: [] })
    expect(stepIn(report, 'tier').tier).toMatchObject({
      chosen: '1',
      rejected: [
        {
          option: 'tier 2',
          reason: 'the transport does not let the controller access GPU memory',
          code: 'transport',
        },
      ],
      engine: { chosen: 'cuda' },
    })
    expect(stepIn(report, 'load').load).toMatchObject({ layers: 4, layersVerified: 4, tier: 1 })
    expect(standin.live()).toEqual(NOTHING)
  })

  test('tier 2 is chosen after its reads into scratch GPU memory had the right content', async () => {
    // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING: the owner sees writes in order (cuda.h).
    process.env['GPUNVME_STANDIN_ATTRIBUTES'] = '117=1,118=100'
    const opening = () => open(({ transport }) => ({ ...transport, can: { ...transport.can, dmaToVram: true } }))
    const { code, report, stdout } = await firstLight(cwd, { image }, { open: opening, findReach: aliasedReach })
    expect([code, report.outcome], stdout).toEqual([0, 'passed'])
    expect(stepIn(report, 'tier').tier).toMatchObject({ chosen: '2', rejected: [] })
    expect(standin.live()).toEqual(NOTHING)
  })

  test('wrong bytes in GPU memory fail tier, and the exit code is 6', async () => {
    process.env['GPUNVME_STANDIN_ATTRIBUTES'] = '117=1,118=100'
    const opening = () => open(({ transport }) => ({ ...transport, can: { ...transport.can, dmaToVram: true } }))
    let reads = 0
    const findReach: typeof aliasedReach = (...args) => {
      const reach = aliasedReach(...args)
      const { memory } = reach
      const read = memory.read.bind(memory)
      const corrupt = async (...range: Parameters<typeof read>) => {
        const bytes = await read(...range)
        // The first read checks that the GPU's driver can access the memory.
        if (reads++ > 0) bytes[4096]! ^= 1
        return bytes
      }
      return { ...reach, memory: Object.assign(memory, { read: corrupt }) }
    }
    const { code, report, stdout } = await firstLight(cwd, { image }, { open: opening, findReach })
    expect([code, report.outcome], stdout).toEqual([6, 'failed'])
    expect(stepIn(report, 'tier')).toMatchObject({
      error: { code: 'ERR_GPUNVME_BYTES_DIFFER', message: 'A read into GPU memory left wrong bytes' },
      tier: { rejected: [{ code: expect.any(String) as string }] },
    })
    expect(standin.live()).toEqual(NOTHING)
  })

  test('stores of the GPU that do not arrive fail doorbell, and reads with doorbells by the CPU still pass', async () => {
    const opening = () =>
      open(({ transport }) => {
        standin.lose(transport.bar.window!)
        return transport
      })
    const { code, report, stdout } = await firstLight(cwd, { image }, { open: opening })
    expect(code, stdout).toBe(6)
    expect(stepIn(report, 'doorbell')).toMatchObject({
      outcome: 'failed',
      error: { code: 'ERR_GPUNVME_DOORBELL_LOST' },
      doorbell: { arrived: false },
    })
    expect(stepIn(report, 'read-gpu-doorbell')).toMatchObject({
      outcome: 'skipped',
      reason: 'step doorbell did not pass',
    })
    expect(stepIn(report, 'read-cpu-doorbell').outcome).toBe('passed')
    expect(stepIn(report, 'tier').tier).toMatchObject({
      engine: { reason: 'the CPU writes the doorbells for the GPU' },
    })
    expect(standin.live()).toEqual(NOTHING)
  })
})
