import type { ControllerCase } from '../case.js'
import { adminQueueCases } from './admin-queue.js'
import { arbitrationCases } from './arbitration.js'
import { copyCases } from './copy.js'
import { createQueueCases } from './create-queue.js'
import { deleteQueueCases } from './delete-queue.js'
import { doorbellCases } from './doorbells.js'
import { enableCases } from './enable.js'
import { eventCases } from './events.js'
import { featureCases } from './features.js'
import { formatCases } from './format.js'
import { fusedCases } from './fused.js'
import { identifyCases } from './identify.js'
import { interruptCases } from './interrupts.js'
import { logCases } from './logs.js'
import { metadataCases } from './metadata.js'
import { namespaceCases } from './namespaces.js'
import { nvmCommandCases } from './nvm-commands.js'
import { opcodeCases } from './opcodes.js'
import { invalidPrpCases, prpCases } from './prps.js'
import { readWriteCases } from './read-write.js'
import { registerCases } from './registers.js'
import { resetCases } from './reset.js'
import { ringCases } from './rings.js'
import { sglCases } from './sgl.js'
import { shadowDoorbellCases } from './shadow-doorbells.js'
import { shutdownCases } from './shutdown.js'
import { subsystemResetCases } from './subsystem-reset.js'

/** Every case: the controller and its queues first, then commands. */
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
  ...identifyCases,
  ...featureCases,
  ...logCases,
  ...eventCases,
  ...prpCases,
  ...readWriteCases,
  ...metadataCases,
  ...invalidPrpCases,
  ...sglCases,
  ...nvmCommandCases,
  ...copyCases,
  ...fusedCases,
  ...formatCases,
  ...namespaceCases,
  ...shadowDoorbellCases,
]
