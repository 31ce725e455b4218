export type * from './driver-state.js'
