import { closeSync, fstatSync, openSync } from 'node:fs'
import type { DmaBufAttachment, DmaBufExporter, DmaBufImporter } from '../../src/vram/index.js'
import type { FakeGpu } from './fake-gpu.js'

const PAGE = 2 * 1024 * 1024

/**
 * Simulates export and import of a dma-buf with descriptors of a file. Like the kernel, it identifies the buffer by the
 * file, and not by the number of the descriptor.
 */
export class FileDmaBufs implements DmaBufExporter, DmaBufImporter {
  readonly open = new Set<number>()
  readonly attached = new Set<DmaBufAttachment>()
  /** CUresult of a failing export. */
  cuResult: number | undefined
  /** Error of a failing attachment. */
  refusal: Error | undefined
  private readonly gpu: FakeGpu
  private readonly path: string
  private exported: { inode: number; gpuPointer: bigint; lengthBytes: number } | undefined

  constructor(gpu: FakeGpu, path: string) {
    this.gpu = gpu
    this.path = path
  }

  export(gpuPointer: bigint, lengthBytes: number): number {
    if (this.cuResult !== undefined)
      throw Object.assign(new Error('cuMemGetHandleForAddressRange failed'), { cuResult: this.cuResult })
    const fd = openSync(this.path, 'r+')
    this.open.add(fd)
    this.exported = { inode: fstatSync(fd).ino, gpuPointer, lengthBytes }
    return fd
  }

  close(fd: number): void {
    closeSync(fd)
    this.open.delete(fd)
  }

  attach(fd: number, lengthBytes: number): DmaBufAttachment {
    if (this.refusal !== undefined) throw this.refusal
    if (this.exported?.inode !== fstatSync(fd).ino || this.exported.lengthBytes !== lengthBytes)
      throw new Error('EINVAL: no such dma-buf')
    const { gpu, exported } = this
    const segments = Array.from({ length: lengthBytes / PAGE }, (_, index) => ({
      offsetBytes: index * PAGE,
      iova: gpu.backing.iova + gpu.windowOffset + gpu.pages.get(exported.gpuPointer + BigInt(index * PAGE))!,
      lengthBytes: PAGE,
    }))
    const attachment: DmaBufAttachment = {
      segments,
      detach: () => {
        if (!this.attached.delete(attachment)) throw new Error('this dma-buf was detached twice')
      },
    }
    this.attached.add(attachment)
    return attachment
  }
}
