import type { WritableNamespace } from '@gpunvme/host-driver'
import { planPack, previewPack, type PackPlan } from '@gpunvme/layer-loader'
import { openModelFile, type Model } from '@gpunvme/layer-loader/formats'
import { InvalidArgumentError, type Command } from 'commander'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { undoOnFailure } from '../command-line/cleanup.js'
import { withTransport, withWriter, type Drive, type WriteFlags } from '../drive/with-drive.js'
import { placeOf, requirePlace, type Place } from '../model/place.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { requireSpace } from '../model/enough-space.js'
import { createImageFile, statImageFile } from '../drive/image-file.js'
import {
  addOutputOptions,
  addTransportOptions,
  addWriteOptions,
  examples,
  type TransportFlags,
} from '../command-line/options.js'
import { Output, type OutputOptions } from '../terminal/output.js'
import { packAndReport, type PackReport, type PackRequest } from '../model/pack-report.js'
import { printable, printableLines } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import type { Session } from '../program.js'
import { describeModelled } from '../terminal/rate.js'
import { formatTable } from '../terminal/table.js'
import { formatBytes, formatDuration, formatRate, plural } from '../terminal/units.js'
import { refuseUnknownData } from '../drive/unknown-data.js'
import { UsageError } from '../command-line/usage-error.js'
import { typed } from '../command-line/next-step.js'

interface Flags extends TransportFlags, WriteFlags, OutputOptions {
  readonly name?: string
  readonly replace?: boolean
  readonly replaceImage?: boolean
  readonly dryRun?: boolean
}

/** Where the plan says how much a drive must hold, in steps of this. */
const CAPACITY_STEP_BYTES = 1024 * 1024

/** The simulated drives' blocks. They decide whether a model can be laid out, not where its parts lie. */
const BLOCK_BYTES = 512

export function pack(command: Command, session: Session): void {
  command
    .argument('<model>', 'a .gguf or .safetensors file; of a model of several files, any part or the index')
    .option('--name <name>', "the model's name on the drive (default: what its file calls it)", modelName)
    .option('--dry-run', 'print the plan and write nothing')
    .option('--replace', 'give up a model of this name that is on the drive already')
    .option('--replace-image', 'give up an image that cannot be used, with all of its models')
    .action((path: string, flags: Flags) => run(path, flags, new Output(flags, session.io), session.signal))
  addTransportOptions(command, 'the drive: a file, made sparse where there is none')
  addWriteOptions(command)
  addOutputOptions(command)
  examples(command, [
    'gpunvme pack model.gguf --dry-run',
    'gpunvme pack model.gguf --image drive.img',
    'gpunvme pack model.gguf --image drive.img --replace --json',
    'gpunvme pack model.gguf --image big.img --capacity 64MiB --name chat',
    'gpunvme pack model.gguf --image big.img --name draft',
  ])
}

async function run(path: string, flags: Flags, output: Output, signal: AbortSignal): Promise<void> {
  await using model = await openModelFile(path, { signal })
  const plan = planPack(model, BLOCK_BYTES, flags.name === undefined ? {} : { name: flags.name })
  if (flags.dryRun) {
    reportPlan(plan, placeOf(flags), output)
    return
  }
  const place = await requirePlace(flags, 'pack', path)
  const work = { path, model, plan, place, flags, output, signal }
  // Awaited here: the model is closed when this function ends.
  await (flags.image === undefined ? write(work) : packIntoFile(work, flags.image))
}

interface Work {
  readonly path: string
  readonly model: Model
  readonly plan: PackPlan
  readonly place: Place
  readonly flags: Flags
  readonly output: Output
  readonly signal: AbortSignal
}

async function packIntoFile(work: Work, image: string): Promise<void> {
  const { model, plan, flags } = work
  const existing = await statImageFile(image)
  const files = await Promise.all(model.parts.map(({ source }) => stat(source.name)))
  if (files.some(({ ino, dev }) => existing?.ino === ino && existing.dev === dev)) {
    throw new UsageError(`${image} is the model itself, and would be overwritten`, { next: 'name another --image' })
  }
  if (existing !== undefined) return write(work)
  const capacityBytes = flags.capacity ?? roundUp(plan.endBytes)
  const remove = await createImageFile(image, capacityBytes)
  return undoOnFailure(remove, async () => {
    // The file is sparse: what is written to it is what it takes.
    await requireSpace('The image', dirname(image), plan.imageBytes, 'an --image on another disk')
    await write(work, `, a new drive of ${formatBytes(capacityBytes)}`)
  })
}

