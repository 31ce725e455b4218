import { cudaStatus, type CudaStatus } from '@gpunvme/cuda-native'
import { ToolsError } from '../command-line/tools-error.js'
import type { DriveFlags, WithSeveral, TransportFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/usage-error.js'
import type { EngineName } from '../drive/by-name.js'
import { membersOf } from '../drive/members.js'
import { requireNamedDrive } from '../drive/require-named.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import type { LoadJob } from './load-and-report.js'

export interface LoadFlags extends Omit<WithSeveral<TransportFlags>, 'engine'>, OutputOptions {
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
  /** True if the model is first packed onto a simulated drive in memory. */
  readonly packsFirst: boolean
}

/** @throws UsageError for options that do not go together */
export async function requestOf(model: string | undefined, flags: LoadFlags): Promise<LoadRequest> {
  const { to, gpu, vram = 0, inPlace, compare } = flags
  const members = await membersOf(flags)
  const packsFirst = [flags.drive, flags.image, flags.socket].every((names) => names === undefined)
  if (to === 'host' && gpu !== undefined)
    throw new UsageError('--gpu and --to host do not go together', { next: 'leave --gpu out' })
  if (to === 'gpu' || gpu !== undefined) requireGpu(gpu ?? 0)
  else if (vram > 0 && (to === 'host' || !cudaStatus().available))
    throw new UsageError('--vram requires a GPU', { next: 'leave --vram out; --ram limits host memory' })
  const isUrl = /^[a-z]+:\/\//i.test(model ?? '')
  if (isUrl) requireUrl(model!)
  if (flags.file === true || isUrl) {
    if (model === undefined) throw new UsageError('--file needs a MODEL', { next: { command: ['help', 'load'] } })
    const { sim, profile, realTime, transport, nsid, engine, capacity, seed } = flags
    const ofDrives = [sim, profile, realTime, transport, nsid, engine, capacity, seed, inPlace, compare]
    if (!packsFirst || ofDrives.some((flag) => flag !== undefined))
      throw new UsageError(`${isUrl ? 'A URL' : '--file'} and options of a drive do not go together`, {
        next: isUrl ? 'the URL alone' : 'leave --file out, or the options of the drive',
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
  for (const member of members) await requireDrive(member, model)
  return { flags, model, members, packsFirst }
}

/** @throws UsageError that also names the file itself, if the user may have meant that */
async function requireDrive(member: DriveFlags, model: string | undefined): Promise<void> {
  try {
    await requireNamedDrive(member)
  } catch (error) {
    if (!(error instanceof UsageError) || model === undefined || error.step === undefined) throw error
    const { headline, facts, step } = error
    const alone = { command: ['load', model, '--file'], note: 'which loads the file itself' }
    throw new UsageError(headline, { facts, next: [step, alone].flat() })
  }
}

/** @throws UsageError for a URL that cannot be read, or that has a password, which messages would repeat */
function requireUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // decodeURIComponent throws for a percent sign without two digits.
  if (url === undefined || /%(?![0-9a-f]{2})/i.test(text)) throw new UsageError('MODEL is not a valid URL')
  if (!/^https?:$/.test(url.protocol))
    throw new UsageError(`${printable(url.protocol)} URLs are not supported`, { next: 'an https:// URL' })
  if (url.username !== '' || url.password !== '')
    throw new UsageError('The URL contains a user name or a password', {
      next: 'a URL without them, or download the file and load it with --file',
    })
}

/** The options of `composeRig`. */
export function optionsOf({ flags, model, packsFirst }: LoadRequest, signal: AbortSignal): LoadJob['options'] {
  const { to, gpu, tier, vram, ram, queues, depth, nsid, engine, inPlace, verify } = flags
  const target = to === 'host' ? 'none' : to === 'gpu' ? (gpu ?? 0) : gpu
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
