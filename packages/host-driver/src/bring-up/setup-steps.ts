import type { ControllerOptions } from '../open-options.js'
import { advancedRetry } from './advanced-retry.js'
import type { SetupStep } from './session.js'
import { ShadowDoorbells } from './shadow-doorbells.js'

/** What is set up at every start beside what each controller needs, in this order. */
export function setupSteps({ shadowDoorbells = false }: ControllerOptions): SetupStep[] {
  return [advancedRetry, ...(shadowDoorbells ? [new ShadowDoorbells()] : [])]
}
