import { basename } from 'node:path'
import { onMachine, whereItIs } from '../command-line/advised-command.js'
import type { Action } from '../command-line/next-step.js'
import { valueOf } from '../machine/known.js'
import type { Invocation } from '../terminal/invocation.js'
import { printable } from '../terminal/printable.js'
import { buildSteps, initramfsSteps } from './advice.js'
import type { ChangeKind } from './change-record.js'
import type { ChangeResult } from './change-driver.js'
import { describeSteps } from './describe-driver.js'
import type { NvidiaDriver } from './driver-state.js'

/** Why all changes are experimental. */
export const UNTESTED = 'no module changed this way has been loaded yet'

/** Returns the remaining steps for the user: gpunvme neither builds nor loads modules. */
export function stepsAfter(
  { outcome, tree }: ChangeResult,
  kind: ChangeKind,
  driver: NvidiaDriver,
  root: string,
): Action[] {
  if (outcome !== 'applied' && outcome !== 'planned' && outcome !== 'reverted') return []
  const initramfs = initramfsSteps(valueOf(driver.kernel) ?? '$(uname -r)', kind !== 'options', root)
  const place = (steps: readonly Action[]) => steps.map((step) => whereItIs(root, step))
  if (kind === 'options') return place(initramfs)
  // The keys must be set when the module is loaded.
  const setting = onMachine(root, 'driver', 'apply', 'options', '--set', 'bar1-p2p,resizable-bar', '--experimental')
  const keys = kind === 'bar1-p2p' && outcome !== 'reverted' ? [setting] : []
  return place([...buildSteps(driver, tree), ...keys, ...initramfs])
}

export function describeChange(
  result: ChangeResult,
  kind: ChangeKind,
  steps: readonly Action[],
  invocation: Invocation,
): string[] {
  return [
    titleOf(result, kind),
    ...(result.outcome === 'applied' || result.outcome === 'planned' ? [`Experimental: ${UNTESTED}.`] : []),
    ...(steps.length === 0
      ? []
      : [
          '',
          result.outcome === 'planned' ? 'Steps after applying it:' : 'Next steps:',
          ...describeSteps(steps, invocation),
        ]),
  ]
}

function titleOf({ outcome, tree, originals, files }: ChangeResult, kind: ChangeKind): string {
  const [where, what] = [
    printable(tree),
    files.map((file) => printable(kind === 'options' ? basename(file) : file)).join(', '),
  ]
  switch (outcome) {
    case 'planned':
      return `Nothing was written. ${kind} would change ${what} in ${where}`
    case 'applied':
      return `Changed ${what} in ${where}. Originals: ${printable(originals)}`
    case 'already':
      return `Nothing to do: ${where} already has this change`
    case 'begun':
      return `${where} has this change at least in part: apply completes it, revert undoes it`
    case 'given':
      return 'Nothing to do: this version does it without options'
    case 'reverted':
      return what === '' ? `${where} is gone, and the change with it` : `Restored ${what} in ${where}`
    case 'never':
      return `Nothing to restore: ${where} does not have this change`
    case 'revertible':
      return `Nothing was written. The change of ${where} can be reverted`
  }
}
