import { ActiveNamespaceList, IdentifyController } from '@gpunvme/nvme-spec'
import { DriverError } from '../error.js'

/** Maximum number of listed namespaces. Each takes one Identify command and 4 KiB of memory. */
export const MAX_NAMESPACES = 4096

/** Largest NSID of one namespace (Base 2.1 §3.2.1.2). */
const MAX_NSID = 0xffff_fffe

/**
 * Lists namespaces by Identify with CNS 02h, 07h or 10h (Base 2.1 §5.1.13.2.2): 1024 at a time, each list above the last
 * NSID of the previous list. NSIDs must increase and must not exceed NN, so the loop ends for any controller.
 * @param controller the 4096 bytes of Identify Controller.
 * @param readList reads the list of NSIDs above the given NSID.
 * @throws DriverError (NAMESPACE_LIST); errors of `readList`.
 */
export async function listNamespaces(
  controller: DataView,
  readList: (above: number) => Promise<DataView>,
): Promise<number[]> {
  const { NN } = IdentifyController.view(controller)
  const largest = Math.min(NN, MAX_NSID)
  const found: number[] = []
  for (;;) {
    const { NSID } = ActiveNamespaceList.view(await readList(found.at(-1) ?? 0))
    for (const nsid of NSID) {
      if (nsid === 0) return found
      const before = found.at(-1) ?? 0
      if (nsid <= before) throw unusableList(`NSID ${nsid} after NSID ${before}, expected increasing NSIDs`)
      if (nsid > largest) throw unusableList(`NSID ${nsid}, expected at most ${largest} (NN)`)
      if (found.length === MAX_NAMESPACES) throw unusableList(`more than ${MAX_NAMESPACES} namespaces`)
      found.push(nsid)
    }
    if (found.at(-1) === largest) return found
  }
}

/** A controller's list of namespaces is invalid or too long. @param found its content, and the expected one. */
function unusableList(found: string): DriverError {
  return new DriverError(
    'ERR_GPUNVME_NAMESPACE_LIST',
    'device',
    `Unusable namespace list: the controller lists ${found}`,
    { next: 'update the firmware of the drive, or use another drive' },
  )
}
