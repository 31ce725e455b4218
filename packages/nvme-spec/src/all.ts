// Everything that is declared, by kind: what generators, checks and tests of all declarations iterate over, and what
// the decoders look things up in. Nothing that must stay small imports it.
import type { AnyCommand } from './layout/command.js'
import type { AnyFeature } from './layout/feature.js'
import type { AnyStruct } from './layout/struct.js'
import type { AnyCodes } from './layout/codes.js'
import type { AnyWord32 } from './layout/word.js'
import { Abort, AbortDw0, AET, AsyncEventDw0, AsyncEventDw1, AsyncEventRequest } from './admin/events.js'
import { AEI_ERROR, AEI_IMMEDIATE, AEI_IO_COMMAND, AEI_NOTICE, AEI_ONE_SHOT, AEI_SMART } from './admin/events.js'
import { FID, GetFeatures, SetFeatures } from './admin/features.js'
import { NumberOfQueues } from './admin/feature/number-of-queues.js'
import { ActiveNamespaceList, CNS, Identify } from './admin/identify.js'
import { IdentifyController } from './admin/identify-controller.js'
import { CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq } from './admin/queues.js'
import { CQE } from './cqe.js'
import { CQyHDBL, SQyTDBL } from './doorbells.js'
import { Flush } from './nvm/flush.js'
import { IdentifyNamespace } from './nvm/identify-namespace.js'
import { Read, Write } from './nvm/read-write.js'
import { KeyedSglDataBlock, SGL_SUB_TYPE, SGL_TYPE, SglBitBucket, SglDataBlock, SglDescriptor } from './sgl.js'
import { SglLastSegment, SglSegment, TransportSglDataBlock } from './sgl.js'
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
export const allStructs: readonly AnyStruct[] = [
  SQE,
  CQE,
  ActiveNamespaceList,
  IdentifyController,
  IdentifyNamespace,
  SglDescriptor,
  SglDataBlock,
  SglBitBucket,
  SglSegment,
  SglLastSegment,
  KeyedSglDataBlock,
  TransportSglDataBlock,
]

/** Every feature, in the order of its identifier. */
export const allFeatures: readonly AnyFeature[] = [NumberOfQueues]

/** Every table of numbers. */
export const allCodes: readonly AnyCodes[] = [
  CNS,
  FID,
  AET,
  AEI_ERROR,
  AEI_SMART,
  AEI_NOTICE,
  AEI_IO_COMMAND,
  AEI_IMMEDIATE,
  AEI_ONE_SHOT,
  SGL_TYPE,
  SGL_SUB_TYPE,
]

/** Every dword that is neither a register nor a feature's. */
export const allWords: readonly AnyWord32[] = [SQyTDBL, CQyHDBL, AbortDw0, AsyncEventDw0, AsyncEventDw1]
