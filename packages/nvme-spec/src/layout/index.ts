export { isClosed, nameIn, type Codec, type NamedValues, type Placed, type RowAccess } from './access.js'
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
} from './commands.js'
export {
  rejectValue,
  describeValue,
  type Facts,
  type Memory,
  type SpecRef,
  type StructFacts,
  type Where,
} from './facts.js'
export * from './kinds.js'
export {
  decodeFields,
  encodeFields,
  type Decoded,
  type DecodedField,
  type DecodedWord,
  type Encodable,
  type EncodableField,
  type EncodableWord,
  type EncodeOptions,
  type ReservedBytes,
} from './objects.js'
export * from './rows.js'
export {
  struct,
  structs,
  type AnyStruct,
  type Cursor,
  type FieldFacts,
  type FieldHandle,
  type Struct,
  type StructMethods,
  type StructsField,
  type Values,
  type Viewed,
} from './structs.js'
export { describeFields, formatField, formatFields } from './text.js'
export {
  word32,
  type AnyWord32,
  type BitsHandle,
  type BitsValues,
  type DecodedBits,
  type Loaded,
  type RawOf,
  type Word,
  type WordMethods,
} from './words.js'
