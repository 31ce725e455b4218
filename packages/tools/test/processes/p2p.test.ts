import { describe, expect, test } from 'vitest'
import { hasStandin, skippedWithoutStandin, useStandin } from '../../../cuda-native/test/standin/standin.js'
import { json, scratch } from '../gpunvme.js'
import { gpunvmeProcess } from '../process.js'

const cwd = scratch()
// Polling threads wait for each other on a busy machine.
const LIMIT = { timeout: 300_000 }

// One process for each case: the library reads its settings once, when CUDA is loaded.
describe.skipIf(!hasStandin)(`with a library that stands in for CUDA's${skippedWithoutStandin}`, () => {
  useStandin()
  const copy = (peers: string) =>
    gpunvmeProcess(['bench', 'p2p', '--copy', '--size', '64KiB', '--repeats', '2', '-q'], {
      cwd,
      env: { GPUNVME_STANDIN_DEVICES: '2', GPUNVME_STANDIN_PEERS: peers },
    })

  test('copies between two GPUs are verified and measured, one way and both', LIMIT, async () => {
    const { code, stdout, stderr } = await copy('')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const pair of ['0 -> 1', '1 -> 0', '0 <-> 1'])
      expect(stdout).toMatch(new RegExp(`^  ${pair} +by the GPU +\\d\\S* ± .*B/s`, 'm'))
  })

  test('copies that move nothing but report success are detected, and the exit code is 6', LIMIT, async () => {
    const { code, stdout } = await copy('0-1=2')
    expect(code).toBe(6)
    expect(stdout).toMatch(/^ {2}0 -> 1 +by the GPU +rejected/m)
    expect(stdout).toContain('the copy reported success, but')
  })

  test('copies between GPUs without a peer path go through the host', LIMIT, async () => {
    const { code, stdout } = await copy('0-1=0,1-0=0')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ {2}0 -> 1 +through the host +\d/m)
  })

  test('results as JSON fit the schema', LIMIT, async () => {
    const runs = [
      { args: ['--copy', '--size', '64KiB', '--repeats', '2'], env: { GPUNVME_STANDIN_PEERS: '0-1=2' } },
      { args: ['--probe', '--real-time'], env: {} },
      { args: [], env: { GPUNVME_CUDA_LIBRARY: '/nonexistent/libcuda.so.1' } },
    ]
    for (const { args, env } of runs) {
      const words = ['bench', 'p2p', ...args, '-q', '--json']
      const ended = await gpunvmeProcess(words, { cwd, env: { GPUNVME_STANDIN_DEVICES: '2', ...env } })
      expect(json(ended)).toMatchObject({ schema: 'gpunvme.p2p/1' })
    }
  })

  test("stores of a GPU to a simulated drive's registers arrive", LIMIT, async () => {
    const ended = await gpunvmeProcess(['bench', 'p2p', '--probe', '--real-time', '--json'], { cwd })
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' })
    expect(json(ended)).toMatchObject({
      schema: 'gpunvme.p2p/1',
      probe: { isSimulated: true, arrived: true, stores: [{ arrived: true }, {}, {}] },
    })
  })
})
