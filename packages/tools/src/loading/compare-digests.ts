import type { PackedModel } from '@gpunvme/layer-loader'
import type { Model } from '@gpunvme/layer-loader/formats'
import { digestOf, digestsOf } from '../model/digests.js'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { plural } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'

const MAX_SHOWN = 5

/**
 * Reads all tensors of the model file and compares their SHA-256 with the digests stored on the drive. Does not check
 * the data on the drive, which streaming does.
 * @param packed has the same tensors by name, type and shape.
 * @throws ToolsError (TENSOR_CONTENTS)
 */
export async function compareDigests(packed: PackedModel, file: Model, output: Output, signal: AbortSignal) {
  const progress = new Progress(output, 'comparing')
  const totalBytes = file.tensors.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  const noted = digestsOf(packed)
  const different: string[] = []
  let doneBytes = 0
  try {
    for (const tensor of file.tensors) {
      if ((await digestOf(file, tensor, signal)) !== noted.get(tensor.name)) different.push(tensor.name)
      doneBytes += tensor.lengthBytes
      progress.update(doneBytes, totalBytes)
    }
  } finally {
    progress.end()
  }
  if (different.length > 0) throw tensorContentsError(file.parts[0].source.name, packed.name, different)
}

/** Error of a model file whose tensors differ in content from those on the drive. */
function tensorContentsError(path: string, model: string, tensors: readonly string[]): ToolsError {
  const more = tensors.length > MAX_SHOWN ? [`and ${tensors.length - MAX_SHOWN} more`] : []
  const headline = `${printable(path)} differs from "${printable(model)}" on the drive`
  const shown = tensors.slice(0, MAX_SHOWN).map(printable)
  return new ToolsError('ERR_GPUNVME_TENSOR_CONTENTS', 'verification', headline, {
    facts: [`SHA-256 of ${plural(tensors.length, 'tensor')} different:`, ...shown, ...more],
    next: [
      'omit MODEL to stream the model on the drive',
      { command: ['pack', 'MODEL', '--image', 'FILE', '--replace'] },
    ],
  })
}
