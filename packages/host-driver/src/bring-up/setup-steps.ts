import { DEFAULT_HOST_MEMORY_BYTES, type ControllerOptions } from '../open-options.js'
import { advancedRetry } from './advanced-retry.js'
import { HostMemoryBuffer } from './host-memory-buffer.js'
import { FullPower } from './power.js'
import type { SetupStep } from './session.js'
import { ShadowDoorbells } from './shadow-doorbells.js'

/** What is set up at every start beside what each controller needs, in this order, and undone in the opposite one. */
export function setupSteps(options: ControllerOptions): SetupStep[] {
  const { shadowDoorbells = false, keepPowerState = false } = options
  return [
    advancedRetry,
    ...(keepPowerState ? [] : [new FullPower()]),
    new HostMemoryBuffer(options.hostMemoryBufferBytes ?? DEFAULT_HOST_MEMORY_BYTES),
    ...(shadowDoorbells ? [new ShadowDoorbells()] : []),
  ]
}
