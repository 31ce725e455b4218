import type { BindingStep, PciFunction } from '@gpunvme/host-driver/pci'
import { blockDevicesOf } from '../machine/contents.js'
import type { Known } from '../machine/known.js'
import type { Namespace } from '../machine/machine.js'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { commandFor } from '../command-line/advised-command.js'
import type { Invocation } from '../terminal/invocation.js'
import { typed } from '../command-line/next-step.js'
import { describeSteps } from './describe-steps.js'
import { driverName, openingOf, type DriverChoice } from './driver-choice.js'
import type { Entry } from './entry.js'
import { labelled } from '../terminal/labelled.js'
import { describeLosses } from './lost-devices.js'
import { stateFile } from './state-files.js'

/** A planned or completed binding. */
export interface BindingOf {
  readonly root: string
  readonly drive: PciFunction
  readonly choice: DriverChoice
  readonly known: Pick<Entry, 'name' | 'serial' | 'model'>
  /** Namespaces of the drive in Linux, before the steps. */
  readonly namespaces: Known<readonly Namespace[]>
  /** Empty if it is already bound to that driver. */
  readonly steps: readonly BindingStep[]
}

/** Returns '0000:0b:00.0 (nvme1) is bound to vfio-pci'. */
export function headline({ drive, choice, known }: BindingOf): string {
  const name = known.name === null ? '' : ` (${printable(known.name)})`
  return `${drive.bdf}${name} is bound to ${driverName(choice.driver)}`
}

/** Prints the planned steps. */
export function reportPlan(output: Output, binding: BindingOf): void {
  const { drive, choice, steps, namespaces } = binding
  output.print(
    `${drive.bdf} would be bound to ${driverName(choice.driver)}: ${choice.reason}`,
    steps.length > 0
      ? [...describeLosses(namespaces).map((line) => `  ${line}`), ...describeSteps(steps)]
      : ['  Nothing to do: the drive is already bound to this driver.'],
  )
  output.object('gpunvme.bind/1', factsOf(binding, true, output.invocation))
}

/** Prints the result: the driver, how to open the drive, and how to return it. */
export function reportBound(output: Output, binding: BindingOf): void {
  const { root, drive, choice, steps } = binding
  const { invocation } = output
  const opening = openingOf({ driver: choice.driver ?? undefined, group: drive.group })
  const rows: (readonly [string, string])[] = [
    ['why', choice.reason],
    ...('none' in opening
      ? ([['transport', `none: ${opening.none}`]] as const)
      : ([
          ['transport', opening.transport],
          ['next', typed({ command: ['nvme', 'identify', '--drive', drive.bdf] }, invocation)],
        ] as const)),
    ['undo', steps.length > 0 ? typed(commandFor(root, 'unbind', drive.bdf), invocation) : 'nothing was changed'],
  ]
  const before = ` (previously ${drive.driver ?? 'no driver'})`
  output.print(`${headline(binding)}${steps.length > 0 ? before : ' already'}`, labelled(rows))
  output.object('gpunvme.bind/1', factsOf(binding, false, invocation))
}

function factsOf(
  { root, drive, choice, known, namespaces, steps }: BindingOf,
  dryRun: boolean,
  invocation: Invocation,
) {
  const opening = openingOf({ driver: choice.driver ?? undefined, group: drive.group })
  return {
    address: drive.bdf,
    ...known,
    driver: choice.driver,
    previous: drive.driver ?? null,
    reason: choice.reason,
    transport: 'none' in opening ? null : opening.transport,
    dryRun,
    blockDevices: steps.length > 0 ? blockDevicesOf(namespaces) : [],
    steps,
    stateFile: steps.length > 0 ? stateFile(root, drive.bdf) : null,
    undo: steps.length > 0 ? typed(commandFor(root, 'unbind', drive.bdf), invocation) : null,
  }
}
