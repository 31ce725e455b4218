import type { NativeHost } from '@gpunvme/nvme-spec/transport'
import { fileMedia } from '../media/file.js'
import type { NamespaceOptions } from '../nvm/namespace.js'
import type { RealTimeNamespace } from './options.js'

/**
 * A namespace as the simulation takes it, its file opened; where there is a native host, it punches the holes.
 * @throws what `fileMedia` throws.
 */
export function withMedia({ file, ...namespace }: RealTimeNamespace, native: NativeHost | undefined): NamespaceOptions {
  if (file === undefined) return namespace
  const { path, readOnly = false } = file
  const capacity = namespace.capacityBytes === undefined ? {} : { capacityBytes: namespace.capacityBytes }
  const punchHole = native?.punchHole?.bind(native)
  return { ...namespace, media: fileMedia(path, { readOnly, ...capacity, punchHole }) }
}
