import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Checksummer } from '@gpunvme/nvme-spec/transport'
import { zlibChecksummer } from './checksum/zlib-checksummer.js'
import { BufferedTransfers, type HostBuffer } from './flow/buffers.js'
import { quote } from './formats/quote.js'
import { readCopies } from './image/copies.js'
import { isMediaError } from './image/sealed-record.js'
import { CHUNK_BYTES, type Extent } from './image/format.js'
import { openImage, type Image, type PackedModel } from './image/open-image.js'
import { checkRegion } from './image/read-region.js'
import { firstMismatch } from './load/check-units.js'
import { layerExtent } from './load/packed-model.js'
import { VerificationError } from './load/verification-error.js'
import { asStore, type Readable } from './store/as-store.js'
import { readInto } from './store/read-bytes.js'
import { piecesOf, type BlockStore } from './store/store.js'
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
  /** Computes the checksums of chunks, of which many are in flight. Default: Node's zlib. */
  readonly checksummer?: Checksummer
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
  /**
   * Bytes of layers and source headers that were read and compared with their checksums, on all members of a mirror.
   */
  readonly bytes: number
  readonly chunks: number
}

/**
 * Reads a whole image and compares it with its checksums: both superblocks, directory, manifests, chunk tables, source
 * headers, chunks and slices of experts. Of a mirror, each member that is in use is read completely; of a stripe
 * of mirrors, each copy. Damage is reported, not thrown; memory is bounded for any image.
 *
 * @throws LoaderError (NO_IMAGE, IMAGE_UNSUPPORTED, INVALID_ARGUMENT); errors of reading except media errors; the
 * signal's reason.
 */
export async function verifyImage(target: Readable | Image, options: VerifyOptions = {}): Promise<VerifyReport> {
  const store = isImage(target) ? target.store : asStore(target)
  const findings = new Findings(options)
  const image = await openOn(store, findings)
  // A mirror would read each chunk from one of its members only.
  const members = store.copies?.stores.map((copy) => openOn(copy, findings))
  const images = [...(members === undefined ? [image] : await Promise.all(members))].filter(
    (each) => each !== undefined,
  )
  findings.totalBytes = images.reduce((sum, each) => sum + bytesOf(each), 0)
  for (const each of images) await verifyParts(each, findings)
  return findings.report(image)
}

function isImage(target: unknown): target is Image {
  return typeof target === 'object' && target !== null && 'superblock' in target
}

/** Opens the image on a store. Returns undefined if that is impossible. */
async function openOn(store: BlockStore, findings: Findings): Promise<Image | undefined> {
  const image = await findings.guard(() => openImage(store, findings.limits))
  // The error of opening names at most one of the two superblocks.
  const problems = image?.problems ?? (await readCopies(store, findings.limits)).map(({ problem }) => problem)
  for (const problem of problems) findings.add(problem)
  return image
}

async function verifyParts(image: Image, findings: Findings): Promise<void> {
  const { models, store } = image
  const chunks = models.reduce((sum, { chunkCrcs }) => sum + chunkCrcs.length, 0)
  const buffers = Math.min(MAX_BUFFERS, chunks + models.length)
  const bufferBytes = CHUNK_BYTES + 2 * store.blockBytes
  await using reads = new BufferedTransfers(store.dma, buffers, bufferBytes, findings.limits.signal)
  await reads.each(partsOf(image, findings), async ({ lengthBytes, verify }, buffer) => {
    await findings.guard(() => verify(buffer))
    findings.progress(lengthBytes)
  })
}

function bytesOf({ models }: Image): number {
  return models
    .flatMap(({ manifest: { header, layers } }) => [header, ...layers])
    .reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
}

/** A source header or a chunk. */
interface Part {
  readonly lengthBytes: number
  /** Reads it through a buffer and checks it. @throws the error of its damage; errors of reading. */
  readonly verify: (buffer: HostBuffer) => Promise<void>
}

/** Yields all parts of the image: they are verified concurrently, in any order. */
function* partsOf({ models }: Image, findings: Findings): Generator<Part> {
  for (const model of models) {
    const { header, layers } = model.manifest
    yield { lengthBytes: header.lengthBytes, verify: (buffer) => verifyHeader(model, buffer, findings) }
    for (const layer of layers) {
      const extent = layerExtent(model, layer)
      const slices = new SliceChecks(model, layer)
      for (const unit of extent.checks) {
        const { storeBytes: offsetBytes, lengthBytes } = unit
        const verify = async (buffer: HostBuffer) => {
          const bytes = await findings.read(model, { offsetBytes, lengthBytes }, buffer)
          findings.chunks++
          const memoryBytes = bytes.byteOffset - buffer.bytes.byteOffset
          const target = { memory: buffer.memory, checksummer: findings.checksummer, signal: findings.limits.signal }
          const mismatch = await firstMismatch([{ ...unit, memoryBytes }], target)
          if (mismatch !== undefined) throw new VerificationError(model, extent, unit, mismatch.got)
          slices.add(bytes, offsetBytes - layer.offsetBytes)
        }
        yield { lengthBytes, verify }
      }
    }
  }
}

/** A header has one checksum, so its chunks are read sequentially. */
async function verifyHeader(model: PackedModel, buffer: HostBuffer, findings: Findings): Promise<void> {
  const { header, name } = model.manifest
  let crc = 0
  for (const chunk of piecesOf([{ ...header, memoryBytes: 0 }], CHUNK_BYTES)) {
    crc = crc32(await findings.read(model, chunk, buffer), crc)
  }
  checkRegion(model.store, `source header of ${quote(name)}`, header, crc)
}

/** Problems found so far. */
class Findings {
  readonly limits: Pick<VerifyOptions, 'signal' | 'timeoutNs'>
  readonly checksummer: Checksummer
  totalBytes = 0
  chunks = 0
  readBytes = 0
  private doneBytes = 0
  private problemCount = 0
  private readonly problems: GpuNvmeError[] = []
  private readonly onProgress: VerifyOptions['onProgress']

  constructor({ onProgress, checksummer = zlibChecksummer, ...limits }: VerifyOptions) {
    this.limits = limits
    this.checksummer = checksummer
    this.onProgress = onProgress
  }

  /** Reads bytes of a model that have a checksum. */
  async read({ store }: PackedModel, range: Extent, buffer: HostBuffer): Promise<Uint8Array> {
    const bytes = await readInto(store, range, buffer, this.limits)
    this.readBytes += range.lengthBytes
    return bytes
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
