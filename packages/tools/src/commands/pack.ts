import type { WritableNamespace } from '@gpunvme/host-driver'
import { planPack, previewPack, type Extent, type PackPlan } from '@gpunvme/layer-loader/image'
import type { Writable } from '@gpunvme/layer-loader/store'
import { openModelFile, type Model } from '@gpunvme/layer-loader/formats'
import { InvalidArgumentError } from 'commander'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { undoOnFailure } from '../command-line/cleanup.js'
import { verb, type Context } from '../command-line/verb.js'
import { addWriteOptions } from '../command-line/write-options.js'
import { membersOf, type Member } from '../drive/members.js'
import type { WriteFlags } from '../drive/with-drive.js'
import { addNamingOption, type NamingFlags } from '../model/naming.js'
import { placeOf, requirePlace, type Place } from '../model/place.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { requireSpace } from '../model/enough-space.js'
import { createImageFile, statImageFile } from '../drive/image-file.js'
import { addTransportOptions, allowSeveral, type WithSeveral, type TransportFlags } from '../command-line/options.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { packAndReport, type PackReport, type PackRequest } from '../model/pack-report.js'
import { openOrCreateSet, type FoundSet } from '../model/pack-set.js'
import { addSetOptions, memberBytesFor, shapeOf, type SetFlags, type SetShape } from '../model/set-shape.js'
import type { ScanOptions } from '../block-io/first-byte-set.js'
import { setOf } from '../model/store-of.js'
import { withWritableNamespaces } from '../model/with-store.js'
import { printable, printableLines } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { describeModelled } from '../terminal/rate.js'
import { formatTable } from '../terminal/table.js'
import { formatBytes, formatDuration, formatRate, plural } from '../terminal/units.js'
import { refuseNonzero, refuseUnknownData } from '../block-io/unknown-data.js'
import { UsageError } from '../command-line/tools-error.js'
import { typed } from '../command-line/next-step.js'

interface Flags extends WithSeveral<TransportFlags & WriteFlags>, SetFlags, NamingFlags, OutputOptions {
  readonly name?: string
  readonly replace?: boolean
  readonly replaceImage?: boolean
  readonly dryRun?: boolean
}

/** Granularity of the required capacity that the plan prints. */
const CAPACITY_STEP_BYTES = 1024 * 1024

/** Block size of simulated drives. It determines whether a model can be laid out, not the layout. */
const BLOCK_BYTES = 512

export const pack = verb({
  options(command) {
    command
      .argument('<model>', 'a .gguf or .safetensors file; for a split model, any part or the index')
      .option(
        '--name <name>',
        "name of the model on the drive (default: the name in its file, else the file's; for several .safetensors files, their folder's)",
        modelName,
      )
      .option('--dry-run', 'print the plan and write nothing')
      .option('--replace', 'replace a model of this name on the drive')
      .option(
        '--replace-image',
        'replace an unusable image; with --stripe or --mirror, all images and sets on the drives',
      )
    addNamingOption(command)
    addSetOptions(command)
    addTransportOptions(command, 'drive image; created as a sparse file if it does not exist')
    addWriteOptions(command)
    allowSeveral(command)
  },
  needs: 'writer',
  examples: [
    'gpunvme pack model.gguf --dry-run',
    'gpunvme pack model.gguf --image drive.img',
    'gpunvme pack model.gguf --image drive.img --replace --json',
    'gpunvme pack model.gguf --image big.img --capacity 64MiB --name chat',
    'gpunvme pack model.gguf --image big.img --name draft',
    'gpunvme pack model.gguf --image one.img --image two.img --stripe --json',
  ],
  run,
})

async function run(path: string, flags: Flags, { output, signal }: Context): Promise<void> {
  const drives = await membersOf(flags)
  const shape = shapeOf(flags, drives.length)
  await using model = await openModelFile(path, { naming: flags.naming, signal })
  const plan = planPack(model, BLOCK_BYTES, flags.name === undefined ? {} : { name: flags.name })
  if (flags.dryRun) {
    reportPlan(plan, shape, drives.length, placeOf(drives), output)
    return
  }
  const place = await requirePlace(drives, 'pack', path)
  // Awaited here: the model is closed when this function returns.
  await makeImages({ path, model, plan, shape, place, drives, flags, output, signal, isNew: [] })
}

