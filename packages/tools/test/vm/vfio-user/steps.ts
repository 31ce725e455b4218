import type { Scenario } from '../../../../cuda-native/test/vm/protocol.js'
import type { KernelMessage } from './programs/kernel-messages.js'

/** A command for a shell in the guest. Programs are the host's; /tmp belongs to the guest. */
export interface Step {
  readonly name: string
  readonly run: string
  /** Default: 60 s. */
  readonly timeoutMs?: number
}

/** Result of a step. Its output has one character per byte. */
export interface StepRun {
  readonly name: string
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
  readonly kernel: readonly KernelMessage[]
}

/** Returns a scenario for `programs/steps.ts`, which starts when there are `drives` controllers. */
export function scenarioOf(name: string, steps: readonly Step[], drives = 0): Scenario {
  const timeoutMs = steps.reduce((sum, step) => sum + (step.timeoutMs ?? 60_000), 60_000)
  return { name, script: 'steps', timeoutMs, environment: { VM_STEPS: JSON.stringify(steps), VM_DRIVES: `${drives}` } }
}
