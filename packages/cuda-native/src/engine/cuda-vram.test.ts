import { Controller, type ControllerEvent, type ControllerOptions } from '@gpunvme/host-driver'
import { deriveProfile } from '@gpunvme/nvme-sim'
import type { DmaMemory, FaultAction, Transport } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { byteAt } from '../../test/kernel-rig.js'
import { isBuilt, native } from '../../test/native.js'
import { startDrive, type DriveOptions } from '../../test/real-time-drives.js'
import { scratchFile } from '../../test/scratch-file.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { AliasedGpu } from '../../test/vram/aliased-gpu.js'
import { cudaEngine, openCuda } from '../cuda/index.js'
import {
  negotiateTier,
  probeReads,
  probeWrites,
  VramRefusedError,
  withVram,
  type ProviderCandidate,
  type TierRequest,
  type VramProvider,
} from '../vram/index.js'
import type { KernelEngineOptions } from './cpu-kernel.js'

const MIB = 1024 * 1024
const SERIAL = 'GPUMEMORY1'
const standin = useStandin()

const bytesFrom = (position: number, lengthBytes: number) =>
  Uint8Array.from({ length: lengthBytes }, (_, index) => byteAt(position + index))
const isEqual = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0
const viewOf = ({ view, lengthBytes }: DmaMemory) => new Uint8Array(view!.buffer, view!.byteOffset, lengthBytes)

/** Opens a drive in real time, and a GPU whose memory the drive can access. Disposal checks that everything was released. */
async function openMachine(options: DriveOptions = {}) {
  const file = scratchFile(bytesFrom(0, 4 * MIB))
  const profile = deriveProfile('ideal', { identify: { SN: SERIAL } })
  const drive = await startDrive({ profile, namespaces: [{ file: { path: file.path } }], ...options })
  const cuda = openCuda()
  const { transport } = drive.simulator
  const gpu = new AliasedGpu(cuda, transport.dma)
  return {
    drive,
    gpu,
    transport,
    /** Opens a controller with the engine `cuda`, whose `detach` adds an entry to the journal. */
    async open(from: Transport, more: ControllerOptions = {}, engineOptions: KernelEngineOptions = {}) {
      const engine = cudaEngine(from, cuda, engineOptions)
      const detach = engine.detach.bind(engine)
      engine.detach = () => {
        detach()
        gpu.journal.push('detach')
      }
      const options = { queueDepth: 8, maxTransferBytes: 65_536, write: { serial: SERIAL } }
      const ctrl = await Controller.open(from, { ...options, ...more, engine })
      return { ctrl, engine }
    },
    async [Symbol.asyncDispose]() {
      await cuda.close()
      expect(gpu.live).toBe(0)
      expect(standin.live()).toEqual(NOTHING)
      expect(await drive.simulator.diagnostics()).toEqual([])
      await drive.close()
      file[Symbol.dispose]()
    },
  }
}

const TIER_3 = { queueMemory: 'gpu', queues: 2 } as const

