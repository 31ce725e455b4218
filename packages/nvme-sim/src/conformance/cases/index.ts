import type { ControllerCase } from '../case.js'
import { adminQueueCases } from './admin-queue.js'
import { arbitrationCases } from './arbitration.js'
import { createQueueCases } from './create-queue.js'
import { deleteQueueCases } from './delete-queue.js'
import { doorbellCases } from './doorbells.js'
import { enableCases } from './enable.js'
import { interruptCases } from './interrupts.js'
import { opcodeCases } from './opcodes.js'
import { registerCases } from './registers.js'
import { resetCases } from './reset.js'
import { ringCases } from './rings.js'
import { shutdownCases } from './shutdown.js'
import { subsystemResetCases } from './subsystem-reset.js'

/** Every case: the controller and its queues first, then what its commands do. */
export const controllerCases: readonly ControllerCase[] = [
  ...registerCases,
  ...enableCases,
  ...shutdownCases,
  ...resetCases,
  ...subsystemResetCases,
  ...adminQueueCases,
  ...createQueueCases,
  ...deleteQueueCases,
  ...ringCases,
  ...arbitrationCases,
  ...doorbellCases,
  ...interruptCases,
  ...opcodeCases,
]
