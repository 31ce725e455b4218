import { FormatNvm, STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { CommandsUnderWay, Ended, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { blocksIn, lbaFormats } from '../nvm/lba-format.js'
import type { Namespace } from '../nvm/namespace.js'
import { BROADCAST_NSID } from '../nvm/namespaces.js'

/** While those commands are in flight; a retry may succeed. */
const BUSY: Ended = { ...STATUS.COMMAND_SEQUENCE_ERROR, retry: 'later' }

/**
 * Format NVM (Base 2.1 §5.1.10, NVM 1.2 §4.1.2), of one namespace or of all attached ones. All data are lost whatever
 * SES is: formatting includes both kinds of secure erase. LBAFU is ignored, since no format needs to be enabled by Host
 * Behavior Support.
 */
export function formatNvm(command: ServedCommand, device: Device, commands: CommandsUnderWay): Result {
  const { LBAFL, MSET, PI, SES } = FormatNvm.view(command.data)
  const targets = targetsOf(command.sqe.NSID, device)
  if ('sc' in targets) return targets
  if (SES > FormatNvm.SES.CRYPTOGRAPHIC_ERASE) return command.invalidField(41, 1)
  const format = lbaFormats[LBAFL]
  if (format === undefined || PI !== FormatNvm.PI.DISABLED) return STATUS.INVALID_FORMAT
  // Not available for a namespace smaller than one block.
  if (targets.some(({ capacityBytes }) => blocksIn(capacityBytes, format) === 0)) return STATUS.INVALID_FORMAT
  if (targets.some(({ takesChanges }) => !takesChanges)) return STATUS.NAMESPACE_IS_WRITE_PROTECTED
  const busy = targets.find((each) => commands.isUsing(each))
  if (busy) {
    device.diagnostics.report(
      'namespace-busy',
      `host formats namespace ${busy.nsid} while commands for it are in flight`,
    )
    return BUSY
  }
  for (const namespace of targets) {
    const isSame = namespace.hasFormat(LBAFL, MSET === 1)
    try {
      namespace.format(LBAFL, MSET === 1)
    } catch (error) {
      // The format stays; the data may be cleared. Only I/O commands have statuses for media errors.
      device.diagnostics.report('media', `media of namespace ${namespace.nsid}: ${String(error)}`)
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
