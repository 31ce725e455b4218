import type { Struck } from '@gpunvme/nvme-spec/faults'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { statusByPlan, type LateCompletions } from './completion-faults.js'

/**
 * Determines the faults of a command that is about to begin, and applies immediate ones; `suffer` applies those of the
 * controller itself. Returns true if the command ends here.
 */
export function strikeCommand(command: ServedCommand, device: Device, suffer: (struck: Struck) => void): boolean {
  const { faults, pageBytes } = device
  const struck = faults.strikeCommand(command, pageBytes)
  if (struck === undefined) return false
  command.struck = struck
  suffer(struck)
  if (command.isAborted) return true
  const status = struck.get('status')
  if (status) {
    command.result = statusByPlan(status)
    faults.happened(struck, 'status')
  }
  if (!struck.has('hang')) return false
  faults.happened(struck, 'hang')
  return true
}

/** Whether a fault delays the completion of a command; the command is finished again later. */
export function isPutOff(command: ServedCommand, { clock, faults }: Device, late: LateCompletions): boolean {
  const { struck, sq } = command
  if (struck === undefined || command.result === 'held') return false
  const delay = struck.get('delay-completion')
  const reorder = struck.get('reorder-completion')
  if (delay) {
    faults.happened(struck, 'delay-completion')
    struck.remove('delay-completion')
    clock.schedule(clock.now() + delay.delayNs, command.finish)
  } else if (reorder) {
    faults.happened(struck, 'reorder-completion')
    struck.remove('reorder-completion')
    clock.schedule(clock.now() + reorder.atMostNs, late.hold(sq.cq, command.finish, reorder.behind))
  }
  return delay !== undefined || reorder !== undefined
}
