import type { Namespace, WritableNamespace } from '@gpunvme/host-driver'
import { Option } from 'commander'
import {
  addRangeOptions,
  blocksOf,
  checkRangeFlags,
  describeBlocks,
  type ByteRange,
  type RangeFlags,
} from '../block-io/byte-range.js'
import type { ByteSource } from '../block-io/byte-source.js'
import { compareWritten } from '../block-io/compare-written.js'
import { sameFile } from '../block-io/same-file.js'
import { intend } from '../block-io/write-intent.js'
import { writePieces, type Written } from '../block-io/write-pieces.js'
import { WriteStoppedError } from '../block-io/write-stopped.js'
import { addTransportOptions, type TransportFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { addWriteOptions } from '../command-line/write-options.js'
import { createImageFile, ImageFileError, statImageFile } from '../drive/image-file.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { withReader, withTransport, withWriter, type Drive, type WriteFlags } from '../drive/with-drive.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { describeModelled, describeRate } from '../terminal/rate.js'
import { formatBytes, formatDuration } from '../terminal/units.js'

interface Flags extends TransportFlags, RangeFlags, WriteFlags, OutputOptions {
  readonly pad?: 'zero'
  readonly verify?: boolean
  readonly dryRun?: boolean
}

export const write = verb({
  options(command) {
    command.argument('<file>', "file to write; '-' is stdin")
    addRangeOptions(command, { start: 'the first block to write', amount: 'how much of FILE (default: all)' })
    command
      .addOption(new Option('--pad <with>', 'pad the last block').choices(['zero']))
      .option('--verify', 'read the blocks back and compare')
      .option('--dry-run', 'check whether the write is allowed, without writing')
    addWriteOptions(command)
    addTransportOptions(command, 'drive image; created if --capacity is given')
  },
  needs: 'writer',
  about: `
Writes whole blocks from --lba or --offset (one is required) and flushes them.
Existing data there are lost. Known data (file systems, partition tables, packed
models) and nonzero bytes of a file are refused unless --overwrite names them.

Ctrl-C finishes commands in flight and prints which blocks were written.

On a machine with a drive that may be written to:
  # gpunvme nvme write disk.img --drive 0000:0b:00.0 --lba 0 --verify
  # zcat d.gz | gpunvme nvme write - --drive 0b:00.0 --lba 0 --serial S1 --yes`,
  examples: [
    'gpunvme nvme write controller.bin --image b.img --capacity 16MiB --lba 0',
    'gpunvme nvme write controller.bin --image b.img --lba 8 --dry-run --json',
    'gpunvme nvme write controller.bin --image b.img --offset 1MiB --json',
  ],
  run,
})

async function run(path: string, flags: Flags, { output, signal }: Context): Promise<void> {
  checkFlags(path, flags)
  const { dryRun = false, verify = false } = flags
  let remove = dryRun ? undefined : await makeImage(flags)
  try {
    await withTransport(flags, dryRun ? 'read' : 'write', output, async (opened) => {
      signal.throwIfAborted()
      if (dryRun) return withReader(opened, flags, ({ namespace }) => rehearse(namespace, path, flags, output, signal))
      const use = async ({ namespace }: Drive<WritableNamespace>) => {
        const done = await perform(namespace, path, flags, output, signal)
        // From here on, the file has the written data, even if the comparison fails.
        remove = undefined
        if (verify) await verifyWritten(namespace, done, output, signal)
        report(namespace, done, { ...opened, verify }, output)
      }
      return withWriter(opened, flags, output, use, signal)
    })
  } catch (error) {
    // A partially written image is kept, since the error refers to it.
    if (!(error instanceof WriteStoppedError)) remove?.()
    throw error
  }
}

/** Creates a missing image file. Returns the function that removes it. @throws ImageFileError without a size */
async function makeImage({ image, capacity }: Flags): Promise<(() => void) | undefined> {
  if (image === undefined || (await statImageFile(image)) !== undefined) return undefined
  if (capacity !== undefined) return createImageFile(image, capacity)
  throw new ImageFileError(image, 'no such file', 'not-found', 'add --capacity SIZE to create an empty drive')
}

function checkFlags(path: string, flags: Flags): void {
  checkRangeFlags(flags)
  const { lba, offset, image } = flags
  if (lba === undefined && offset === undefined) {
    throw new UsageError('--lba or --offset is required', {
      next: { command: ['nvme', 'write', path, '--lba', 'N', '--drive', 'ADDRESS'], note: 'or --offset SIZE' },
    })
  }
  if (image !== undefined && path !== '-' && sameFile(path, image)) {
    throw new UsageError(`${path} is the drive itself`, { next: 'use another FILE or another --image' })
  }
}

async function rehearse(
  namespace: Namespace,
  path: string,
  flags: Flags,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { source, range } = await intend(namespace, path, flags, output.io.stdin, signal)
  source.close()
  const { lengthBytes } = source
  const much = lengthBytes === undefined ? 'all data from stdin' : `${formatBytes(lengthBytes)} (${lengthBytes} bytes)`
  const { blockBytes } = namespace
  output.print(
    `Would write ${much} of ${printable(source.name)}`,
    `  to  namespace ${namespace.nsid}, ${lengthBytes === undefined ? 'at most ' : ''}${describeBlocks(range, blockBytes)}`,
    'Nothing was written.',
  )
  output.driveObject('gpunvme.write-plan/1', {
    ...place(namespace, range),
    source: source.name,
    sourceBytes: lengthBytes,
  })
}

/** Result of a write, and its duration. */
interface Done extends Written {
  readonly source: ByteSource
  readonly offsetBytes: number
  readonly elapsedNs: number
  readonly wallNs: number
}

async function perform(
  namespace: WritableNamespace,
  path: string,
  flags: Flags,
  output: Output,
  signal: AbortSignal,
): Promise<Done> {
  const { source, range } = await intend(namespace, path, flags, output.io.stdin, signal)
  const { offsetBytes } = range
  const { pad, verify = false } = flags
  output.note(`Writing ${printable(source.name)} to namespace ${namespace.nsid} from byte ${offsetBytes} on`)
  const startNs = namespace.clock.now()
  const startMs = performance.now()
  const progress = new Progress(output, 'Writing')
  let written: Written
  try {
    const onProgress = (doneBytes: number) => progress.update(doneBytes, source.lengthBytes)
    const request = { offsetBytes, padZero: pad === 'zero', keepDigests: verify, signal, onProgress }
    written = await writePieces(namespace, source, request)
  } finally {
    progress.end()
    source.close()
  }
  const elapsedNs = namespace.clock.now() - startNs
  const wallNs = Math.round((performance.now() - startMs) * 1e6)
  if (written.lengthBytes === 0) throw new UsageError('No data on stdin; nothing was written')
  return { ...written, source, offsetBytes, elapsedNs, wallNs }
}

async function verifyWritten(
  namespace: Namespace,
  { offsetBytes, ...written }: Done,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const progress = new Progress(output, 'Comparing')
  try {
    const onProgress = (doneBytes: number) => progress.update(doneBytes, written.lengthBytes)
    await compareWritten(namespace, offsetBytes, written, signal, onProgress)
  } finally {
    progress.end()
  }
}

interface How extends Pick<OpenedTransport, 'time' | 'link'> {
  readonly verify: boolean
}

function report(
  namespace: Namespace,
  { source, offsetBytes, lengthBytes, paddedBytes, elapsedNs, wallNs }: Done,
  { time, link, verify }: How,
  output: Output,
): void {
  const range = { offsetBytes, lengthBytes }
  output.print(
    `Wrote ${formatBytes(lengthBytes)} (${lengthBytes} bytes) from ${printable(source.name)}, flushed`,
    `  to        namespace ${namespace.nsid}, ${describeBlocks(range, namespace.blockBytes)}`,
    paddedBytes > 0 ? [`  padded    ${paddedBytes} zero bytes added to the last block`] : [],
    time === 'modelled' ? [`  modelled  ${describeModelled(lengthBytes, elapsedNs, link)}`] : [],
    `  wall      ${formatDuration(wallNs)}, ${describeRate(lengthBytes, wallNs, time === 'wall' ? link : undefined)}`,
    verify ? ['  verified  read back and compared, by SHA-256'] : [],
  )
  output.driveObject('gpunvme.write/1', {
    ...place(namespace, range),
    ...{ source: source.name, paddedBytes, verified: verify },
    time,
    driveNs: elapsedNs,
    wallNs,
  })
}

function place({ nsid, blockBytes }: Namespace, range: ByteRange) {
  return { nsid, blockBytes, ...blocksOf(range, blockBytes), ...range }
}
