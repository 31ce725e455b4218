import { describeValue, invalidArgument } from '../formats/invalid-argument.js'

/** @throws LoaderError (INVALID_ARGUMENT) for anything but a model on a store, with the call that returns one. */
export function requireModel(model: unknown): void {
  if (has(model, 'hasChecksums', 'store', 'layers', 'layer')) return
  const [got, next] = describe(model)
  throw invalidArgument('model', 'a model on a store', got, next)
}

/** @throws LoaderError (INVALID_ARGUMENT) for anything but headers of model files, with the call that returns them. */
export function requireHeaders(model: unknown): void {
  if (has(model, 'tensors', 'parts')) return
  const [got, next] = has(model, 'catalogue', 'store')
    ? ['a model of openModelInFiles()', 'pass model.catalogue.model']
    : has(model, 'aliases', 'model')
      ? ['a catalogue', 'pass catalogue.model']
      : has(model, 'hasChecksums', 'store')
        ? ['a model on a store', 'pass await openModelFile(path)']
        : [describeValue(model), 'pass await openModelFile(path)']
  throw invalidArgument('model', 'headers of model files', got, next)
}

function has(value: unknown, ...keys: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && keys.every((key) => key in value)
}

/** Names a wrong argument, and the call that returns the right one. */
function describe(value: unknown): readonly [got: string, next: string] {
  const files = 'pass await openModelInFiles(path)'
  if (has(value, 'superblock', 'models')) return ['an image', 'pass image.model(name)']
  if (has(value, 'aliases', 'model'))
    return ['a catalogue, which describes files but cannot read them', `${files}, or modelInPlace(catalogue, ...)`]
  if (has(value, 'tensors', 'parts')) return ['headers of model files, which were opened only to be described', files]
  if (has(value, 'blockBytes')) return ['a drive or store', 'pass (await openImage(namespace)).model()']
  return [describeValue(value), `${files}, or (await openImage(namespace)).model()`]
}
