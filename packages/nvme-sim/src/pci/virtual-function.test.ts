import { describe, expect, it } from 'vitest'
import { Controller } from '../controller/controller.js'
import { Device } from '../controller/device.js'
import { Diagnostics } from '../controller/diagnostics.js'
import { HostMemory } from '../memory/host-memory.js'
import { Namespaces } from '../nvm/namespaces.js'
import { deriveProfile } from '../profiles/index.js'
import { VirtualClock } from '../time/clock.js'
import { PX } from './layout.js'

const VS = 0x08
const BAR0 = 0x10
const CC = 0x14
const ALL_ONES = 0xffff_ffff

/** Returns a virtualized function, with vectors 0 to 3. */
function virtualized() {
  const clock = new VirtualClock()
  const diagnostics = new Diagnostics(clock)
  const memory = new HostMemory({ limitBytes: 1024 * 1024, fragmented: false, seed: 1, firstIova: 0xfee0_0000 })
  const device = new Device({
    ...{ clock, memory, namespaces: new Namespaces([{}]), diagnostics },
    ...{ profile: deriveProfile('ideal', { ioQueuePairs: 3 }), faults: undefined, seed: 1, trace: undefined },
  })
  const controller = new Controller(device)
  device.pci.virtualize()
  const arrived: string[] = []
  device.interrupts.onArrival = (vector, kind) => arrived.push(`${kind} ${vector}`)
  return { device, controller, diagnostics, memory, arrived, pci: device.pci }
}

describe('a virtualized function', () => {
  it('accepts accesses for any address in BAR0 while Memory Space Enable is 1', () => {
    const { pci, controller, diagnostics } = virtualized()
    pci.writeConfig(BAR0, 4, 0)
    expect(controller.read32(VS)).toBe(0x0002_0100)
    expect(diagnostics.entries).toEqual([])
    pci.writeConfig(4, 2, 0)
    expect(controller.read32(VS)).toBe(ALL_ONES)
  })

  it('signals a vector that is set, and keeps other vectors pending until they are set', () => {
    const { pci, device, arrived } = virtualized()
    pci.setMessages(true)
    pci.setVector(1, true)
    for (const vector of [1, 2]) {
      // Stands for a completion queue: the interrupt logic uses only its ID.
      device.interrupts.posted(device.interrupts.vector(vector)!, { qid: vector } as never, false)
    }
    expect(arrived).toEqual(['message 1'])
    expect([pci.msix.isPending(1), pci.msix.isPending(2)]).toEqual([false, true])
    pci.setVector(2, true)
    expect(arrived).toEqual(['message 1', 'message 2'])
    pci.setMessages(false)
    expect(pci.isMessageSignaled).toBe(false)
  })

  it('writes no message to memory at the MSI address', () => {
    const { pci, device, memory, arrived } = virtualized()
    const page = memory.alloc(4096)
    expect(page.iovaAt(0)).toBe(0xfee0_0000)
    pci.setMessages(true)
    pci.setVector(0, true)
    device.interrupts.posted(device.interrupts.vector(0)!, { qid: 0 } as never, false)
    expect(arrived).toEqual(['message 0'])
    expect(page.view!.getUint32(0, true)).toBe(0)
  })

  it('keeps its vectors across a Function Level Reset, which clears CC', () => {
    const { pci, controller, device } = virtualized()
    pci.setMessages(true)
    pci.setVector(2, true)
    controller.write32(CC, 0x0046_0000)
    pci.writeConfig(PX + 8, 2, 0x8000)
    expect(device.configuration).toBe(0)
    expect(pci.isMessageSignaled).toBe(true)
    expect([1, 2].map((vector) => pci.msix.isMasked(vector))).toEqual([true, false])
  })
})
