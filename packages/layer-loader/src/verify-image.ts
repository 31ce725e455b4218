import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { BufferPool, type HostBuffer } from './buffer-pool.js'
import { zlibChecksummer } from './checksum/zlib-checksummer.js'
import { quote } from './formats/quote.js'
import { isMediaError, readCopies } from './image/copies.js'
import { CHUNK_BYTES, type Extent } from './image/format.js'
import { openImage, type Image, type PackedModel } from './image/open-image.js'
import { checkRegion } from './image/read-region.js'
import { firstMismatch } from './load/check-units.js'
import { layerExtent } from './load/packed-model.js'
import { VerificationError } from './load/verification-error.js'
import { asStore, type Readable } from './store/as-store.js'
import { SliceChecks } from './verify-slices.js'

/** Buffers of one chunk: enough to keep a queue of 32 full while others are checked. */
const MAX_BUFFERS = 40

/** Maximum number of reported problems. */
const MAX_PROBLEMS = 100

/** Progress of a verification. */
export interface VerifyProgress {
  readonly doneBytes: number
  readonly totalBytes: number
}

/** Options of a verification. */
export interface VerifyOptions {
  readonly signal?: AbortSignal
  /** Time limit of each command, in nanoseconds from its submission. */
  readonly timeoutNs?: number
  /** Called for each chunk. An error that it throws ends the verification. */
  readonly onProgress?: (progress: VerifyProgress) => void
}

/** Result of a verification. */
export interface VerifyReport {
  /** Whether everything matches, including both superblock copies. */
  readonly ok: boolean
  /** Up to 100 problems: the errors that opening or streaming would throw. */
  readonly problems: readonly GpuNvmeError[]
  readonly problemCount: number
  /** Absent if the image cannot be opened; then only superblocks, directory and manifests were checked. */
  readonly image: Image | undefined
  /** Bytes of layers and source headers that were read and compared with their checksums. */
  readonly bytes: number
  readonly chunks: number
}

/**
 * Reads a whole image and compares it with its checksums: both superblocks, directory, manifests, chunk tables, source
 * headers, chunks and slices of experts. Damage is reported, not thrown; memory is bounded for any image.
 *
 * @throws LoaderError (NO_IMAGE, IMAGE_UNSUPPORTED); errors of reading except media errors; the signal's reason.
 */
export async function verifyImage(target: Readable | Image, options: VerifyOptions = {}): Promise<VerifyReport> {
  const store = 'superblock' in target ? target.store : asStore(target)
  const findings = new Findings(options)
  const image = await findings.guard(() => openImage(store, findings.limits))
  if (image === undefined) {
    // The error of opening names at most one copy.
    for (const { problem } of await readCopies(store, findings.limits)) findings.add(problem)
  } else {
    for (const problem of image.problems) findings.add(problem)
    findings.totalBytes = image.models.reduce((sum, model) => sum + bytesOf(model), 0)
    const chunks = image.models.reduce((sum, { chunkCrcs }) => sum + chunkCrcs.length, 0)
    const buffers = Math.min(MAX_BUFFERS, chunks + image.models.length)
    await using pool = new BufferPool(store.dma, buffers, CHUNK_BYTES + 2 * store.blockBytes)
    for (const model of image.models) {
      pool.run(await pool.take(), (buffer) => verifyHeader(model, buffer, findings))
      await verifyLayers(model, pool, findings)
    }
    await pool.drain()
  }
  return findings.report(image)
}

function bytesOf({ manifest: { header, layers } }: PackedModel): number {
  return layers.reduce((sum, { lengthBytes }) => sum + lengthBytes, header.lengthBytes)
}

/** Chunks are read and checked concurrently, in any order. */
async function verifyLayers(model: PackedModel, pool: BufferPool, findings: Findings): Promise<void> {
  for (const layer of model.manifest.layers) {
    const extent = layerExtent(model, layer)
    const slices = new SliceChecks(model, layer)
    for (const unit of extent.checks) {
      findings.limits.signal?.throwIfAborted()
      const { storeBytes: offsetBytes, lengthBytes } = unit
      pool.run(await pool.take(), async (buffer) => {
        await findings.guard(async () => {
          const memoryBytes = await read(model, { offsetBytes, lengthBytes }, buffer, findings)
          findings.chunks++
          findings.readBytes += lengthBytes
          const target = { memory: buffer.memory, checksummer: zlibChecksummer }
          const mismatch = await firstMismatch([{ ...unit, memoryBytes }], target)
          if (mismatch !== undefined) throw new VerificationError(model, extent, unit, mismatch.got)
          slices.add(buffer.bytes.subarray(memoryBytes, memoryBytes + lengthBytes), offsetBytes - layer.offsetBytes)
        })
        findings.progress(lengthBytes)
      })
    }
  }
}

/** A header has one checksum, so its parts are read sequentially. */
async function verifyHeader(model: PackedModel, buffer: HostBuffer, findings: Findings): Promise<void> {
  const { header, name } = model.manifest
  await findings.guard(async () => {
    let crc = 0
    for (let start = 0; start < header.lengthBytes; start += CHUNK_BYTES) {
      const lengthBytes = Math.min(CHUNK_BYTES, header.lengthBytes - start)
      const at = await read(model, { offsetBytes: header.offsetBytes + start, lengthBytes }, buffer, findings)
      findings.readBytes += lengthBytes
      crc = crc32(buffer.bytes.subarray(at, at + lengthBytes), crc)
    }
    checkRegion(`source header of ${quote(name)}`, header, crc)
  })
  findings.progress(header.lengthBytes)
}

/** Reads the blocks that cover a run of bytes; returns its offset in the buffer. */
async function read(
  { store }: PackedModel,
  { offsetBytes, lengthBytes }: Extent,
  { memory }: HostBuffer,
  { limits }: Findings,
): Promise<number> {
  const { blockBytes } = store
  const startBytes = Math.floor(offsetBytes / blockBytes) * blockBytes
  const endBytes = Math.ceil((offsetBytes + lengthBytes) / blockBytes) * blockBytes
  await store.read([{ offsetBytes: startBytes, lengthBytes: endBytes - startBytes, memoryBytes: 0 }], memory, limits)
  return offsetBytes - startBytes
}

/** Problems found so far. */
class Findings {
  readonly limits: Pick<VerifyOptions, 'signal' | 'timeoutNs'>
  totalBytes = 0
  chunks = 0
  readBytes = 0
  private doneBytes = 0
  private problemCount = 0
  private readonly problems: GpuNvmeError[] = []
  private readonly onProgress: VerifyOptions['onProgress']

  constructor({ onProgress, ...limits }: VerifyOptions) {
    this.limits = limits
    this.onProgress = onProgress
  }

  /** Runs a part of the verification. Damage is recorded, and the rest continues. */
  async guard<T>(part: () => Promise<T>): Promise<T | undefined> {
    try {
      return await part()
    } catch (error) {
      const damage = error instanceof GpuNvmeError && error.category === 'verification'
      if (!damage && !isMediaError(error)) throw error
      this.add(error)
      return undefined
    }
  }

  add(problem: GpuNvmeError | undefined): void {
    if (problem === undefined || this.problems.some(({ message }) => message === problem.message)) return
    this.problemCount++
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem)
  }

  progress(lengthBytes: number): void {
    this.doneBytes += lengthBytes
    this.onProgress?.({ doneBytes: this.doneBytes, totalBytes: this.totalBytes })
  }

  report(image: Image | undefined): VerifyReport {
    const { problems, problemCount, chunks, readBytes } = this
    return { ok: problemCount === 0, problems, problemCount, image, bytes: readBytes, chunks }
  }
}
