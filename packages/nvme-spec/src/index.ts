export { GpuNvmeError, type ErrorCategory, type ErrorDetails } from './error.js'