describe.skipIf(!hasStandin || !isBuilt)(`the engine cuda with GPU memory${skippedWithoutStandin}`, () => {
  test('reads back written data with queues in GPU memory and data in either memory; releases all of it in order', async () => {
    await using machine = await openMachine()
    const { gpu, transport } = machine
    const dma = withVram(transport.dma, gpu.provider, gpu)
    const { ctrl, engine } = await machine.open({ ...transport, dma }, TIER_3)
    const ns = ctrl.namespace(1)
    const [host, data] = [ns.dma.alloc(MIB), ns.dma.alloc(MIB, { where: 'gpu' })]
    expect(data.view).toBeUndefined()
    const inGpu = () => gpu.read(data.gpuPointer!, MIB)

    await ns.read(0, 2048, host)
    expect(isEqual(viewOf(host), bytesFrom(0, MIB))).toBe(true)
    await ns.read(2048, 2048, data)
    expect(isEqual(inGpu(), bytesFrom(MIB, MIB))).toBe(true)

    viewOf(host).set(bytesFrom(7 * MIB, MIB))
    await ns.write(4096, 2048, host)
    await ns.read(4096, 2048, data)
    expect(isEqual(inGpu(), bytesFrom(7 * MIB, MIB))).toBe(true)

    gpu.write(data.gpuPointer!, bytesFrom(9 * MIB, MIB))
    await ns.write(6144, 2048, data)
    await ns.read(6144, 2048, host)
    expect(isEqual(viewOf(host), bytesFrom(9 * MIB, MIB))).toBe(true)
    // At least 6 transfers of 16 commands: several laps of rings of 16 entries.
    expect(engine.statistics.commands).toBeGreaterThanOrEqual(96)
    expect(engine.statistics.staleCompletions).toBe(0)

    data.free()
    gpu.journal.length = 0
    await ctrl.close()
    // The engine is detached before the rings are released by the controller and then freed.
    const six = Array.from({ length: 6 }, () => ['release', 'free'])
    expect(gpu.journal).toEqual(['detach', ...six.flat()])
  })

  test.each([
    ['hangs', { kind: 'hang' }, ['abort succeeded']],
    ['loses its completion', { kind: 'drop-completion' }, ['abort insufficient', 'recreate-queues succeeded']],
  ] as const)('recovers a read that %s, with queues in GPU memory', async (_, action: FaultAction, expected) => {
    const rules = [{ match: { qid: 1, opcode: 0x02, nth: 3 }, action }]
    await using machine = await openMachine({ faults: { rules } })
    const { gpu, transport, drive } = machine
    const clock = native.allocate(4096, 4096)
    const dma = withVram(transport.dma, gpu.provider, gpu)
    const recovery = { abortNs: 300_000_000 }
    const options = { ...TIER_3, queues: 1, recovery }
    const { ctrl } = await machine.open({ ...transport, dma }, options, { clock: new BigUint64Array(clock.buffer) })
    const seen: ControllerEvent[] = []
    const listening = (async () => {
      for await (const event of ctrl.events()) seen.push(event)
    })()
    const ns = ctrl.namespace(1)
    const memory = ns.dma.alloc(MIB, { where: 'gpu' })
    const plan = ns.planReads([{ slba: 0, blocks: 2048, offsetBytes: 0 }])
    const running = ns.execute(plan, memory, { timeoutNs: 1000 })
    while (((await drive.simulator.statistics()).ioCommands[2] ?? 0) < 15) await new Promise(setImmediate)
    clock.store64(0, 1000n)
    expect(await running).toMatchObject({ commands: 16, succeeded: 16, failures: [] })
    expect(isEqual(gpu.read(memory.gpuPointer!, MIB), bytesFrom(0, MIB))).toBe(true)
    memory.free()
    await ctrl.close()
    await listening
    const steps = seen.flatMap((event) => (event.kind === 'recovery' ? [`${event.step} ${event.result}`] : []))
    expect(steps.filter((step) => !step.endsWith('begun'))).toEqual(expected)
    clock.unmap()
  })
})

