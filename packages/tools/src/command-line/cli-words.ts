import { EngineUnsuitableError } from '@gpunvme/cuda-native'
import { CudaUnavailableError } from '@gpunvme/cuda-native/cuda'
import { DeviceHeldError, ForeignDataError } from '@gpunvme/host-driver'
import type { VfioUserLostError } from '@gpunvme/host-driver/vfio-user'
import {
  BudgetInfeasibleError,
  ImageExistsError,
  ImageNotFoundError,
  ModelExistsError,
  ModelNotInImageError,
  NamespaceTooSmallError,
} from '@gpunvme/layer-loader'
import { UnknownFormatError } from '@gpunvme/layer-loader/formats'
import type { GpuNvmeError } from '@gpunvme/nvme-spec'
import { howToRelease } from '../binding/release.js'

/** The message, with a next step in the words of a command line where the library's is in the words of its API. */
export function inCliWords(error: GpuNvmeError): string {
  const step = nextStep(error)
  // What was asked for is an engine; what is missing, it says itself.
  if (error instanceof CudaUnavailableError) {
    const found = error.message.replace(/; or leave `engine` out of [^\n]*$/, '')
    return `The engine 'cuda' is not to be had: ${found}; or --engine host, which needs no GPU`
  }
  if (step !== undefined) return error.message.replace(/\n {2}Try: [^\n]*$/, () => `\n  Try: ${step}`)
  // Part of several next steps: of damaged images, of unfit ones.
  return error.message
    .replace(/pack the model again with \{ replace: true \}(?= |,|;|$)/, 'gpunvme pack MODEL --image FILE --replace')
    .replace(
      /pack the models again, the first with \{ replace: 'image' \}/,
      'gpunvme pack MODEL --image FILE --replace-image',
    )
}

function nextStep(error: GpuNvmeError): string | undefined {
  if (error instanceof EngineUnsuitableError)
    return '--engine host, which drives every transport; or, on a simulated drive, --real-time'
  if (error instanceof DeviceHeldError) return howToRelease(error.holders)
  const lost = howLost(error)
  if (lost === 'silent')
    return 'end its other client, as it may serve one at a time; or see what the target itself says'
  if (lost === 'closed') return 'see what the target itself says, start it again (gpunvme sim serve), and repeat this'
  if (error instanceof ForeignDataError) {
    return `${error.found.map(({ name }) => `--overwrite '${name}'`).join(' ')}, if it may be lost; or another drive`
  }
  if (error instanceof ImageExistsError)
    return '--replace-image, if all of it may be lost; gpunvme verify looks at it first'
  if (error instanceof ModelExistsError)
    return '--name NAME to have both, or --replace to give up the one that is there'
  if (error instanceof ModelNotInImageError && error.isEmpty)
    return 'gpunvme pack MODEL --image FILE, or --drive ADDRESS'
  if (error instanceof ImageNotFoundError) return 'gpunvme pack MODEL --image FILE, which makes one'
  if (error instanceof BudgetInfeasibleError) return '--vram and --ram of at least that'
  if (error instanceof NamespaceTooSmallError) return 'a larger --capacity for a new drive, or another --image file'
  if (error instanceof UnknownFormatError && startsAsImage(error.firstBytes)) {
    return `gpunvme load --image ${error.sourceName}, since this is a drive image that pack made`
  }
  return undefined
}

/** How the target at a socket was lost. Told by its code: its module is loaded by those commands alone that use a socket. */
function howLost(error: GpuNvmeError): VfioUserLostError['reason'] | undefined {
  const { code, reason } = error as Partial<VfioUserLostError>
  return code === 'ERR_GPUNVME_VFIO_USER_LOST' ? reason : undefined
}

function startsAsImage(firstBytes: Uint8Array): boolean {
  return Buffer.from(firstBytes).toString('latin1').startsWith('GPUNVME\0')
}
