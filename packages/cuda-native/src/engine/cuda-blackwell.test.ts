import { afterEach, describe, expect, test } from 'vitest'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { native } from '../../test/native.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { BlackwellRegistersError, cudaEngine, openCuda, type Cuda } from '../cuda/index.js'

const standin = useStandin()
let cuda: Cuda

function open(computeMajor: number): Cuda {
  process.env['GPUNVME_STANDIN_ATTRIBUTES'] = `75=${computeMajor},76=0`
  return (cuda = openCuda())
}

describe.skipIf(!hasStandin)(`the engine cuda on Blackwell GPUs${skippedWithoutStandin}`, () => {
  afterEach(async () => {
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  /** Returns a transport with a drive's registers, or with registers in memory. */
  function transport(isMemory: boolean): Pick<Transport, 'bar' | 'clock' | 'name'> {
    const { address } = native.allocate(16_384, 4096)
    const window = { address, lengthBytes: 16_384, ...(isMemory ? { isMemory } : {}) }
    return { name: 'a drive', bar: { window }, clock: {} } as unknown as Transport
  }

  test.each([10, 11, 12])(
    'rejects a drive’s registers for compute capability %i.0, before anything is allocated',
    (major) => {
      open(major)
      const before = standin.live()
      let error: unknown
      try {
        cudaEngine(transport(false), cuda)
      } catch (thrown) {
        error = thrown
      }
      expect(error).toBeInstanceOf(BlackwellRegistersError)
      expect(error).toMatchObject({ code: 'ERR_GPUNVME_BLACKWELL_REGISTERS', category: 'infeasible' })
      expect((error as Error).message).toMatch(
        /^ {2}Try: use the engine 'host', or cudaEngine with \{ doorbells: 'cpu' \}/m,
      )
      expect(standin.live()).toEqual(before)
      expect(cudaEngine(transport(false), cuda, { doorbells: 'cpu' }).name).toBe('cuda')
    },
  )

  test('accepts them if the risk is accepted, and registers in memory', () => {
    open(12)
    expect(() => cudaEngine(transport(false), cuda, { riskBlackwellRegisters: false })).toThrow(BlackwellRegistersError)
    expect(cudaEngine(transport(false), cuda, { riskBlackwellRegisters: true }).name).toBe('cuda')
    expect(cudaEngine(transport(true), cuda).name).toBe('cuda')
  })

  test('accepts a drive’s registers for compute capability 9.0', () => {
    expect(cudaEngine(transport(false), open(9)).name).toBe('cuda')
  })
})
