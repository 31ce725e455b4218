import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { isBuilt } from '../../../cuda-native/test/native.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../../cuda-native/test/standin/standin.js'
import { safetensorsFile, type TensorSize } from '../../../layer-loader/test/models.js'
import { openTransport } from '../../src/open.js'
import { composeRig, packInto, type Rig } from '../../src/rig/open-rig.js'
import type { ComposeOptions } from '../../src/rig/options.js'
import { findReach, type FindReach } from '../../src/rig/reach.js'
import { scratch } from '../gpunvme.js'
import { aliasedReach } from './aliased-reach.js'

const MIB = 1024 * 1024
const LAYERS = 8
const TENSORS = Array.from({ length: LAYERS }, (_, layer): TensorSize => [`model.layers.${layer}.weight`, MIB])

const standin = useStandin()
const folder = scratch()

/** Modifies the drive's transport before the rig is opened. */
type Prepare = (transport: Transport) => Transport

/** Runs `use` with a rig on a real-time drive that has the model and can access GPU memory. */
async function withRig(
  options: ComposeOptions,
  use: (rig: Rig) => Promise<void>,
  findReach: FindReach = aliasedReach,
  prepare: Prepare = (transport) => transport,
): Promise<void> {
  // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING: the owner sees writes in order (cuda.h).
  process.env['GPUNVME_STANDIN_ATTRIBUTES'] = '117=1,118=100'
  const path = join(folder, 'model.safetensors')
  await writeFile(path, safetensorsFile(TENSORS))
  const drive = await openTransport('sim', { profile: 'ideal', realTime: true, capacityBytes: 64 * MIB })
  try {
    await packInto(drive, path, {})
    const transport = prepare({ ...drive.transport, can: { ...drive.transport.can, dmaToVram: true } })
    const budget = { vram: 7 * MIB, ram: 5 * MIB }
    const rig = await composeRig([{ ...drive, transport }], { gpu: 0, ...budget, ...options }, { findReach })
    try {
      await use(rig)
    } finally {
      await rig.close()
    }
    expect(standin.live()).toEqual(NOTHING)
  } finally {
    await drive.close()
  }
}

async function passes(rig: Rig): Promise<void> {
  for (let pass = 0; pass < 2; pass++) {
    const names: string[] = []
    for await (using layer of rig.loader.pass({ isLast: pass === 1 })) {
      expect([layer.name, layer.verified, layer.verifiedOnGpu]).toEqual([layer.name, true, true])
      names.push(layer.name)
    }
    expect(names).toHaveLength(LAYERS)
  }
}

