import { hasCode, type Image, type PackedModel } from '@gpunvme/layer-loader'
import { planPack } from '@gpunvme/layer-loader/image'
import { openModelFile, type Model } from '@gpunvme/layer-loader/formats'
import { printable, typedName } from '../terminal/printable.js'
import { ToolsError } from '../command-line/tools-error.js'

const MAX_SHOWN = 5

export interface FindOptions {
  readonly signal: AbortSignal
  /** Called with both models if the model is found by its file, before that is closed. */
  readonly onFile: (packed: PackedModel, file: Model) => Promise<void>
}

/** Block size of simulated drives. It does not affect the name of a model. */
const BLOCK_BYTES = 512

/**
 * Finds a packed model: by its name in the image, or by a model file with the same tensors, of several such models the
 * one with the file's name; the only one if neither is given.
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
  // As `pack` names the file by default.
  const packedName = planPack(file, BLOCK_BYTES).name
  const found = equal.length === 1 ? equal[0] : equal.find(({ name }) => name === packedName)
  if (found === undefined) throw ambiguousModelError(given, equal)
  await onFile(found, file)
  return found
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
