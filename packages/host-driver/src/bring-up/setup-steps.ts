import { DEFAULT_HOST_MEMORY_BYTES, type ControllerOptions } from '../open-options.js'
import { advancedRetry } from './advanced-retry.js'
import { HostMemoryBuffer } from './host-memory-buffer.js'
import { FullPower } from './power.js'
import type { SetupStep } from './session.js'
import { ShadowDoorbells } from './shadow-doorbells.js'

/** Returns the optional setup steps in the order in which they are applied; they are undone in reverse order. */
export function setupSteps(options: ControllerOptions): SetupStep[] {
  const { shadowDoorbells = false, keepPowerState = false } = options
  return [
    advancedRetry,
    ...(keepPowerState ? [] : [new FullPower()]),
    new HostMemoryBuffer(options.hostMemoryBufferBytes ?? DEFAULT_HOST_MEMORY_BYTES),
    ...(shadowDoorbells ? [new ShadowDoorbells()] : []),
  ]
}
