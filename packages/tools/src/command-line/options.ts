import { InvalidArgumentError, Option, type Command } from 'commander'
import { parseBytes } from '../terminal/units.js'

/** The simulated drives' blocks. */
const BLOCK_BYTES = 512

/** Which controller, through what, driven by whom. */
export interface TransportFlags {
  readonly transport: string
  readonly engine: string
  readonly profile: string
  readonly image?: string
  readonly capacity?: number
  readonly seed: number
  readonly queues: number
  readonly depth: number
}

export function addOutputOptions(command: Command): void {
  command
    .option('--json', 'print the result as one JSON object')
    .option('-q, --quiet', 'no narration and no progress')
    .helpOption('-h, --help', 'print this help')
}

/** @param image what the option of that name is for; without it there is none. */
export function addTransportOptions(command: Command, image?: string): void {
  if (image !== undefined) command.option('--image <file>', image)
  command
    .option('--transport <name>', 'where the controller is', 'sim')
    .option(
      '--profile <name>',
      'what the simulator simulates: ideal, sn740, sn530, 980pro, 990pro, p5800x or pm1753',
      'sn740',
    )
    .option(
      '--engine <name>',
      'who submits the commands: host; cpu-kernel and cuda need registers in memory, which sim has not',
      'host',
    )
    .addOption(whole('--queues <n>', 'I/O queue pairs to ask for', 1, 64).default(1))
    .addOption(whole('--depth <n>', 'commands in flight on each of them', 1, 4095).default(32))
    .addOption(size('--capacity <size>', 'size of the simulated drive: 512MiB, 16GiB', BLOCK_BYTES))
    .addOption(whole('--seed <n>', "of the simulator's random numbers", 0, 0xffff_ffff).default(1))
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
    const [, hex] = /^([0-9a-f]+)h$/i.exec(text) ?? []
    const value =
      hex !== undefined ? Number.parseInt(hex, 16) : /^(?:\d+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : NaN
    if (!(value <= 0xff)) throw new InvalidArgumentError('Expected a number from 0 to 255, 0x00 to 0xff or 00h to FFh.')
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
