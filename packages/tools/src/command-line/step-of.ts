import type { EngineUnsuitableError } from '@gpunvme/cuda-native'
import type { BlackwellRegistersError, CudaUnavailableError } from '@gpunvme/cuda-native/cuda'
import type { DeviceHeldError, DriverError, ForeignDataError } from '@gpunvme/host-driver'
import type { BindError, LeftUndoneError } from '@gpunvme/host-driver/pci'
import type { VfioUserLostError } from '@gpunvme/host-driver/vfio-user'
import type { LoaderError, ModelNotInImageError, VerificationError } from '@gpunvme/layer-loader'
import type { ImageChecksumError, NamespaceTooSmallError, Remedy } from '@gpunvme/layer-loader/image'
import type { BudgetInfeasibleError } from '@gpunvme/layer-loader/residence'
import type { HttpSourceError, UnknownFormatError } from '@gpunvme/layer-loader/formats'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { howToRelease } from './release.js'
import type { CommandStep, NextStep } from './next-step.js'
import { ToolsError } from './tools-error.js'

/**
 * Errors whose next step on a command line differs from that of a program. Types only: few verbs load their modules.
 */
type Reworded =
  | BindError
  | BlackwellRegistersError
  | BudgetInfeasibleError
  | CudaUnavailableError
  | DeviceHeldError
  | EngineUnsuitableError
  | ForeignDataError
  | HttpReworded
  | ImageChecksumError
  | LeftUndoneError
  | LoaderReworded
  | ModelNotInImageError
  | NamespaceTooSmallError
  | UnknownFormatError
  | VerificationError
  | VfioUserLostError
  | DriverErrorOf<'ERR_GPUNVME_IOMMU_ACTIVE'>
  | DriverErrorOf<'ERR_GPUNVME_NAMESPACE_NOT_FOUND'>
  | DriverErrorOf<'ERR_GPUNVME_QEMU_MISSING'>
  | DriverErrorOf<'ERR_GPUNVME_VFIO_USER_CONNECT'>
  | DriverErrorOf<'ERR_GPUNVME_VFIO_USER_FUNCTION'>

type DriverErrorOf<Code extends string> = DriverError & { readonly code: Code }

/** Errors of images, sets and slots whose fields are not used. */
type LoaderReworded = LoaderError & {
  readonly code: `ERR_GPUNVME_${'IMAGE_CHANGED' | 'IMAGE_EXISTS' | 'IMAGE_TRUNCATED' | 'IMAGE_UNSUPPORTED' | 'MEMBER_OF_SET' | 'MIRROR_SPLIT' | 'MIXED_SETS' | 'MODEL_EXISTS' | 'NO_IMAGE' | 'NO_SET' | 'SET_UNFINISHED' | 'SLOT_MEMORY' | 'STRIPE_MEMBER_MISSING'}`
}

/** HTTP failures whose next steps name function options. */
type HttpReworded = HttpSourceError & {
  readonly code: `ERR_GPUNVME_HTTP_${'ENCODING' | 'INSECURE' | 'NO_RANGES' | 'PRIVATE_ADDRESS' | 'RANGE' | 'STATUS' | 'TIMEOUT'}`
}

type Steps = {
  readonly [Code in Reworded['code']]: (
    error: Extract<Reworded, { readonly code: Code }>,
    engineOption: string,
  ) => NextStep | undefined
}

const PACK: CommandStep = { command: ['pack', 'MODEL', '--image', 'FILE'] }
const VERIFY: CommandStep = { command: ['models', 'verify', '--image', 'FILE'] }
const SERVE: CommandStep = { command: ['sim', 'serve', '--socket', 'PATH'] }

/** Next step for a set that is not complete. */
export const EVERY_DRIVE = 'name every drive of the set: --drive A --drive B, or --image A --image B'

/** Commands that repair a damaged image. */
const REMEDIES: Readonly<Record<Remedy, CommandStep>> = {
  'replace-model': { command: [...PACK.command, '--replace'], note: 'which writes the model again' },
  'replace-image': { command: [...PACK.command, '--replace-image'], note: 'which discards all models on it' },
}

const finishing = (bdf: string): CommandStep => ({
  command: ['unbind', bdf],
  note: 'which completes the remaining steps',
})

