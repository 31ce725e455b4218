import { EXIT } from '../command-line/exit-codes.js'
import { addDriveOptions, size, whole, type DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { requireNamedDrive } from '../drive/require-named.js'
import { withTransport } from '../drive/with-drive.js'
import { readMachine } from '../machine/index.js'
import { askCuda, limitsBetween, requireTwo, type AskedCuda } from '../p2p/copies.js'
import { copyMatrix, type CopyResult } from '../p2p/copy-matrix.js'
import { withCudaRig } from '../p2p/cuda-rig.js'
import { describeCopies, describePeers } from '../p2p/describe-copies.js'
import { probeDrive, type DriveProbe } from '../p2p/probe-drive.js'
import type { Session } from '../command-line/session.js'
import { formatEstimate } from '../report/quantities.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { hex } from '../p2p/probe.js'

const MIB = 1024 * 1024

interface Flags extends DriveFlags, OutputOptions {
  readonly copy?: boolean
  readonly size: number
  readonly repeats: number
  readonly probe?: boolean
  readonly gpu?: number
}

const ABOUT = `
Without --copy or --probe: prints which GPUs can access each other's memory
according to CUDA. Read-only. gpunvme list --topology estimates the same, and
the traffic between GPUs and SSDs, from the platform. Exit code 3 without CUDA.

--copy copies between each pair of GPUs, in one and in both directions, and
compares every byte: drivers have reported success for copies that moved
nothing. Rates above the link's limit are not shown. Exit code 6 if a copy is
wrong or implausible.

--probe makes a GPU write to register AQA of a disabled drive bound to user
space, where the value has no effect, and checks with the CPU that it arrives,
as doorbells must. The register is restored. The GPU never reads registers of
the drive: on some machines such reads drop it from the bus. Exit code 6 if no
write arrives.

Copies were tested on a stand-in for CUDA, not on GPUs. The probe was tested on
a GPU with a simulated drive (--real-time), and on no SSD.

On a machine with GPUs:
  # gpunvme bench p2p --copy
  # gpunvme bind nvme1 -- gpunvme bench p2p --probe --drive nvme1`

export const p2p = verb({
  options(command) {
    command
      .option('--copy', 'copy between all GPUs, verify, and measure')
      .addOption(size('--size <size>', 'size of each copy', 4096).default(64 * MIB, '64MiB'))
      .addOption(whole('--repeats <n>', 'repeats of each copy', 1, 1000).default(5))
      .option('--probe', 'make a GPU write to a register of the drive, and check that it arrives')
      .addOption(whole('--gpu <n>', 'CUDA index of the GPU for --probe (default: 0)', 0, 255))
    addDriveOptions(command)
  },
  about: ABOUT,
  examples: ['gpunvme bench p2p'],
  run,
})

async function run(flags: Flags, { output, session }: Context): Promise<void> {
  refuseNonsense(flags)
  if (flags.probe === true) await requireNamedDrive(flags)
  const asked = askCuda()
  output.print(cudaLines(asked))
  const copies = flags.copy === true ? await copy(flags, asked, output, session) : undefined
  const probe = flags.probe === true ? await probeOf(flags, output, session) : undefined
  output.object('gpunvme.p2p/1', resultOf(asked, copies, probe))
  const isBelieved = copies?.every(({ problem }) => problem === undefined) !== false && probe?.arrived !== false
  if (!isBelieved) session.exitCode = EXIT.verification
  else if ('unavailable' in asked) session.exitCode = EXIT[asked.unavailable.category]
}

function refuseNonsense({ probe, gpu, drive, sim, nsid, transport, realTime, socket }: Flags): void {
  const isAboutDrive = [drive, sim, transport, realTime, gpu].some((flag) => flag !== undefined)
  if (socket !== undefined)
    throw new UsageError('A GPU cannot reach a drive served over a socket', {
      next: ['--drive ADDRESS', { command: ['list'] }],
    })
  if (probe !== true && isAboutDrive)
    throw new UsageError('--gpu and a drive require --probe', {
      next: { command: ['bench', 'p2p', '--probe', '--drive', 'ADDRESS'] },
    })
  if (nsid !== undefined) throw new UsageError('--nsid does not apply to peer-to-peer access', { next: 'omit --nsid' })
}

function cudaLines(asked: AskedCuda): string[] {
  if ('peers' in asked) return describePeers(asked.peers)
  return [`CUDA  unavailable: ${asked.unavailable.headline}`]
}

async function copy(
  { size: lengthBytes, repeats }: Flags,
  asked: AskedCuda,
  output: Output,
  { signal }: Session,
): Promise<CopyResult[]> {
  const peers = requireTwo(asked)
  const limitOf = limitsBetween(await readMachine(), peers)
  const settings = {
    ...{ lengthBytes, repeats, signal, limitOf },
    nowNs: () => performance.now() * 1e6,
    onResult({ from, to, directions, bytesPerSecond }: CopyResult) {
      const rate = bytesPerSecond === undefined ? 'rejected' : formatEstimate('rate', bytesPerSecond)
      output.note(`GPU ${from} ${directions === 'both' ? '<->' : '->'} ${to}: ${rate}`)
    },
  }
  const results = await withCudaRig((rig) => copyMatrix(peers, rig, settings))
  output.print('', describeCopies(results, settings))
  return results
}

async function probeOf(flags: Flags, output: Output, { signal }: Session): Promise<DriveProbe> {
  const { gpu = 0 } = flags
  const { name, result } = await withTransport(flags, 'read', output, async ({ transport }) => ({
    name: transport.bdf ?? transport.name,
    result: await probeDrive(transport, gpu, signal),
  }))
  output.print('', describeProbe(result, gpu, name))
  return result
}

/** Returns the result for JSON. */
function resultOf(asked: AskedCuda, copies: CopyResult[] | undefined, probe: DriveProbe | undefined) {
  return {
    cuda:
      'peers' in asked
        ? asked.peers
        : { unavailable: { code: asked.unavailable.code, message: asked.unavailable.message } },
    ...(copies !== undefined && { copies }),
    ...(probe !== undefined && { probe }),
  }
}

/** Describes the result of the probe and its meaning. */
function describeProbe(result: DriveProbe, gpu: number, drive: string): string[] {
  const { stores, arrived, before, isSimulated } = result
  const simulated = 'This drive is simulated, and its registers are memory: the result does not apply to a bus.'
  const meaning = isSimulated
    ? simulated
    : arrived
      ? 'Writes by the GPU arrive at the registers of this drive: it can ring doorbells (tier 1 (cuda)). Access to GPU memory (tiers 2 and 3) was not tested.'
      : 'Writes by the GPU do not arrive at the registers of this drive: it cannot ring doorbells. This does not affect the engines host and cpu-kernel; with the engine cuda, load makes the CPU write the doorbells.'
  return [
    `Stores of GPU ${gpu} to ${drive}, seen by the CPU`,
    ...stores.map(({ value, seen, arrived: ok }) => {
      return `  AQA = ${hex(value)}  ${ok ? 'arrived' : `did not arrive: reads ${hex(seen)}`}`
    }),
    `  AQA = ${hex(before)}  restored`,
    meaning,
  ]
}
