import type { ControllerCase } from '../case.js'
import { enableCases } from './enable.js'
import { registerCases } from './registers.js'
import { resetCases } from './reset.js'
import { shutdownCases } from './shutdown.js'
import { subsystemResetCases } from './subsystem-reset.js'

/** Every case, in the order of the specification's chapters. */
export const controllerCases: readonly ControllerCase[] = [
  ...registerCases,
  ...enableCases,
  ...shutdownCases,
  ...resetCases,
  ...subsystemResetCases,
]
