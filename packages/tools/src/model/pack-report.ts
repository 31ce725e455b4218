import { pack, type PackReceipt, type Writable } from '@gpunvme/layer-loader'
import type { Model } from '@gpunvme/layer-loader/formats'
import { typed } from '../command-line/next-step.js'
import type { Output } from '../terminal/output.js'
import { Progress } from '../terminal/progress.js'

export interface PackRequest {
  readonly name?: string
  readonly replace?: boolean | 'image'
  /** The option that names the drive, for commands that are printed. */
  readonly place?: readonly string[]
  readonly signal: AbortSignal
}

export interface PackReport {
  readonly receipt: PackReceipt
  /** By this machine's clock; the receipt's time is by the drive's. */
  readonly wallNs: number
}

/** Packs a model, with progress for whoever watches. */
export async function packAndReport(
  model: Model,
  target: Writable,
  output: Output,
  { place = [], ...request }: PackRequest,
): Promise<PackReport> {
  const progress = new Progress(output, 'packing')
  const startMs = performance.now()
  const former = { givenUp: false }
  try {
    const receipt = await pack(model, target, {
      ...request,
      onGiveUp() {
        former.givenUp = true
        output.note(
          'The old model cannot be kept beside the new one: it is given up now.',
          'An interruption leaves none.',
        )
      },
      onProgress: ({ doneBytes, totalBytes }) => progress.update(doneBytes, totalBytes),
    })
    return { receipt, wallNs: Math.round((performance.now() - startMs) * 1e6) }
  } catch (error) {
    if (former.givenUp) {
      const verify = typed({ command: ['verify', ...place] }, output.invocation)
      output.error(`The old model was given up before this. If ${verify} finds none now, pack again.`)
    }
    throw error
  } finally {
    progress.end()
  }
}
