import { setImmediate as turn } from 'node:timers/promises'
import type { KernelEngine } from '@gpunvme/cuda-native'
import { fail } from './check.js'

const LIMIT_MS = 2000

/** Checks that a leader runs although no plan is in flight. @throws CheckFailed if its heartbeat does not advance */
export async function expectLingering(engine: Pick<KernelEngine, 'heartbeat'>): Promise<void> {
  const before = engine.heartbeat
  const deadlineMs = performance.now() + LIMIT_MS
  while (engine.heartbeat === before) {
    if (performance.now() >= deadlineMs) fail('the heartbeat does not advance: the leader does not linger')
    await turn()
  }
}
