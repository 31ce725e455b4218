import { InvalidArgumentError, Option, type Command } from 'commander'
import { parseBytes } from '../terminal/units.js'

export { addOutputOptions } from './output-options.js'

/** Block size of simulated drives. */
const BLOCK_BYTES = 512

/** Selects a drive and its transport. Omitted flags are undefined. */
export interface DriveFlags {
  /** A simulated drive, in memory unless `image` is given. */
  readonly sim?: boolean
  readonly transport?: string
  readonly drive?: string
  /** Socket of a drive served over vfio-user. */
  readonly socket?: string
  readonly profile?: string
  readonly image?: string
  readonly capacity?: number
  readonly seed?: number
  readonly realTime?: boolean
  readonly nsid?: number
}

/** Options that may be repeated for the drives of a set. */
export interface SeveralFlags {
  readonly drive?: readonly string[]
  readonly image?: readonly string[]
  readonly socket?: readonly string[]
  readonly serial?: readonly string[]
}

/** Flags of a verb that accepts the drives of a set. */
export type WithSeveral<F extends DriveFlags> = Omit<F, keyof SeveralFlags> & SeveralFlags

/** Flags of a drive and of the engine that submits its commands. */
export interface TransportFlags extends DriveFlags {
  readonly engine: string
  readonly queues: number
  readonly depth: number
}

/** @param image description of that option; undefined to omit it. */
export function addTransportOptions(command: Command, image?: string): void {
  addDriveOptions(command, image)
  addQueueOptions(command)
}

/** Adds options for the engine and its queues. @param choosing whether the verb chooses an engine by default */
export function addQueueOptions(command: Command, choosing = false): void {
  const engine = new Option(
    '--engine <name>',
    `what submits commands: host; cpu-kernel or cuda, with --drive or --real-time${choosing ? ' (default: cuda with a GPU, otherwise host)' : ''}`,
  )
  command
    .addOption(choosing ? common(engine) : rare(engine).default('host'))
    .addOption(rare(whole('--queues <n>', 'I/O queue pairs', 1, 64)).default(1))
    .addOption(rare(whole('--depth <n>', 'commands in flight per queue pair', 1, 4095)).default(32))
}

const NSID = 'namespace (default: the first active one)'

/** @param image as in `addTransportOptions`. @param nsid description of that option; false to omit it. */
export function addDriveOptions(command: Command, image?: string, nsid: string | false = NSID): void {
  command.addOption(
    common(new Option('--drive <address>', 'a real drive: PCI address or Linux name (nvme0); see gpunvme list')),
  )
  addEmulatedOptions(
    command,
    'sim; qtest (QEMU); sysfs, vfio or kmod for --drive (default: by its driver); vfio-user for --socket',
    image,
  )
  command.addOption(
    rare(new Option('--socket <path>', 'a drive served over vfio-user, for example by gpunvme sim serve')),
  )
  if (nsid === false) return
  const option = whole('--nsid <n>', nsid, 1, 0xffff_fffe)
  command.addOption(nsid === NSID ? rare(option) : common(option))
}

/** Adds options for verbs on drives whose data are not kept. */
export function addEmulatedOptions(command: Command, transport: string, image?: string): void {
  const sim = 'a simulated drive; implied by --image, --profile, --real-time, --transport sim'
  command.addOption(common(new Option('--sim', sim)))
  if (image !== undefined) command.addOption(common(new Option('--image <file>', image)))
  const profile = 'simulated drive: ideal, sn740, sn530, 980pro, 990pro, p5800x or pm1753 (default: sn740)'
  command
    .addOption(rare(new Option('--transport <name>', transport)))
    .addOption(common(new Option('--profile <name>', profile)))
    .addOption(rare(new Option('--real-time', 'simulate in real time, on a thread; needs the native addon')))
    .addOption(rare(size('--capacity <size>', 'size of the simulated drive: 512MiB, 16GiB', BLOCK_BYTES)))
    .addOption(rare(whole('--seed <n>', 'seed of the simulator (default: 1)', 0, 0xffff_ffff)))
}

/** Marks an option that names a drive, for its own section in the help of each verb. */
export function common(option: Option): Option {
  return option.helpGroup('Drive (all options: gpunvme help drives):')
}

/** Marks an option that only `gpunvme help drives` lists. */
function rare(option: Option): Option {
  return option.hideHelp()
}

/** Parser of an option that may be repeated. */
export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value]
}

/** Allows a command to use the drives of a set: its options in `SeveralFlags` may be repeated, and become arrays. */
export function allowSeveral(command: Command): void {
  for (const option of command.options) {
    if (['--drive', '--image', '--socket'].includes(option.long ?? ''))
      option.argParser(collect).description += '; may be repeated for the drives of a set'
    if (option.long === '--serial') option.argParser(collect).description += '; of a set, once for each drive, in order'
  }
}

/** An integer option with a range. */
export function whole(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`Expected an integer from ${min} to ${max}.`)
    return value
  })
}

/** An 8-bit identifier: decimal, hexadecimal with 0x, or with h as in the specification. */
export function identifier(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const value = byteNumber(text)
    if (value === undefined) {
      throw new InvalidArgumentError('Expected a number from 0 to 255, 0x00 to 0xff or 00h to FFh.')
    }
    return value
  })
}

/** A number of bytes with a unit. */
export function size(flags: string, description: string, minBytes = 0): Option {
  return new Option(flags, description).argParser((text) => {
    const bytes = parseBytes(text)
    if (bytes === undefined) throw new InvalidArgumentError("Expected a size such as '512MiB', '16GiB' or '4096'.")
    if (bytes < minBytes) throw new InvalidArgumentError(`Expected at least ${minBytes} bytes, one block.`)
    return bytes
  })
}

/** Adds examples to the help. A test runs each of them. */
export function addExamples(command: Command, lines: readonly string[]): void {
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)
}

/** Parses a number from 0 to 255, as '2', '0x02' or '02h'; undefined for anything else. */
export function byteNumber(word: string): number | undefined {
  const [, hex] = /^([0-9a-f]+)h$/i.exec(word) ?? []
  const value = hex !== undefined ? Number.parseInt(hex, 16) : /^(?:\d+|0x[0-9a-f]+)$/i.test(word) ? Number(word) : NaN
  return value <= 0xff ? value : undefined
}
