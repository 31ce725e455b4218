import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { CommandOutcome, DmaMemory, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { DriverNamespace } from '../conformance/driver.js'
import { planTransfers, type Transfer } from '../src/engine/plan.js'

/** Maximum length of a command for a driver without plans: no simulated drive requires a driver to split it. */
const UNSPLIT_BYTES = 4096

/** Plans transfers with the driver. For a driver without plans, returns one command for the start of each transfer. */
export function planOf(namespace: DriverNamespace, operation: 'read' | 'write', transfers: readonly Transfer[]): Plan {
  const planned = operation === 'read' ? namespace.planReads?.(transfers) : namespace.planWrites?.(transfers)
  if (planned !== undefined) return planned
  const { nsid, blockBytes } = namespace
  const shape = { operation, nsid, blockBytes, maxTransferBytes: UNSPLIT_BYTES, queues: 1 }
  const max = UNSPLIT_BYTES / blockBytes
  return planTransfers(
    shape,
    transfers.map((transfer) => ({ ...transfer, blocks: Math.min(max, transfer.blocks) })),
  )
}

/** Executes a plan. For a driver without plans, makes one concurrent call for each command. */
export async function executePlan(
  namespace: DriverNamespace,
  plan: Plan,
  memory: DmaMemory,
  options: ExecuteOptions,
): Promise<OutcomeSummary> {
  if (namespace.execute !== undefined) return namespace.execute(plan, memory, options)
  const calls = Array.from({ length: plan.commands }, (_, command) => {
    const [slba, blocks, offsetBytes] = [plan.slba[command]!, plan.blocks[command]!, plan.offsetBytes[command]!]
    return namespace[plan.operation](slba, blocks, memory, { ...options, offsetBytes })
  })
  const failures = (await Promise.allSettled(calls)).flatMap((result, command) =>
    result.status === 'fulfilled' ? [] : [failureOf(plan, command, result.reason)],
  )
  const failed = new Set(failures.map(({ command }) => command))
  const bytes = plan.blocks.reduce((sum, blocks, index) => sum + (failed.has(index) ? 0 : blocks * plan.blockBytes), 0)
  return { commands: plan.commands, succeeded: plan.commands - failures.length, bytes, failures, startNs: 0, endNs: 0 }
}

/** Converts the error of a call to an outcome. A failed write may still be executed until the controller is reset. */
function failureOf({ operation }: Plan, command: number, error: unknown): CommandOutcome {
  if (!(error instanceof GpuNvmeError)) throw error
  const outcome =
    operation === 'read' ? ({ kind: 'timeout', afterNs: 0 } as const) : ({ kind: 'device-lost', csts: 0 } as const)
  return { command, qid: 0, cid: 0, outcome }
}
