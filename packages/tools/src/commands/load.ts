import type { Controller } from '@gpunvme/host-driver'
import { openImage, planPack, planStream, type Image, type PackedModel } from '@gpunvme/layer-loader'
import { openModelFile } from '@gpunvme/layer-loader/formats'
import type { Command } from 'commander'
import { errorLines, errorText } from '../command-line/error-text.js'
import { compareDigests } from '../model/compare-digests.js'
import { DEFAULT_PROFILE } from '../drive/sim-transport.js'
import { withReader, withTransport, withWriter } from '../drive/with-drive.js'
import { placeOf } from '../model/place.js'
import { requireMemory } from '../model/enough-memory.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { addOutputOptions, addTransportOptions, examples, whole, type TransportFlags } from '../command-line/options.js'
import { Output, type OutputOptions } from '../terminal/output.js'
import { packAndReport } from '../model/pack-report.js'
import { printable } from '../terminal/printable.js'
import type { Session } from '../program.js'
import { findModel } from '../model/same-catalogue.js'
import { describeLink } from '../terminal/rate.js'
import { streamAndReport, type LayerReport } from '../model/stream-report.js'
import { describeTotals, StreamTable, TABLE_LEGEND } from '../model/stream-table.js'
import { formatBytes, formatDuration, plural } from '../terminal/units.js'
import { UsageError } from '../command-line/usage-error.js'

interface Flags extends TransportFlags, OutputOptions {
  readonly slots: number
  /** False with --no-verify. */
  readonly verify: boolean
  readonly compare?: boolean
}

/** What is streamed, through what, and what is wrong with where it lies. */
interface Found {
  readonly model: PackedModel
  readonly controller: Controller
  readonly problems: readonly { readonly code: string; readonly message: string }[]
}

const BLOCK_BYTES = 512

export function load(command: Command, session: Session): void {
  command
    .argument(
      '[model]',
      'with a drive: the name of a packed model, or a file with tensors of the same names, types and shapes (their contents are not compared without --compare); with --sim: a model file, which is packed onto a simulated drive in memory first',
    )
    .addOption(whole('--slots <n>', 'layers in memory at most', 1, 1024).default(3))
    .option('--compare', 'first compare the contents of the MODEL file with what was packed')
    .option('--no-verify', 'do not compare the bytes with their checksums')
    .action((model: string | undefined, flags: Flags) =>
      run(model, flags, new Output(flags, session.io), session.signal),
    )
  addTransportOptions(command, 'the drive, as pack made it')
  addOutputOptions(command)
  examples(command, [
    'gpunvme load model.gguf --sim',
    'gpunvme load --image drive.img',
    'gpunvme load model.gguf --image drive.img --compare',
    'gpunvme load model.gguf --image drive.img --depth 4 --slots 2 --json',
  ])
}

async function run(given: string | undefined, flags: Flags, output: Output, signal: AbortSignal): Promise<void> {
  const place = placeOf(flags)
  if (place === undefined && given === undefined) {
    throw new UsageError('load needs a MODEL, or a drive that has one', { next: { command: ['help', 'load'] } })
  }
  if (flags.compare && (place === undefined || given === undefined)) {
    throw new UsageError('--compare needs a MODEL file and the drive that it was packed onto', {
      next: { command: ['load', 'MODEL', '--image', 'FILE', '--compare'] },
    })
  }
  await withTransport(flags, 'read', output, async (opened) => {
    signal.throwIfAborted()
    if (place === undefined) await packIntoMemory(given!, opened, flags, output, signal)
    await withReader(opened, flags, async ({ controller, namespace }) => {
      const image = await openImage(namespace, { signal })
      const problems = image.problems.map((problem) => ({
        code: problem.code,
        ...errorText(problem, output.invocation),
      }))
      // Not narration: the next bit that flips may take the image with it.
      for (const problem of problems) output.error(errorLines(problem))
      const model = await findImageModel(image, place === undefined ? undefined : given, flags, output, signal)
      await streamModel({ model, controller, problems }, opened, flags, output, signal)
    })
  })
}

async function findImageModel(
  image: Image,
  given: string | undefined,
  { compare = false }: Flags,
  output: Output,
  signal: AbortSignal,
): Promise<PackedModel> {
  if (compare && image.models.some(({ name }) => name === given)) {
    throw new UsageError(`"${printable(given ?? '')}" is the name of a packed model: no file to compare with`, {
      next: 'a path, such as ./model.gguf',
    })
  }
  return findModel(image, given, {
    signal,
    async onFile(packed, file) {
      if (compare) await compareDigests(packed, file, output, signal)
      output.note(
        compare
          ? 'The model file is what was packed: SHA-256 of every tensor compared'
          : 'Compared with the model file: names, types and shapes, not contents; --compare does that',
      )
    },
  })
}

async function packIntoMemory(
  path: string,
  opened: OpenedTransport,
  flags: Flags,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  await using model = await openModelFile(path, { signal })
  const { endBytes } = planPack(model, BLOCK_BYTES)
  requireMemory('A drive in memory with this model', endBytes, {
    first: { command: ['pack', path, '--image', 'FILE'] },
    command: ['load', '--image', 'FILE'],
  })
  const { receipt, wallNs } = await withWriter(opened, flags, output, ({ namespace }) => {
    output.note(`Packing ${printable(path)} onto a drive in memory`)
    return packAndReport(model, namespace, output, { signal })
  })
  output.note(`Packed ${formatBytes(receipt.imageBytes)} in ${formatDuration(wallNs)}`)
}

async function streamModel(
  { model, controller, problems }: Found,
  opened: OpenedTransport,
  flags: Flags,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { slots, verify, engine, profile = DEFAULT_PROFILE } = flags
  const { queues, queueDepth: depth } = controller
  const shape = planStream(model, { slots })
  requireMemory('These slots', shape.slots * shape.slotBytes, '--slots 1, or a model of smaller layers')
  if (queues < flags.queues || depth < flags.depth) {
    output.note(
      `The controller gives ${describeQueues(queues, depth)}: asked for ${describeQueues(flags.queues, flags.depth)}`,
    )
  }
  output.note(
    `Streaming "${printable(model.name)}": up to ${plural(queues * depth, 'command')} in flight, ` +
      `${plural(shape.slots, 'slot')} of ${formatBytes(shape.slotBytes)}`,
  )
  const table = new StreamTable(
    model.layers.map(({ name }) => name),
    opened.time,
  )
  output.note(TABLE_LEGEND)
  output.print(table.titles)
  const layers: LayerReport[] = []
  const onLayer = (layer: LayerReport) => {
    layers.push(layer)
    output.print(table.row(layer))
  }
  const total = await streamAndReport(model, { slots, verify, signal, output, onLayer })
  output.print(describeTotals(total, opened, verify ? ['verifying'] : []))
  output.object('gpunvme.load/1', {
    model: { name: model.name, fingerprint: model.fingerprint },
    drive: {
      transport: opened.name,
      ...(opened.name === 'sim' && { profile }),
      place: placeOf(flags)?.name,
      engine,
      queues,
      depth,
      slots: shape.slots,
    },
    time: opened.time,
    ...describeLink(total.bytes, total.driveNs, opened.link),
    problems,
    layers,
    total,
  })
}

function describeQueues(queues: number, depth: number): string {
  return `${plural(queues, 'queue')} of ${plural(depth, 'command')}`
}