/** @param made description, for the note, of an image file that was just created and is empty; '' for existing storage. */
async function write({ path, model, place, flags, output, signal }: Work, made = ''): Promise<void> {
  await withTransport(flags, 'write', output, (opened) => {
    signal.throwIfAborted()
    const use = async ({ namespace }: Drive<WritableNamespace>) => {
      const { name, replaceImage = false } = flags
      const replace = replaceImage ? ('image' as const) : (flags.replace ?? false)
      const request = { ...(name && { name }), replace, signal }
      if (made === '') await refuseLoss(model, namespace, flags.overwrite ?? [], request, output)
      output.note(`Packing ${printable(path)} onto ${printable(place.name)}${made}`)
      const report = await packAndReport(model, namespace, output, { ...request, place: place.option })
      reportPacked(report, place, opened.time, output)
    }
    return withWriter(opened, flags, output, use, signal)
  })
}

/** Refuses to overwrite unknown data, unless an interrupted packing of the same model wrote it. */
async function refuseLoss(
  model: Model,
  namespace: WritableNamespace,
  overwrite: readonly string[],
  request: PackRequest,
  output: Output,
): Promise<void> {
  const { neverWritten, continues } = await previewPack(model, namespace, request)
  if (continues) return
  const totalBytes = neverWritten.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  const progress = new Progress(output, 'Scanning for unknown data')
  try {
    const onProgress = (doneBytes: number) => progress.update(doneBytes, totalBytes)
    await refuseUnknownData(namespace, neverWritten, overwrite, { signal: request.signal, onProgress })
  } finally {
    progress.end()
  }
}

function reportPlan(
  { name, endBytes, tensorBytes, chunks, manifest }: PackPlan,
  place: Place | undefined,
  output: Output,
): void {
  const { layers } = manifest
  output.print(
    `Plan for "${printable(name)}": ${formatBytes(tensorBytes)} of tensors in ${plural(layers.length, 'layer')}`,
    formatTable(
      [
        { title: 'LAYER' },
        { title: 'TENSORS', align: 'right' },
        { title: 'OFFSET', align: 'right' },
        { title: 'BYTES', align: 'right' },
      ],
      layers.map((layer) => [
        printable(layer.name),
        String(layer.tensors.length),
        String(layer.offsetBytes),
        formatBytes(layer.lengthBytes),
      ]),
    ),
    `Needs a drive of ${formatBytes(roundUp(endBytes))}; ${plural(chunks, 'chunk')} with a CRC-32 each`,
    `Nothing was written${place === undefined ? '' : `, ${printable(place.name)} was not opened`}.`,
  )
  output.object('gpunvme.pack-plan/1', { name, tensorBytes, endBytes, chunks, layers })
}

function reportPacked(
  { receipt, wallNs }: PackReport,
  { name: place, option }: Place,
  time: OpenedTransport['time'],
  output: Output,
): void {
  const { name, fingerprint, generation, imageBytes, tensorBytes, manifest, replaced, resumedBytes, elapsedNs } =
    receipt
  const { layers } = manifest
  const tensors = layers.reduce((sum, layer) => sum + layer.tensors.length, 0)
  output.print(
    `Packed "${printable(name)}" onto ${printable(place)}`,
    `  fingerprint  ${fingerprint}`,
    `  contents     ${plural(tensors, 'tensor')} in ${plural(layers.length, 'layer')}, ${formatBytes(tensorBytes)} (${formatBytes(imageBytes)} with padding)`,
    `  generation   ${generation}${REPLACED[replaced]}`,
    resumedBytes > 0 ? [`  resumed      ${formatBytes(resumedBytes)} kept from an interrupted packing`] : [],
    `  ${time === 'modelled' ? 'modelled' : 'drive   '}     ${describeModelled(imageBytes, elapsedNs, undefined)}`,
    `  wall         ${formatDuration(wallNs)}, ${formatRate(imageBytes, wallNs)}`,
  )
  output.note(printableLines(`Next: ${typed({ command: ['load', ...option] }, output.invocation)}`))
  const { imageId } = receipt
  output.object('gpunvme.pack/1', {
    ...{ name, fingerprint, imageId, generation, replaced, resumedBytes, place },
    ...{ layers: layers.length, tensors, tensorBytes, imageBytes, time, driveNs: elapsedNs, wallNs },
  })
}

const REPLACED = {
  nothing: '',
  kept: '; the former model was kept whole until this one was published',
  'given up': '; the former model was given up first, since both did not fit',
} as const

function roundUp(bytes: number): number {
  return Math.ceil(bytes / CAPACITY_STEP_BYTES) * CAPACITY_STEP_BYTES
}

function modelName(name: string): string {
  const fits = name !== '' && Buffer.byteLength(name) <= 255 && !/[\p{Cc}\p{Cs}]/u.test(name)
  if (!fits) throw new InvalidArgumentError('Expected 1 to 255 bytes without control characters.')
  return name
}
