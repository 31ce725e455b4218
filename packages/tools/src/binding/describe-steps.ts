import type { BindingStep } from '@gpunvme/host-driver/pci'
import { shellLine } from './command-line.js'

/** Each step as a shell would take it, under what it is called. */
export function describeSteps(steps: readonly BindingStep[]): string[] {
  return steps.flatMap(({ name, path, text }) => [
    `  # ${name}`,
    `  echo ${text.trim() === '' ? '' : `${shellLine([text.trim()])} `}> ${shellLine([path])}`,
  ])
}
