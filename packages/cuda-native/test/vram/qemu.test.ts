import { closeSync, openSync, writeSync } from 'node:fs'
import { Controller } from '@gpunvme/host-driver'
import { qemuIsInstalled, startQemu } from '@gpunvme/host-driver/qtest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { negotiateTier, probeReads, probeWrites, withVram, type VramProvider } from '../../src/vram/index.js'
import { FakeGpu } from './fake-gpu.js'
import { noise, shifted, staticBar1 } from './probe-setup.js'

const MIB = 1024 * 1024
const skipped = qemuIsInstalled() ? '' : ' (skipped: [qemu] qemu-system-x86_64 is not installed)'

describe.skipIf(!qemuIsInstalled())(`memory behind another function's BAR, in place of a GPU${skipped}`, () => {
  /**
   * Starts QEMU with 16 MiB of content at the start of its drive, and a GPU whose window starts at 24 MiB of its BAR.
   */
  async function start() {
    const qemu = await startQemu({ vramBytes: 64 * MIB })
    onTestFinished(() => qemu.close())
    const { transport, namespaces } = qemu.controllers[0]!
    const content = Uint8Array.from({ length: 16 * MIB }, (_, position) => noise(position))
    const file = openSync(namespaces[0]!.image, 'r+')
    writeSync(file, content, 0, content.length, 0)
    closeSync(file)
    const controller = await Controller.open(transport)
    onTestFinished(() => controller.close())
    const namespace = controller.namespace(1)
    const gpu = new FakeGpu(qemu.vram!, 24 * MIB)
    const options = (provider: VramProvider) => ({
      ...{ namespace, host: namespace.dma, gpu },
      vram: withVram(namespace.dma, provider, gpu),
    })
    return { qemu, transport, namespace, gpu, content, options, provider: staticBar1(gpu) }
  }

  test('a correct window is accepted for writes and, if allowed, for reads', async () => {
    const { qemu, transport, options, provider, gpu } = await start()
    const result = await negotiateTier({
      maxTier: 3,
      can: transport.can,
      ordering: { writesOrdering: 100, flushWritesOptions: 0 },
      providers: [{ name: provider.name, open: () => provider }],
      probe: (given) => probeWrites(options(given)),
      peerReads: { probe: (given) => probeReads(options(given)) },
    })
    expect([result.tier, result.reasons]).toEqual([3, []])
    expect(result.memory?.provider).toBe(provider)
    expect(gpu.pages.size).toBe(0)
    // QEMU traces each Compare that found a difference, as expected: SCT 2h SC 85h, Compare Failure.
    expect(qemu.misuse.trim().split('\n')).toEqual(Array(3).fill(expect.stringMatching(/status 0x285 opc 0x5$/)))
  })

  test('wrong addresses are detected by one page, and demoted with the reason', async () => {
    const { transport, options, provider, qemu } = await start()
    for (const byBytes of [4096, -24 * MIB, 2 * MIB]) {
      const wrong = shifted(provider, byBytes)
      const { tier, memory, reasons } = await negotiateTier({
        maxTier: 2,
        can: transport.can,
        ordering: { writesOrdering: 200, flushWritesOptions: 1 },
        providers: [{ name: wrong.name, open: () => wrong }],
        probe: (given) => probeWrites(options(given)),
      })
      expect([tier, memory, reasons.length]).toEqual([1, undefined, 1])
      expect(reasons[0]!.message).toMatch(/^one page in the middle: /)
    }
    expect(qemu.misuse).toBe('')
  })

  test('data of the drive arrive in scattered pages that withVram allocates', async () => {
    const { options, provider, namespace, gpu, content, qemu } = await start()
    const { vram } = options(provider)
    const memory = vram.alloc(7 * MIB, { where: 'gpu' })
    expect(memory.segments.length).toBeGreaterThan(1)
    await namespace.read(2048, (7 * MIB) / 512, memory)
    expect(Buffer.compare(gpu.read(memory.gpuPointer!, 7 * MIB), content.subarray(MIB, 8 * MIB))).toBe(0)
    memory.free()
    expect(gpu.pages.size).toBe(0)
    expect(qemu.misuse).toBe('')
  })
})
