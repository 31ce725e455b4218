import type { NativeHost } from '@gpunvme/nvme-spec/transport'
import { fileMedia } from '../media/file.js'
import type { NamespaceOptions } from '../nvm/namespace.js'
import type { RealTimeNamespace } from './options.js'

/**
 * Returns a namespace for the simulation with its file opened; a native host punches the holes.
 * @throws as `fileMedia`.
 */
export function withMedia({ file, ...namespace }: RealTimeNamespace, native: NativeHost | undefined): NamespaceOptions {
  if (file === undefined) return namespace
  const { path, readOnly = false } = file
  const capacity = namespace.capacityBytes === undefined ? {} : { capacityBytes: namespace.capacityBytes }
  const punchHole = native?.punchHole?.bind(native)
  return { ...namespace, media: fileMedia(path, { readOnly, ...capacity, punchHole }) }
}
