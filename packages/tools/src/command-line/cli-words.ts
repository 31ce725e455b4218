import type { EngineUnsuitableError } from '@gpunvme/cuda-native'
import type { DeviceHeldError, ForeignDataError } from '@gpunvme/host-driver'
import type { VfioUserLostError } from '@gpunvme/host-driver/vfio-user'
import type {
  BudgetInfeasibleError,
  ImageExistsError,
  ImageNotFoundError,
  ModelExistsError,
  ModelNotInImageError,
  NamespaceTooSmallError,
} from '@gpunvme/layer-loader'
import type { UnknownFormatError } from '@gpunvme/layer-loader/formats'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { howToRelease } from '../binding/release.js'

/** Told by their codes: their modules are loaded by those commands alone that use them, and not to print help. */
type Reworded =
  | BudgetInfeasibleError
  | DeviceHeldError
  | EngineUnsuitableError
  | ForeignDataError
  | ImageExistsError
  | ImageNotFoundError
  | ModelExistsError
  | ModelNotInImageError
  | NamespaceTooSmallError
  | UnknownFormatError
  | VfioUserLostError

/** What to do where the target at a socket was lost; of one that broke the protocol, its error says that itself. */
const HOW_LOST: Readonly<Record<VfioUserLostError['reason'], string | undefined>> = {
  silent: 'end its other client, as it may serve one at a time; or see what the target itself says',
  closed: 'see what the target itself says, start it again (gpunvme sim serve), and repeat this',
  broken: undefined,
}

/** The message, with a next step in the words of a command line where the library's is in the words of its API. */
export function inCliWords(error: GpuNvmeError): string {
  // What was asked for is an engine; what is missing, it says itself, by one of several codes.
  if (error.name === 'CudaUnavailableError') {
    const found = error.message.replace(/; or leave `engine` out of [^\n]*$/, '')
    return `The engine 'cuda' is not to be had: ${found}; or --engine host, which needs no GPU`
  }
  const step = nextStep(error as Reworded)
  if (step !== undefined) return error.message.replace(/\n {2}Try: [^\n]*$/, () => `\n  Try: ${step}`)
  // Part of several next steps: of damaged images, of unfit ones.
  return error.message
    .replace(/pack the model again with \{ replace: true \}(?= |,|;|$)/, 'gpunvme pack MODEL --image FILE --replace')
    .replace(
      /pack the models again, the first with \{ replace: 'image' \}/,
      'gpunvme pack MODEL --image FILE --replace-image',
    )
}

function nextStep(error: Reworded): string | undefined {
  switch (error.code) {
    case 'ERR_GPUNVME_ENGINE_UNSUITABLE':
      return '--engine host, which drives every transport; or, on a simulated drive, --real-time'
    case 'ERR_GPUNVME_DEVICE_HELD':
      return howToRelease(error.holders)
    case 'ERR_GPUNVME_VFIO_USER_LOST':
      return HOW_LOST[error.reason]
    case 'ERR_GPUNVME_FOREIGN_DATA':
      return `${error.found.map(({ name }) => `--overwrite '${name}'`).join(' ')}, if it may be lost; or another drive`
    case 'ERR_GPUNVME_IMAGE_EXISTS':
      return '--replace-image, if all of it may be lost; gpunvme verify looks at it first'
    case 'ERR_GPUNVME_MODEL_EXISTS':
      return '--name NAME to have both, or --replace to give up the one that is there'
    case 'ERR_GPUNVME_MODEL_NOT_IN_IMAGE':
      return error.isEmpty ? 'gpunvme pack MODEL --image FILE, or --drive ADDRESS' : undefined
    case 'ERR_GPUNVME_NO_IMAGE':
      return 'gpunvme pack MODEL --image FILE, which makes one'
    case 'ERR_GPUNVME_BUDGET_INFEASIBLE':
      return '--vram and --ram of at least that'
    case 'ERR_GPUNVME_NAMESPACE_TOO_SMALL':
      return 'a larger --capacity for a new drive, or another --image file'
    case 'ERR_GPUNVME_UNKNOWN_FORMAT':
      return startsAsImage(error.firstBytes)
        ? `gpunvme load --image ${error.sourceName}, since this is a drive image that pack made`
        : undefined
    default:
      return undefined
  }
}

function startsAsImage(firstBytes: Uint8Array): boolean {
  return Buffer.from(firstBytes).toString('latin1').startsWith('GPUNVME\0')
}
