import { cudaStatus, type CudaStatus } from '@gpunvme/cuda-native'
import { ToolsError } from '../command-line/tools-error.js'
import type { DriveFlags, TransportFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/usage-error.js'
import type { EngineName } from '../drive/by-name.js'
import { requireNamedDrive } from '../drive/require-named.js'
import type { ComposeOptions } from '../rig/options.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'

export interface LoadFlags extends Omit<TransportFlags, 'drive' | 'image' | 'socket' | 'engine'>, OutputOptions {
  readonly drive?: readonly string[]
  readonly image?: readonly string[]
  readonly socket?: readonly string[]
  readonly engine?: EngineName
  readonly to?: 'gpu' | 'host'
  readonly gpu?: number
  readonly tier?: 1 | 2
  readonly vram?: number
  readonly ram?: number
  readonly passes: number
  readonly inPlace?: boolean
  readonly file?: boolean
  /** False with --no-verify. */
  readonly verify: boolean
  readonly compare?: boolean
}

/** What is loaded, and from where. */
export interface LoadRequest {
  readonly flags: LoadFlags
  readonly model: string | undefined
  /** The drives that hold it; none for a file. */
  readonly members: readonly DriveFlags[]
  /** It is packed onto a simulated drive in memory first. */
  readonly packsFirst: boolean
}

/** @throws UsageError for options that do not go together */
export async function requestOf(model: string | undefined, flags: LoadFlags): Promise<LoadRequest> {
  const { to, gpu, inPlace, compare } = flags
  const members = drivesOf(flags)
  const packsFirst = [flags.drive, flags.image, flags.socket].every((names) => names === undefined)
  if (to === 'host' && gpu !== undefined)
    throw new UsageError('--gpu and --to host do not go together', { next: 'leave --gpu out' })
  if (to === 'gpu' || gpu !== undefined) requireGpu(gpu ?? 0)
  const isUrl = /^https?:\/\//i.test(model ?? '')
  if (isUrl && !isValidUrl(model!)) throw new UsageError(`MODEL is not a valid URL: ${printable(model!)}`)
  if (flags.file === true || isUrl) {
    if (model === undefined) throw new UsageError('--file needs a MODEL', { next: { command: ['help', 'load'] } })
    const { sim, profile, realTime, transport } = flags
    if (!packsFirst || [sim, profile, realTime, transport, inPlace, compare].some((flag) => flag !== undefined))
      throw new UsageError('A model that is a file is loaded without a drive', {
        next: 'leave --file out, or the options that name the drive',
      })
    return { flags, model, members: [], packsFirst: false }
  }
  if (packsFirst && model === undefined)
    throw new UsageError('load needs a MODEL, or a drive that has one', { next: { command: ['help', 'load'] } })
  if (compare === true && (packsFirst || model === undefined || inPlace === true))
    throw new UsageError('--compare needs a MODEL file and the drive that it was packed onto', {
      next: { command: ['load', 'MODEL', '--image', 'FILE', '--compare'] },
    })
  if (inPlace === true && (packsFirst || model === undefined))
    throw new UsageError('--in-place needs a drive, and the path of a MODEL on it', {
      next: { command: ['load', '/models/x.gguf', '--drive', 'ADDRESS', '--in-place'] },
    })
  for (const member of members) await requireNamedDrive(member)
  return { flags, model, members, packsFirst }
}

function isValidUrl(text: string): boolean {
  // decodeURIComponent throws for a percent sign without two digits.
  return URL.canParse(text) && !/%(?![0-9a-f]{2})/i.test(text)
}

/** The flags of each drive. @throws UsageError for drives of several kinds */
function drivesOf({ drive = [], image = [], socket = [], ...common }: LoadFlags): DriveFlags[] {
  const kinds = [
    drive.map((each): DriveFlags => ({ ...common, drive: each })),
    image.map((each): DriveFlags => ({ ...common, image: each })),
    socket.map((each): DriveFlags => ({ ...common, socket: each })),
  ]
  const named = kinds.flatMap((drives, kind) => (drives.length > 0 ? [['--drive', '--image', '--socket'][kind]!] : []))
  const [first, other] = named
  if (other !== undefined)
    throw new UsageError(`${other} and ${first} do not go together`, { next: `leave ${other} out` })
  return named.length === 0 ? [common] : kinds.flat()
}

/** The options of `composeRig`. */
export function optionsOf({ flags, model, packsFirst }: LoadRequest, signal: AbortSignal): ComposeOptions {
  const { to, gpu, tier, vram, ram, queues, depth, nsid, engine, inPlace, verify } = flags
  const target = to === 'host' ? 'none' : (gpu ?? (to === 'gpu' ? 0 : undefined))
  return {
    ...{ queues, queueDepth: depth, verify, signal },
    ...(model !== undefined && !packsFirst && { model }),
    ...(inPlace !== undefined && { inPlace }),
    ...(target !== undefined && { gpu: target }),
    ...(tier !== undefined && { tier }),
    ...(vram !== undefined && { vram }),
    ...(ram !== undefined && { ram }),
    ...(nsid !== undefined && { nsid }),
    ...(engine !== undefined && { engine }),
  }
}

/** Before any drive is opened. @throws NoGpuError, UsageError */
function requireGpu(gpu: number): void {
  const status = cudaStatus()
  if (!status.available) throw new NoGpuError(status)
  const { length } = status.devices
  if (gpu >= length)
    throw new UsageError(`There is no GPU ${gpu}`, { facts: [`CUDA lists ${plural(length, 'GPU')}`], next: '--gpu 0' })
}

type CudaMissing = Extract<CudaStatus, { readonly available: false }>

/** The GPU that was asked for cannot be used. */
export class NoGpuError extends ToolsError {
  readonly code: CudaMissing['code']
  readonly category = 'not-found'

  constructor({ code, message, facts, next }: CudaMissing) {
    super(message, { facts, next: [next, '--to host, which needs no GPU'] })
    this.code = code
  }
}