interface Work {
  readonly path: string
  readonly model: Model
  readonly plan: PackPlan
  readonly shape: SetShape | undefined
  readonly place: Place
  readonly drives: readonly Member<Flags>[]
  readonly flags: Flags
  readonly output: Output
  readonly signal: AbortSignal
  /** For the first drives, whether each is a new, empty image file. */
  readonly isNew: readonly boolean[]
}

/** Creates missing image files one after the other, and removes them if packing fails. */
async function makeImages(work: Work): Promise<void> {
  const { model, plan, shape, drives, flags, isNew } = work
  const at = isNew.length
  if (at === drives.length) return write(work)
  const { image } = drives[at]!
  if (image === undefined) return makeImages({ ...work, isNew: [...isNew, false] })
  const existing = await statImageFile(image)
  const files = await Promise.all(model.parts.map(({ source }) => stat(source.name)))
  if (files.some(({ ino, dev }) => existing?.ino === ino && existing.dev === dev)) {
    throw new UsageError(`${image} is the model itself and would be overwritten`, { next: 'use another --image' })
  }
  if (existing !== undefined) return makeImages({ ...work, isNew: [...isNew, false] })
  if (drives.length > 1 && shape === undefined)
    throw new UsageError(`${printable(image)} does not exist`, {
      next: ['check the spelling', 'use --stripe or --mirror to create a set'],
    })
  const remove = await createImageFile(image, flags.capacity ?? capacityFor(shape, drives.length, plan.endBytes))
  return undoOnFailure(remove, async () => {
    // The file is sparse: it occupies only what is written.
    const written = isNew.filter((made) => made).length + 1
    const share = shape?.kind === 'stripe' ? written / drives.length : written
    await requireSpace(
      'The image',
      dirname(image),
      Math.ceil(plan.imageBytes * share),
      'use an --image on another disk',
    )
    await makeImages({ ...work, isNew: [...isNew, true] })
  })
}

async function write(work: Work): Promise<void> {
  const { path, model, shape, place, drives, flags, output, signal, isNew } = work
  await withWritableNamespaces(drives, output, signal, async (namespaces, { time }) => {
    const { name, overwrite = [], replaceImage = false } = flags
    const replace = replaceImage ? ('image' as const) : (flags.replace ?? false)
    const request = { ...(name && { name }), replace, signal }
    const [namespace] = namespaces as [WritableNamespace]
    const isOne = namespaces.length === 1
    const found = isOne
      ? undefined
      : await openOrCreateSet({ namespaces, flags: drives, isNew }, shape, model, request, output)
    const target = found?.set ?? namespace
    // Data overwritten by a new set or file were checked before its creation.
    const isEmpty = found?.isCreated ?? isNew[0] === true
    const refuse = isOne ? refuseUnknownData.bind(undefined, namespace) : refuseNonzero.bind(undefined, target)
    const refuseRuns = (runs: readonly Extent[], scan: ScanOptions) => refuse(runs, overwrite, scan)
    const otherModels = isEmpty ? [] : await refuseLoss(model, target, refuseRuns, request, output)
    const made = isOne && isEmpty ? `, a new drive of ${formatBytes(namespace.capacityBytes)}` : ''
    output.note(`Packing ${printable(path)} onto ${printable(place.name)}${made}`)
    const report = await packAndReport(model, target, output, { ...request, place: place.options })
    reportPacked(report, place, otherModels, found, time, output)
  })
}

/**
 * Rejects overwriting unknown data, unless an interrupted packing of the same model wrote it.
 * @returns the names of the other models, which stay.
 */
