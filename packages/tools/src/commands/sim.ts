import { profiles, type DriveProfile } from '@gpunvme/nvme-sim'
import { Argument, InvalidArgumentError, Option } from 'commander'
import { requireProgram } from '../binding/run-command.js'
import { typed } from '../command-line/next-step.js'
import { size, whole } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { DEFAULT_PROFILE } from '../drive/sim-transport.js'
import type { ServeRequest } from '../serving/serve.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { formatTable } from '../terminal/table.js'

interface Flags extends Omit<ServeRequest, 'socket' | 'command'>, OutputOptions {
  readonly socket?: string
}

/** Fault plan of the help. A test serves a drive with it. */
export const EXAMPLE_PLAN = `{ "rules": [
  { "match": { "opcode": 2, "lba": [64, 127] },
    "action": { "kind": "status", "sct": 2, "sc": 129, "dnr": true } },
  { "match": { "opcode": 1, "every": 1000 },
    "action": { "kind": "delay-completion", "delayNs": 50000000 } }
] }`

const ABOUT = `
serve presents a simulated drive as a PCI function over vfio-user to other
software: Linux, SeaBIOS and nvme-cli in a guest of QEMU 10.1 or later; SPDK's
driver (with --mapped-doorbells); gpunvme itself (--socket). It prints the QEMU
command line and serves one client at a time until SIGINT or SIGTERM, or until
COMMAND exits. Each client finds the controller in its power-on state and the
data that earlier clients wrote. Drives of one guest need different serial
numbers (--serial), since Linux rejects duplicates.

The drive runs in real time: latencies are at least those of the preset. Flushed
data are in the image even if the server is killed; a trace may then lack its
last 256 KiB. Other processes must not write to the image meanwhile.

The first 20 mistakes of the client and faults of the plan are printed as they
happen. A plan is JSON, with conditions and actions of FaultPlan in
@gpunvme/nvme-spec/transport. This one makes LBAs 64 to 127 unreadable (SCT 2h,
SC 81h) and delays every thousandth Write by 50 ms:

${EXAMPLE_PLAN.replace(/^/gm, '  ')}

Needs the native addon of @gpunvme/cuda-native.

In one terminal, then in another:
  # gpunvme sim serve --socket /tmp/d.sock --image d.img --capacity 16GiB
  # gpunvme sim serve --socket /tmp/d.sock --faults plan.json --trace t.json
  # gpunvme nvme identify --socket /tmp/d.sock
Or in one terminal, with the exit code of COMMAND:
  # gpunvme sim serve --socket d.sock -- gpunvme nvme identify --socket d.sock`

export const sim = verb({
  options(command) {
    command
      .addArgument(new Argument('[action]', 'action (default: list simulated drives)').choices(['serve']))
      .argument('[command...]', 'after --: serve while this command runs')
      .option('--socket <path>', 'Unix socket to create for clients')
      .option('--profile <name>', `simulated drive: ${Object.keys(profiles).join(', ')} (default: ${DEFAULT_PROFILE})`)
      .addOption(new Option('--serial <serial>', "serial number (default: the preset's)").argParser(parseSerial))
      .option('--image <file>', 'drive image; created if --capacity is given (default: memory)')
      .addOption(size('--capacity <size>', 'size of the drive, or of a new image', 512))
      .option('--read-only', 'with --image: write-protected')
      .option('--faults <file>', 'fault plan in JSON; see below')
      .option('--trace <file>', 'trace of the drive: .json (Perfetto), .jsonl, or text; about 600 bytes per command')
      .addOption(whole('--seed <n>', 'seed of the simulator (default: 1)', 0, 0xffff_ffff))
      .option('--mapped-doorbells', "poll doorbells in shared memory, as SPDK's driver requires; uses one core")
  },
  about: ABOUT,
  examples: ['gpunvme sim', 'gpunvme sim --json'],
  run,
})

/** Limits of the serial number in Identify Controller (Base 2.1, SN): ASCII, padded with blanks. */
function parseSerial(text: string): string {
  if (!/^[!-~]([ -~]{0,18}[!-~])?$/.test(text))
    throw new InvalidArgumentError('Expected 1 to 20 ASCII characters without leading or trailing blanks.')
  return text
}

async function run(
  action: 'serve' | undefined,
  words: string[],
  flags: Flags,
  { output, session }: Context,
): Promise<void> {
  if (action === undefined) {
    refuseOptions(flags)
    list(output)
    return
  }
  const { socket } = flags
  if (socket === undefined || socket === '') {
    throw new UsageError('sim serve requires --socket', { next: 'use --socket /tmp/drive.sock' })
  }
  const [program, ...args] = words
  if (program !== undefined && output.json)
    throw new UsageError("--json and a command are mutually exclusive: the output is the command's")
  if (program !== undefined) requireProgram(program, output.io.env['PATH'])
  const { serve } = await import('../serving/serve.js')
  const command = program === undefined ? {} : ({ command: [program, ...args] } as const)
  session.exitCode = await serve({ ...flags, ...command, socket }, output, session.signal)
  // An interrupted command is incomplete.
  if (program !== undefined) session.signal.throwIfAborted()
}

/** @throws UsageError for an option that requires `serve`. */
function refuseOptions(flags: Flags): void {
  if (Object.keys(flags).some((name) => name !== 'json' && name !== 'quiet')) {
    throw new UsageError('These options require serve', {
      next: { command: ['sim', 'serve', '--socket', '/tmp/drive.sock'] },
    })
  }
}

function list(output: Output): void {
  const drives = Object.entries<DriveProfile>(profiles)
  output.print(
    formatTable(
      [{ title: 'PROFILE' }, { title: 'SIMULATES' }, { title: 'LINK' }, { title: 'QUEUES', align: 'right' }],
      drives.map(([name, { identify, link, ioQueuePairs }]) => [
        name,
        identify.MN?.replace(/^simulated /, '') ?? '',
        link === undefined ? 'none' : `Gen${link.gen} x${link.width}`,
        String(ioQueuePairs),
      ]),
    ),
  )
  output.note(`Next: ${typed({ command: ['sim', 'serve', '--socket', '/tmp/drive.sock'] }, output.invocation)}`)
  output.object('gpunvme.sim/1', {
    profiles: drives.map(([name, { identify, link, ioQueuePairs, source }]) => ({
      name,
      model: identify.MN,
      serial: identify.SN,
      ...(link !== undefined && { link: { gen: link.gen, width: link.width, mps: link.mps } }),
      ioQueuePairs,
      source,
    })),
  })
}
