export {
  isKnownVersion,
  ResourceManager,
  RmError,
  type RmControl,
  type RmGpu,
  type RmHost,
} from './resource-manager.js'
export { statusName } from './status.js'
