import type { BindingStep } from '@gpunvme/host-driver/pci'
import { shellLine } from '../terminal/invocation.js'
import { indented } from './labelled.js'

/** Returns each step as a shell command, below its title. */
export function describeSteps(steps: readonly BindingStep[], columns: number): string[] {
  return steps.flatMap(({ name, path, text }) => {
    const words = text.trim() === '' ? '' : `${shellLine([text.trim()])} `
    return [`  # ${name}`, ...indented(`echo ${words}> ${shellLine([path])}`, columns, '  ')]
  })
}
