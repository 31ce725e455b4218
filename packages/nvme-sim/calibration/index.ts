export { renderCalibration } from './render.js'
export { calibrate, type CalibrationReport, type Comparison, type LinkComparison } from './report.js'
