import { describe, expect, it } from 'vitest'
import { Controller } from '../controller/controller.js'
import { Device } from '../controller/device.js'
import { Diagnostics } from '../controller/diagnostics.js'
import { HostMemory } from '../memory/host-memory.js'
import { Namespaces } from '../nvm/namespaces.js'
import { profiles } from '../profiles/index.js'
import {
  ACQ,
  AQA,
  ASQ,
  CAP,
  CC,
  CC_ENABLED,
  CSTS,
  INTMC,
  INTMS,
  NSSR,
  VS,
} from '../../conformance/raw-host/registers.js'
import { textsOf } from '../../test/diagnostics.js'
import { VirtualClock } from '../time/clock.js'
import { DoorbellPage } from './doorbell-page.js'
import { RegisterPage } from './register-page.js'

// Tests the register and doorbell pages, accessed by plain loads and stores like those of a native host, with a
// controller in virtual time.

class NativeHost {
  readonly clock = new VirtualClock()
  readonly diagnostics = new Diagnostics(this.clock)
  readonly memory = new HostMemory({ limitBytes: 1024 * 1024, fragmented: false, seed: 1 })
  readonly device: Device
  readonly controller: Controller
  readonly registers: RegisterPage
  readonly doorbells: DoorbellPage
  private readonly words = new Int32Array(0x2000 / 4)

  constructor() {
    const { clock, diagnostics, memory } = this
    const namespaces = new Namespaces([{ capacityBytes: 1024 * 1024 }])
    const parts = { clock, memory, namespaces, profile: profiles.ideal, diagnostics }
    this.device = new Device({ ...parts, faults: undefined, seed: 1, trace: undefined })
    this.controller = new Controller(this.device)
    this.registers = new RegisterPage(this.words.subarray(0, 0x400), this.device, this.controller)
    this.doorbells = new DoorbellPage(this.words.subarray(0x400), this.controller, { tick: () => undefined }, 4)
    this.device.queues.onCreate = (queue) => this.doorbells.open(queue)
    this.registers.publish()
  }

  load(offset: number): number {
    return Atomics.load(this.words, offset / 4) >>> 0
  }

  store(offset: number, value: number): void {
    Atomics.store(this.words, offset / 4, value)
  }

  /** Lets the simulator scan both pages and run the resulting events. */
  async turn(): Promise<void> {
    this.registers.scan()
    this.doorbells.scan()
    const endNs = this.clock.now() + 1000
    while (this.clock.now() < endNs) await this.clock.idle(endNs)
    this.registers.publish()
  }

  async enable(): Promise<void> {
    this.store(AQA, 0x001f_001f)
    const queues = [ASQ, ACQ].map(
      (offset) => [offset, this.memory.alloc(4096, { contiguous: true }).iovaAt(0)] as const,
    )
    for (const [offset, iova] of queues) {
      this.store(offset, iova % 2 ** 32)
      this.store(offset + 4, Math.floor(iova / 2 ** 32))
    }
    this.store(CC, CC_ENABLED)
    await this.turn()
  }
}

describe('registers as plain memory', () => {
  it('show CAP, VS, CC and CSTS before any store of the host', () => {
    const host = new NativeHost()
    // MQES 1023, CQR, TO 10 s; NSSRS, CSS bit 0, MPSMAX 4.
    expect(host.load(CAP) & 0xffff).toBe(1023)
    expect(host.load(VS)).toBe(0x0002_0100)
    expect([host.load(CC), host.load(CSTS)]).toEqual([0, 0])
  })

  it('accept AQA, ASQ and ACQ before CC, whatever the order of the stores', async () => {
    const host = new NativeHost()
    await host.enable()
    expect(host.load(CSTS)).toBe(1)
    expect(host.diagnostics.entries).toEqual([])
  })

  it('restore and report a store to a read-only register', async () => {
    const host = new NativeHost()
    const before = host.load(CAP)
    host.store(CAP, 0x1234_5678)
    await host.turn()
    expect(host.load(CAP)).toBe(before)
    expect(textsOf(host.diagnostics.entries)).toEqual([expect.stringContaining('CAP, which is read-only')])
  })

  it('set and clear the mask by any stores to INTMS and INTMC', async () => {
    const host = new NativeHost()
    host.store(INTMS, 0xf0)
    await host.turn()
    expect(host.load(INTMS)).toBe(0xf0)
    host.store(INTMS, 0x01)
    await host.turn()
    expect(host.load(INTMS)).toBe(0xf1)
    // Clears the whole mask by storing the value that INTMS shows.
    host.store(INTMC, 0xf1)
    await host.turn()
    expect([host.load(INTMS), host.load(INTMC)]).toEqual([0, 0])
  })

  it('reset the subsystem by a store to NSSR, and clear NSSRO by a store that changes CSTS', async () => {
    const host = new NativeHost()
    await host.enable()
    host.store(NSSR, 0x4e56_4d65)
    await host.turn()
    expect([host.load(NSSR), host.load(CC), host.load(CSTS)]).toEqual([0, 0, 0x10])
    host.store(CSTS, 0x8000_0010)
    await host.turn()
    expect(host.load(CSTS)).toBe(0)
  })

  it('read all ones after the device is removed', async () => {
    const host = new NativeHost()
    host.controller.remove()
    await host.turn()
    for (const offset of [CAP, VS, CC, CSTS]) expect(host.load(offset)).toBe(0xffff_ffff)
  })
})

describe('doorbells as plain memory', () => {
  it('read 0h when their queue is created, so that the first tail is detected as a change', async () => {
    const host = new NativeHost()
    await host.enable()
    host.store(0x1000, 1)
    await host.turn()
    expect(host.device.queues.sq(0)!.tail).toBe(1)
    host.store(CC, 0x0046_0000)
    await host.turn()
    await host.enable()
    expect(host.load(0x1000)).toBe(0)
    host.store(0x1000, 1)
    expect(host.doorbells.poll()).toBe(true)
    expect(host.device.queues.sq(0)!.tail).toBe(1)
  })

  it('reset a value that the controller rejects, so that each store is reported', async () => {
    const host = new NativeHost()
    await host.enable()
    for (let time = 1; time <= 2; time++) {
      host.store(0x1004, 9)
      await host.turn()
      expect(host.load(0x1004)).toBe(0)
      expect(host.diagnostics.entries).toHaveLength(time)
    }
    expect(host.diagnostics.entries[0]?.text).toMatch(/^host rang CQ 0 head 9, but /)
  })

  it('reset and report a value stored for a queue that does not exist', async () => {
    const host = new NativeHost()
    await host.enable()
    host.store(0x1000 + 8 * 7, 3)
    expect(host.doorbells.poll()).toBe(false)
    await host.turn()
    expect(host.load(0x1000 + 8 * 7)).toBe(0)
    expect(textsOf(host.diagnostics.entries)).toEqual([
      expect.stringMatching(/^host rang SQ 7 tail 3, but the queue does not exist/),
    ])
  })
})
