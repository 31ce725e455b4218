import type { Checksummer } from '@gpunvme/nvme-spec/transport'

const SAMPLE_BYTES = 32 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
const SAMPLES = 3

/** Measures checksums of host memory, in bytes per second: the best of some short samples. */
export async function measureCheckRate(checksummer: Checksummer): Promise<number> {
  // Written first: untouched pages would all be the same page, in the cache.
  const view = new DataView(new SharedArrayBuffer(SAMPLE_BYTES))
  new Uint8Array(view.buffer).fill(0xa5)
  const into = new Uint32Array(SAMPLE_BYTES / CHUNK_BYTES)
  let bestMs = Infinity
  for (let sample = 0; sample < SAMPLES; sample++) {
    const startMs = performance.now()
    await checksummer.checksum({ lengthBytes: SAMPLE_BYTES, view }, 0, SAMPLE_BYTES, CHUNK_BYTES, into)
    bestMs = Math.min(bestMs, performance.now() - startMs)
  }
  return (SAMPLE_BYTES / bestMs) * 1000
}
