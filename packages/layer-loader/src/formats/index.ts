export { NotGgufError, writeAlignedGguf, type AlignedGgufOptions } from './aligned-gguf.js'
export { memorySource, rangeSource, type ByteSource } from './byte-source.js'
export type { ArraySummary, Layer, MetadataValue, Model, ModelPart, Tensor } from './model.js'
export { Catalogue, type CatalogueOptions } from './catalogue.js'
export { UnevenExpertsError } from './experts.js'
export { ExtentNotFoundError, type LayerOptions } from './model-index.js'
export { readExtent, type ExtentPiece, type ModelExtent } from './extent.js'
export { DEMO_MODEL, writeDemoModel } from './demo-model.js'
export {
  ModelAccessError,
  ModelNotFoundError,
  NotAModelFileError,
  openFileSource,
  SourceChangedError,
  SourceReadError,
} from './file-source.js'
export { GGML_TYPES, ggmlTypeById, ggmlTypeByName, ggmlTypeName, type GgmlType } from './ggml-types.js'
export type { EncodedGgufMetadata, GgufTensorSpec, GgufValue } from './gguf-header.js'
export { GgufError, type GgufProblem } from './gguf-reader.js'
export type { GgufScalarName } from './gguf-value-types.js'
export { SplitError, type SplitProblem } from './gguf-split.js'
export { GgufWriteError, writeGguf, type GgufContent, type GgufSink, type GgufTensorToWrite } from './gguf-writer.js'
export { HttpSourceError, type HttpProblem } from './http-error.js'
export type { HttpPolicy } from './http-redirects.js'
export { openHttpSource, type HttpSourceOptions } from './http-source.js'
export { groupLayers, isMtpLayer, type GroupOptions } from './layers.js'
export type { Naming, TensorNaming } from './naming.js'
export { NAMING_SCHEMES, type NamingScheme, type NamingSchemeName } from './naming-schemes.js'
export { DEFAULT_LIMITS, type FormatLimits } from './limits.js'
export { ModelInPartsError, openModel, type OpenModelOptions } from './open-model.js'
export { openModelFile, openModelParts, type OpenedModel } from './open-parts.js'
export { MissingPartError, type OpenPart } from './part-files.js'
export { ShardError, type ShardProblem } from './safetensors-shards.js'
export { SafetensorsError, type SafetensorsProblem } from './safetensors-json.js'
export { UnknownFormatError } from './sniff.js'
