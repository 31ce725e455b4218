import type { Diagnostic } from '@gpunvme/nvme-sim'
import { expect } from 'vitest'
import type { GuestRun } from '../../../../cuda-native/test/vm/guest.js'
import type { StepRun } from './steps.js'

/** Results of the steps of a scenario, by name. */
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

  /** Returns a step, whether it succeeded or not. @throws Error with the output of the guest if it did not run */
  of(name: string): StepRun {
    const found = this.all.find((step) => step.name === name)
    if (found !== undefined) return found
    const { stderr } = this.guest.scenarios.get(this.scenario)?.end ?? {}
    throw new Error(`no step ${name} of ${this.scenario}: ${stderr ?? this.guest.console.slice(-4000)}`)
  }

  /** Returns the output of a step, which must have succeeded. */
  text(name: string): string {
    const { code, signal, stdout, stderr } = this.of(name)
    expect([name, code, signal], stdout + stderr).toEqual([name, 0, null])
    return stdout
  }

  json(name: string): unknown {
    return JSON.parse(this.text(name))
  }

  /** Returns the status that nvme-cli printed for a failed command, including More and Do Not Retry. */
  status(name: string): string | undefined {
    const { stdout, stderr } = this.of(name)
    return /NVMe status: .*\((0x[0-9a-f]+)\)/.exec(stdout + stderr)?.[1]
  }
}

/** Checks that the kernel's warnings and errors during a step match the patterns, one message for each pattern. */
export function expectKernel({ name, kernel }: StepRun, patterns: readonly RegExp[]): void {
  const said = kernel
    .filter(([level, text]) => level <= WARNING && !OF_A_BUSY_MACHINE.test(text))
    .map(([, text]) => text)
  expect([name, ...said]).toEqual([name, ...patterns.map((pattern) => expect.stringMatching(pattern) as unknown)])
}

/** Logged by the guest's kernel when a busy host gives its CPU no time. */
const OF_A_BUSY_MACHINE = /^hrtimer: interrupt took \d+ ns$/

/** Returns kernel messages of level error and worse in all steps. */
export function kernelErrors(steps: readonly StepRun[]): string[] {
  return steps.flatMap(({ kernel }) => kernel.flatMap(([level, text]) => (level <= ERROR ? [text] : [])))
}

/**
 * Returns the host's mistakes, except stale phase tags: after a reset, Linux creates completion queues before it clears
 * their memory.
 */
export function mistakes(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.filter(({ code }) => code !== 'phase-tag').map(({ text }) => text)
}

const ERROR = 3
const WARNING = 4
