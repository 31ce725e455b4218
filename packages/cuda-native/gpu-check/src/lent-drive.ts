import { deviceQueues, type DeviceBuffer, type GpuDevice, type LendingEngine } from '@gpunvme/cuda-native/cuda'
import type { WritableNamespace } from '@gpunvme/host-driver'
import type { DmaMemory, FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { CheckContext, Drive } from './context.js'

export interface LentDriveOptions {
  /** Number of queues, entries per queue, and commands in flight per queue. */
  readonly queues: number
  readonly queueEntries: number
  readonly queueDepth: number
  /** Size of the memory for queues and data. */
  readonly memoryBytes: number
  readonly timeoutNs?: number
  readonly faults?: FaultPlan | undefined
  readonly writable?: boolean
  /** Number of blocks by which the `gnv::Device` exceeds the namespace. */
  readonly blocksBeyond?: number
}

/** A simulated drive whose queues kernels use through a `gnv::Device`. */
export interface LentDrive {
  readonly drive: Drive
  readonly namespace: WritableNamespace
  readonly engine: LendingEngine
  readonly device: GpuDevice
  /** Allocates memory for data that the GPU can access. */
  readonly allocate: (lengthBytes: number) => { readonly memory: DmaMemory; readonly buffer: DeviceBuffer }
}

/** Starts a drive with `media`, and lends its queues to kernels until the check ends. */
export async function lendDrive(
  context: CheckContext,
  media: Uint8Array,
  options: LentDriveOptions,
): Promise<LentDrive> {
  const { memoryBytes, timeoutNs = 5e9, faults, writable = false, blocksBeyond = 0, ...shape } = options
  const drive = await context.drive(media, memoryBytes, faults, false)
  const queues = deviceQueues(context.cuda)
  context.later(() => queues.free())
  const engine = queues.engine(drive.transport)
  const { namespace } = await context.open(drive, shape, engine)
  const longer = Object.create(namespace, { blocks: { value: namespace.blocks + blocksBeyond } }) as typeof namespace
  const device = await queues.device([{ engine, namespace: longer, writable }], { timeoutNs })
  context.later(() => device.free())
  const allocate: LentDrive['allocate'] = (lengthBytes) => {
    const memory = namespace.dma.alloc(lengthBytes)
    const buffer = engine.buffer(memory)
    context.later(() => buffer.free())
    return { memory, buffer }
  }
  return { drive, namespace, engine, device, allocate }
}
