import type { Lease } from '@gpunvme/layer-loader'
import type { Model } from '@gpunvme/layer-loader/formats'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { printable } from '../terminal/printable.js'

/**
 * Holds what was streamed against the file itself, byte by byte. The image's checksums have no part in it, so a
 * mistake in packing would be seen too.
 */
export class TensorComparison {
  /** Tensors that were found equal. */
  tensors = 0
  private readonly model: Model
  private readonly byName: ReadonlyMap<string, Model['tensors'][number]>

  constructor(model: Model) {
    this.model = model
    this.byName = new Map(model.tensors.map((tensor) => [tensor.name, tensor]))
  }

  /** @throws TensorsDifferError */
  async compare(lease: Lease, signal: AbortSignal): Promise<void> {
    for (const { name } of lease.tensors) {
      const tensor = this.byName.get(name)
      const streamed = lease.tensor(name)
      const inFile = new Uint8Array(tensor?.lengthBytes ?? 0)
      if (tensor !== undefined) await this.model.parts[tensor.part]!.source.read(tensor.offsetBytes, inFile, { signal })
      if (Buffer.compare(inFile, streamed) !== 0) throw new TensorsDifferError(name)
      this.tensors++
    }
  }
}

/** A tensor that passed its checksum is not the file's. */
export class TensorsDifferError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_TENSORS_DIFFER'
  readonly category = 'verification'
  constructor(name: string) {
    super(`Tensor ${printable(name)} was streamed, and differs from the model file`, {
      next: 'this is a defect of gpunvme: please report it',
    })
  }
}
