import { InvalidArgumentError, Option, type Command } from 'commander'
import { parseBytes } from '../terminal/units.js'
import { byteNumber } from './byte-number.js'

/** The simulated drives' blocks. */
const BLOCK_BYTES = 512

/** Which drive, and through what. What was not given is undefined, so that it can be told apart. */
export interface DriveFlags {
  /** A simulated drive, in memory unless `image` is given. */
  readonly sim?: boolean
  readonly transport?: string
  readonly drive?: string
  /** Where somebody serves a drive over vfio-user. */
  readonly socket?: string
  readonly profile?: string
  readonly image?: string
  readonly capacity?: number
  readonly seed?: number
  readonly realTime?: boolean
  readonly nsid?: number
}

/** Options of a drive that a verb takes once for each drive of a set. */
export interface SeveralFlags {
  readonly drive?: readonly string[]
  readonly image?: readonly string[]
  readonly socket?: readonly string[]
  readonly serial?: readonly string[]
}

/** Flags of a verb that takes the drives of a set. */
export type WithSeveral<F extends DriveFlags> = Omit<F, keyof SeveralFlags> & SeveralFlags

/** Flags of a drive and of the engine that submits its commands. */
export interface TransportFlags extends DriveFlags {
  readonly engine: string
  readonly queues: number
  readonly depth: number
}

export function addOutputOptions(command: Command): void {
  command
    .option('--json', 'print the result as one JSON object')
    .option('-q, --quiet', 'suppress notes and progress')
    .helpOption('-h, --help', 'print this help')
}

/** @param image what the option of that name is for; without it there is none. */
export function addTransportOptions(command: Command, image?: string): void {
  addDriveOptions(command, image)
  addQueueOptions(command)
}

/** Who drives the queues, and how many there are. @param choosing a verb that chooses the engine if none is given */
export function addQueueOptions(command: Command, choosing = false): void {
  const engine = new Option(
    '--engine <name>',
    `what submits commands: host; cpu-kernel or cuda, with --drive or --real-time${choosing ? ' (default: cuda if the GPU can ring the doorbells, otherwise host)' : ''}`,
  )
  command
    .addOption(choosing ? engine : engine.default('host'))
    .addOption(whole('--queues <n>', 'I/O queue pairs', 1, 64).default(1))
    .addOption(whole('--depth <n>', 'commands in flight per queue pair', 1, 4095).default(32))
}

/** @param image as of `addTransportOptions`. @param nsid what the option of that name is for; false where there is none. */
export function addDriveOptions(
  command: Command,
  image?: string,
  nsid: string | false = 'namespace (default: the first active one)',
): void {
  command.option('--drive <address>', 'a real drive: PCI address or Linux name (nvme0); see gpunvme list')
  command.option('--sim', 'a simulated drive; implied by --image, --profile, --real-time, --transport sim')
  addEmulatedOptions(
    command,
    'sim; qtest (QEMU); sysfs, vfio or kmod for --drive (default: by its driver); vfio-user for --socket',
    image,
  )
  command.option('--socket <path>', 'a drive served over vfio-user, for example by gpunvme sim serve')
  if (nsid !== false) command.addOption(whole('--nsid <n>', nsid, 1, 0xffff_fffe))
}

/** Of verbs that are for drives of which nothing is kept. */
export function addEmulatedOptions(command: Command, transport: string, image?: string): void {
  if (image !== undefined) command.option('--image <file>', image)
  command
    .option('--transport <name>', transport)
    .option(
      '--profile <name>',
      'simulated drive: ideal, sn740, sn530, 980pro, 990pro, p5800x or pm1753 (default: sn740)',
    )
    .option('--real-time', 'simulate in real time, on a thread; needs the native addon')
    .addOption(size('--capacity <size>', 'size of the simulated drive: 512MiB, 16GiB', BLOCK_BYTES))
    .addOption(whole('--seed <n>', 'seed of the simulator (default: 1)', 0, 0xffff_ffff))
}

/** Of verbs that change a drive: which one, and what on it may be lost. */
export function addWriteOptions(command: Command): void {
  command
    .option('--serial <serial>', 'required serial number of the drive')
    .option('--yes', 'with --serial: write to a real drive without confirmation')
    .option('--overwrite <kind>', 'allow loss of data of this kind, as named by a refusal; may be repeated', collect)
}

/** An option that may be given more than once. */
export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value]
}

/** Lets a command take the drives of a set: the options of `SeveralFlags` that it has may be repeated, and are arrays. */
export function allowSeveral(command: Command): void {
  for (const option of command.options) {
    if (['--drive', '--image', '--socket'].includes(option.long ?? ''))
      option.argParser(collect).description += '; may be repeated for the drives of a set'
    if (option.long === '--serial') option.argParser(collect).description += '; of a set, once for each drive, in order'
  }
}

/** A whole number in a range. */
export function whole(flags: string, description: string, least: number, most: number): Option {
  return new Option(flags, description).argParser((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`)
    return value
  })
}

/** An identifier of one byte: in decimal, in hexadecimal with 0x, or as the spec writes it, with h. */
export function identifier(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const value = byteNumber(text)
    if (value === undefined) {
      throw new InvalidArgumentError('Expected a number from 0 to 255, 0x00 to 0xff or 00h to FFh.')
    }
    return value
  })
}

/** A number of bytes, with a unit. */
export function size(flags: string, description: string, leastBytes = 0): Option {
  return new Option(flags, description).argParser((text) => {
    const bytes = parseBytes(text)
    if (bytes === undefined) throw new InvalidArgumentError("Expected a size such as '512MiB', '16GiB' or '4096'.")
    if (bytes < leastBytes) throw new InvalidArgumentError(`Expected at least ${leastBytes} bytes, one block.`)
    return bytes
  })
}

/** Each of them is run by a test. */
export function examples(command: Command, lines: readonly string[]): void {
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)
}
