import type { Scenario } from '../../../../cuda-native/test/vm/protocol.js'
import type { KernelMessage } from './programs/kernel-messages.js'

/** What a shell in the guest is told; programs are the host's, /tmp is the guest's own. */
export interface Step {
  readonly name: string
  readonly run: string
  /** A minute when not given. */
  readonly timeoutMs?: number
}

/** How a step went. What it printed has a character for each byte. */
export interface StepRun {
  readonly name: string
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
  readonly kernel: readonly KernelMessage[]
}

/** A scenario of steps, for `programs/steps.ts`, which begins when so many controllers are there. */
export function scenarioOf(name: string, steps: readonly Step[], drives = 0): Scenario {
  const timeoutMs = steps.reduce((sum, step) => sum + (step.timeoutMs ?? 60_000), 60_000)
  return { name, script: 'steps', timeoutMs, environment: { VM_STEPS: JSON.stringify(steps), VM_DRIVES: `${drives}` } }
}