const otherEngine = ({ next }: CudaUnavailableError, engineOption: string): NextStep => [
  ...(next === undefined ? [] : [next]),
  `use ${engineOption} host, which needs no GPU`,
]

const DOWNLOAD = 'download the file, then load it with --file'

/** Next steps by error code; undefined where that of the library fits. */
const STEPS: Steps = {
  ERR_GPUNVME_BIND: ({ bdf, advice, notUndone }) =>
    notUndone.length === 0 ? undefined : { ...finishing(bdf), first: advice },
  ERR_GPUNVME_BLACKWELL_REGISTERS: (_error, engineOption) => `use ${engineOption} host`,
  ERR_GPUNVME_BUDGET_INFEASIBLE({ budget, minimum }) {
    const lacking = [
      ...(budget.vramBytes < minimum.vramBytes ? ['--vram'] : []),
      ...(budget.ramBytes < minimum.ramBytes ? ['--ram'] : []),
    ]
    return `raise ${lacking.join(' and ')} to at least that`
  },
  ERR_GPUNVME_CUDA_DRIVER_TOO_OLD: otherEngine,
  ERR_GPUNVME_CUDA_INIT_FAILED: otherEngine,
  ERR_GPUNVME_DEVICE_HELD: ({ holders }) => howToRelease(holders),
  ERR_GPUNVME_ENGINE_UNSUITABLE: (_error, engineOption) => [
    `use ${engineOption} host, which supports all transports`,
    'on a simulated drive, use --real-time',
  ],
  ERR_GPUNVME_FOREIGN_DATA: ({ found }) => [
    `allow its loss with ${found.map(({ name }) => `--overwrite '${name}'`).join(' ')}`,
    'use another drive',
  ],
  ERR_GPUNVME_HTTP_ENCODING: () => DOWNLOAD,
  ERR_GPUNVME_HTTP_INSECURE: () => ['an https:// URL', DOWNLOAD],
  ERR_GPUNVME_HTTP_NO_RANGES: () => DOWNLOAD,
  ERR_GPUNVME_HTTP_PRIVATE_ADDRESS: () => 'the URL that it redirects to, if you trust that server',
  ERR_GPUNVME_HTTP_RANGE: () => DOWNLOAD,
  ERR_GPUNVME_HTTP_STATUS: () => ['check the URL in a browser', DOWNLOAD],
  ERR_GPUNVME_HTTP_TIMEOUT: () => ['try again', DOWNLOAD],
  ERR_GPUNVME_IMAGE_CHANGED: () => ({
    ...VERIFY,
    first: 'end other programs that write to the drive',
    note: 'which checks it; and pack again',
  }),
  ERR_GPUNVME_IMAGE_CHECKSUM: () => [{ ...VERIFY, note: 'which checks the rest' }, REMEDIES['replace-image']],
  ERR_GPUNVME_IMAGE_EXISTS: () => [
    'discard all of it with --replace-image',
    { ...VERIFY, note: 'which checks it first' },
  ],
  ERR_GPUNVME_IMAGE_TRUNCATED: () => [
    'use the complete drive or file that the image was written to',
    REMEDIES['replace-image'],
  ],
  ERR_GPUNVME_IMAGE_UNSUPPORTED: () => 'use a newer version of gpunvme',
  ERR_GPUNVME_IOMMU_ACTIVE: () => ({ command: ['bind', 'ADDRESS'], note: 'which binds it to vfio-pci' }),
  ERR_GPUNVME_LEFT_UNDONE: ({ bdf }) => finishing(bdf),
  ERR_GPUNVME_MODEL_EXISTS: () => ['keep both with --name NAME', 'replace the existing one with --replace'],
  ERR_GPUNVME_MODEL_NOT_IN_IMAGE: ({ isEmpty }) => (isEmpty ? PACK : undefined),
  ERR_GPUNVME_MEMBER_OF_SET: () => [
    EVERY_DRIVE,
    'use it for a new set, which discards all models: pack with --stripe or --mirror, and --replace-image',
  ],
  ERR_GPUNVME_MIRROR_SPLIT: () => 'name only the drives whose content you want to keep',
  ERR_GPUNVME_MIXED_SETS: () => ['name the drives of one set', 'use --replace-image with pack --stripe or --mirror'],
  ERR_GPUNVME_NAMESPACE_NOT_FOUND: () => [
    'omit --nsid for the first active namespace',
    { command: ['nvme', 'identify', '--drive', 'ADDRESS'], note: 'which lists the namespaces' },
  ],
  ERR_GPUNVME_NAMESPACE_TOO_SMALL: () => ['use a larger --capacity for a new drive', 'use another --image file'],
  ERR_GPUNVME_NO_CUDA_DEVICE: otherEngine,
  ERR_GPUNVME_NO_CUDA_DRIVER: otherEngine,
  ERR_GPUNVME_NO_IMAGE: () => ({ ...PACK, note: 'which creates one' }),
  ERR_GPUNVME_NO_NATIVE_ADDON: (error, engineOption) =>
    'state' in error ? otherEngine(error, engineOption) : undefined,
  ERR_GPUNVME_NO_SET: () => [
    'name only the drive that has the model',
    'pack with --stripe or --mirror, which creates a set',
  ],
  ERR_GPUNVME_QEMU_MISSING: () => [
    'install it (Debian: apt-get install qemu-system-x86)',
    'name the program in the environment variable GPUNVME_QEMU',
  ],
  ERR_GPUNVME_SET_UNFINISHED: () => 'pack with --stripe or --mirror, which creates it again; it had no models',
  ERR_GPUNVME_SLOT_MEMORY: () => [
    'lower --ram and --vram, so that fewer layers stay in memory',
    'omit --real-time, whose drives have at most 4 GiB of memory',
  ],
  ERR_GPUNVME_STRIPE_MEMBER_MISSING: () => [
    EVERY_DRIVE,
    'if one is lost for good, pack with --stripe --replace-image, which creates the set again',
  ],
  ERR_GPUNVME_UNKNOWN_FORMAT: ({ sourceName, firstBytes }) =>
    startsAsImage(firstBytes)
      ? { command: ['load', '--image', sourceName], note: 'since this is a drive image made by pack' }
      : undefined,
  ERR_GPUNVME_VERIFICATION: () => ({ ...REMEDIES['replace-model'], first: 'read it again; if it fails again' }),
  // Category 'usage' means a file that is not a socket.
  ERR_GPUNVME_VFIO_USER_CONNECT: ({ cause, category }) => {
    const { code: errno } = cause as NodeJS.ErrnoException
    if (errno === 'ENOENT') return ['check the spelling', { ...SERVE, note: 'which starts a target' }]
    return errno === 'ECONNREFUSED' && category === 'not-found'
      ? { ...SERVE, note: 'which starts it again' }
      : undefined
  },
  ERR_GPUNVME_VFIO_USER_FUNCTION: () => ({ ...SERVE, note: 'which serves an NVMe controller' }),
  ERR_GPUNVME_VFIO_USER_LOST: ({ reason }) => LOST[reason],
}

