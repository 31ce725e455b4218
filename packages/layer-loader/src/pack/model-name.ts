import type { Model } from '../formats/model.js'
import { MAX_MODEL_NAME_BYTES } from '../image/format.js'

/**
 * Returns the name of a model in its image: the given one, else the name in the file, else the last component of the
 * file's path. The shards of a safetensors model are named after their directory.
 * @throws RangeError for an invalid given name; names from files are adjusted.
 */
export function modelNameFor(model: Model, given: string | undefined): string {
  if (given !== undefined) {
    const lengthBytes = Buffer.byteLength(given)
    if (lengthBytes > 0 && lengthBytes <= MAX_MODEL_NAME_BYTES && !/[\p{Cc}\p{Cs}]/u.test(given)) return given
    throw new RangeError(
      `name: expected 1 to ${MAX_MODEL_NAME_BYTES} bytes without control characters, got ${JSON.stringify(given)}`,
    )
  }
  return fitting(model.name ?? '') || fitting(nameOfFiles(model)) || 'model'
}

function nameOfFiles({ format, parts }: Model): string {
  const { name } = parts[0].source
  const [fileName = '', folder = ''] = name.split(/[/\\]/).reverse()
  if (format !== 'safetensors' || parts.length === 1) return fileName
  // The directory in a URL is usually that of a revision.
  const isNamed = !name.includes('://') && !['', '.', '..'].includes(folder)
  return isNamed ? folder : fileName.replace(/-\d+-of-\d+\.safetensors$/, '')
}

function fitting(name: string): string {
  const clean = name.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '').trim()
  let cut = ''
  for (const character of clean) {
    if (Buffer.byteLength(cut + character) > MAX_MODEL_NAME_BYTES) break
    cut += character
  }
  return cut
}
