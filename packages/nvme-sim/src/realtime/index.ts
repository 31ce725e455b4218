export { realTimeLayout, type RealTimeLayout } from './layout.js'
export type { IdlePolicy, RealTimeNamespace, RealTimeOptions, SharedMemorySource } from './options.js'
export { RealTimeSimulatorError, startRealTimeSimulator, type RealTimeSimulator } from './start.js'
