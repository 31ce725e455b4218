import { FaultPlanError, type MatchedFaults } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { Device } from '../controller/device.js'
import { blocksIn, lbaFormats } from '../nvm/lba-format.js'
import type { Namespace } from '../nvm/namespace.js'
import type { Namespaces } from '../nvm/namespaces.js'

/** The operation on commands in progress that detaching a namespace needs. */
interface Commands {
  endAll(namespace: Namespace): void
}

/**
 * Rejects faults of namespaces that this drive cannot have, whatever the host creates and formats.
 * @throws FaultPlanError with the rule and the field at fault.
 */
export function checkNamespaceFaults({ rules }: FaultPlan, { NN, totalBytes }: Namespaces): void {
  const maxBlocks = lbaFormats.reduce((max, format) => Math.max(max, blocksIn(totalBytes, format)), 0)
  rules.forEach(({ action }, rule) => {
    if (!('nsid' in action)) return
    const refuse = (field: string, why: string) => {
      throw new FaultPlanError(`${why}: this can never apply`, { rule, field })
    }
    if (action.nsid > NN) refuse('action.nsid', `the largest NSID of this drive is ${NN}`)
    if (action.kind === 'resize-namespace' && action.blocks > maxBlocks) {
      refuse('action.blocks', `the whole drive holds only ${maxBlocks} blocks of the smallest format`)
    }
  })
}

/** Changes namespaces as another host might. Changes that are already in effect or impossible do not count. */
export function changeNamespaces(matched: MatchedFaults, device: Device, commands: Commands): void {
  const { namespaces, faults } = device
  const detached = namespaces.getAllocated(matched.get('detach-namespace')?.nsid ?? 0)
  if (detached?.isAttached) {
    faults.record(matched, 'detach-namespace')
    commands.endAll(detached)
    namespaces.setAttached(detached, false)
    device.namespaceChanged(detached.nsid)
  }
  const attached = namespaces.getAllocated(matched.get('attach-namespace')?.nsid ?? 0)
  if (attached && !attached.isAttached) {
    faults.record(matched, 'attach-namespace')
    namespaces.setAttached(attached, true)
    device.namespaceChanged(attached.nsid)
  }
  const { nsid = 0, blocks = 0 } = matched.get('resize-namespace') ?? {}
  const resized = namespaces.getAllocated(nsid)
  if (resized && blocks * (resized.blockBytes + resized.metadataBytes) <= resized.capacityBytes) {
    faults.record(matched, 'resize-namespace')
    resized.blocks = blocks
    device.namespaceChanged(nsid)
  }
}