describe.skipIf(!hasStandin || !isBuilt)(`a negotiated tier${skippedWithoutStandin}`, () => {
  const can = { gpuRing: true, gpuRead: false, dmaToVram: true }
  const ordering = { writesOrdering: 100, flushWritesOptions: 1 }
  const refusing: ProviderCandidate = {
    name: 'static BAR1',
    open: () => {
      throw new VramRefusedError({ provider: 'static BAR1', reason: 'no-bar1', found: 'this GPU has no such BAR' })
    },
  }

  /** Negotiates with a controller of the host engine, and closes it. */
  async function negotiated(
    { transport, gpu }: { transport: Transport; gpu: AliasedGpu },
    provider: VramProvider,
    request: Pick<TierRequest, 'maxTier'> & { readonly allowPeerReads: boolean },
  ) {
    await using ctrl = await Controller.open(transport)
    const namespace = ctrl.namespace(1)
    const options = (from: VramProvider, flush?: () => void) => {
      const vram = withVram(namespace.dma, from, gpu, flush === undefined ? {} : { flush })
      return { namespace, host: namespace.dma, vram, gpu }
    }
    return await negotiateTier({
      ...{ can, ordering, maxTier: request.maxTier },
      providers: [refusing, { name: provider.name, open: () => provider }],
      probe: (from, flush) => probeWrites(options(from, flush)),
      ...(request.allowPeerReads && {
        peerReads: { probe: (from: VramProvider, flush?: () => void) => probeReads(options(from, flush)) },
      }),
    })
  }

  test('3, after both probes, supports queues and data; the result has the failure of an earlier provider', async () => {
    await using machine = await openMachine()
    const { gpu, transport } = machine
    const result = await negotiated(machine, gpu.provider, { maxTier: 3, allowPeerReads: true })
    expect(result.tier).toBe(3)
    expect(result.reasons).toMatchObject([
      {
        tier: 2,
        code: 'no-bar1',
        provider: 'static BAR1',
        message: expect.stringContaining('this GPU has no such BAR') as string,
      },
    ])
    expect(gpu.live).toBe(0)
    const dma = withVram(transport.dma, result.memory!.provider, gpu)
    const { ctrl } = await machine.open({ ...transport, dma }, { queueMemory: 'gpu' })
    const ns = ctrl.namespace(1)
    const memory = ns.dma.alloc(2 * MIB, { where: 'gpu' })
    await ns.read(512, 4096, memory)
    expect(isEqual(gpu.read(memory.gpuPointer!, 2 * MIB), bytesFrom(262_144, 2 * MIB))).toBe(true)
    memory.free()
    await ctrl.close()
    dma.close()
  })

  test('2, without permission for peer reads, has that reason, and supports data only', async () => {
    await using machine = await openMachine()
    const { gpu, transport } = machine
    const { tier, memory, reasons } = await negotiated(machine, gpu.provider, { maxTier: 3, allowPeerReads: false })
    expect(tier).toBe(2)
    expect(reasons.at(-1)).toMatchObject({
      tier: 3,
      code: 'peer-reads-not-allowed',
      message: 'the controller must read queues in GPU memory, which was not allowed',
      next: 'allow peer reads if losing the drive until a bus reset is acceptable',
    })
    const dma = withVram(transport.dma, memory!.provider, gpu)
    const { ctrl } = await machine.open({ ...transport, dma })
    const ns = ctrl.namespace(1)
    const data = ns.dma.alloc(MIB, { where: 'gpu' })
    expect(gpu.live).toBe(1)
    await ns.read(0, 2048, data)
    expect(isEqual(gpu.read(data.gpuPointer!, MIB), bytesFrom(0, MIB))).toBe(true)
    data.free()
    await ctrl.close()
  })

  test('1, if data do not arrive, has the result of the probe as its reason', async () => {
    await using machine = await openMachine()
    const { transport } = machine
    // Reads succeed, but their data go to other memory.
    const elsewhere = transport.dma.alloc(8 * MIB, { contiguous: true })
    const lying: VramProvider = {
      name: 'a window elsewhere',
      map: (_, lengthBytes) => ({
        segments: [{ offsetBytes: 0, iova: elsewhere.iovaAt(0), lengthBytes }],
        release: () => undefined,
      }),
    }
    const { tier, memory, reasons } = await negotiated(machine, lying, { maxTier: 3, allowPeerReads: true })
    expect([tier, memory]).toEqual([1, undefined])
    expect(reasons.map(({ tier: missed, code, provider }) => [missed, code, provider])).toEqual([
      [2, 'no-bar1', 'static BAR1'],
      [2, 'nothing-arrived', 'a window elsewhere'],
    ])
    elsewhere.free()
    // Queues in GPU memory are rejected before one is created.
    await expect(machine.open(transport, { queueMemory: 'gpu' })).rejects.toThrow(TypeError)
  })
})
