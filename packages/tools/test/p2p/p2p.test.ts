import { expect, test } from 'vitest'
import { gpunvme, json, scratch } from '../gpunvme.js'
import { machines } from '../machines/index.js'
import { withMachine } from '../machines/read-described.js'

const cwd = scratch()
const rig = machines.find(({ name }) => name === 'amd-b450-rtx3090')!
/** CUDA is asked by no name that this machine could have. */
const env = { CUDA_VISIBLE_DEVICES: '' }

test('of a copy of a machine it tells ways and tiers, and does not ask CUDA', async () => {
  await withMachine(rig, async (root) => {
    const { code, stdout, stderr } = await gpunvme(['p2p', '--root', root], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('0a:00.0 NVIDIA GeForce RTX 3090 <-> nvme1 (0b:00.0)')
    expect(stdout).toContain('tiers            1 (cuda) likely, 2 likely, 3 unknown')
    expect(stdout).toContain('CUDA  not used')
    const ended = await gpunvme(['p2p', '--root', root, '--json'], { cwd })
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

test('without two GPUs, copies are infeasible, and why is said', async () => {
  const { code, stderr } = await gpunvme(['p2p', '--copy'], { cwd, env })
  expect(code).toBe(7)
  expect(stderr).toContain('Copies between GPUs require two GPUs; CUDA lists ')
  expect(stderr).toContain('Try: gpunvme p2p, which shows how GPUs and SSDs are connected')
})

test.each([
  ['a copy of a machine cannot be copied on', ['--copy', '--root', '.'], 'omit --root'],
  ['a probe needs a drive', ['--probe'], 'No drive is named'],
  ['a drive without a probe', ['--drive', '0000:0b:00.0'], 'gpunvme p2p --probe --drive ADDRESS'],
  ['sizes that cannot be', ['--copy', '--size', '1'], 'at least 4096'],
  ['a namespace', ['--probe', '--real-time', '--nsid', '1'], 'omit --nsid'],
])('%s is refused as wrong words', async (_, args, text) => {
  const { code, stderr } = await gpunvme(['p2p', ...args], { cwd, env })
  expect(stderr).toContain(text)
  expect(code).toBe(2)
})

test('the probe of a drive whose registers are no memory says so', async () => {
  const { code, stderr } = await gpunvme(['p2p', '--probe', '--transport', 'sim'], { cwd, env })
  expect(stderr).toMatch(
    /^The registers of sim:sn740 are not memory-mapped: a GPU cannot write them\n {2}Try: use --drive ADDRESS/,
  )
  expect(code).toBe(7)
})
