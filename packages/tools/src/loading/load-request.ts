import { cudaStatus, type CudaStatus } from '@gpunvme/cuda-native'
import { ToolsError, UsageError } from '../command-line/tools-error.js'
import type { DriveFlags, WithSeveral, TransportFlags } from '../command-line/options.js'
import type { EngineName } from '../drive/by-name.js'
import { membersOf } from '../drive/members.js'
import { requireNamedDrive } from '../drive/require-named.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import type { LoadJob } from './load-and-report.js'
import { refuseNamingOfPacked, type NamingFlags } from '../model/naming.js'

export interface LoadFlags extends Omit<WithSeveral<TransportFlags>, 'engine'>, NamingFlags, OutputOptions {
  readonly engine?: EngineName
  readonly to?: 'gpu' | 'host'
  readonly gpu?: number
  readonly tier?: 1 | 2
  readonly staticBar1?: boolean
  readonly vram?: number
  readonly ram?: number
  readonly passes: number
  readonly inPlace?: boolean
  readonly file?: boolean
  /** False if --no-verify is given. */
  readonly verify: boolean
  readonly compare?: boolean
}

/** Model to load, and its source. */
export interface LoadRequest {
  readonly flags: LoadFlags
  readonly model: string | undefined
  /** Drives with the model; empty for a file. */
  readonly members: readonly DriveFlags[]
  /** Whether to pack the model first onto a simulated drive in memory. */
  readonly packsFirst: boolean
}

/** @throws UsageError for contradictory options */
export async function requestOf(model: string | undefined, flags: LoadFlags): Promise<LoadRequest> {
  const { to, gpu, vram = 0, inPlace, compare } = flags
  const members = await membersOf(flags)
  const packsFirst = [flags.drive, flags.image, flags.socket].every((names) => names === undefined)
  if (to === 'host' && gpu !== undefined)
    throw new UsageError('--gpu and --to host are mutually exclusive', { next: 'omit --gpu' })
  if (to === 'gpu' || gpu !== undefined) requireGpu(gpu ?? 0, 'use --to host, which needs no GPU')
  else if (vram > 0 && (to === 'host' || !cudaStatus().available))
    throw new UsageError('--vram requires a GPU', { next: 'omit --vram; --ram limits host memory' })
  const isUrl = /^[a-z]+:\/\//i.test(model ?? '')
  if (isUrl) requireUrl(model!)
  if (flags.file === true || isUrl) {
    if (model === undefined) throw new UsageError('--file requires a MODEL', { next: { command: ['help', 'load'] } })
    const { sim, profile, realTime, transport, nsid, engine, capacity, seed } = flags
    const ofDrives = [sim, profile, realTime, transport, nsid, engine, capacity, seed, inPlace, compare]
    if (!packsFirst || ofDrives.some((flag) => flag !== undefined))
      throw new UsageError(`${isUrl ? 'A URL' : '--file'} and drive options are mutually exclusive`, {
        next: isUrl ? 'omit the drive options' : 'omit --file or the drive options',
      })
    return { flags, model, members: [], packsFirst: false }
  }
  if (packsFirst && model === undefined)
    throw new UsageError('load requires a MODEL, or a drive with one', { next: { command: ['help', 'load'] } })
  if (compare === true && (packsFirst || model === undefined || inPlace === true))
    throw new UsageError('--compare requires a MODEL file and the drive that it was packed onto', {
      next: { command: ['load', 'MODEL', '--image', 'FILE', '--compare'] },
    })
  if (inPlace === true && (packsFirst || model === undefined))
    throw new UsageError('--in-place requires a drive and the path of a MODEL on it', {
      next: { command: ['load', '/models/x.gguf', '--drive', 'ADDRESS', '--in-place'] },
    })
  for (const member of members) await requireDrive(member, model)
  if (!packsFirst && inPlace !== true) refuseNamingOfPacked(flags)
  return { flags, model, members, packsFirst }
}

/** @throws UsageError that also suggests loading the file itself */
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

/** @throws UsageError for an invalid URL, or one with a password, which messages would repeat */
function requireUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // decodeURIComponent throws for a percent sign without two digits.
  if (url === undefined || /%(?![0-9a-f]{2})/i.test(text)) throw new UsageError('MODEL is not a valid URL')
  if (!/^https?:$/.test(url.protocol))
    throw new UsageError(`${printable(url.protocol)} URLs are not supported`, { next: 'use an https:// URL' })
  if (url.username !== '' || url.password !== '')
    throw new UsageError('The URL contains a user name or a password', {
      next: 'use a URL without them, or download the file and load it with --file',
    })
}

/** Returns the options of `composeRig`. */
export function optionsOf({ flags, model, packsFirst }: LoadRequest, signal: AbortSignal): LoadJob['options'] {
  const { to, gpu, tier, staticBar1, vram, ram, queues, depth, nsid, engine, inPlace, verify, naming } = flags
  const target = to === 'host' ? 'none' : to === 'gpu' ? (gpu ?? 0) : gpu
  return {
    ...{ queues, queueDepth: depth, verify, signal },
    ...(model !== undefined && !packsFirst && { model }),
    ...(inPlace !== undefined && { inPlace }),
    ...(naming !== undefined && { naming }),
    ...(target !== undefined && { gpu: target }),
    ...(tier !== undefined && { tier }),
    ...(staticBar1 !== undefined && { staticBar1 }),
    ...(vram !== undefined && { vram }),
    ...(ram !== undefined && { ram }),
    ...(nsid !== undefined && { nsid }),
    ...(engine !== undefined && { engine }),
  }
}

/**
 * Validates a GPU index before any drive is opened.
 * @param without next step without a GPU. @throws ToolsError (a code of CUDA), UsageError
 */
export function requireGpu(gpu: number, without: string): void {
  const status = cudaStatus()
  if (!status.available) throw noGpuError(status, without)
  const { length } = status.devices
  if (gpu >= length)
    throw new UsageError(`There is no GPU ${gpu}`, {
      facts: [`CUDA lists ${plural(length, 'GPU')}`],
      next: 'use --gpu 0',
    })
}

type CudaMissing = Extract<CudaStatus, { readonly available: false }>

/** Error of a requested GPU that cannot be used. */
function noGpuError({ code, message, facts, next }: CudaMissing, without: string): ToolsError {
  return new ToolsError(code, 'not-found', message, { facts, next: [next, without] })
}
