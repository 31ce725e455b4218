import { expect, test } from 'vitest'
import { gpunvme, scratch } from '../gpunvme.js'

const cwd = scratch()
/** Hides all GPUs from CUDA. */
const env = { CUDA_VISIBLE_DEVICES: '' }

test('bench p2p without CUDA prints why it is unavailable, and exits with 3', async () => {
  const hidden = { ...env, GPUNVME_CUDA_LIBRARY: '/nonexistent/libcuda.so.1' }
  const { code, stdout, stderr } = await gpunvme(['bench', 'p2p'], { cwd, env: hidden })
  expect([code, stderr]).toEqual([3, ''])
  expect(stdout).toMatch(/^CUDA {2}/)
})

test('bench p2p --copy without two GPUs ends with exit code 7 and the reason', async () => {
  const { code, stderr } = await gpunvme(['bench', 'p2p', '--copy'], { cwd, env })
  expect(code).toBe(7)
  expect(stderr).toContain('Copies between GPUs require two GPUs; CUDA lists ')
  expect(stderr).toContain('Try: gpunvme list --topology, which shows how GPUs and SSDs are connected')
})

test.each([
  ['--probe without a drive', ['--probe'], 'No drive is named'],
  ['--drive without --probe', ['--drive', '0000:0b:00.0'], 'gpunvme bench p2p --probe --drive 0000:0b:00.0'],
  ['an invalid size', ['--copy', '--size', '1'], 'at least 4096'],
  ['--nsid', ['--probe', '--real-time', '--nsid', '1'], 'omit --nsid'],
])('bench p2p rejects %s with exit code 2', async (_, args, text) => {
  const { code, stderr } = await gpunvme(['bench', 'p2p', ...args], { cwd, env })
  expect(stderr).toContain(text)
  expect(code).toBe(2)
})

test('bench p2p --probe rejects a drive whose registers are not memory-mapped', async () => {
  const { code, stderr } = await gpunvme(['bench', 'p2p', '--probe', '--transport', 'sim'], { cwd, env })
  expect(stderr).toMatch(
    /^The registers of sim:sn740 are not memory-mapped: a GPU cannot write them\n {2}Try: use --drive ADDRESS/,
  )
  expect(code).toBe(7)
})
