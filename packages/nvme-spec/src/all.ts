// Everything that is declared, by kind: what generators, checks and tests of all declarations iterate over, and what
// the decoders look things up in. Nothing that must stay small imports it.
import type { AnyCommand } from './layout/command.js'
import type { AnyFeature } from './layout/feature.js'
import type { AnyStruct } from './layout/struct.js'
import type { AnyCodes } from './layout/codes.js'
import { Abort, AsyncEventRequest } from './admin/events.js'
import { FID, GetFeatures, SetFeatures } from './admin/features.js'
import { NumberOfQueues } from './admin/feature/number-of-queues.js'
import { ActiveNamespaceList, CNS, Identify } from './admin/identify.js'
import { IdentifyController } from './admin/identify-controller.js'
import { CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq } from './admin/queues.js'
import { CQE } from './cqe.js'
import { Flush } from './nvm/flush.js'
import { IdentifyNamespace } from './nvm/identify-namespace.js'
import { Read, Write } from './nvm/read-write.js'
import { SQE } from './sqe.js'

/** Every command, in the order of command set and opcode. */
export const allCommands: readonly AnyCommand[] = [
  DeleteIoSq,
  CreateIoSq,
  DeleteIoCq,
  CreateIoCq,
  Identify,
  Abort,
  SetFeatures,
  GetFeatures,
  AsyncEventRequest,
  Flush,
  Write,
  Read,
]

/** Every structure that is no command. */
export const allStructs: readonly AnyStruct[] = [SQE, CQE, ActiveNamespaceList, IdentifyController, IdentifyNamespace]

/** Every feature, in the order of its identifier. */
export const allFeatures: readonly AnyFeature[] = [NumberOfQueues]

/** Every table of numbers. */
export const allCodes: readonly AnyCodes[] = [CNS, FID]
