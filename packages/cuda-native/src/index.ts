export { cudaStatus, type CudaStatus } from './status.js'
