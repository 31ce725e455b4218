/** The original's nine calls and its environment, for programs that were written to them. */
export { budgetOf, readOriginalEnvironment, type OriginalEnvironment } from './environment.js'
export {
  bar1Init,
  bar1Resolve,
  layerLoaderBlockSize,
  layerLoaderDestroy,
  layerLoaderInit,
  layerLoaderMaxTransfer,
  layerLoaderNsBlocks,
  loadLayer,
  loadLayerVram,
  LoadInProgressError,
  MissingDriveError,
  type LayerLoader,
  type LayerLoaderOptions,
} from './layer-loader.js'
