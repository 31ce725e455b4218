import { FormatNvm, STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { CommandsUnderWay, Ended, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { blocksIn, lbaFormats } from '../nvm/lba-format.js'
import type { Namespace } from '../nvm/namespace.js'
import { BROADCAST_NSID } from '../nvm/namespaces.js'

/** For as long as those commands are under way: a retry may find them gone. */
const BUSY: Ended = { ...STATUS.COMMAND_SEQUENCE_ERROR, retry: 'later' }

/**
 * Format NVM (Base 2.1 §5.1.10, NVM 1.2 §4.1.2), of a namespace that exists or of all that are attached. All of its data
 * are gone afterwards, whatever SES says: both kinds of secure erase are what it does anyway. LBAFU is ignored, since
 * there are no formats that Host Behavior Support would have to enable.
 */
export function formatNvm(command: ServedCommand, device: Device, commands: CommandsUnderWay): Result {
  const { LBAFL, MSET, PI, SES } = FormatNvm.view(command.data)
  const targets = targetsOf(command.sqe.NSID, device)
  if ('sc' in targets) return targets
  if (SES > FormatNvm.SES.CRYPTOGRAPHIC_ERASE) return command.invalidField(41, 1)
  const format = lbaFormats[LBAFL]
  if (format === undefined || PI !== FormatNvm.PI.DISABLED) return STATUS.INVALID_FORMAT
  // Not available for a namespace that is smaller than one of its blocks.
  if (targets.some(({ capacityBytes }) => blocksIn(capacityBytes, format) === 0)) return STATUS.INVALID_FORMAT
  if (targets.some(({ takesChanges }) => !takesChanges)) return STATUS.NAMESPACE_IS_WRITE_PROTECTED
  const busy = targets.find((each) => commands.isUsing(each))
  if (busy) {
    device.diagnostics.report(`host formats namespace ${busy.nsid} while commands for it are under way`)
    return BUSY
  }
  for (const namespace of targets) {
    const isSame = namespace.hasFormat(LBAFL, MSET === 1)
    try {
      namespace.format(LBAFL, MSET === 1)
    } catch (error) {
      // The format stays what it was; what was cleared is. Of errors of the media only I/O commands have a status.
      device.diagnostics.report(`media of namespace ${namespace.nsid}: ${String(error)}`)
      return STATUS.INTERNAL_ERROR
    }
    if (!isSame) device.namespaceChanged(namespace.nsid)
  }
  return STATUS.SUCCESS
}

function targetsOf(nsid: number, { namespaces }: Device): readonly Namespace[] | StatusCode {
  if (nsid === BROADCAST_NSID) return namespaces.active
  const namespace = namespaces.getAllocated(nsid)
  if (namespace) return [namespace]
  return namespaces.isValid(nsid) ? STATUS.INVALID_FIELD_IN_COMMAND : STATUS.INVALID_NAMESPACE_OR_FORMAT
}
