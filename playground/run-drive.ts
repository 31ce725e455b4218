import { Controller, TransferError, type ControllerEvent } from '@gpunvme/host-driver'
import { deriveProfile, simulate, SimulatedHost, unverifiableMedia } from '@gpunvme/nvme-sim'
import { commandLimit, payloadLimit } from '@gpunvme/nvme-spec/pcie'
import { faultPlan, linkOf, type Settings } from './settings.js'
import { Timeline, type QueueState } from './timeline.js'

/** A modelled run: sequential Reads at a fixed queue depth, in virtual time. */
export interface DriveRun {
  readonly commands: number
  /** May be less than chosen: MDTS. */
  readonly commandBytes: number
  readonly queueDepth: number
  readonly deadlineNs: number
  readonly startNs: number
  readonly endNs: number
  readonly bytes: number
  /** Over the whole run, recovery included. */
  readonly bytesPerSecond: number
  /** What the link can carry: data alone, and with a PRP list and doorbells for every command, which the driver may save. */
  readonly payloadLimit: number
  readonly commandLimit: number
  readonly states: readonly QueueState[]
  readonly faultNs: number | undefined
  readonly events: readonly ControllerEvent[]
  /** Why the run ended early, in the driver's words. */
  readonly failure: string | undefined
}

/** Reads of a run: enough to fill the queue several times, few enough to simulate within a second. */
const MIN_COMMANDS = 600
const DEPTHS = 6

/** Memory for data. The media moves no bytes, so the commands of a run share it. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024

/** The driver's own limits are 10 s for a command and 1 s for an abort: a chart would show nothing but the gap. */
const MIN_DEADLINE_NS = 2_000_000
const ABORT_NS = 2_000_000

/** Runs the driver on a simulated drive and records the queues. Never throws for a fault of the plan. */
export async function runDrive(settings: Settings): Promise<DriveRun> {
  const link = linkOf(settings)
  const commands = Math.max(MIN_COMMANDS, DEPTHS * settings.queueDepth)
  const queueEntries = settings.queueDepth + 1
  const timeline = new Timeline(queueEntries)
  const faults = faultPlan(settings.fault, Math.floor(commands / 2))
  const { transport, clock } = simulate({
    // Its clock serves several waiters: the driver, and the subscription to its events below.
    host: new SimulatedHost(),
    profile: deriveProfile(settings.drive, { link }),
    namespaces: [{ media: unverifiableMedia({ capacityBytes: 2 ** 40 }) }],
    ...(faults && { faults }),
    trace: timeline.sink,
  })
  const { queueDepth, commandBytes: maxTransferBytes } = settings
  const recovery = { abortNs: ABORT_NS }
  const controller = await Controller.open(transport, { queueDepth, queueEntries, maxTransferBytes, recovery })
  const events: ControllerEvent[] = []
  const subscription = controller.events()
  const collected = (async () => {
    for await (const event of subscription) events.push(event)
  })()

  const namespace = controller.namespace(1)
  const commandBytes = namespace.maxTransferBytes
  const blocks = commandBytes / namespace.blockBytes
  const slots = Math.max(1, Math.min(commands, Math.floor(MAX_MEMORY_BYTES / commandBytes)))
  const memory = namespace.dma.alloc(slots * commandBytes)
  const limit = payloadLimit(link)
  const deadlineNs = MIN_DEADLINE_NS + Math.ceil((3 * queueDepth * commandBytes * 1e9) / limit)
  const plan = {
    operation: 'read' as const,
    nsid: 1,
    blockBytes: namespace.blockBytes,
    commands,
    slba: Float64Array.from({ length: commands }, (_, index) => index * blocks),
    blocks: new Uint32Array(commands).fill(blocks),
    offsetBytes: Float64Array.from({ length: commands }, (_, index) => (index % slots) * commandBytes),
    queue: new Uint16Array(commands),
  }
  timeline.states.length = 0
  const startNs = clock.now()
  const summary = await namespace.execute(plan, memory, { timeoutNs: deadlineNs })
  const endNs = clock.now()
  const failure = summary.failures.length === 0 ? undefined : new TransferError(plan, summary).message
  await controller.close()
  await collected
  return {
    ...{ commands, commandBytes, queueDepth, deadlineNs, startNs, endNs, bytes: summary.bytes },
    bytesPerSecond: (summary.bytes / (endNs - startNs)) * 1e9,
    payloadLimit: limit,
    commandLimit: commandBytes * commandLimit('read', commandBytes, link),
    states: timeline.states.filter(({ timeNs }) => timeNs <= endNs),
    faultNs: timeline.faultNs,
    events: events.filter(({ timeNs }) => timeNs >= startNs && timeNs <= endNs),
    failure,
  }
}
