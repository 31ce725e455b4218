import type { CudaStream, GpuMemory, PinnedMemory } from '@gpunvme/cuda-native/cuda'
import type { CheckContext } from './context.js'
import { pieceOf } from './memory.js'
import { scoped, type Scope } from './scope.js'

/** Allocates zeroed pinned memory, until the end of the scope: by default, of the check. */
export function pinned(context: CheckContext, lengthBytes: number, scope: Scope = context): PinnedMemory {
  const memory = context.cuda.allocPinned(lengthBytes)
  scope.later(() => memory.free())
  new Uint8Array(memory.buffer).fill(0)
  return memory
}

/** Allocates GPU memory, until the end of the scope: by default, of the check. */
export function onGpu(context: CheckContext, lengthBytes: number, scope: Scope = context): GpuMemory {
  const memory = context.cuda.allocDevice(lengthBytes)
  scope.later(() => memory.free())
  return memory
}

/** Creates a stream, until the end of the scope: by default, of the check. */
export function openStream(context: CheckContext, scope: Scope = context): CudaStream {
  const stream = context.cuda.stream()
  scope.later(() => stream.close())
  return stream
}

/** Copies bytes to GPU memory. */
export function upload(context: CheckContext, bytes: Uint8Array, to: GpuMemory): Promise<void> {
  return scoped(async (scope) => {
    const copies = context.cuda.copyEngine()
    scope.later(() => copies.close())
    const from = pinned(context, bytes.length, scope)
    new Uint8Array(from.buffer).set(bytes)
    await copies.copy(pieceOf(from.buffer, from.address, 0, bytes.length), 0, to, 0, bytes.length)
  })
}
