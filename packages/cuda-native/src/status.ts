import { findDriver, formatVersion, UNAVAILABLE, type CudaObstacle } from './cuda/driver.js'

/** A GPU, as the driver describes it. */
export interface CudaDevice {
  /** What `openCuda({ device })` takes. */
  readonly device: number
  readonly name: string
  /** Major and minor, as `8.6`. */
  readonly computeCapability: string
  /** Its PCI address, as `0000:0a:00.0`. */
  readonly bdf: string
  readonly memoryBytes: number
  /** CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: both have the same address of registered memory. */
  readonly usesHostPointers: boolean
  /** CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: memory of the process can be registered. */
  readonly canRegisterMemory: boolean
  /** CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED: other devices may reach its memory through nvidia_p2p. */
  readonly canGpuDirectRdma: boolean
  /** CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED: its memory can be exported as dma-buf. */
  readonly canExportDmaBuf: boolean
}

/** Whether a GPU can be used from this process, and if not, why and what to do about it. Plain JSON. */
export type CudaStatus =
  | {
      readonly available: true
      /** In one line, for people. */
      readonly message: string
      /** The driver's library, as it was opened. */
      readonly library: string
      /** The newest CUDA that the driver serves, as `12.2`. */
      readonly driverVersion: string
      readonly devices: readonly CudaDevice[]
    }
  | {
      readonly available: false
      readonly state: CudaObstacle
      /** Stable across releases; `message`, `facts` and `next` are for people. */
      readonly code: (typeof UNAVAILABLE)[CudaObstacle]
      readonly message: string
      readonly facts: readonly string[]
      readonly next: string
    }

/** Never throws and makes nothing on a device: a program may ask on any machine, before it decides on an engine. */
export function cudaStatus(): CudaStatus {
  const found = findDriver()
  if (found.state !== 'available') {
    const { state, message, facts, next } = found
    return { available: false, state, code: UNAVAILABLE[state], message, facts, next }
  }
  const devices = found.devices.map(({ name, bdf, memoryBytes, attributes }, device): CudaDevice => {
    const [major, minor, samePointer, register, rdma, dmaBuf] = attributes
    return {
      device,
      name,
      computeCapability: `${major!}.${minor!}`,
      bdf: bdf.toLowerCase(),
      memoryBytes,
      usesHostPointers: samePointer === 1,
      canRegisterMemory: register === 1,
      canGpuDirectRdma: rdma === 1,
      canExportDmaBuf: dmaBuf === 1,
    }
  })
  const driverVersion = formatVersion(found.driverVersion)
  const names = devices.map(({ name, bdf }) => `${name} at ${bdf}`).join(', ')
  const message = `CUDA ${driverVersion} with ${names}`
  return { available: true, message, library: found.library, driverVersion, devices }
}
