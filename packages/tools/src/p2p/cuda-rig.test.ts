import { beforeEach, describe, expect, test } from 'vitest'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../../cuda-native/test/standin/standin.js'
import { withCudaRig } from './cuda-rig.js'

const standin = useStandin()

describe.skipIf(!hasStandin)(
  `GPUs that copy to each other, on the stand-in${skippedWithoutStandin}`,
  { timeout: 120_000 },
  () => {
    beforeEach(() => {
      process.env['GPUNVME_STANDIN_DEVICES'] = '3'
    })

    test('GPUs are closed after success and after an error', async () => {
      await withCudaRig(async (rig) => {
        const lane = rig.lane(0, 1, 4096)
        await lane.prepare(1)
        await lane.copy()
        expect(await lane.check(1)).toEqual({ wrongBytes: 0, firstWrongByte: undefined })
        lane.close()
      })
      expect(standin.live()).toEqual(NOTHING)
      const failing = withCudaRig(async (rig) => {
        await rig.lane(0, 1, 4096).copy()
        throw new Error('something else')
      })
      await expect(failing).rejects.toThrow('something else')
      expect(standin.live()).toEqual(NOTHING)
    })

    test('GPUs are closed if their streams cannot be created', async () => {
      standin.fail('cuStreamCreate=2@2')
      const failing = withCudaRig((rig) => Promise.resolve(rig.lane(0, 1, 4096)))
      await expect(failing).rejects.toMatchObject({ resultName: 'CUDA_ERROR_OUT_OF_MEMORY' })
      expect(standin.live()).toEqual(NOTHING)
    })

    test('stay open with their memory during a hanging copy; other GPUs are closed', async () => {
      const failing = withCudaRig(async (rig) => {
        rig.lane(2, 0, 4096).close()
        const lane = rig.lane(0, 1, 4096)
        await lane.prepare(1)
        standin.holdCopies(true)
        await lane.copy()
      }, 1e8)
      await expect(failing).rejects.toMatchObject({ code: 'ERR_GPUNVME_CUDA_TIMEOUT' })
      // The source, and the destination that is busy; not the third.
      expect(standin.live()).toMatchObject({ contexts: 2, device: 2 })
      standin.holdCopies(false)
    })
  },
)
