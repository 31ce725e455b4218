import type { MatchedFaults } from '@gpunvme/nvme-spec/faults'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { statusByPlan, type LateCompletions } from './completion-faults.js'

/**
 * Determines the faults of a command that is about to begin, and applies immediate ones; `applyFaults` applies those of the
 * controller itself. Returns true if the command ends here.
 */
export function applyCommandFaults(
  command: ServedCommand,
  device: Device,
  applyFaults: (matched: MatchedFaults) => void,
): boolean {
  const { faults, pageBytes } = device
  const matched = faults.matchCommand(command, pageBytes)
  if (matched === undefined) return false
  command.matched = matched
  applyFaults(matched)
  if (command.isAborted) return true
  const status = matched.get('status')
  if (status) {
    command.result = statusByPlan(status)
    faults.record(matched, 'status')
  }
  if (!matched.has('hang')) return false
  faults.record(matched, 'hang')
  return true
}

/** Whether a fault delays the completion of a command; the command is finished again later. */
export function deferCompletion(command: ServedCommand, { clock, faults }: Device, late: LateCompletions): boolean {
  const { matched, sq } = command
  if (matched === undefined || command.result === 'held') return false
  const delay = matched.get('delay-completion')
  const reorder = matched.get('reorder-completion')
  if (delay) {
    faults.record(matched, 'delay-completion')
    matched.remove('delay-completion')
    clock.schedule(clock.now() + delay.delayNs, command.finish)
  } else if (reorder) {
    faults.record(matched, 'reorder-completion')
    matched.remove('reorder-completion')
    clock.schedule(clock.now() + reorder.atMostNs, late.hold(sq.cq, command.finish, reorder.behind))
  }
  return delay !== undefined || reorder !== undefined
}
