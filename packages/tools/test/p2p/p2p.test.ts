import { expect, test } from 'vitest'
import { gpunvme, json, scratch } from '../gpunvme.js'
import { machines } from '../machines/index.js'
import { withMachine } from '../machines/read-described.js'

const cwd = scratch()
const rig = machines.find(({ name }) => name === 'amd-b450-rtx3090')!
/** Hides all GPUs from CUDA. */
const env = { CUDA_VISIBLE_DEVICES: '' }

test('p2p of a copied machine prints paths and tiers, and does not use CUDA', async () => {
  await withMachine(rig, async (root) => {
    const { code, stdout, stderr } = await gpunvme(['bench', 'p2p', '--root', root], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('0a:00.0 NVIDIA GeForce RTX 3090 <-> nvme1 (0b:00.0)')
    expect(stdout).toContain('tiers            1 (cuda) likely, 2 likely, 3 unknown')
    expect(stdout).toContain('CUDA  not used')
    const ended = await gpunvme(['bench', 'p2p', '--root', root, '--json'], { cwd })
    expect(json(ended)).toMatchObject({
      schema: 'gpunvme.p2p/1',
      cuda: { asked: false },
      gpus: [{ address: '0000:0a:00.0' }],
      driveWays: [
        { drive: '0000:01:00.0' },
        {
          gpu: '0000:0a:00.0',
          drive: '0000:0b:00.0',
          tiers: [{ tier: 1, passes: 'likely' }, { tier: 2 }, { tier: 3 }],
        },
      ],
    })
  })
})

test('p2p --copy without two GPUs ends with exit code 7 and the reason', async () => {
  const { code, stderr } = await gpunvme(['bench', 'p2p', '--copy'], { cwd, env })
  expect(code).toBe(7)
  expect(stderr).toContain('Copies between GPUs require two GPUs; CUDA lists ')
  expect(stderr).toContain('Try: gpunvme bench p2p, which shows how GPUs and SSDs are connected')
})

test.each([
  ['--copy of a copied machine', ['--copy', '--root', '.'], 'omit --root'],
  ['--probe without a drive', ['--probe'], 'No drive is named'],
  ['--drive without --probe', ['--drive', '0000:0b:00.0'], 'gpunvme bench p2p --probe --drive ADDRESS'],
  ['an invalid size', ['--copy', '--size', '1'], 'at least 4096'],
  ['--nsid', ['--probe', '--real-time', '--nsid', '1'], 'omit --nsid'],
])('p2p rejects %s with exit code 2', async (_, args, text) => {
  const { code, stderr } = await gpunvme(['bench', 'p2p', ...args], { cwd, env })
  expect(stderr).toContain(text)
  expect(code).toBe(2)
})

test('p2p --probe rejects a drive whose registers are not memory-mapped', async () => {
  const { code, stderr } = await gpunvme(['bench', 'p2p', '--probe', '--transport', 'sim'], { cwd, env })
  expect(stderr).toMatch(
    /^The registers of sim:sn740 are not memory-mapped: a GPU cannot write them\n {2}Try: use --drive ADDRESS/,
  )
  expect(code).toBe(7)
})
