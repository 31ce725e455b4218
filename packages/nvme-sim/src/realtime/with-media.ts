import { fileMedia } from '../media/file.js'
import type { NamespaceOptions } from '../nvm/namespace.js'
import type { RealTimeNamespace } from './options.js'

/**
 * A namespace as the simulation takes it, its file opened.
 * @throws what `fileMedia` throws.
 */
export function withMedia({ file, ...namespace }: RealTimeNamespace): NamespaceOptions {
  if (file === undefined) return namespace
  const { path, readOnly = false } = file
  const capacity = namespace.capacityBytes === undefined ? {} : { capacityBytes: namespace.capacityBytes }
  return { ...namespace, media: fileMedia(path, { readOnly, ...capacity }) }
}
