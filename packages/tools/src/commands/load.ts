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
  type DriveFlags,
} from '../command-line/options.js'
import { nameOpened } from '../drive/named-drive.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { lendTransport, withWriter } from '../drive/with-drive.js'
import { compareDigests } from '../model/compare-digests.js'
import { requireMemory } from '../model/enough-memory.js'
import {
  describeLoaded,
  describeVerified,
  describeWhy,
  loadResult,
  PASSES_LEGEND,
  PassTable,
  queuesOf,
} from '../model/load-report.js'
import { packAndReport } from '../model/pack-report.js'
import { runPasses, type PassReport } from '../model/passes.js'
import { optionsOf, requestOf, type LoadFlags, type LoadRequest } from '../model/load-request.js'
import { placeOf } from '../model/place.js'
import { describePlan } from '../model/residence-report.js'
import type { Session } from '../program.js'
import { composeRig, type RigPlan } from '../rig/open-rig.js'
import type { ComposeOptions } from '../rig/options.js'
import { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { formatBytes, formatDuration, plural } from '../terminal/units.js'

const BLOCK_BYTES = 512

const NOTES = `
Layers that fit stay in GPU memory, others in host memory; the rest is read from
the drive in every pass. gpunvme plan shows the same without loading anything.
Without a GPU, or with --to host, layers are computed on in host memory, and
--vram gives the size of host memory that takes the GPU's place.`

export function load(command: Command, session: Session): void {
  command
    .argument(
      '[model]',
      'with a drive: the name of a packed model, or a file with tensors of the same names, types and shapes (their contents are not compared without --compare); with --in-place: the path of its file on the drive; with --file: a model file, or its URL; with --sim: a model file, which is packed onto a simulated drive in memory first',
    )
    .addOption(
      new Option('--to <memory>', 'where layers are computed on (default: gpu if there is one)').choices([
        'gpu',
        'host',
      ]),
    )
    .addOption(whole('--gpu <n>', "CUDA's number of the GPU (default: 0)", 0, 63))
    .addOption(
      new Option('--tier <n>', 'the highest tier to use (default: 2)')
        .choices(['1', '2'])
        .argParser((text) => Number(text)),
    )
    .addOption(size('--vram <size>', 'GPU memory to use: 20GiB (default: three quarters of it)'))
    .addOption(size('--ram <size>', 'host memory to use (default: half of it)'))
    .addOption(whole('--passes <n>', 'passes over the layers', 1, 1_000_000).default(1))
    .option('--in-place', 'MODEL is a GGUF or safetensors file in the ext4, FAT32 or exFAT on the drive')
    .option('--file', 'MODEL is a file on this machine; no drive is opened. Implied by an https:// URL')
    .option('--compare', 'first compare the contents of the MODEL file with what was packed')
    .option('--no-verify', 'do not compare the bytes with their checksums')
    .action((model: string | undefined, flags: LoadFlags) =>
      run(model, flags, new Output(flags, session.io), session.signal),
    )
  addDriveOptions(command, 'the drive, as pack made it')
  allowSeveral(command, '--drive', '--image', '--socket')
  addQueueOptions(command, true)
  addOutputOptions(command)
  command.addHelpText('after', NOTES)
  examples(command, [
    'gpunvme load model.gguf --sim',
    'gpunvme load --image drive.img --passes 3 --to host --json',
    'gpunvme load model.gguf --image drive.img --compare',
    'gpunvme load model.gguf --file',
  ])
}

async function run(model: string | undefined, flags: LoadFlags, output: Output, signal: AbortSignal): Promise<void> {
  const request = await requestOf(model, flags)
  await withTransports(request.members, output, flags, async (opened) => {
    signal.throwIfAborted()
    const [first] = opened
    if (request.packsFirst) await packIntoMemory(request, first!, output, signal)
    await loadAndReport(request, opened, output, signal)
  })
}

/** Opens every drive, names them in the output, lends them, and closes them however `use` ends. */
function withTransports<T>(
  members: readonly DriveFlags[],
  output: Output,
  { engine }: Pick<LoadFlags, 'engine'>,
  use: (opened: readonly OpenedTransport[]) => Promise<T>,
): Promise<T> {
  const next = (opened: readonly OpenedTransport[]): Promise<T> => {
    const member = members[opened.length]
    if (member !== undefined) {
      const flags = { ...member, ...(engine !== undefined && { engine }) }
      return lendTransport(flags, 'read', (transport) => next([...opened, transport]))
    }
    const names = opened.map((transport, index) => nameOpened(transport, members[index]!))
    const [only, ...others] = names
    if (only !== undefined && others.length === 0) output.nameDrive(only)
    else if (only !== undefined) {
      output.nameDrive({
        line: names.map(({ line }) => line).join('\n'),
        facts: { members: names.map(({ facts }) => facts) },
      })
    }
    return use(opened)
  }
  return next([])
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
  const progress = new Progress(output, 'loading')
  let startMs = performance.now()
  const options: ComposeOptions = {
    ...optionsOf(request, signal),
    onProgress: ({ doneBytes, totalBytes }) => progress.update(doneBytes, totalBytes),
  }
  const parts = {
    onFile: (packed: PackedModel, file: Model) => compareWith(packed, file, flags, output, signal),
    onPlanned(plan: RigPlan) {
      describeStart(plan, flags, output)
      startMs = performance.now()
    },
  }
  await using rig = await composeRig(opened, options, parts)
  const loadedWallNs = Math.round((performance.now() - startMs) * 1e6)
  progress.end()
  if (rig.loaded.layers > 0) output.print(describeLoaded(rig, loadedWallNs, clock))
  const table = new PassTable(rig, clock.time)
  output.note(PASSES_LEGEND)
  output.print(table.titles)
  const onPass = (pass: PassReport) => output.print(table.row(pass))
  const passes = await runPasses(rig, { passes: flags.passes, signal, output, onPass })
  output.print(describeVerified(rig, passes))
  const place = packsFirst ? undefined : members.map((member) => placeOf(member)?.name).join(', ')
  const result = loadResult(rig, passes, clock, output.invocation)
  const drive = members.length > 0 && { drive: { place, ...queuesOf(rig) } }
  output.object('gpunvme.load/1', { ...drive, ...result, loaded: { ...rig.loaded, wallNs: loadedWallNs }, passes })
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
  const { model, problems, controllers, placement, tier, gpu } = plan
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
  output.print(describePlan(model.name, placement, { on: tier === 0 ? 'host' : 'gpu' }), '')
}

function describeQueues(queues: number, depth: number): string {
  return `${plural(queues, 'queue')} of ${plural(depth, 'command')}`
}
