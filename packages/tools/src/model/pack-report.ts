import { pack, type PackReceipt } from '@gpunvme/layer-loader/image'
import type { Writable } from '@gpunvme/layer-loader/store'
import type { Model } from '@gpunvme/layer-loader/formats'
import { typed } from '../command-line/next-step.js'
import type { Output } from '../terminal/output.js'
import { Progress } from '../terminal/progress.js'

export interface PackRequest {
  readonly name?: string
  readonly replace?: boolean | 'image'
  /** Option that names the drive, for printed commands. */
  readonly place?: readonly string[]
  readonly signal: AbortSignal
}

export interface PackReport {
  readonly receipt: PackReceipt
  /** By this machine's clock; the receipt has the drive's time. */
  readonly wallNs: number
  /** What was removed before the new model was written. */
  readonly givenUp: GivenUp | undefined
}

type GivenUp = 'model' | 'image'

/** Printed before the old model or image is removed. */
const GIVING_UP = {
  model: 'The old model does not fit beside the new one and is removed now.',
  image: 'The old image is unusable and is removed now.',
} as const

/** Packs a model and prints the progress. */
export async function packAndReport(
  model: Model,
  target: Writable,
  output: Output,
  { place = [], ...request }: PackRequest,
): Promise<PackReport> {
  const progress = new Progress(output, 'packing')
  const startMs = performance.now()
  let givenUp: GivenUp | undefined
  try {
    const receipt = await pack(model, target, {
      ...request,
      onDiscard(what) {
        givenUp = what
        output.note(GIVING_UP[what], 'An interruption leaves neither.')
      },
      onProgress: ({ doneBytes, totalBytes }) => progress.update(doneBytes, totalBytes),
    })
    return { receipt, wallNs: Math.round((performance.now() - startMs) * 1e6), givenUp }
  } catch (error) {
    if (givenUp !== undefined) {
      const verify = typed({ command: ['models', 'verify', ...place] }, output.invocation)
      output.error(`The old ${givenUp} was removed before this error. If ${verify} finds no model, pack again.`)
    }
    throw error
  } finally {
    progress.end()
  }
}
