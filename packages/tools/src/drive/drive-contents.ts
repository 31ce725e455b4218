import { findSignatures, UNREADABLE_DATA, type Controller, type Namespace } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { holdsImage } from '../block-io/unknown-data.js'

/**
 * Describes the known formats on a drive, for the confirmation of a write: 'It holds GPT, NTFS'. Reads only the offsets
 * of known signatures, so a drive without a known format is not necessarily empty.
 */
export async function describeContents(controller: Controller): Promise<string> {
  const lists = await Promise.all(
    controller.namespaces.map(({ identity }) => recognized(() => controller.namespace(identity.nsid))),
  )
  const names = [...new Set(lists.flat())]
  return names.length === 0 ? 'It has no known format' : `It has ${names.join(', ')}`
}

async function recognized(open: () => Namespace): Promise<string[]> {
  try {
    const namespace = open()
    const names = (await findSignatures(namespace)).map(({ name }) => name)
    return (await holdsImage(namespace)) ? [...names, 'a model image'] : names
  } catch (error) {
    if (error instanceof GpuNvmeError && error.category !== 'device') return [UNREADABLE_DATA]
    throw error
  }
}