/** Next steps for a target that stopped responding on its socket. */
const LOST: Readonly<Record<VfioUserLostError['reason'], NextStep | undefined>> = {
  silent: ['end its other client: it may serve only one at a time', 'check the output of the target'],
  closed: {
    ...SERVE,
    first: 'check the output of the target',
    note: 'if that was the target, and repeat this command',
  },
  broken: undefined,
}

/** Node.js replaces bytes of arguments that are not UTF-8. */
const NOT_UTF8 = 'rename the file, or symlink it with ln -s: Node.js cannot pass a file name that is not UTF-8'

/** Returns the next step after an error, for a user of the command. @param engineOption selects another engine. */
export function stepOf(error: GpuNvmeError, engineOption = '--engine'): NextStep | undefined {
  if (/^Cannot .*\ufffd/.test(error.headline)) return NOT_UTF8
  if (error instanceof ToolsError) return error.step
  // The record has only some of the codes.
  const steps: Partial<Record<string, (error: never, engineOption: string) => NextStep | undefined>> = STEPS
  const step = steps[error.code]?.(error as never, engineOption)
  if (step !== undefined) return step
  const { remedy } = error as { readonly remedy?: Remedy }
  return remedy === undefined ? error.next : REMEDIES[remedy]
}

function startsAsImage(firstBytes: Uint8Array): boolean {
  return Buffer.from(firstBytes).toString('latin1').startsWith('GPUNVME\0')
}
