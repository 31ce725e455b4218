import { hasCode, type Image, type PackedModel } from '@gpunvme/layer-loader'
import { planPack } from '@gpunvme/layer-loader/image'
import { openModelFile, type Model, type Tensor } from '@gpunvme/layer-loader/formats'
import { printable, typedName } from '../terminal/printable.js'
import { ToolsError } from '../command-line/tools-error.js'
import { digestOf, digestsOf } from './digests.js'

const MAX_SHOWN = 5

export interface FindOptions {
  readonly signal: AbortSignal
  /** Called with both models if the model is found by its file, before that is closed. */
  readonly onFile: (packed: PackedModel, file: Model) => Promise<void>
}

/** Block size of simulated drives. It does not affect the name of a model. */
const BLOCK_BYTES = 512

/**
 * Finds a packed model: by its name in the image, or by a model file with the same tensors; the only one if neither is
 * given. Several such models are distinguished by contents: the file is read only where they differ. Of models with
 * equal contents, it returns the one with the file's name.
 * @throws errors of `Image.model` and `openModelFile`; ToolsError (CATALOGUE_MISMATCH, AMBIGUOUS_MODEL)
 */
export async function findModel(image: Image, given: string | undefined, options: FindOptions): Promise<PackedModel> {
  const { signal, onFile } = options
  const typed = given === undefined ? undefined : typedName(given)
  if (given === undefined || image.models.some(({ name }) => name === typed)) return image.model(typed)
  await using file = await openModelFile(given, { signal }).catch((error: unknown) => {
    // Neither a name nor a file: the error that lists the names is more helpful.
    if (hasCode(error, 'ERR_GPUNVME_MODEL_NOT_FOUND')) return image.model(given) as never
    throw error
  })
  const differences = image.models.map((packed) => differencesBetween(packed, file))
  const equal = image.models.filter((_, index) => differences[index]!.length === 0)
  if (equal.length === 0) throw catalogueMismatchError(given, image.models, differences)
  const matching = await withContentsOf(file, equal, given, signal)
  // As `pack` names the file by default.
  const packedName = planPack(file, BLOCK_BYTES).name
  const found = matching.length === 1 ? matching[0] : matching.find(({ name }) => name === packedName)
  if (found === undefined) throw ambiguousModelError(given, matching)
  await onFile(found, file)
  return found
}

/**
 * Selects the models whose contents the file has, by the shortest tensors in which the models differ. A single model is
 * returned without a comparison.
 * @param models have the tensors of the file, by name, type and shape
 * @throws ToolsError (CATALOGUE_MISMATCH) if the file has the contents of none
 */
async function withContentsOf(
  file: Model,
  models: readonly PackedModel[],
  given: string,
  signal: AbortSignal,
): Promise<readonly PackedModel[]> {
  const digests = new Map(models.map((packed) => [packed, digestsOf(packed)]))
  const shortestFirst = file.tensors.toSorted((a, b) => a.lengthBytes - b.lengthBytes)
  let left = models
  const isDecisive = ({ name }: Tensor) => new Set(left.map((packed) => digests.get(packed)!.get(name))).size > 1
  for (let tensor = shortestFirst.find(isDecisive); tensor; tensor = shortestFirst.find(isDecisive)) {
    const { name } = tensor
    const sha256 = await digestOf(file, tensor, signal)
    left = left.filter((packed) => digests.get(packed)!.get(name) === sha256)
    if (left.length > 0) continue
    const difference = printable(`${name}: other contents (SHA-256) in the file than on the drive`)
    throw catalogueMismatchError(
      given,
      models,
      models.map(() => [difference]),
    )
  }
  return left
}

/** Returns tensors that only one has, or that differ. */
function differencesBetween(packed: PackedModel, file: Model): string[] {
  const describe = ({ dtype, shape }: { dtype: string; shape: readonly number[] }) => `${dtype} [${shape.join(', ')}]`
  const onDrive = new Map(
    packed.manifest.layers.flatMap(({ tensors }) => tensors).map((tensor) => [tensor.name, describe(tensor)]),
  )
  const inFile = new Map(file.tensors.map((tensor) => [tensor.name, describe(tensor)]))
  const names = new Set([...inFile.keys(), ...onDrive.keys()])
  return [...names]
    .filter((name) => inFile.get(name) !== onDrive.get(name))
    .map((name) =>
      printable(`${name}: ${inFile.get(name) ?? 'absent'} in the file, ${onDrive.get(name) ?? 'absent'} on the drive`),
    )
}

/** Error of a model file that differs from the model on the drive. */
function catalogueMismatchError(
  path: string,
  models: readonly PackedModel[],
  differences: readonly (readonly string[])[],
): ToolsError {
  const facts = models.flatMap(({ name }, index) => {
    const found = differences[index]!
    const more = found.length > MAX_SHOWN ? [`  and ${found.length - MAX_SHOWN} more`] : []
    return [`"${printable(name)}" differs:`, ...found.slice(0, MAX_SHOWN).map((line) => `  ${line}`), ...more]
  })
  return new ToolsError(
    'ERR_GPUNVME_CATALOGUE_MISMATCH',
    'verification',
    `The drive does not have the model of ${printable(path)}`,
    {
      facts,
      next: [
        'omit MODEL to stream the model on the drive',
        { command: ['pack', path, '--image', 'FILE', '--replace'] },
      ],
    },
  )
}

/** Error of a model file whose tensors match several models on the drive, none of which has its name. */
function ambiguousModelError(path: string, models: readonly PackedModel[]): ToolsError {
  const names = models.map(({ name }) => `"${printable(name)}"`)
  return new ToolsError(
    'ERR_GPUNVME_AMBIGUOUS_MODEL',
    'usage',
    `The drive has several models with the tensors of ${printable(path)}`,
    { facts: [`models: ${names.join(', ')}`], next: 'use one of these names as MODEL' },
  )
}
