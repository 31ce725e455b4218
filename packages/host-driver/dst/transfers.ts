import { RunFailure } from '@gpunvme/nvme-sim/dst'
import type { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { OutcomeSummary } from '@gpunvme/nvme-spec/transport'
import type { DriverNamespace } from '../conformance/driver.js'
import { Call } from './call.js'
import { expectRefusal, type Host } from './host.js'
import { plainMemory, scatteredMemory } from './memory.js'
import { executePlan, planOf } from './plans.js'
import type { Step } from './scenario.js'

/** Starts the calls that read and write blocks. */
export class Transfers {
  private readonly host: Host
  private readonly open = new Set<Call>()

  constructor(host: Host) {
    this.host = host
    host.world.onDamage = (command) => {
      for (const call of this.open) call.damage(command)
    }
  }

  startPlan(namespace: DriverNamespace, step: Extract<Step, { do: 'plan' }>): void {
    const { medium, calls, scenario } = this.host
    const start = Call.startOf(step.shiftBytes)
    const { blockBytes } = namespace
    let offsetBytes = start
    const transfers = step.extents.map(({ slba, blocks }) => {
      const transfer = { slba, blocks, offsetBytes }
      offsetBytes += blocks * blockBytes
      return transfer
    })
    // A fault may have made the namespace smaller.
    if (transfers.some(({ slba, blocks }) => slba + blocks > namespace.blocks)) return
    const plan = planOf(namespace, step.operation, transfers)
    const allocate = step.isScattered ? scatteredMemory : plainMemory
    const memory = allocate(namespace.dma, Call.lengthOf(step.shiftBytes, offsetBytes - start))
    const controller = new AbortController()
    if (step.abortAfterNs !== undefined) void calls.idle(step.abortAfterNs).then(() => controller.abort())
    const call = new Call(medium, plan, memory, step.salt)
    const options = { timeoutNs: scenario.timeoutNs, signal: controller.signal }
    calls.start(call.what, () => this.execute(call, () => executePlan(namespace, plan, memory.memory, options)))
  }

  /** Starts a single `read`, which resolves or throws, instead of a plan with outcomes. */
  startRead(namespace: DriverNamespace, { slba, blocks }: Extract<Step, { do: 'read' }>): void {
    if (slba + blocks > namespace.blocks) return
    const { medium, calls, scenario } = this.host
    const offsetBytes = Call.startOf(0)
    const plan = planOf(namespace, 'read', [{ slba, blocks, offsetBytes }])
    // For a driver without plans, the plan has only the first command of the read.
    const asked = namespace.planReads === undefined ? plan.blocks[0]! : blocks
    const memory = plainMemory(namespace.dma, Call.lengthOf(0, blocks * namespace.blockBytes))
    const call = new Call(medium, plan, memory, 0)
    calls.start(call.what, () =>
      this.execute(call, async () => {
        await namespace.read(slba, asked, memory.memory, { offsetBytes, timeoutNs: scenario.timeoutNs })
        const { commands } = plan
        return { commands, succeeded: commands, bytes: asked * plan.blockBytes, failures: [], startNs: 0, endNs: 0 }
      }),
    )
  }

  /** Writes a block and reads it back; returns whether both succeeded. */
  async roundTrip(namespace: DriverNamespace): Promise<boolean> {
    const { medium, calls, scenario } = this.host
    const [offsetBytes, { blockBytes }] = [Call.startOf(0), namespace]
    let succeeded = 0
    for (const operation of ['write', 'read'] as const) {
      // Identified while detached: Identify Namespace returns zeroes for an inactive namespace.
      if (namespace.blocks === 0) return false
      const plan = planOf(namespace, operation, [{ slba: 0, blocks: 1, offsetBytes }])
      const memory = plainMemory(namespace.dma, Call.lengthOf(0, blockBytes))
      const call = new Call(medium, plan, memory, 1_000_000)
      calls.start(call.what, () =>
        this.execute(call, async () => {
          const summary = await executePlan(namespace, plan, memory.memory, { timeoutNs: scenario.timeoutNs })
          succeeded += summary.succeeded
          return summary
        }),
      )
      await calls.join()
    }
    return succeeded === 2
  }

  private async execute(call: Call, action: () => Promise<OutcomeSummary>): Promise<void> {
    const { host } = this
    this.open.add(call)
    try {
      const summary = await action()
      host.calls.outcomes += summary.commands
      host.later(call.ended(summary))
      if (call.memory.isScattered && summary.succeeded > 0) host.tally.add('scattered memory')
    } catch (error) {
      if (error instanceof RunFailure) throw error
      // Without SGLs the driver cannot describe this memory, and sends nothing.
      if (call.memory.isScattered && error instanceof RangeError) {
        call.refused(false, String(error))
        return
      }
      expectRefusal(call.what, error)
      call.refused((error as GpuNvmeError).code === 'ERR_GPUNVME_TRANSFER', String(error))
    } finally {
      this.open.delete(call)
      call.memory.free()
    }
  }
}
