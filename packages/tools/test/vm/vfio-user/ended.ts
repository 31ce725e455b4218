import type { Diagnostic } from '@gpunvme/nvme-sim'
import { expect } from 'vitest'
import type { GuestRun } from '../../../../cuda-native/test/vm/guest.js'
import type { StepRun } from './steps.js'

/** The steps of a scenario, by name. Whoever asks for one that did not run is told what became of the guest. */
export class Steps {
  private readonly guest: GuestRun
  private readonly scenario: string

  constructor(guest: GuestRun, scenario: string) {
    this.guest = guest
    this.scenario = scenario
  }

  get all(): readonly StepRun[] {
    return (this.guest.scenarios.get(this.scenario)?.lines ?? []) as StepRun[]
  }

  /** How a step went, whatever came of it. */
  of(name: string): StepRun {
    const found = this.all.find((step) => step.name === name)
    if (found !== undefined) return found
    const { stderr } = this.guest.scenarios.get(this.scenario)?.end ?? {}
    throw new Error(`no step ${name} of ${this.scenario}: ${stderr ?? this.guest.console.slice(-4000)}`)
  }

  /** What a step printed that ended well. */
  text(name: string): string {
    const { code, signal, stdout, stderr } = this.of(name)
    expect([name, code, signal], stdout + stderr).toEqual([name, 0, null])
    return stdout
  }

  json(name: string): unknown {
    return JSON.parse(this.text(name))
  }

  /** What nvme-cli says of a command that failed: the status, as the driver gives it, with More and Do Not Retry. */
  status(name: string): string | undefined {
    const { stdout, stderr } = this.of(name)
    return /NVMe status: .*\((0x[0-9a-f]+)\)/.exec(stdout + stderr)?.[1]
  }
}

/**
 * Checks what the kernel said while a step ran, of warnings and worse, against patterns, line by line: nothing is left out
 * and nothing comes beside it.
 */
export function expectKernel({ name, kernel }: StepRun, patterns: readonly RegExp[]): void {
  const said = kernel
    .filter(([level, text]) => level <= WARNING && !OF_A_BUSY_MACHINE.test(text))
    .map(([, text]) => text)
  expect([name, ...said]).toEqual([name, ...patterns.map((pattern) => expect.stringMatching(pattern) as unknown)])
}

/** What the guest's kernel says of its own processor, where this machine gives that no time. */
const OF_A_BUSY_MACHINE = /^hrtimer: interrupt took \d+ ns$/

/** What the kernel said of errors and worse in all steps. */
export function kernelErrors(steps: readonly StepRun[]): string[] {
  return steps.flatMap(({ kernel }) => kernel.flatMap(([level, text]) => (level <= ERROR ? [text] : [])))
}

/**
 * What the simulator says of the host, but for this: when it resets a controller, Linux gives it completion queues that it
 * clears a moment later, before the first command.
 */
export function mistakes(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.filter(({ code }) => code !== 'phase-tag').map(({ text }) => text)
}

const ERROR = 3
const WARNING = 4
