import type { Namespace } from '@gpunvme/host-driver'
import { readPieces, type Piece } from '@gpunvme/layer-loader/store'
import {
  addRangeOptions,
  blocksOf,
  checkRangeFlags,
  describeBlocks,
  resolveRange,
  type ByteRange,
  type RangeFlags,
} from '../block-io/byte-range.js'
import { HexDumper } from '../block-io/hex-dumper.js'
import { sameFile } from '../block-io/same-file.js'
import { writeBytes } from '../block-io/write-bytes.js'
import { WholeFile } from '../block-io/whole-file.js'
import { addTransportOptions, type TransportFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { withReader, withTransport } from '../drive/with-drive.js'
import { hasCursor, Output, type OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { describeModelled, describeRate } from '../terminal/rate.js'
import { formatBytes, formatDuration } from '../terminal/units.js'

interface Flags extends TransportFlags, RangeFlags, OutputOptions {
  readonly output?: string
  readonly raw?: boolean
  /** False if --no-squeeze is given. */
  readonly squeeze: boolean
}

/** Maximum bytes in a JSON result. */
const MAX_JSON_BYTES = 1024 * 1024

export const read = verb({
  options(command) {
    addRangeOptions(command, { start: 'the first block to read', amount: 'how much (default: 1 block)' })
    command
      .option('-o, --output <file>', 'write the bytes to FILE, atomically')
      .option('--raw', 'write the bytes to stdout, not a terminal')
      .option('--no-squeeze', 'print repeated lines too; gpunvme nvme decode needs them')
    addTransportOptions(command, 'drive image to read')
  },
  needs: 'reader',
  about: `
Without -o or --raw, prints a hex dump with repeated lines shown as '*'. A range
in bytes may begin and end inside a block. Memory use does not grow with the
range.`,
  examples: [
    'gpunvme nvme read --image drive.img',
    'gpunvme nvme read --image drive.img --lba 0x800 --blocks 8 -o blocks.bin',
    'gpunvme nvme read --image drive.img --offset 1MiB --length 64 --json',
    'gpunvme nvme read --image drive.img --blocks all -o copy.img',
  ],
  run,
})

async function run(flags: Flags, { output, signal }: Context): Promise<void> {
  checkFlags(flags, output)
  await withTransport(flags, 'read', output, (opened) => {
    signal.throwIfAborted()
    return withReader(opened, flags, async ({ namespace }) => {
      const range = resolveRange(flags, namespace, namespace.blockBytes)
      output.note(`Namespace ${namespace.nsid}, ${describeBlocks(range, namespace.blockBytes)}`)
      if (flags.output !== undefined) await readToFile(namespace, range, flags.output, opened, output, signal)
      else if (flags.json) await readToJson(namespace, range, output, signal)
      else await readToStdout(namespace, range, flags, output, signal)
    })
  })
}

function checkFlags(flags: Flags, { io }: Output): void {
  checkRangeFlags(flags)
  const { output, raw, json, image } = flags
  if (raw && (output !== undefined || json)) {
    throw new UsageError(`--raw and ${json ? '--json' : '-o'} are mutually exclusive`, { next: 'omit one of them' })
  }
  if (raw && io.stdout.isTTY === true) {
    throw new UsageError('--raw does not write to a terminal: the bytes may contain control sequences', {
      next: 'use -o FILE or a pipe, or omit --raw for a hex dump',
    })
  }
  if (output !== undefined && image !== undefined && sameFile(output, image)) {
    throw new UsageError(`${output} is the drive itself and would be overwritten`, { next: 'use another -o FILE' })
  }
}

async function readToFile(
  namespace: Namespace,
  range: ByteRange,
  path: string,
  { time, link }: OpenedTransport,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const file = new WholeFile(path)
  const progress = new Progress(output, 'Reading')
  const startNs = namespace.clock.now()
  const startMs = performance.now()
  try {
    for await (const { offsetBytes, bytes } of readPieces(namespace, range, { signal })) {
      await file.write(bytes)
      progress.update(offsetBytes + bytes.length - range.offsetBytes, range.lengthBytes)
    }
    signal.throwIfAborted()
    file.publish()
  } finally {
    progress.end()
    file.discard()
  }
  const wallNs = Math.round((performance.now() - startMs) * 1e6)
  const elapsedNs = namespace.clock.now() - startNs
  const { lengthBytes } = range
  output.print(
    `Read ${formatBytes(lengthBytes)} (${lengthBytes} bytes) into ${printable(path)}`,
    `  from      namespace ${namespace.nsid}, ${describeBlocks(range, namespace.blockBytes)}`,
    time === 'modelled' ? [`  modelled  ${describeModelled(lengthBytes, elapsedNs, link)}`] : [],
    `  wall      ${formatDuration(wallNs)}, ${describeRate(lengthBytes, wallNs, time === 'wall' ? link : undefined)}`,
  )
  output.driveObject('gpunvme.read/1', {
    ...describe(namespace, range),
    ...{ file: path, time, driveNs: elapsedNs, wallNs },
  })
}

async function readToJson(namespace: Namespace, range: ByteRange, output: Output, signal: AbortSignal): Promise<void> {
  if (range.lengthBytes > MAX_JSON_BYTES) {
    throw new UsageError(`${formatBytes(range.lengthBytes)} exceed the limit of a JSON result`, {
      facts: [`at most ${formatBytes(MAX_JSON_BYTES)}`],
      next: 'use -o FILE with --json',
    })
  }
  const parts: string[] = []
  for await (const { bytes } of readPieces(namespace, range, { signal })) parts.push(Buffer.from(bytes).toString('hex'))
  output.driveObject('gpunvme.read/1', { ...describe(namespace, range), data: parts.join('') })
}

function describe({ nsid, blockBytes }: Namespace, range: ByteRange) {
  return { nsid, blockBytes, ...blocksOf(range, blockBytes), ...range }
}

async function readToStdout(
  namespace: Namespace,
  range: ByteRange,
  { raw = false, squeeze }: Flags,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const dumper = new HexDumper(range.offsetBytes, { squeeze })
  const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
  const progress = new Progress(output, 'Reading')
  const write = async ({ offsetBytes, bytes }: Piece): Promise<boolean> => {
    const isWanted = await writeBytes(output.io.stdout, raw ? bytes : textOf(dumper.add(bytes)))
    // On a terminal, the dump itself shows the progress.
    if (!hasCursor(output.io.stdout, output.io))
      progress.update(offsetBytes + bytes.length - range.offsetBytes, range.lengthBytes)
    return isWanted
  }
  try {
    for await (const piece of readPieces(namespace, range, { signal })) if (!(await write(piece))) return
    if (!raw) await writeBytes(output.io.stdout, textOf(dumper.end()))
  } finally {
    progress.end()
  }
}
