/** The predecessor's nine calls and its environment variables. */
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
  type LayerLoader,
  type LayerLoaderOptions,
} from './layer-loader.js'
