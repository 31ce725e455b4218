import { openFileSource, openModel, writeDemoModel, type Model } from '@gpunvme/layer-loader/formats'
import { rename, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { withTemporaryDirectory } from '../command-line/cleanup.js'
import { verb, type Context } from '../command-line/verb.js'
import { compareTensors } from '../loading/compare-tensors.js'
import type { EngineName } from '../drive/by-name.js'
import { lendTransport, withWriter } from '../drive/with-drive.js'
import { requireMemory } from '../model/enough-memory.js'
import { requireSpace } from '../model/enough-space.js'
import { attempting, isSystemError } from '../command-line/file-error.js'
import { typed } from '../command-line/next-step.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { addEmulatedOptions, addQueueOptions, size, type TransportFlags } from '../command-line/options.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { loadAndReport } from '../loading/load-and-report.js'
import { packAndReport } from '../model/pack-report.js'
import { describeModelled } from '../terminal/rate.js'
import { formatBytes, formatDuration, plural } from '../terminal/units.js'
import { UsageError } from '../command-line/tools-error.js'

interface Flags extends TransportFlags, OutputOptions {
  readonly size: number
  readonly keep?: string
}

/** Share of the model that fits in memory: three of its eight long layers, two of which are slots. */
const RAM_SHARE = 3 / 8

export const demo = verb({
  options(command) {
    command
      .addOption(size('--size <size>', 'size of the model').default(256 * 1024 * 1024, '256MiB'))
      .option('--keep <file>', 'keep the model in this file, for use with other verbs')
    addEmulatedOptions(command, 'sim (simulated drive) or qtest (QEMU) (default: sim)')
    addQueueOptions(command)
  },
  examples: ['gpunvme demo', 'gpunvme demo --size 64MiB --keep demo.gguf', 'gpunvme demo --size 64MiB --json'],
  run,
})

async function run(flags: Flags, { output, signal }: Context): Promise<void> {
  const { keep } = flags
  if (keep !== undefined) await requireNew(keep)
  // A kept model is created in its final directory, where renaming needs no copy.
  const parent = keep === undefined ? tmpdir() : dirname(keep)
  requireMemory('The demo', 2 * flags.size, 'use --size 64MiB')
  await requireSpace(
    'The demo',
    parent,
    flags.size,
    `use --size 64MiB, or ${keep === undefined ? 'TMPDIR' : '--keep'} on another disk`,
  )
  await withTemporaryDirectory(parent, async (directory) => {
    const path = join(directory, 'demo.gguf')
    await lendTransport(flags, 'write', (opened) => show(path, opened, flags, output, signal))
    // Only now: after a failure, the model would block the next attempt.
    if (keep !== undefined) await attempting(`keep the model as ${keep}`, () => rename(path, keep))
  })
  suggest(output, keep)
}

async function requireNew(keep: string): Promise<void> {
  if (keep === '') throw new UsageError('--keep requires the name of a file', { next: 'use --keep demo.gguf' })
  const exists = await attempting(`keep the model as ${keep}`, () =>
    stat(keep).then(
      () => true,
      (error: unknown) => {
        if (isSystemError(error) && error.code === 'ENOENT') return false
        throw error
      },
    ),
  )
  if (exists) throw new UsageError(`${keep} already exists`, { next: 'use another file for --keep' })
}

async function show(
  path: string,
  opened: OpenedTransport,
  flags: Flags,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  output.note(
    'A model is packed onto a simulated NVMe drive, streamed back and compared.',
    flags.engine === 'cuda' ? 'This needs no SSD and no root.' : 'This needs no GPU, no SSD and no root.',
  )
  const startMs = performance.now()
  output.setStatus('1 Making a model')
  await makeModel(path, flags.size, signal)
  const source = await openFileSource(path)
  try {
    const model = await openModel(source, { signal })
    const { tensors, layers } = model
    output.note(
      `1 Made a model: GGUF, ${formatBytes(source.sizeBytes)}, ${plural(tensors.length, 'tensor')}, ` +
        `${plural(layers.length, 'layer')}, random weights (${formatDuration((performance.now() - startMs) * 1e6)})`,
    )
    await packAndLoad(model, opened, flags, output, signal)
  } finally {
    await source.close()
  }
}

async function makeModel(path: string, targetBytes: number, signal: AbortSignal): Promise<void> {
  try {
    await attempting(`create the model in ${dirname(path)}`, () => writeDemoModel(path, { targetBytes, signal }))
  } catch (error) {
    if (error instanceof RangeError)
      throw new UsageError(`Invalid --size: ${formatBytes(targetBytes)} is too small for a model`, {
        next: 'use --size 2MiB or more',
        cause: error,
      })
    throw error
  }
}

async function packAndLoad(
  model: Model,
  opened: OpenedTransport,
  flags: Flags,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { queues, depth: queueDepth } = flags
  const { receipt, wallNs } = await withWriter(opened, flags, output, async ({ controller, namespace }) => {
    output.note(`2 Packing the model; drive: ${controller.identity.model}`)
    return packAndReport(model, namespace, output, { signal })
  })
  const { imageBytes, elapsedNs } = receipt
  const wall = opened.time === 'modelled' ? `; wall ${formatDuration(wallNs)}` : ''
  output.note(
    `  wrote ${formatBytes(imageBytes)}; ${opened.time} ${describeModelled(imageBytes, elapsedNs, undefined)}${wall}`,
  )
  const { sizeBytes } = model.parts[0].source
  const ram = Math.floor(sizeBytes * RAM_SHARE)
  output.note(`3 Streaming the model back, with ${formatBytes(ram)} of memory`)
  // The default is not reported as requested. `lendTransport` has rejected unknown names.
  const engine = flags.engine !== 'host' && { engine: flags.engine as EngineName }
  const options = { gpu: 'none', ...engine, queues, queueDepth, ram, signal } as const
  await loadAndReport({ opened: [opened], options, passes: 1 }, output, async (rig, result) => {
    // A separate pass, so that the times of the first cover only streaming.
    const compared = await compareTensors(rig, model, output, signal)
    output.print(
      `compared  all ${compared.tensors} tensors equal the model file, byte by byte: ${formatDuration(compared.wallNs)}`,
    )
    output.object('gpunvme.demo/1', {
      file: { bytes: sizeBytes, tensors: model.tensors.length },
      pack: { bytes: imageBytes, driveNs: elapsedNs, wallNs },
      ...result,
      compared,
    })
  })
}

/** Prints commands that work as printed in the current directory. */
function suggest(output: Output, kept: string | undefined): void {
  const file = kept ?? 'demo.gguf'
  const commands = [
    kept === undefined ? ['demo', '--keep', file] : ['nvme', 'identify', '--sim'],
    ['inspect', file],
    ['pack', file, '--image', 'drive.img'],
    ['load', '--image', 'drive.img'],
  ]
  const lines = commands.map((command) => typed({ command }, output.invocation))
  output.note(lines.map((line, index) => `${index === 0 ? 'Next: ' : '      '}${line}`))
}
