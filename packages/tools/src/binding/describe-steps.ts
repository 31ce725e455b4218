import type { BindingStep } from '@gpunvme/host-driver/pci'
import { shellLine } from '../terminal/invocation.js'

/** Returns each step as a shell command, below its title. */
export function describeSteps(steps: readonly BindingStep[]): string[] {
  return steps.flatMap(({ name, path, text }) => {
    const words = text.trim() === '' ? '' : `${shellLine([text.trim()])} `
    return [`  # ${name}`, `  echo ${words}> ${shellLine([path])}`]
  })
}
