import { planPack, type PackedModel } from '@gpunvme/layer-loader'
import { openModelFile, type Model } from '@gpunvme/layer-loader/formats'
import { Option, type Command } from 'commander'
import { errorLines, errorText } from '../command-line/error-text.js'
import {
  addDriveOptions,
  addOutputOptions,
  addQueueOptions,
  allowSeveral,
  examples,
  size,
  whole,
} from '../command-line/options.js'
import { UsageError } from '../command-line/usage-error.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { withTransports, withWriter } from '../drive/with-drive.js'
import { compareDigests } from '../model/compare-digests.js'
import { requireMemory } from '../model/enough-memory.js'
import {
  describeLoaded,
  describeTotals,
  describeVerified,
  describeWhy,
  loadResult,
  PassTable,
  queuesOf,
  sourceOf,
} from '../model/load-report.js'
import { packAndReport } from '../model/pack-report.js'
import { runPasses, type PassReport } from '../model/passes.js'
import { optionsOf, requestOf, type LoadFlags, type LoadRequest } from '../model/load-request.js'
import { namesOf, placeOf } from '../model/place.js'
import { describePlan } from '../model/residence-report.js'
import { warn } from '../model/with-store.js'
import type { Session } from '../program.js'
import { composeRig, type ComposeParts, type Rig, type RigPlan } from '../rig/open-rig.js'
import type { RigProgress } from '../rig/options.js'
import { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { formatBytes, formatDuration, plural } from '../terminal/units.js'

const BLOCK_BYTES = 512

const NOTES = `
Layers that fit stay in GPU memory, others in host memory; each pass reads the
rest from the drive. gpunvme plan shows the placement without loading anything.
Without a GPU, or with --to host, layers stay in host memory.`

export function load(command: Command, session: Session): void {
  command
    .argument(
      '[model]',
      'with a drive: the name of a packed model, or a file with tensors of the same names, types and shapes (their contents are not compared without --compare); with --in-place: the path of its file on the drive; with --file: a model file, or its URL; with --sim: a model file, which is packed onto a simulated drive in memory first',
    )
    .addOption(
      new Option('--to <memory>', 'memory that layers end in (default: gpu if there is one)').choices(['gpu', 'host']),
    )
    .addOption(whole('--gpu <n>', 'CUDA index of the GPU (default: 0)', 0, 63))
    .addOption(
      whole('--tier <n>', '1: copies from host memory; 2: the drive writes to GPU memory if it can (default: 2)', 1, 2),
    )
    .addOption(size('--vram <size>', "GPU memory to use, such as 20GiB (default: 75 % of the GPU's)"))
    .addOption(size('--ram <size>', "host memory to use (default: 50 % of the machine's)"))
    .addOption(whole('--passes <n>', 'passes over the layers', 1, 1_000_000).default(1))
    .option('--in-place', 'MODEL is a file in the ext4, FAT32 or exFAT file system of the drive')
    .option('--file', 'MODEL is a file on this machine; no drive is opened. Implied by a URL')
    .option('--compare', 'first compare the contents of the MODEL file with what was packed')
    .option('--no-verify', 'do not compare the bytes with their checksums')
    .action((model: string | undefined, flags: LoadFlags) =>
      run(model, flags, new Output(flags, session.io), session.signal),
    )
  addDriveOptions(command, 'the drive, as pack made it')
  allowSeveral(command)
  addQueueOptions(command, true)
  addOutputOptions(command)
  command.addHelpText('after', NOTES)
  examples(command, [
    'gpunvme load model.gguf --sim',
    'gpunvme load --image drive.img --passes 3 --to host --json',
    'gpunvme load model.gguf --image drive.img --compare',
    'gpunvme load model.gguf --file --json',
  ])
}

async function run(model: string | undefined, flags: LoadFlags, output: Output, signal: AbortSignal): Promise<void> {
  const request = await requestOf(model, flags)
  await withTransports(request.members, 'read', output, async (opened) => {
    signal.throwIfAborted()
    const [first] = opened
    if (request.packsFirst) await packIntoMemory(request, first!, output, signal)
    await loadAndReport(request, opened, output, signal)
  })
}

async function packIntoMemory(
  { flags, model }: LoadRequest,
  opened: OpenedTransport,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const path = model!
  await using file = await openModelFile(path, { signal })
  const { endBytes } = planPack(file, BLOCK_BYTES)
  requireMemory('A drive in memory with this model', endBytes, {
    first: { command: ['pack', path, '--image', 'FILE'] },
    command: ['load', '--image', 'FILE'],
  })
  const { queues, depth, engine = 'host' } = flags
  const { receipt, wallNs } = await withWriter(opened, { queues, depth, engine }, output, ({ namespace }) => {
    output.note(`Packing ${printable(path)} onto a drive in memory`)
    return packAndReport(file, namespace, output, { signal })
  })
  output.note(`Packed ${formatBytes(receipt.imageBytes)} in ${formatDuration(wallNs)}`)
}

async function loadAndReport(
  request: LoadRequest,
  opened: readonly OpenedTransport[],
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { flags, members, packsFirst } = request
  const [first] = opened
  const clock = { time: first?.time ?? 'wall', link: opened.length === 1 ? first!.link : undefined } as const
  let wasCompared = false
  const parts: ComposeParts = {
    names: namesOf(members),
    onSetProblem: (problem) => warn(problem, output),
    async onFile(packed, file) {
      wasCompared = true
      await compareWith(packed, file, flags, output, signal)
    },
    onPlanned(plan) {
      if (flags.compare && !wasCompared) throw new NoFileToCompareError(request.model!)
      describeStart(plan, flags, output)
    },
  }
  await using rig = await compose(request, opened, parts, output, signal)
  if (rig.loaded.layers > 0) output.print(describeLoaded(rig, clock))
  const table = new PassTable(rig, clock.time)
  output.note(table.legend)
  output.print(table.titles)
  const onPass = (pass: PassReport) => output.print(table.row(pass))
  const passes = await runPasses(rig, { passes: flags.passes, signal, output, onPass })
  output.print(describeTotals(passes, clock), describeVerified(rig, passes))
  const place = packsFirst ? undefined : placeOf(members)?.name
  const drive = members.length > 0 && { drive: { place, ...queuesOf(rig) } }
  output.object('gpunvme.load/1', { ...drive, ...loadResult(rig, passes, clock, output.invocation) })
}

/** Shows how far the layers that stay in memory are loaded. */
async function compose(
  request: LoadRequest,
  opened: readonly OpenedTransport[],
  parts: ComposeParts,
  output: Output,
  signal: AbortSignal,
): Promise<Rig> {
  const progress = new Progress(output, 'loading')
  const onProgress = ({ doneBytes, totalBytes }: RigProgress) => progress.update(doneBytes, totalBytes)
  try {
    return await composeRig(opened, { ...optionsOf(request, signal), onProgress }, parts)
  } finally {
    progress.end()
  }
}

async function compareWith(
  packed: PackedModel,
  file: Model,
  { compare = false }: LoadFlags,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  if (compare) await compareDigests(packed, file, output, signal)
  output.note(
    compare
      ? 'The model file is what was packed: SHA-256 of every tensor compared'
      : 'Compared with the model file: names, types and shapes, not contents; --compare does that',
  )
}

/** What was found and decided. @throws NotEnoughMemoryError */
function describeStart(plan: RigPlan, { queues, depth }: LoadFlags, output: Output): void {
  const { model, problems, controllers, placement, gpu } = plan
  // Not narration: the next bit that flips may take the image with it.
  for (const problem of problems) output.error(errorLines(errorText(problem, output.invocation)))
  for (const controller of controllers) {
    if (controller.queues >= queues && controller.queueDepth >= depth) continue
    const given = describeQueues(controller.queues, controller.queueDepth)
    output.note(`The controller gives ${given}: asked for ${describeQueues(queues, depth)}`)
  }
  const { vram, ram } = placement
  const hostUses = gpu === undefined ? [vram, ram] : [ram]
  const hostBytes = hostUses.reduce((sum, { layerBytes, slotBytes }) => sum + layerBytes + slotBytes, 0)
  requireMemory('This placement', hostBytes, 'a smaller --ram and --vram')
  output.note(describeWhy(plan))
  output.print(
    describePlan(model.name, placement, { on: gpu === undefined ? 'host' : 'gpu', source: sourceOf(plan) }),
    '',
  )
}

function describeQueues(queues: number, depth: number): string {
  return `${plural(queues, 'queue')} of ${plural(depth, 'command')}`
}

/** --compare was given with the name of a packed model. */
class NoFileToCompareError extends UsageError {
  constructor(name: string) {
    super(`"${printable(name)}" is the name of a packed model: no file to compare with`, {
      next: 'a path, such as ./model.gguf',
    })
  }
}
