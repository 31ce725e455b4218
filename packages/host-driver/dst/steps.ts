import { RunFailure } from '@gpunvme/nvme-sim/dst'
import type { DriverNamespace } from '../conformance/driver.js'
import { callBlocks, canCall } from './block-calls.js'
import { expectRefusal, type Host } from './host.js'
import { Manager } from './manager.js'
import type { Step } from './scenario.js'
import { Transfers } from './transfers.js'

/** Takes the steps of a scenario: the workload of the driver. */
export class Steps {
  readonly transfers: Transfers
  private readonly host: Host
  private readonly manager: Manager

  constructor(host: Host) {
    this.host = host
    this.manager = new Manager(host)
    this.transfers = new Transfers(host)
  }

  async take(step: Step): Promise<void> {
    const { host } = this
    const { calls } = host
    const namespace = 'nsid' in step ? this.namespaceOf(step.nsid) : undefined
    switch (step.do) {
      case 'plan':
        if (namespace !== undefined) this.transfers.startPlan(namespace, step)
        return
      case 'read':
        if (namespace !== undefined) this.transfers.startRead(namespace, step)
        return
      case 'flush':
        calls.start('flush', () => this.flush(namespace))
        return
      case 'blocks':
        if (namespace === undefined || !canCall(namespace, step.call)) return
        calls.start(`${step.call.call} of NSID ${namespace.nsid}`, async () => {
          await callBlocks(namespace, step.call, host)
          calls.outcomes++
        })
        return
      case 'refused':
        calls.start('a call for a namespace with metadata', () => this.expectUnsupported())
        return
      case 'manage':
        await calls.join()
        calls.start(`${step.management.what} a namespace`, () => this.manager.take(step.management))
        return calls.join()
      case 'reset':
        calls.start('reset', () => this.reset())
        return
      case 'power':
        host.world.losePower()
        host.medium.losePower()
        host.tally.add('loss of power')
        return
      case 'smart':
        calls.start('SMART', () => this.askSmart())
        return
      case 'pass':
        return calls.pass(step.ns)
      case 'join':
        return calls.join()
      case 'close':
        return host.reopen()
    }
  }

  /** Reads the SMART log; returns whether that succeeded. */
  async askSmart(): Promise<boolean> {
    const { host } = this
    try {
      await host.ctrl?.smartLog?.()
      return true
    } catch (error) {
      expectRefusal('SMART', error)
      return false
    } finally {
      host.calls.outcomes++
    }
  }

  private namespaceOf(nsid: number): DriverNamespace | undefined {
    const meant = this.manager.nsidOf(nsid)
    return this.host.ctrl?.namespaces.find((namespace) => namespace.nsid === meant)
  }

  private async flush(namespace: DriverNamespace | undefined): Promise<void> {
    const { medium, calls } = this.host
    const began = medium.tick()
    try {
      await namespace?.flush?.()
      if (namespace?.flush !== undefined) medium.flush(namespace.nsid, began)
    } catch (error) {
      expectRefusal('flush', error)
    }
    calls.outcomes++
  }

  /** Checks that the driver rejects reads and writes of the namespace with metadata. */
  private async expectUnsupported(): Promise<void> {
    const { withMetadata } = this.host.scenario
    const namespace = withMetadata && this.namespaceOf(withMetadata)
    if (!namespace || namespace.identity === undefined) return
    const memory = namespace.dma.alloc(4096)
    for (const call of ['read', 'write'] as const) {
      try {
        await namespace[call](0, 1, memory)
        throw new RunFailure('outcome', `${call} of a namespace with metadata was not rejected`)
      } catch (error) {
        if (error instanceof RunFailure) throw error
        expectRefusal(call, error)
      }
    }
    memory.free()
    this.host.tally.add('metadata refused')
  }

  private async reset(): Promise<void> {
    const { host } = this
    if (host.ctrl?.reset === undefined) return
    try {
      await host.ctrl.reset()
      host.tally.add('reset')
    } catch (error) {
      host.refuse('reset', error)
    }
  }
}
