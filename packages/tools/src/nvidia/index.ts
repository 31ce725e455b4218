export type * from './driver-state.js'
export { readNvidia } from './read-driver.js'
