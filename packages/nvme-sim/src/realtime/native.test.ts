import { rmSync } from 'node:fs'
import { afterAll, afterEach, expect, it } from 'vitest'
import { startRealTimeSimulator, type RealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { buildNativeHost, type NativeTestHost } from '../../test/realtime/build-native.js'

const MIB = 1024 * 1024
const built = buildNativeHost()

let simulator: RealTimeSimulator | undefined
afterEach(() => simulator?.close())
afterAll(() => {
  if (typeof built !== 'string') rmSync(built.folder, { recursive: true })
})

const skipped = typeof built === 'string' ? ` (skipped: ${built})` : ''

it.skipIf(typeof built === 'string')(
  `a native thread uses the simulator by plain loads and stores in shared memory${skipped}`,
  async () => {
    const { module } = built as { module: URL }
    const { default: native } = (await import(/* @vite-ignore */ module.href)) as { default: NativeTestHost }
    const lengthBytes = 4 * MIB
    const address = native.map(lengthBytes)
    simulator = await startRealTimeSimulator({ module, address, lengthBytes, reach: 'all' })
    const { barOffsetBytes, dmaOffsetBytes, baseIova } = simulator.layout
    // Device addresses are pointers.
    expect(BigInt(baseIova)).toBe(address)
    const { window } = simulator.transport.bar
    expect(window).toEqual({
      address: address + BigInt(barOffsetBytes),
      lengthBytes: simulator.transport.bar.lengthBytes,
      isMemory: true,
    })

    native.startHost(address + BigInt(barOffsetBytes), address + BigInt(dmaOffsetBytes), 500)
    let outcome: string | undefined
    // The native host stops after 30 s without a completion.
    while ((outcome = native.outcome()) === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(outcome).toBe('done')
    expect(await simulator.diagnostics()).toEqual([])
    expect((await simulator.statistics()).ioCommands).toEqual({ 1: 500, 2: 500 })
  },
)
