import { errorLines, errorText } from '../command-line/error-text.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { composeRig, type ComposeParts, type Rig, type RigPlan } from '../rig/open-rig.js'
import type { ComposeOptions, RigProgress } from '../rig/options.js'
import type { Output } from '../terminal/output.js'
import { Progress } from '../terminal/progress.js'
import { plural } from '../terminal/units.js'
import { requireMemory } from '../model/enough-memory.js'
import {
  describeLoaded,
  describeTotals,
  describeVerified,
  describeDecisions,
  loadResult,
  PassTable,
  sourceOf,
} from './load-report.js'
import { runPasses, type PassReport } from './passes.js'
import { describePlan } from '../model/residence-report.js'

export interface LoadJob {
  /** The drives; empty for a model in files. */
  readonly opened: readonly OpenedTransport[]
  readonly options: ComposeOptions & Required<Pick<ComposeOptions, 'queues' | 'queueDepth' | 'signal'>>
  readonly parts?: ComposeParts
  readonly passes: number
}

/**
 * Loads a model, runs passes, and prints the plan, each pass and the verification.
 * @param use called with the loaded model and the JSON result, without the drive
 * @throws ToolsError (NOT_ENOUGH_MEMORY); errors of `composeRig`
 */
export async function loadAndReport(
  { opened, options, parts, passes: count }: LoadJob,
  output: Output,
  use: (rig: Rig, result: ReturnType<typeof loadResult>) => void | Promise<void>,
): Promise<void> {
  const [first] = opened
  const clock = { time: first?.time ?? 'wall', link: opened.length === 1 ? first!.link : undefined } as const
  const { signal } = options
  await using rig = await compose(opened, options, output, {
    ...parts,
    onPlanned(plan) {
      parts?.onPlanned?.(plan)
      describeStart(plan, options, output)
    },
  })
  if (rig.loaded.layers > 0) output.print(describeLoaded(rig, clock))
  const table = new PassTable(rig, clock.time, output.columns)
  output.note(table.legend)
  output.print(table.titles)
  const onPass = (pass: PassReport) => output.print(table.row(pass))
  const passes = await runPasses(rig, { passes: count, signal, output, onPass })
  output.print(describeTotals(passes, clock), describeVerified(rig, passes))
  await use(rig, loadResult(rig, passes, clock, output.invocation))
}

/** Shows the progress of loading resident layers. */
async function compose(
  opened: readonly OpenedTransport[],
  options: ComposeOptions,
  output: Output,
  parts: ComposeParts,
): Promise<Rig> {
  const progress = new Progress(output, 'loading')
  const onProgress = ({ doneBytes, totalBytes }: RigProgress) => progress.update(doneBytes, totalBytes)
  try {
    return await composeRig(opened, { ...options, onProgress }, parts)
  } finally {
    progress.end()
  }
}

/** Prints findings and decisions. @throws ToolsError (NOT_ENOUGH_MEMORY) */
function describeStart(plan: RigPlan, { queues, queueDepth }: LoadJob['options'], output: Output): void {
  const { model, problems, controllers, placement, gpu } = plan
  // Not suppressed by --quiet: a further error may destroy the image.
  for (const problem of problems) output.error(errorLines(errorText(problem, output.invocation)))
  for (const controller of controllers) {
    if (controller.queues >= queues && controller.queueDepth >= queueDepth) continue
    const given = describeQueues(controller.queues, controller.queueDepth)
    output.note(`The controller supports ${given}; requested: ${describeQueues(queues, queueDepth)}`)
  }
  const { vram, ram } = placement
  const hostUses = gpu === undefined ? [vram, ram] : [ram]
  const hostBytes = hostUses.reduce((sum, { layerBytes, slotBytes }) => sum + layerBytes + slotBytes, 0)
  requireMemory('This placement', hostBytes, 'lower --ram and --vram')
  output.note(describeDecisions(plan))
  output.print(
    describePlan(model.name, placement, { on: gpu === undefined ? 'host' : 'gpu', source: sourceOf(plan) }),
    '',
  )
}

function describeQueues(queues: number, depth: number): string {
  return `${plural(queues, 'queue')} of ${plural(depth, 'command')}`
}
