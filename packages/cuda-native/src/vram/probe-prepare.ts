import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { FEWEST_PAGES, findContent, type ProbeContent } from './probe-content.js'
import { firstLine, refused, type ProbeOptions, type ProbeVerdict } from './probe-verdict.js'
import { GPU_PAGE_BYTES } from './find-pages.js'

const DEFAULT_BYTES = 3 * GPU_PAGE_BYTES

/** Memory and content for a probe. */
export interface Probe {
  readonly content: ProbeContent
  readonly memory: DmaMemory
  readonly gpuPointer: bigint
}

/**
 * Finds content to compare with, allocates GPU memory and runs `look` on it. Frees the memory unless a command failed, which
 * may still write to it: then the verdict has it as `quarantined`.
 */
export async function withProbe(
  { namespace, host, vram, lengthBytes = DEFAULT_BYTES }: ProbeOptions,
  look: (probe: Probe) => Promise<ProbeVerdict>,
): Promise<ProbeVerdict> {
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 2 * GPU_PAGE_BYTES || lengthBytes % GPU_PAGE_BYTES !== 0)
    throw new RangeError(
      `lengthBytes: expected a multiple of ${GPU_PAGE_BYTES}, at least ${2 * GPU_PAGE_BYTES}, got ${lengthBytes}`,
    )
  if (namespace.movesData === false) return refused('moves-no-data', 'this controller moves no data')
  let content: ProbeContent
  try {
    content = await findContent(namespace, host)
  } catch (cause) {
    return refused('command-failed', 'blocks could not be read into host memory', { facts: [firstLine(cause)], cause })
  }
  const inconclusive = tooLittle(content)
  if (inconclusive !== undefined) return inconclusive
  const memory = vram.alloc(lengthBytes, { where: 'gpu' })
  let verdict: ProbeVerdict
  try {
    const { gpuPointer } = memory
    if (gpuPointer === undefined) throw new TypeError('vram: expected memory with a gpuPointer, as withVram returns')
    verdict = await look({ content, memory, gpuPointer })
  } catch (error) {
    // A copy by the driver failed; all commands have ended.
    memory.free()
    throw error
  }
  if (verdict.isAccepted || verdict.quarantined === undefined) memory.free()
  return verdict
}

function tooLittle({ runs }: ProbeContent): ProbeVerdict | undefined {
  const pages = runs.reduce((sum, run) => sum + run.pages, 0)
  const longest = runs.reduce((max, run) => Math.max(max, run.pages), 0)
  if (pages >= FEWEST_PAGES && longest >= 2) return undefined
  return refused('inconclusive', 'the namespace has too little distinguishable content', {
    facts: [`${pages} pages with distinct content were found, at most ${longest} in a row`],
    next: 'write data other than zeroes to the namespace, and probe again',
  })
}