async function refuseLoss(
  model: Model,
  target: Writable,
  refuse: (runs: readonly Extent[], options: ScanOptions) => Promise<void>,
  request: PackRequest,
  output: Output,
): Promise<readonly string[]> {
  const { neverWritten, resumes, otherModels } = await previewPack(model, target, request)
  if (resumes) return otherModels
  const totalBytes = neverWritten.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  const progress = new Progress(output, 'Scanning for unknown data')
  try {
    const onProgress = (doneBytes: number) => progress.update(doneBytes, totalBytes)
    await refuse(neverWritten, { signal: request.signal, onProgress })
  } finally {
    progress.end()
  }
  return otherModels
}

function reportPlan(
  { name, endBytes, tensorBytes, chunks, manifest }: PackPlan,
  shape: SetShape | undefined,
  drives: number,
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
    `Needs ${shape === undefined ? (drives === 1 ? 'a drive' : 'a set') : `${drives} drives`} of ${formatBytes(capacityFor(shape, drives, endBytes))}; ${plural(chunks, 'chunk')} with a CRC-32 each`,
    `Nothing was written${place === undefined ? '' : `, ${printable(place.name)} ${drives === 1 ? 'was' : 'were'} not opened`}.`,
  )
  output.object('gpunvme.pack-plan/1', {
    name,
    tensorBytes,
    endBytes,
    chunks,
    layers: layers.map((layer) => ({
      name: layer.name,
      offsetBytes: layer.offsetBytes,
      lengthBytes: layer.lengthBytes,
      tensors: layer.tensors.map((tensor) => ({
        name: tensor.name,
        dtype: tensor.dtype,
        shape: tensor.shape,
        offsetBytes: tensor.offsetBytes,
        lengthBytes: tensor.lengthBytes,
      })),
    })),
  })
}

function reportPacked(
  { receipt, wallNs, givenUp }: PackReport,
  { name: place, options }: Place,
  otherModels: readonly string[],
  found: FoundSet | undefined,
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
    found === undefined ? [] : [`  set          ${found.set.name}${found.isCreated ? ', created' : ''}`],
    `  generation   ${generation}${replaced === 'nothing' ? '' : `; ${REPLACED[givenUp ?? 'kept']}`}`,
    resumedBytes > 0 ? [`  resumed      ${formatBytes(resumedBytes)} kept from an interrupted packing`] : [],
    `  ${time === 'modelled' ? 'modelled' : 'drive   '}     ${describeModelled(imageBytes, elapsedNs, undefined)}`,
    `  wall         ${formatDuration(wallNs)}, ${formatRate(imageBytes, wallNs)}`,
  )
  const load = { command: ['load', ...(otherModels.length > 0 ? [name] : []), ...options] }
  output.note(printableLines(`Next: ${typed(load, output.invocation)}`))
  const { imageId } = receipt
  output.driveObject('gpunvme.pack/1', {
    ...{ name, fingerprint, imageId, generation, replaced, resumedBytes, place },
    ...(found !== undefined && { ...setOf(found.set), created: found.isCreated }),
    ...{ layers: layers.length, tensors, tensorBytes, imageBytes, time, driveNs: elapsedNs, wallNs },
  })
}

const REPLACED = {
  kept: 'the previous model was kept until this one was published',
  model: 'the previous model was removed first, since both did not fit',
  image: 'the unusable image was removed first',
} as const

/** Returns the required capacity of a drive for an image of that length; for a new set, of each drive. */
function capacityFor(shape: SetShape | undefined, drives: number, imageBytes: number): number {
  const bytes = shape === undefined ? imageBytes : memberBytesFor(shape, drives, imageBytes)
  return Math.ceil(bytes / CAPACITY_STEP_BYTES) * CAPACITY_STEP_BYTES
}

function modelName(name: string): string {
  const fits = name !== '' && Buffer.byteLength(name) <= 255 && !/[\p{Cc}\p{Cs}]/u.test(name)
  if (!fits) throw new InvalidArgumentError('Expected 1 to 255 bytes without control characters.')
  return name
}
