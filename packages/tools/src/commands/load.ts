import type { PackedModel } from '@gpunvme/layer-loader'
import { planPack } from '@gpunvme/layer-loader/image'
import { openModelFile, type Model } from '@gpunvme/layer-loader/formats'
import { Option } from 'commander'
import { addDriveOptions, addQueueOptions, allowSeveral, size, whole } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { withTransports, withWriter } from '../drive/with-drive.js'
import { compareDigests } from '../loading/compare-digests.js'
import { requireMemory } from '../model/enough-memory.js'
import { loadAndReport } from '../loading/load-and-report.js'
import { queuesOf } from '../loading/load-report.js'
import { packAndReport } from '../model/pack-report.js'
import { optionsOf, requestOf, type LoadFlags, type LoadRequest } from '../loading/load-request.js'
import { addNamingOption } from '../model/naming.js'
import { namesOf, placeOf } from '../model/place.js'
import { warn } from '../model/with-store.js'
import type { ComposeParts } from '../rig/open-rig.js'
import { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { formatBytes, formatDuration } from '../terminal/units.js'

const BLOCK_BYTES = 512

const NOTES = `
Layers that fit stay in GPU memory, others in host memory; each pass reads the
rest from the drive. gpunvme plan shows the placement without loading anything.
Without a GPU, or with --to host, layers stay in host memory.`

export const load = verb({
  options(command) {
    command
      .argument(
        '[model]',
        'with a drive: the name of a packed model, or a file with tensors of the same names, types and shapes (contents are compared only with --compare, or to choose between several such models); with --in-place: the path of its file on the drive; with --file: a model file, or its URL; with --sim: a model file, which is packed onto a simulated drive in memory first',
      )
      .addOption(
        new Option('--to <memory>', 'where layers are loaded to (default: gpu if present)').choices(['gpu', 'host']),
      )
      .addOption(whole('--gpu <n>', 'CUDA index of the GPU (default: 0)', 0, 63))
      .addOption(
        whole(
          '--tier <n>',
          '1: copies from host memory; 2: the drive writes to GPU memory if it can (default: 2)',
          1,
          2,
        ),
      )
      .option(
        '--static-bar1',
        "also try to let the drive write to GPU memory through NVIDIA's static BAR1 window; needs root; untested on a GPU",
      )
      .addOption(size('--vram <size>', "GPU memory to use, such as 20GiB (default: 75 % of the GPU's)"))
      .addOption(size('--ram <size>', "host memory to use (default: 50 % of the machine's)"))
      .addOption(whole('--passes <n>', 'passes over the layers', 1, 1_000_000).default(1))
      .option('--in-place', 'MODEL is a file in the ext4, FAT32 or exFAT file system of the drive')
      .option('--file', 'MODEL is a file on this machine; no drive is opened. Implied by a URL')
      .option('--compare', 'first compare the contents of the MODEL file with what was packed')
      .option('--no-verify', 'do not compare the bytes with their checksums')
    addNamingOption(command)
    addDriveOptions(command, 'drive image made by pack')
    allowSeveral(command)
    addQueueOptions(command, true)
  },
  needs: 'reader',
  about: NOTES,
  examples: [
    'gpunvme load model.gguf --sim',
    'gpunvme load --image drive.img --passes 3 --to host --json',
    'gpunvme load model.gguf --image drive.img --compare',
    'gpunvme load model.gguf --file --json',
  ],
  run,
})

async function run(model: string | undefined, flags: LoadFlags, { output, signal }: Context): Promise<void> {
  const request = await requestOf(model, flags)
  await withTransports(request.members, 'read', output, async (opened) => {
    signal.throwIfAborted()
    const [first] = opened
    if (request.packsFirst) await packIntoMemory(request, first!, output, signal)
    await loadFrom(request, opened, output, signal)
  })
}

async function packIntoMemory(
  { flags, model }: LoadRequest,
  opened: OpenedTransport,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const path = model!
  await using file = await openModelFile(path, { naming: flags.naming, signal })
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

async function loadFrom(
  request: LoadRequest,
  opened: readonly OpenedTransport[],
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { flags, members, packsFirst } = request
  let wasCompared = false
  const parts: ComposeParts = {
    names: namesOf(members),
    onSetProblem: (problem) => warn(problem, output),
    async onFile(packed, file) {
      wasCompared = true
      await compareWith(packed, file, flags, output, signal)
    },
    onPlanned() {
      if (flags.compare && !wasCompared) throw new NoFileToCompareError(request.model!)
    },
  }
  const job = { opened, options: optionsOf(request, signal), parts, passes: flags.passes }
  await loadAndReport(job, output, (rig, result) => {
    const place = packsFirst ? undefined : placeOf(members)?.name
    const drive = members.length > 0 && { drive: { place, ...queuesOf(rig) } }
    output.driveObject('gpunvme.load/1', { ...drive, ...result })
  })
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
      ? 'The model file matches the packed model: SHA-256 of every tensor compared'
      : 'Compared with the model file: names, types and shapes; --compare also compares contents',
  )
}

/** Error of --compare with the name of a packed model. */
class NoFileToCompareError extends UsageError {
  constructor(name: string) {
    super(`"${printable(name)}" is the name of a packed model: no file to compare with`, {
      next: 'use a path such as ./model.gguf',
    })
  }
}