describe.skipIf(!hasStandin || !isBuilt)(`openRig on the stand-in for a GPU${skippedWithoutStandin}`, () => {
  test.each([
    [1, {}],
    [2, {}],
    [3, { allowPeerReads: true }],
  ] as const)('tier %i uses the engine cuda and verifies every byte in GPU memory', async (tier, options) => {
    await withRig({ tier, ...options }, async (rig) => {
      const chosen = Object.fromEntries(rig.decisions.map(({ subject, chosen }) => [subject, chosen]))
      expect(chosen).toMatchObject({ engine: 'cuda', tier: String(tier), verification: 'every byte' })
      expect(rig.placement.tier).toBe(Math.min(tier, 2))
      // Some layers stay in GPU memory, and others are copied or read in each pass.
      expect(new Set(rig.placement.layers.map(({ residence }) => residence)).size).toBeGreaterThan(1)
      await passes(rig)
    })
  })

  test('tier 3 without permission for peer reads falls back to tier 2 with a reason', async () => {
    await withRig({ tier: 3 }, (rig) => {
      expect(rig.decisions.find(({ subject }) => subject === 'tier')).toMatchObject({
        chosen: '2',
        rejected: [{ option: 'tier 3', reason: expect.stringContaining('not allowed') as string }],
      })
      return passes(rig)
    })
  })

  test('without a provider that maps GPU memory, tier 1 is used with a reason', async () => {
    const none: FindReach = (gpu, transport) => ({ ...aliasedReach(gpu, transport), providers: [] })
    await withRig(
      {},
      (rig) => {
        expect(rig.decisions.find(({ subject }) => subject === 'tier')).toMatchObject({
          chosen: '1',
          rejected: [{ option: 'tier 2', reason: 'no provider can map GPU memory for the controller' }],
        })
        return passes(rig)
      },
      none,
    )
  })

  test('the CPU writes the doorbells if those of the GPU do not arrive, with a reason', async () => {
    const prepare: Prepare = (transport) => {
      standin.lose(transport.bar.window!)
      return transport
    }
    const use = (rig: Rig) => {
      expect(rig.decisions.find(({ subject }) => subject === 'engine')).toMatchObject({
        chosen: 'cuda',
        reason: 'the CPU writes the doorbells for the GPU',
        rejected: [{ option: 'cuda', reason: expect.stringContaining('was not answered') as string }],
      })
      return passes(rig)
    }
    await withRig({ tier: 1 }, use, aliasedReach, prepare)
  })

  test('the CPU writes the doorbells if the driver refuses to register them, with a reason', async () => {
    const prepare: Prepare = (transport) => {
      // Treated like a drive's registers: the driver refuses to register memory as registers.
      const window = { ...transport.bar.window!, isMemory: false }
      return { ...transport, bar: Object.assign(Object.create(transport.bar) as Transport['bar'], { window }) }
    }
    const use = (rig: Rig) => {
      expect(rig.decisions.find(({ subject }) => subject === 'engine')).toMatchObject({
        chosen: 'cuda',
        rejected: [{ option: 'cuda', reason: expect.stringMatching(/^Registering .* of doorbells/) as string }],
      })
      return passes(rig)
    }
    await withRig({ tier: 1 }, use, aliasedReach, prepare)
  })

  test('static BAR1 is tried only on request, and its refusal is listed as a reason for tier 1', async () => {
    const mapped: FindReach = (gpu, transport, options) => {
      const mapPeer = () => expect.fail('nothing may be mapped without a window')
      return findReach(gpu, Object.assign(Object.create(transport) as Transport, { mapPeer }), options)
    }
    const tierOf = async (options: ComposeOptions) => {
      let tier: unknown
      await withRig(
        options,
        (rig) => Promise.resolve(void (tier = rig.decisions.find(({ subject }) => subject === 'tier'))),
        mapped,
      )
      return tier
    }
    expect(await tierOf({})).toMatchObject({
      chosen: '1',
      rejected: [{ option: 'tier 2', reason: 'no provider can map GPU memory for the controller' }],
    })
    // The stand-in replaces only libcuda: there is no kernel module to query.
    expect(await tierOf({ staticBar1: true })).toMatchObject({
      chosen: '1',
      rejected: [{ option: 'tier 2 by static BAR1', reason: expect.stringMatching(/static BAR1: /) as string }],
    })
  })

  test('GPU memory is not freed if a controller could not be stopped', async () => {
    process.env['GPUNVME_STANDIN_ATTRIBUTES'] = '117=1,118=100'
    const drive = await openTransport('sim', { profile: 'ideal', realTime: true, capacityBytes: 64 * MIB })
    const path = join(folder, 'kept.safetensors')
    await writeFile(path, safetensorsFile(TENSORS))
    await packInto(drive, path, {})
    const transport = { ...drive.transport, can: { ...drive.transport.can, dmaToVram: true } }
    const reach: FindReach = (gpu, from) => ({
      ...aliasedReach(gpu, from),
      close: () => expect.fail('GPU memory was freed'),
    })
    const rig = await composeRig(
      [{ ...drive, transport }],
      { gpu: 0, vram: 7 * MIB, ram: 5 * MIB },
      { findReach: reach },
    )
    const [controller] = rig.controllers
    const stop = controller!.close.bind(controller)
    controller!.close = () => Promise.reject(new Error('it does not stop'))
    await expect(rig.close()).rejects.toThrow('it does not stop')
    expect(standin.live()).toMatchObject({ contexts: 1 })
    await stop()
    await drive.close()
  })
})
