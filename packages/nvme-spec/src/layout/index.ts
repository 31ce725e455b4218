export * from './bits.js'
export { decodeFields, describeFields, encodeFields, formatField, type EncodeOptions, type Layout } from './codec.js'
export * from './codes.js'
export {
  adminCommand,
  cdw,
  cdw64,
  cdwBit,
  cdwCount,
  cdwOpen,
  nvmCommand,
  sqeFields,
  znsCommand,
  type AnyCommand,
  type Command,
  type CommandCursor,
  type CommandFacts,
  type CommandMethods,
  type CommandSet,
  type CommandValues,
  type CommonFields,
  type DataTransfer,
} from './command.js'
export * from './feature.js'
export * from './field.js'
export type { FieldFacts } from './handles.js'
export * from './nested.js'
export type { Placed } from './placed.js'
export * from './register.js'
export * from './spec-ref.js'
export * from './struct.js'
export type { ReservedBytes } from './undeclared.js'
export * from './word.js'
export * from './zero-based.js'
